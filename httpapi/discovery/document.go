package discovery

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/munnerz/goautoneg"

	"github.com/leasehold/leasehold/httpapi/media"
)

// Document is what is told at one path, in all its forms.
type Document struct {
	// AnyMethod means that the path answers any method alike, as kube-apiserver's does; else it knows only GET.
	AnyMethod bool

	// routed means that a router looks at the Accept header before the document does, as it does in kube-apiserver.
	routed bool
	// single means that the first form is answered to all whom the router lets pass.
	single bool

	forms []form // the first of those that a client accepts equally is answered
	hash  string // of a document that a client may keep for ever when it asks for it by hash, else empty
	path  string
}

// form is a document as bytes.
type form struct {
	mediaTypes  []string // by which it can be asked for; none for whatever is asked
	aggregated  bool     // and with aggregatedParameters
	contentType string
	body        []byte
	gzipped     []byte // nil if that is not worth while
	etag        string // with its quotes; empty for none
	indentable  bool   // is JSON that may be indented for people
	header      http.Header
}

// Answer is what to tell a client.
type Answer struct {
	Code        int
	ContentType string
	Header      http.Header // beside Content-Type; may be nil, and must not be changed
	Body        []byte      // never nil; must not be changed
}

// Answer chooses the form that a request asks for. The error is a *media.NotAcceptableError.
func (d *Document) Answer(r *http.Request) (Answer, error) {
	accept := strings.Join(r.Header["Accept"], ",")
	if d.routed {
		if err := media.Route(accept, d.types()); err != nil {
			return Answer{}, err
		}
	}
	f := d.negotiate(accept)
	if f == nil {
		return Answer{}, d.notAcceptable()
	}
	if d.hash != "" {
		if asked := r.URL.Query().Get("hash"); asked != "" && asked != d.hash {
			return d.elsewhere(), nil
		} else if asked == d.hash {
			f = f.forEver()
		}
	}
	if f.etag != "" && matches(r.Header["If-None-Match"], f.etag) {
		return Answer{Code: http.StatusNotModified, ContentType: f.contentType, Header: f.header, Body: []byte{}}, nil
	}
	answer := Answer{Code: http.StatusOK, ContentType: f.contentType, Header: f.header, Body: f.body}
	switch {
	case f.indentable && media.Pretty(r.URL.Query(), r.UserAgent()):
		answer.Body = indented(f.body)
	case f.gzipped != nil && media.TakesGzip(strings.Join(r.Header["Accept-Encoding"], ",")):
		answer.Body = f.gzipped
		answer.Header = f.header.Clone()
		answer.Header.Set("Content-Encoding", "gzip")
	}
	return answer, nil
}

// negotiate goes by quality, then by place in the header, as kube-apiserver does.
func (d *Document) negotiate(accept string) *form {
	if d.single || strings.TrimSpace(accept) == "" {
		return &d.forms[0]
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		for i := range d.forms {
			f := &d.forms[i]
			if f.named(clause.Type, clause.SubType) && f.fits(clause.Params) {
				return f
			}
		}
	}
	return nil
}

func (f *form) named(kind, subtype string) bool {
	if kind == "*" && subtype == "*" || f.mediaTypes == nil {
		return true
	}
	for _, name := range f.mediaTypes {
		if name == kind+"/"+subtype {
			return true
		}
	}
	return false
}

// fits looks at a clause's parameters. Those that ask for no other shape are ignored.
func (f *form) fits(params map[string]string) bool {
	if params["as"] == "" && params["g"] == "" && params["v"] == "" {
		return !f.aggregated
	}
	return f.aggregated && isAggregated(params)
}

// types are those of the forms that are not asked for with parameters.
func (d *Document) types() (names []string) {
	for _, f := range d.forms {
		if !f.aggregated {
			names = append(names, f.mediaTypes[0])
		}
	}
	return names
}

func (d *Document) notAcceptable() error {
	return &media.NotAcceptableError{Message: "only the following media types are accepted: " + strings.Join(d.types(), ", ")}
}

// matches tells whether the client has the document of this ETag already (RFC 9110, 13.1.2).
func matches(ifNoneMatch []string, etag string) bool {
	for _, line := range ifNoneMatch {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag {
				return true
			}
		}
	}
	return false
}

func indented(body []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		return body
	}
	return out.Bytes()
}
