package httpapi

import (
	"mime"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasehold/leasehold/httpapi/fieldmanager"
)

// maxParameters is how many parameters a query may have. Of one with more net/url gives none at all: a dry run would write,
// and a deletion of some objects would be one of all.
const maxParameters = 10000

// parseQuery parses the query once for all. timeout is understood on every path and by every verb but watch; the server's own
// limits hold anyway, so only a value that cannot be understood makes a difference.
func (q *request) parseQuery() error {
	if q.http.URL.RawQuery == "" {
		return nil
	}
	if parameters := strings.Count(q.http.URL.RawQuery, "&") + 1; parameters > maxParameters {
		return badRequest("too many query parameters: %d, at most %d are read", parameters, maxParameters)
	}
	// Like kube-apiserver, take what can be parsed of a query and leave the rest.
	q.query = q.http.URL.Query()
	if timeout := q.query.Get("timeout"); timeout != "" && q.verb != "watch" {
		if _, err := time.ParseDuration(timeout); err != nil {
			return badRequest("invalid timeout specified in the request URL - %v", err)
		}
	}
	return nil
}

// writeOptions are the query parameters of a create, update or patch. Which of them a verb knows is told by kind, for
// example CreateOptions, which also names them in errors.
func (q *request) writeOptions(kind string) (*metav1.PatchOptions, error) {
	options := new(metav1.PatchOptions)
	if len(q.query) > 0 {
		if err := metav1.Convert_url_Values_To_v1_PatchOptions(&q.query, options, nil); err != nil {
			return nil, badRequest("%v", err)
		}
	}
	var found field.ErrorList
	switch {
	case kind == "PatchOptions":
		found = validation.ValidatePatchOptions(options, types.PatchType(q.mediaType()))
	case len(q.query) > 0:
		found = validation.ValidateCreateOptions(&metav1.CreateOptions{
			DryRun: options.DryRun, FieldManager: options.FieldManager, FieldValidation: options.FieldValidation,
		})
	}
	if len(found) > 0 {
		return nil, invalidOptions(kind, found)
	}
	if options.FieldValidation == "" {
		options.FieldValidation = metav1.FieldValidationWarn
	}
	return options, nil
}

// mediaType is that of the body, without its parameters; empty if the header cannot be understood.
func (q *request) mediaType() string {
	contentType := q.http.Header.Get("Content-Type")
	if contentType == "application/json" {
		return contentType
	}
	mediaType, _, _ := mime.ParseMediaType(contentType)
	return mediaType
}

// manager is who owns the fields that this request sets.
func (q *request) manager(options *metav1.PatchOptions) string {
	return fieldmanager.Name(options.FieldManager, q.http.UserAgent())
}
