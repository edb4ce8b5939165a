package httpapi

import (
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// parseQuery parses the query once for all. timeout is understood everywhere; the server's own limits hold anyway, so
// only a value that cannot be understood makes a difference.
func (q *request) parseQuery() error {
	if q.http.URL.RawQuery == "" {
		return nil
	}
	// Like kube-apiserver, take what can be parsed of a query and leave the rest.
	q.query = q.http.URL.Query()
	if timeout := q.query.Get("timeout"); timeout != "" && q.key.Resource != "" {
		if _, err := time.ParseDuration(timeout); err != nil {
			return badRequest("invalid timeout specified in the request URL: %v", err)
		}
	}
	return nil
}

// writeOptions are the query parameters of a create, update or patch.
type writeOptions struct {
	dryRun          bool
	fieldManager    string
	fieldValidation string // Ignore, Warn or Strict
	force           *bool
}

// writeOptions reads the options; kind names them in errors.
func (q *request) writeOptions(kind string) (*writeOptions, error) {
	o := &writeOptions{fieldManager: q.query.Get("fieldManager"), fieldValidation: metav1.FieldValidationWarn}
	if len(q.query) == 0 {
		return o, nil
	}
	var found field.ErrorList
	o.dryRun, found = dryRun(q.query)
	if given, ok := first(q.query, "fieldValidation"); ok && given != "" {
		o.fieldValidation = given
		switch given {
		case metav1.FieldValidationIgnore, metav1.FieldValidationWarn, metav1.FieldValidationStrict:
		default:
			found = append(found, field.NotSupported(field.NewPath("fieldValidation"), given,
				[]string{metav1.FieldValidationIgnore, metav1.FieldValidationWarn, metav1.FieldValidationStrict}))
		}
	}
	if len(found) > 0 {
		return nil, invalidOptions(kind, found)
	}
	return o, nil
}

// dryRun reads the parameter of that name. Its only value is All.
func dryRun(query url.Values) (bool, field.ErrorList) {
	given := query["dryRun"]
	if len(given) == 0 {
		return false, nil
	}
	for _, value := range given {
		if value != metav1.DryRunAll {
			return false, field.ErrorList{field.NotSupported(field.NewPath("dryRun"), given, []string{metav1.DryRunAll})}
		}
	}
	return true, nil
}

func first(query url.Values, name string) (string, bool) {
	values := query[name]
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// defaultManager is the manager of a request that names none: the User-Agent up to the first slash.
func (q *request) defaultManager() string {
	agent, _, _ := strings.Cut(q.http.UserAgent(), "/")
	return agent
}
