package httpapi

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/review"
)

// FuzzReviews asks reviews with any body in every encoding. They are answered or refused as the client's fault, and leave
// nothing behind.
func FuzzReviews(f *testing.F) {
	kinds := []object.Kind{review.Subject, review.Access, review.Rules}
	paths := []string{
		"/apis/authentication.k8s.io/v1/selfsubjectreviews",
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
	}
	door := openFuzzed(f)
	for _, body := range []string{
		`{}`, `null`, `[]`, `{"spec":`, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`, `{"metadata":{"name":"x","managedFields":[{}],"ownerReferences":[{},{}]},"status":{"userInfo":{"username":"root"}}}`,
		`{"spec":{"resourceAttributes":{"verb":"*","group":"*","resource":"*","subresource":"status","name":"a","namespace":"ns","version":"v1"}}}`,
		`{"spec":{"nonResourceAttributes":{"path":"/apis/*","verb":"get"}},"status":{"allowed":true,"reason":"x","evaluationError":"y"}}`,
		`{"spec":{"resourceAttributes":{},"nonResourceAttributes":{}}}`,
		`{"spec":{"resourceAttributes":{"fieldSelector":{"rawSelector":"a=b,c!=d"},"labelSelector":{"rawSelector":"a in (b,c),!d"}}}}`,
		`{"spec":{"resourceAttributes":{"fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"Exists"}]},"labelSelector":{"requirements":[{"key":"a/b/c","operator":"What","values":["x"]}]}}}}`,
		`{"kind":"SelfSubjectRulesReview","apiVersion":"authorization.k8s.io/v1","spec":{"namespace":"ns","unknown":1}}`,
	} {
		for which, kind := range kinds {
			for encoding, known := range door.encodings {
				encoded := []byte(body)
				o := kind.New()
				if known.mediaType == asProtobuf {
					if yaml.Unmarshal(encoded, o) != nil {
						continue
					}
					o.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind)
					var err error
					encoded, err = media.Accepted{Encoding: media.Protobuf}.Encode(o)
					require.NoError(f, err)
				} else if text, err := yaml.JSONToYAML(encoded); err == nil && known.mediaType == "application/yaml" {
					encoded = text
				}
				f.Add(uint16(which+len(kinds)*encoding), encoded)
			}
		}
	}
	f.Fuzz(func(t *testing.T, how uint16, body []byte) {
		pick := choice(how)
		path := paths[pick.of(len(paths))]
		encoding := door.encodings[pick.of(len(door.encodings))]
		token := []string{adminToken, userToken}[pick.of(2)]
		query := []string{"", "?fieldValidation=Strict", "?dryRun=All&pretty=true", "?fieldManager=me&fieldValidation=Ignore"}[pick.of(4)]
		before := door.node.State().Revision()
		answer := door.execute(t, call{method: http.MethodPost, target: path + query, body: string(body), header: as(token, "Content-Type", encoding.mediaType)})
		require.Contains(t, []int{http.StatusCreated, http.StatusBadRequest, http.StatusUnprocessableEntity}, answer.code, "%s", answer.body.String())
		require.Equal(t, before, door.node.State().Revision())
	})
}
