package httpapi

import (
	"net/http"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

// Namespaces are implicit: every one that can be named is there, and there is nothing to be done to it. Each can be read,
// for kubectl does so when an object is not found, to tell which of the two is missing. Lists and watches, which tools
// that let people choose one live by, show those that something is in.

// namespace is one namespace.
func (s *server) namespace(q *request, vars map[string]string) {
	q.version, q.key = "v1", fsm.Key{Resource: "namespaces", Namespace: vars["name"], Name: vars["name"]}
	q.readOnly("get", s.getNamespace)
}

// namespaces are all of them.
func (s *server) namespaces(q *request, _ map[string]string) {
	q.version, q.key = "v1", fsm.Key{Resource: "namespaces"}
	if wantsWatch(q.http.URL) {
		q.readOnly("watch", s.watchNamespaces)
	} else {
		q.readOnly("list", s.listNamespaces)
	}
}

// watchNamespacesOnly is a watch whatever the query says, of one or of all.
func (s *server) watchNamespacesOnly(q *request, vars map[string]string) {
	q.version, q.key = "v1", fsm.Key{Resource: "namespaces", Namespace: vars["name"], Name: vars["name"]}
	q.verb, q.answer = "watch", s.watchNamespaces
	if q.http.Method != http.MethodGet {
		q.known, q.answer = false, noSuchMethod
	}
}

// readOnly lets GET be answered, and what would change something be refused with the reason.
func (q *request) readOnly(name string, answer verb) {
	q.verb, q.answer = name, answer
	switch q.http.Method {
	case http.MethodGet:
		return
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		q.answer = changeNamespace
	default:
		q.answer = noSuchMethod
	}
	q.known = false
}

// changeNamespace refuses what kube-apiserver would do.
func changeNamespace(q *request) (*response, error) {
	err := apierrors.NewMethodNotSupported(corev1.Resource(q.key.Resource), q.verb)
	err.ErrStatus.Message += ": namespaces are implicit here, each exists when it is named"
	return nil, err
}

// getNamespace answers one namespace, as of a version like any other object.
func (s *server) getNamespace(q *request) (*response, error) {
	given, revision, err := getVersion(q.query)
	if err != nil {
		return nil, err
	}
	if len(validation.IsDNS1123Label(q.key.Name)) > 0 {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), q.key.Name)
	}
	var state *fsm.State
	if given == "" {
		state, err = s.newest()
	} else {
		state, err = s.notOlder(q.context(), revision)
	}
	if err != nil {
		return nil, err
	}
	namespace := namespaceOf(q.key.Name, state.Revision())
	namespace.TypeMeta = namespaceKind
	return &response{code: http.StatusOK, value: &namespace, columns: &namespaceColumns}, nil
}

// namespaceOf says what kube-apiserver would of a namespace that nothing was done to. Nothing is invented that could
// differ from one node or one day to another: the uid is made of the name, the version is that of the state or the event
// in which the namespace was seen, and when it came to be is not known.
func namespaceOf(name string, revision uint64) corev1.Namespace {
	return corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: namespaceUID(name), ResourceVersion: version(revision),
			Labels: map[string]string{corev1.LabelMetadataName: name},
		},
		Spec:   corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
}

var namespaceKind = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}

// namespaceUID is a UUID by name (RFC 9562, version 5): tools tell objects apart by uid and do badly without.
func namespaceUID(name string) types.UID {
	return types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte("/api/v1/namespaces/"+name)).String())
}

// namespaceColumns are what kube-apiserver shows of a namespace.
var namespaceColumns = media.Columns{
	Definitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]},
		{Name: "Status", Type: "string", Description: "The status of the namespace"},
		{Name: "Age", Type: "string", Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"]},
	},
	Cells: func(o runtime.Object) []any {
		namespace := o.(*corev1.Namespace)
		return []any{namespace.Name, string(namespace.Status.Phase), "<unknown>"}
	},
}
