package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordination "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

var renewedAt = time.Date(2026, 5, 4, 3, 2, 1, 987654000, time.UTC)

func TestBothEncodingsSayTheSame(t *testing.T) {
	state := &leaseState{namespace: "ns", name: "lease-1", version: "1234"}

	var fromJSON coordination.Lease
	require.NoError(t, json.Unmarshal(jsonEncoding{}.lease(nil, state, renewedAt), &fromJSON))

	scheme := runtime.NewScheme()
	require.NoError(t, coordination.AddToScheme(scheme))
	object, kind, err := protobuf.NewSerializer(scheme, scheme).Decode(protobufEncoding{}.lease(nil, state, renewedAt), nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "coordination.k8s.io/v1, Kind=Lease", kind.String())
	fromProtobuf := object.(*coordination.Lease)

	assert.Equal(t, fromJSON.ObjectMeta, fromProtobuf.ObjectMeta)
	assert.True(t, fromJSON.Spec.RenewTime.Equal(fromProtobuf.Spec.RenewTime))
	assert.True(t, fromJSON.Spec.RenewTime.Time.Equal(renewedAt))
	assert.True(t, fromJSON.Spec.AcquireTime.Equal(fromProtobuf.Spec.AcquireTime))
	assert.Equal(t, fromJSON.Spec.HolderIdentity, fromProtobuf.Spec.HolderIdentity)
	assert.Equal(t, fromJSON.Spec.LeaseDurationSeconds, fromProtobuf.Spec.LeaseDurationSeconds)
	assert.Equal(t, fromJSON.Spec.LeaseTransitions, fromProtobuf.Spec.LeaseTransitions)
}

func TestVersionIsFoundInAnAnswer(t *testing.T) {
	state := &leaseState{namespace: "ns", name: "lease-1", version: "1234"}
	for _, e := range []encoding{jsonEncoding{}, protobufEncoding{}} {
		version, err := e.version(e.lease(nil, state, renewedAt))
		require.NoError(t, err)
		assert.Equal(t, "1234", version)
		_, err = e.version([]byte("no lease"))
		assert.Error(t, err)
	}
}

func TestCreateHasNoVersion(t *testing.T) {
	body := jsonEncoding{}.lease(nil, &leaseState{namespace: "ns", name: "a"}, renewedAt)
	assert.NotContains(t, string(body), "resourceVersion")
}
