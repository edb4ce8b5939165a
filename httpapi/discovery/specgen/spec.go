package main

import (
	"reflect"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/leasehold/leasehold/httpapi/discovery"
)

const (
	title         = "Leasehold"
	bearer        = "BearerToken"
	bearerMeaning = "Bearer Token authentication"
)

func info() *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: title, Version: discovery.KubernetesVersion}}
}

func specV2(routes []common.Route) (*spec.Swagger, error) {
	names := newNames()
	swagger, err := builder.BuildOpenAPISpecFromRoutes([]common.RouteContainer{container(routes)}, &common.Config{
		Info:                           info(),
		GetDefinitions:                 GetOpenAPIDefinitions,
		GetDefinitionName:              names.definition,
		GetOperationIDAndTagsFromRoute: operation,
		CommonResponses:                map[int]spec.Response{401: {ResponseProps: spec.ResponseProps{Description: "Unauthorized"}}},
		SecurityDefinitions: &spec.SecurityDefinitions{bearer: {SecuritySchemeProps: spec.SecuritySchemeProps{
			Type: "apiKey", Name: "authorization", In: "header", Description: bearerMeaning,
		}}},
		DefaultSecurity: []map[string][]string{{bearer: {}}},
	})
	if err != nil {
		return nil, err
	}
	// Older clients stumble over defaults of references; kube-apiserver leaves them out of version 2 as well.
	swagger.Definitions = handler.PruneDefaults(swagger.Definitions)
	return swagger, nil
}

func specV3(routes []common.Route) (*spec3.OpenAPI, error) {
	names := newNames()
	return builder3.BuildOpenAPISpecFromRoutes([]common.RouteContainer{container(routes)}, &common.OpenAPIV3Config{
		Info:                           info(),
		GetDefinitions:                 GetOpenAPIDefinitions,
		GetDefinitionName:              names.definition,
		GetOperationIDAndTagsFromRoute: operation,
		CommonResponses:                map[int]*spec3.Response{401: {ResponseProps: spec3.ResponseProps{Description: "Unauthorized"}}},
		SecuritySchemes: spec3.SecuritySchemes{bearer: {SecuritySchemeProps: spec3.SecuritySchemeProps{
			Type: "apiKey", Name: "authorization", In: "header", Description: bearerMeaning,
		}}},
		DefaultSecurity: []map[string][]string{{bearer: {}}},
	})
}

// names knows which kinds a type of the API stands for.
type names map[string][]any

// newNames asks a scheme of what is served. Kinds are in the order of their groups.
func newNames() names {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		authenticationv1.AddToScheme, authorizationv1.AddToScheme, coordinationv1.AddToScheme,
		coordinationv1beta1.AddToScheme, coordinationv1alpha2.AddToScheme, corev1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}

	kinds := map[string][]schema.GroupVersionKind{}
	for kind, goType := range scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal {
			continue
		}
		model := util.GetCanonicalTypeName(reflect.New(goType).Elem().Interface())
		kinds[model] = append(kinds[model], kind)
	}
	n := names{}
	for model, list := range kinds {
		slices.SortFunc(list, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
		for _, kind := range list {
			n[model] = append(n[model], kindMap(kind))
		}
	}
	return n
}

// kindMap is how a kind is written in an extension.
func kindMap(kind schema.GroupVersionKind) map[string]any {
	return map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
}

func (n names) definition(model string) (string, spec.Extensions) {
	if kinds := n[model]; kinds != nil {
		return model, spec.Extensions{"x-kubernetes-group-version-kind": kinds}
	}
	return model, nil
}

func operation(r common.Route) (string, []string, error) {
	own := r.(*route)
	return own.operation, []string{own.tag}, nil
}
