package media

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
)

// Encoding is how an object becomes bytes.
type Encoding uint8

// The encodings, in the order in which kube-apiserver prefers them.
const (
	JSON Encoding = iota
	YAML
	Protobuf
	CBOR
)

var mediaTypes = [...]string{
	JSON: "application/json", YAML: "application/yaml", Protobuf: "application/vnd.kubernetes.protobuf", CBOR: "application/cbor",
}

// sequenceType is what a watch in CBOR is: one object after the other.
const sequenceType = "application/cbor-seq"

// Encodings are what a server writes and reads.
type Encodings []Encoding

// Standard is what kube-apiserver has with its default gates, WithCBOR what it has with its gate CBORServingAndStorage.
var (
	Standard = Encodings{JSON, YAML, Protobuf}
	WithCBOR = Encodings{JSON, YAML, Protobuf, CBOR}
)

// types are their media types, and streams those of their watches.
func (e Encodings) types() (types []string) {
	for _, encoding := range e {
		types = append(types, mediaTypes[encoding])
	}
	return types
}

func (e Encodings) streams() (types []string) {
	for _, encoding := range e {
		switch encoding {
		case YAML: // has none
		case CBOR:
			types = append(types, sequenceType)
		default:
			types = append(types, mediaTypes[encoding]+";stream=watch")
		}
	}
	return types
}

// Shape is what an object is turned into before it becomes bytes.
type Shape uint8

// The shapes a client may ask for with the parameters as, g and v of a media type.
const (
	Whole       Shape = iota // the object as it is
	Table                    // columns and rows for people, as kubectl get shows them
	Partial                  // PartialObjectMetadata: an object without its spec
	PartialList              // PartialObjectMetadataList
)

// Accepted is the form of an answer that client and server agreed on.
type Accepted struct {
	Encoding Encoding
	Shape    Shape
	Version  string // of meta.k8s.io, when Shape is not Whole: v1 or v1beta1
	Pretty   bool   // JSON only: with indentation
	Codec    *Codec // of what is answered; nil for what has no other shape, such as a Status
}

// ContentType is the Content-Type header of a whole answer.
func (a Accepted) ContentType() string { return mediaTypes[a.Encoding] }

// StreamType is the Content-Type header of a watch.
func (a Accepted) StreamType() string {
	switch a.Encoding {
	case JSON:
		return mediaTypes[JSON]
	case CBOR:
		return sequenceType
	}
	return mediaTypes[a.Encoding] + ";stream=watch"
}

// Offer is what an endpoint can answer with.
type Offer uint8

const (
	OfferWhole   Offer = iota // objects as they are: a Status, discovery
	OfferShapes               // every Shape of one object
	OfferPartial              // every Shape but a Table: what has no columns
	OfferLists                // every Shape of a list
	OfferStream               // every Shape of a watch
)

// Negotiate chooses the form of an answer from the Accept header, as kube-apiserver does: its router first looks whether
// any type is named that it could produce at all (application/* and upper case are not), then the clauses are tried in the
// order of their quality, then of their place. The error is a *NotAcceptableError.
func (e Encodings) Negotiate(accept string, offer Offer) (Accepted, error) {
	switch accept {
	case "", "application/json", "*/*", "application/json, */*":
		return Accepted{Encoding: JSON}, nil
	case "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json":
		return Accepted{Encoding: Protobuf}, nil
	}
	return e.negotiate(accept, offer)
}

func (e Encodings) negotiate(accept string, offer Offer) (Accepted, error) {
	types := e.types()
	if offer >= OfferLists && slices.Contains(e, CBOR) { // its streams are known, and refused nevertheless
		types = append(types, sequenceType)
	}
	if !routable(accept, types) {
		return Accepted{}, unroutable(append(e.types(), e.streams()...))
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		for _, encoding := range e {
			if !matches(clause.Type, clause.SubType, mediaTypes[encoding]) {
				continue
			}
			if accepted, ok := fits(clause.Params, encoding, offer); ok {
				return accepted, nil
			}
		}
	}
	return Accepted{}, notAcceptable(e.types())
}

// CheckStream says whether there is a watch in a form that was found acceptable. If not, no other form is looked for. The
// error is a *NotAcceptableError.
func (e Encodings) CheckStream(a Accepted) error {
	if a.Encoding == YAML {
		return notAcceptable(e.streams())
	}
	return nil
}

func notAcceptable(types []string) error {
	return &NotAcceptableError{Message: "only the following media types are accepted: " + strings.Join(types, ", ")}
}

// Route is the router's look at the header, for a path that answers with these types: it looks for types only, knows no parameters
// and no ranges but */*. The error is a *NotAcceptableError.
func Route(accept string, types []string) error {
	if !routable(accept, types) {
		return unroutable(types)
	}
	return nil
}

func routable(accept string, types []string) bool {
	for clause := range strings.SplitSeq(accept, ",") {
		name, _, _ := strings.Cut(clause, ";")
		name = strings.Trim(name, " ")
		if name == "*/*" || slices.Contains(types, name) {
			return true
		}
	}
	return strings.TrimSpace(accept) == ""
}

func unroutable(types []string) error {
	return &NotAcceptableError{Message: routeMessage + strings.Join(types, ", "), ByRoute: true}
}

func matches(kind, subtype, name string) bool {
	prefix, rest, _ := strings.Cut(name, "/")
	return kind == "*" && subtype == "*" || kind == prefix && (subtype == "*" || subtype == rest)
}

// fits says whether the offer can be had in this encoding with a clause's parameters. Parameters it does not know are
// ignored.
func fits(params map[string]string, encoding Encoding, offer Offer) (Accepted, bool) {
	if stream := params["stream"]; stream != "" && (encoding == YAML || stream != "watch") {
		return Accepted{}, false
	}
	accepted := Accepted{Encoding: encoding, Pretty: params["pretty"] == "1" && encoding == JSON}
	kind, group, version := params["as"], params["g"], params["v"]
	if kind == "" && group == "" && version == "" {
		return accepted, true
	}
	if offer == OfferWhole || group != "meta.k8s.io" || version != "v1" && version != "v1beta1" {
		return Accepted{}, false
	}
	accepted.Version = version
	switch kind {
	case "Table":
		accepted.Shape = Table
		return accepted, (encoding == JSON || encoding == YAML) && offer != OfferPartial
	case "PartialObjectMetadata":
		accepted.Shape = Partial
	case "PartialObjectMetadataList":
		accepted.Shape = PartialList
	default:
		return Accepted{}, false
	}
	return accepted, true
}

// Pretty says whether JSON is wanted with indentation: by the query's pretty, else for browsers and people's tools.
func Pretty(query url.Values, userAgent string) bool {
	if wanted := query.Get("pretty"); wanted != "" {
		pretty, err := strconv.ParseBool(wanted)
		return err == nil && pretty
	}
	for _, prefix := range []string{"curl", "Wget", "Mozilla/5.0"} {
		if strings.HasPrefix(userAgent, prefix) {
			return true
		}
	}
	return false
}

// NotAcceptableError says that nothing the client accepts can be had: 406.
type NotAcceptableError struct {
	Message string
	ByRoute bool // the router found out; its Status has empty details, the other has none
}

func (e *NotAcceptableError) Error() string { return e.Message }

const routeMessage = "406: Not Acceptable\n\nAvailable representations: "

// Check says whether the shape can be had of a list, or else of one object. The error is a *NotAcceptableError.
func (a Accepted) Check(list bool) error {
	switch {
	case a.Shape == Partial && list:
		return &NotAcceptableError{Message: "you requested PartialObjectMetadata, but the requested object is a list (*coordination." + a.Codec.Kind.Kind + "List)"}
	case a.Shape == PartialList && !list:
		return &NotAcceptableError{Message: "you requested PartialObjectMetadataList, but the requested object is not a list (*coordination." + a.Codec.Kind.Kind + ")"}
	}
	return nil
}
