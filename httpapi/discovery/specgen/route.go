package main

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
)

// container holds routes for a builder.
type container []common.Route

func (c container) RootPath() string                   { return "/" }
func (c container) PathParameters() []common.Parameter { return nil }
func (c container) Routes() []common.Route             { return c }

// route describes one method of one path; it is what a builder asks for.
type route struct {
	method, path   string
	operation, tag string
	description    string
	consumes       []string
	produces       []string
	parameters     []common.Parameter
	extensions     map[string]any
	body           any // a sample, nil for none
	responses      []common.StatusCodeResponse
}

func (r *route) Method() string                                   { return r.method }
func (r *route) Path() string                                     { return r.path }
func (r *route) OperationName() string                            { return r.operation }
func (r *route) Description() string                              { return r.description }
func (r *route) Consumes() []string                               { return r.consumes }
func (r *route) Produces() []string                               { return r.produces }
func (r *route) Parameters() []common.Parameter                   { return r.parameters }
func (r *route) Metadata() map[string]any                         { return r.extensions }
func (r *route) RequestPayloadSample() any                        { return r.body }
func (r *route) ResponsePayloadSample() any                       { return nil }
func (r *route) StatusCodeResponses() []common.StatusCodeResponse { return r.responses }

// answers adds a response of the same model for each code.
func (r *route) answers(model any, codes ...int) *route {
	for _, code := range codes {
		r.responses = append(r.responses, response{code, model})
	}
	return r
}

// takes sets the body.
func (r *route) takes(sample any, required bool) *route {
	r.body = sample
	r.parameters = append(r.parameters, parameter{name: "body", kind: common.BodyParameterKind, required: required,
		dataType: reflect.TypeOf(sample).String()})
	return r
}

// options adds the fields of an options type as query parameters, unless an earlier type had them.
func (r *route) options(sample documented, except ...string) *route {
	docs := sample.SwaggerDoc()
	goType := reflect.TypeOf(sample)
	for i := range goType.NumField() {
		field := goType.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		dataType := parameterType(field.Type)
		known := slices.ContainsFunc(r.parameters, func(p common.Parameter) bool { return p.Name() == name })
		if name == "" || dataType == "" || known || slices.Contains(except, name) {
			continue
		}
		r.parameters = append(r.parameters, parameter{name: name, description: docs[name], kind: common.QueryParameterKind, dataType: dataType})
	}
	return r
}

// documented is a type of the API that carries its fields' descriptions.
type documented interface{ SwaggerDoc() map[string]string }

// parameterType is empty for what cannot be a query parameter. A list is given by naming the parameter repeatedly, and
// is described by the type of one.
func parameterType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return parameterType(t.Elem())
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Int32, reflect.Int64:
		return "integer"
	}
	return ""
}

type parameter struct {
	name, description, dataType string
	kind                        common.ParameterKind
	required                    bool
}

func (p parameter) Name() string               { return p.name }
func (p parameter) Description() string        { return p.description }
func (p parameter) Required() bool             { return p.required }
func (p parameter) Kind() common.ParameterKind { return p.kind }
func (p parameter) DataType() string           { return p.dataType }
func (p parameter) AllowMultiple() bool        { return false }

type response struct {
	code  int
	model any
}

func (r response) Code() int       { return r.code }
func (r response) Message() string { return http.StatusText(r.code) }
func (r response) Model() any      { return r.model }
