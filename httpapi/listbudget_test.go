package httpapi

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListsBeyondTheBudgetAreRefusedUntilOthersAreTaken(t *testing.T) {
	// Of the largest lists there is one at a time.
	d := openDoor(t, func(c *Config) { c.MaxListBytes = 1 })
	padding := strings.Repeat("x", 200<<10)
	for i := range 40 { // more than a connection holds for a client that takes nothing
		body := fmt.Sprintf(`{"metadata":{"name":"l%d","annotations":{"a":%q}}}`, i, padding)
		require.Equal(t, http.StatusCreated, d.do(t, "POST", leasesPath, body).StatusCode)
	}

	stalled := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	r, err := http.NewRequest("GET", d.server.URL+leasesPath, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	r.Header.Set("Accept-Encoding", "identity")
	reading, err := stalled.Do(r)
	require.NoError(t, err)

	refused := d.do(t, "GET", leasesPath, "")
	assert.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	assert.Equal(t, "1", refused.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesPath+"/l1", "").StatusCode, "other requests are no lists")

	reading.Body.Close()
	stalled.CloseIdleConnections()
	require.Eventually(t, func() bool { return d.do(t, "GET", leasesPath, "").StatusCode == http.StatusOK },
		time.Minute, 10*time.Millisecond, "the place of a list whose client has gone is free again")
}
