package httpapi

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/leasehold/leasehold/fsm"
)

// namespace is one namespace. Namespaces are implicit: every one that can be named is there, and there is nothing to be
// done to it. It can be read because kubectl does so when a Lease is not found, to tell which of the two is missing.
func (s *server) namespace(q *request, vars map[string]string) {
	q.version, q.key = "v1", fsm.Key{Resource: "namespaces", Namespace: vars["name"], Name: vars["name"]}
	q.verb, q.answer = "get", namespaceOf
	if q.http.Method != http.MethodGet {
		q.known, q.answer = false, noSuchMethod
	}
}

// namespaceOf says what kube-apiserver would of a namespace that nothing was done to.
func namespaceOf(q *request) (*response, error) {
	if len(validation.IsDNS1123Label(q.key.Name)) > 0 {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), q.key.Name)
	}
	return &response{code: http.StatusOK, value: &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: q.key.Name, Labels: map[string]string{corev1.LabelMetadataName: q.key.Name}},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}}, nil
}
