package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// config is what client-go needs for one of the cluster's contexts. Nothing limits its rate, and warnings are not told.
func (c *cluster) config(t *testing.T, context string) *rest.Config {
	t.Helper()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: c.path("kubeconfig")},
		&clientcmd.ConfigOverrides{CurrentContext: context},
	).ClientConfig()
	require.NoError(t, err)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	return config
}

// leases returns the typed client of a namespace, at node k.
func (c *cluster) leases(t *testing.T, k int, namespace string) coordination.LeaseInterface {
	t.Helper()
	return clientset(t, c.config(t, fmt.Sprintf("node-%d", k))).CoordinationV1().Leases(namespace)
}

func clientset(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// newLease is a Lease of one holder.
func newLease(name, holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder},
	}
}

// traffic remembers what a client asked and in which encoding it was answered.
type traffic struct {
	mu    sync.Mutex // guards asked
	asked []exchange
}

type exchange struct {
	request     *http.Request
	code        int
	contentType string
}

// over returns a config whose requests are remembered.
func (tr *traffic) over(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &recorder{tr, next} })
	return config
}

// reads counts the plain lists and gets, and the watches that begin with the present objects.
func (tr *traffic) reads() (lists, watchLists int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, one := range tr.asked {
		query := one.request.URL.Query()
		switch {
		case query.Get("sendInitialEvents") == "true" && query.Get("watch") == "true":
			watchLists++
		case query.Get("watch") == "":
			lists++
		}
	}
	return lists, watchLists
}

// exchanges returns the method of each request and the code of its answer, such as GET 200.
func (tr *traffic) exchanges() []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	var all []string
	for _, one := range tr.asked {
		all = append(all, fmt.Sprint(one.request.Method, " ", one.code))
	}
	return all
}

// contentTypes returns the encodings that answers came in.
func (tr *traffic) contentTypes() map[string]int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	types := map[string]int{}
	for _, one := range tr.asked {
		types[one.contentType]++
	}
	return types
}

type recorder struct {
	*traffic
	next http.RoundTripper
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err == nil {
		r.mu.Lock()
		r.asked = append(r.asked, exchange{request, response.StatusCode, response.Header.Get("Content-Type")})
		r.mu.Unlock()
	}
	return response, err
}
