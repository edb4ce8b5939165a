package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/cluster"
)

func TestExtraPathsAreForAdministratorsAndOneMethod(t *testing.T) {
	asked := 0
	d := openDoor(t, func(c *Config) {
		c.Extra = map[string]Extra{"/ours": {Method: "POST", Answer: func(r *http.Request) (any, error) {
			asked++
			return map[string]string{"to": r.URL.Query().Get("to")}, nil
		}}}
	})
	assert.Equal(t, http.StatusForbidden, d.do(t, "POST", "/ours", "", "Authorization", "Bearer "+userToken).StatusCode)
	assert.Equal(t, http.StatusUnauthorized, d.do(t, "POST", "/ours", "", "Authorization", "").StatusCode)
	assert.Equal(t, http.StatusMethodNotAllowed, d.do(t, "GET", "/ours", "").StatusCode)
	assert.Zero(t, asked)

	got := d.do(t, "POST", "/ours?to=node-2", "")
	assert.Equal(t, http.StatusOK, got.StatusCode)
	assert.Equal(t, "application/json", got.Header.Get("Content-Type"))
	assert.JSONEq(t, `{"to":"node-2"}`, got.body)
}

func TestErrorsOfExtraPathsAreStatuses(t *testing.T) {
	for wanted, err := range map[int]error{
		http.StatusBadRequest:          apierrors.NewBadRequest("no such node"),
		http.StatusServiceUnavailable:  fmt.Errorf("asking: %w", cluster.ErrUnavailable),
		http.StatusGatewayTimeout:      fmt.Errorf("asking: %w", cluster.ErrUnknownOutcome),
		http.StatusInternalServerError: errors.New("something else"),
	} {
		d := openDoor(t, func(c *Config) {
			c.Extra = map[string]Extra{"/ours": {Method: "POST", Answer: func(*http.Request) (any, error) { return nil, err }}}
		})
		got := d.do(t, "POST", "/ours", "")
		var status metav1.Status
		require.NoError(t, json.Unmarshal([]byte(got.body), &status), got.body)
		assert.Equal(t, wanted, got.StatusCode)
		assert.Equal(t, "Status", status.Kind)
		assert.EqualValues(t, wanted, status.Code)
		assert.Equal(t, wanted == http.StatusServiceUnavailable, got.Header.Get("Retry-After") != "")
	}
}
