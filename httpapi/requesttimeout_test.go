package httpapi

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openHasty opens a door that answers one request at a time and gives each 200 ms; and one beside it, to the same store, that
// has time.
func openHasty(t *testing.T, h2 bool) (hasty, patient *door) {
	patient = openDoor(t, func(c *Config) { c.MaxInFlight = 1 })
	server := httptest.NewUnstartedServer(nil)
	server.EnableHTTP2 = h2
	server.Config = NewHTTPServer(patient.server.Config.Handler, &tls.Config{}, nil)
	if !h2 {
		server.Config.TLSConfig.NextProtos = []string{"http/1.1"}
	}
	server.Config.WriteTimeout = 200 * time.Millisecond
	server.StartTLS()
	t.Cleanup(server.Close)
	return &door{store: patient.store, server: server, client: server.Client()}, patient
}

// request sends one without reading what comes back.
func (d *door) request(t *testing.T, method, path string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequest(method, d.server.URL+path, body)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	r.Header.Set("Accept-Encoding", "identity")
	return d.client.Do(r)
}

func TestWhoStopsInTheMiddleLosesItsPlace(t *testing.T) {
	for name, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name+" body", func(t *testing.T) {
			d, _ := openHasty(t, h2)
			body, sent := io.Pipe()
			defer sent.Close()
			go func() { // a client of HTTP/1.1 may not look at the answer before it has sent its body
				if response, err := d.request(t, "POST", leasesPath, body); err == nil {
					assert.GreaterOrEqual(t, response.StatusCode, 400)
					response.Body.Close()
				}
			}()
			_, err := sent.Write([]byte(`{"metadata":`))
			require.NoError(t, err)
			d.hasRoom(t)
		})
		t.Run(name+" answer", func(t *testing.T) {
			d, patient := openHasty(t, h2)
			// More than the client and the connection between them hold of what nobody reads.
			for i := range 16 {
				body := `{"metadata":{"name":"` + strconv.Itoa(i) + `"},"spec":{"holderIdentity":"` + strings.Repeat("x", 1<<20) + `"}}`
				require.Equal(t, http.StatusCreated, patient.do(t, "POST", leasesPath, body).StatusCode)
			}
			list, err := d.request(t, "GET", leasesPath, nil)
			require.NoError(t, err)
			defer list.Body.Close()
			require.Equal(t, http.StatusOK, list.StatusCode)
			d.hasRoom(t)
		})
	}
}

// hasRoom waits until the one place is free.
func (d *door) hasRoom(t *testing.T) {
	require.Eventually(t, func() bool {
		response, err := d.request(t, "GET", leasesPath+"?limit=1&labelSelector=none", nil)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, patience, 10*time.Millisecond)
}

func TestAWatchLastsLongerThanARequestMay(t *testing.T) {
	for name, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			d, _ := openHasty(t, h2)
			watch, err := d.request(t, "GET", leasesPath+"?watch=true&timeoutSeconds=1", nil)
			require.NoError(t, err)
			defer watch.Body.Close()
			require.Equal(t, h2, watch.ProtoMajor == 2)
			_, err = io.ReadAll(watch.Body)
			require.NoError(t, err, "it ends at its own time, not cut off")
		})
	}
}
