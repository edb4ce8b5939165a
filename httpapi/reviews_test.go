package httpapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

func TestTypedClientsAskAboutThemselves(t *testing.T) {
	for _, encoding := range []string{asJSON, asProtobuf} {
		t.Run(encoding, func(t *testing.T) {
			d, ctx := openDoor(t), t.Context()
			config := d.clientConfig(encoding)
			config.Impersonate = rest.ImpersonationConfig{UserName: "someone", UID: "7", Groups: []string{"some"}, Extra: map[string][]string{"Acme.com/k": {"v"}}}
			who, err := authenticationclient.NewForConfig(config)
			require.NoError(t, err)
			self, err := who.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.Equal(t, authenticationv1.UserInfo{Username: "someone", UID: "7", Groups: []string{"some", "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{"acme.com/k": {"v"}}}, self.Status.UserInfo)

			may, err := authorizationclient.NewForConfig(config)
			require.NoError(t, err)
			question := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: "coordination.k8s.io", Resource: "leases"}}}
			access, err := may.SelfSubjectAccessReviews().Create(ctx, question, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.False(t, access.Status.Allowed)
			assert.Equal(t, question.Spec, access.Spec)
			_, err = may.SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{}, metav1.CreateOptions{})
			assert.True(t, apierrors.IsInvalid(err), "%v", err)
			rules, err := may.SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
				Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "ns"}}, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.Len(t, rules.Status.ResourceRules, 2)

			mayToo, err := authorizationclient.NewForConfig(d.clientConfig(encoding))
			require.NoError(t, err)
			access, err = mayToo.SelfSubjectAccessReviews().Create(ctx, question, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.True(t, access.Status.Allowed)
		})
	}
}

// What a review says and what happens must not differ.
func TestReviewsTellTheTruth(t *testing.T) {
	d := openDoor(t)
	for _, token := range []string{adminToken, userToken} {
		for _, c := range []struct{ method, path, attributes string }{
			{"GET", leasesPath, `"resourceAttributes":{"verb":"list","group":"coordination.k8s.io","resource":"leases","namespace":"ns"}`},
			{"POST", leasesPath, `"resourceAttributes":{"verb":"create","group":"coordination.k8s.io","resource":"leases","namespace":"ns"}`},
			{"GET", "/api/v1/namespaces", `"resourceAttributes":{"verb":"list","resource":"namespaces"}`},
			{"GET", leasesPath + "/a/status", `"resourceAttributes":{"verb":"get","group":"coordination.k8s.io","resource":"leases","subresource":"status","name":"a","namespace":"ns"}`},
			{"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `"resourceAttributes":{"verb":"create","group":"authentication.k8s.io","resource":"selfsubjectreviews"}`},
			{"GET", "/apis", `"nonResourceAttributes":{"verb":"get","path":"/apis"}`},
			{"GET", "/openapi/v2", `"nonResourceAttributes":{"verb":"get","path":"/openapi/v2"}`},
			{"GET", "/livez", `"nonResourceAttributes":{"verb":"get","path":"/livez"}`},
			{"GET", "/livez/ping", `"nonResourceAttributes":{"verb":"get","path":"/livez/ping"}`},
			{"GET", "/metrics", `"nonResourceAttributes":{"verb":"get","path":"/metrics"}`},
			{"POST", "/version", `"nonResourceAttributes":{"verb":"post","path":"/version"}`},
		} {
			review := d.do(t, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{`+c.attributes+`}}`, "Authorization", "Bearer "+token)
			require.Equal(t, 201, review.StatusCode, review.body)
			got := d.do(t, c.method, c.path, "{}", "Authorization", "Bearer "+token)
			assert.Contains(t, review.body, map[bool]string{true: `"allowed":true`, false: `"allowed":false`}[got.StatusCode != 403], "%s %v", token, c)
		}
	}
}

func TestQuestionOfTooManyRequirementsIsRefused(t *testing.T) {
	d := openDoor(t)
	may, err := authorizationclient.NewForConfig(d.clientConfig(asJSON))
	require.NoError(t, err)
	ask := func(requirements int) error {
		_, err := may.SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				LabelSelector: &authorizationv1.LabelSelectorAttributes{
					Requirements: make([]metav1.LabelSelectorRequirement, requirements)}}}}, metav1.CreateOptions{})
		return err
	}
	assert.True(t, apierrors.IsInvalid(ask(1000)))
	assert.True(t, apierrors.IsRequestEntityTooLargeError(ask(1001)))
}
