package review

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/leasehold/leasehold/httpapi/object"
)

// The kinds of reviews.
var (
	Subject = object.Kind{
		GroupVersionKind: authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"),
		New:              func() object.Object { return &authenticationv1.SelfSubjectReview{} },
		Versions:         []string{"v1"},
	}
	Access = object.Kind{
		GroupVersionKind: authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"),
		New:              func() object.Object { return &authorizationv1.SelfSubjectAccessReview{} },
		Versions:         []string{"v1"},
	}
	Rules = object.Kind{
		GroupVersionKind: authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectRulesReview"),
		New:              func() object.Object { return &authorizationv1.SelfSubjectRulesReview{} },
		Versions:         []string{"v1"},
	}
)
