package httpapi

import (
	"strings"

	"github.com/leasehold/leasehold/httpapi/media"
)

// form is the encoding and the shape in which a client wants its answer.
type form struct {
	media.Accepted
	encodings media.Encodings // that there are
	accept    string          // the header it was found from
	pretty    bool            // the client asked for indentation beside the Accept header
	include   media.Include   // what the rows of a Table hold
	unfit     error           // the query does not say it well
}

// negotiate finds the form a request's Accept header asks for. With an error comes the form in which to tell it.
// Only what is stored can be had in other shapes, and only there an unacceptable form is refused: discovery negotiates for
// itself, and other paths have one form each.
func negotiate(q *request) (form, error) {
	f := form{encodings: q.encodings, accept: strings.Join(q.http.Header["Accept"], ",")}
	query := q.http.URL.RawQuery
	if strings.Contains(query, "pretty") {
		f.pretty = media.Pretty(q.http.URL.Query(), q.http.UserAgent())
	} else {
		f.pretty = media.Pretty(nil, q.http.UserAgent())
	}
	if !q.known || q.key.Resource == "" {
		f.Accepted = f.plain().Accepted
		return f, nil
	}
	offer := media.OfferShapes
	switch {
	case q.verb == "list":
		offer = media.OfferLists
	case q.verb == "watch":
		offer = media.OfferStream
	case q.columnless:
		offer = media.OfferPartial
	}
	accepted, err := q.encodings.Negotiate(f.accept, offer)
	if err != nil {
		return f, err
	}
	f.Accepted = f.indented(accepted)
	if q.kind != nil {
		f.Codec = q.kind.Codec
	}
	if f.Shape == media.Table && strings.Contains(query, "includeObject") {
		f.include, f.unfit = media.ParseInclude(q.http.URL.Query().Get("includeObject"))
	}
	return f, nil
}

// Check says whether a list, or else one object, can be had in this form. It is asked once there is something to show.
func (f form) Check(list bool) error {
	if f.unfit != nil {
		return f.unfit
	}
	return f.Accepted.Check(list)
}

// checkStream is Check for a watch.
func (f form) checkStream() error {
	if f.unfit != nil {
		return f.unfit
	}
	return f.encodings.CheckStream(f.Accepted)
}

// plain is the form of what has one shape only: a Status is never made a Table. If none is acceptable it is told as
// indented JSON.
func (f form) plain() form {
	accepted, err := f.encodings.Negotiate(f.accept, media.OfferWhole)
	if err != nil {
		accepted = media.Accepted{Pretty: true}
	}
	return form{Accepted: f.indented(accepted), encodings: f.encodings, accept: f.accept, pretty: f.pretty}
}

// unshaped is the same encoding without a shape: of a Status that tells of a success it is the one negotiated for an object.
func (f form) unshaped() form {
	f.Accepted = media.Accepted{Encoding: f.Encoding, Pretty: f.Pretty}
	return f
}

func (f form) indented(accepted media.Accepted) media.Accepted {
	if f.pretty && accepted.Encoding == media.JSON {
		accepted.Pretty = true
	}
	return accepted
}
