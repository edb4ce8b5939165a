package httpapi

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The attacks are made on a real server over real sockets, by hand: no client library would send such things. After each
// the door must answer others as if nothing had been, and hold nothing of it.

// honest are the headers that an administrator's request of HTTP/1 has.
const honest = "Host: door\r\nAuthorization: Bearer " + adminToken + "\r\n"

// dial opens a TLS connection that speaks a protocol.
func (d *door) dial(t *testing.T, protocol string) *tls.Conn {
	config := d.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos, config.ServerName = []string{protocol}, "example.com"
	connection, err := tls.Dial("tcp", d.server.Listener.Addr().String(), config)
	require.NoError(t, err)
	t.Cleanup(func() { connection.Close() })
	require.NoError(t, connection.SetDeadline(time.Now().Add(time.Minute)))
	return connection
}

// say sends text over a connection of its own and returns the codes of all answers, until the door closes it.
func (d *door) say(t *testing.T, text string) (codes []int, last string) {
	connection := d.dial(t, "http/1.1")
	go func() {
		_, _ = io.WriteString(connection, text) // the door may stop listening before the end
		_ = connection.CloseWrite()
	}()
	reader := bufio.NewReader(connection)
	for {
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			return codes, last
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		codes, last = append(codes, answer.StatusCode), string(body)
		if err != nil {
			return codes, last
		}
	}
}

// isWell sees to it that the door answers others, and that nothing but the named Leases is stored.
func (d *door) isWell(t *testing.T, names ...string) {
	t.Helper()
	assert.Equal(t, http.StatusOK, d.do(t, http.MethodGet, leasesPath, "").StatusCode)
	var stored []string
	for object := range d.store.State().Scan("leases", "", "") {
		stored = append(stored, object.Key.Name)
	}
	assert.Equal(t, names, stored)
}

func TestHeadersWithoutMeasureAreRefused(t *testing.T) {
	d := openDoor(t)
	codes, _ := d.say(t, "GET "+leasesPath+" HTTP/1.1\r\n"+honest+"X-Filler: "+strings.Repeat("x", 2*maxHeader)+"\r\n\r\n")
	assert.Equal(t, []int{http.StatusRequestHeaderFieldsTooLarge}, codes)
	codes, _ = d.say(t, "GET "+leasesPath+"?"+strings.Repeat("x", 2*maxHeader)+" HTTP/1.1\r\n"+honest+"\r\n")
	assert.Equal(t, []int{http.StatusRequestHeaderFieldsTooLarge}, codes)
	codes, _ = d.say(t, "GET "+leasesPath+" HTTP/1.1\r\n"+honest+strings.Repeat("X-Filler: x\r\n", 2*maxHeader/12)+"\r\n")
	assert.Equal(t, []int{http.StatusRequestHeaderFieldsTooLarge}, codes)
	d.isWell(t)
}

func TestChunksWithoutEndAreCutOff(t *testing.T) {
	d := openDoor(t)
	connection := d.dial(t, "http/1.1")
	_, err := io.WriteString(connection, "POST "+leasesPath+" HTTP/1.1\r\n"+honest+"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	require.NoError(t, err)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat(" ", 64<<10))
	sent := 0
	for ; err == nil && sent < 64<<20; sent += 64 << 10 {
		_, err = io.WriteString(connection, chunk)
	}
	assert.Error(t, err, "it took all of %d bytes", sent)
	codes, _ := d.say(t, "POST "+leasesPath+" HTTP/1.1\r\n"+honest+"Transfer-Encoding: chunked\r\n\r\n"+strings.Repeat(chunk, 50))
	assert.Equal(t, []int{http.StatusRequestEntityTooLarge}, codes)
	codes, _ = d.say(t, "POST "+leasesPath+" HTTP/1.1\r\n"+honest+"Transfer-Encoding: chunked\r\n\r\n1;"+strings.Repeat("x", 1<<20)+"\r\n{\r\n0\r\n\r\n")
	assert.Equal(t, []int{http.StatusBadRequest}, codes, "a chunk with an extension without measure")
	d.isWell(t)
}

func TestLengthsThatAreWrongWriteNothing(t *testing.T) {
	const body = `{"metadata":{"name":"a"},"spec":{}}`
	for name, c := range map[string]struct {
		header, body string
		codes        []int
	}{
		"too long":         {"Content-Length: 100\r\n", body, []int{400}},
		"too short":        {"Content-Length: 10\r\n", body, []int{400, 400}},
		"two of them":      {"Content-Length: 10\r\nContent-Length: 35\r\n", body, []int{400}},
		"negative":         {"Content-Length: -1\r\n", body, []int{400}},
		"with a sign":      {"Content-Length: +35\r\n", body, []int{400}},
		"no number":        {"Content-Length: 3e1\r\n", body, []int{400}},
		"beyond all":       {"Content-Length: 99999999999999999999\r\n", body, []int{400}},
		"four gigabytes":   {"Content-Length: 4294967296\r\n", body, []int{413}},
		"chunks that lie":  {"Transfer-Encoding: chunked\r\n", "fffffffffffffff0\r\n" + body, []int{400}},
		"unknown encoding": {"Transfer-Encoding: gzip, chunked\r\n", body, []int{501}},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDoor(t)
			codes, last := d.say(t, "POST "+leasesPath+" HTTP/1.1\r\n"+honest+"Content-Type: application/json\r\n"+c.header+"\r\n"+c.body)
			assert.Equal(t, c.codes, codes, last)
			d.isWell(t)
		})
	}
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	d := openDoor(t)
	var text strings.Builder
	var want []int
	for i := range 500 {
		body := fmt.Sprintf(`{"metadata":{"name":"a%d"},"spec":{}}`, i/2) // each twice
		fmt.Fprintf(&text, "POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", leasesPath, honest, len(body), body)
		want = append(want, http.StatusCreated+i%2*(http.StatusConflict-http.StatusCreated))
	}
	codes, _ := d.say(t, text.String())
	assert.Equal(t, want, codes)
	assert.Equal(t, 250, d.store.State().Len())
}

func TestBodiesWhereNoneBelongMeanNothing(t *testing.T) {
	d := openDoor(t)
	get := "GET " + leasesPath + " HTTP/1.1\r\n" + honest
	smuggled := "DELETE " + leasesPath + " HTTP/1.1\r\n" + honest + "\r\n"
	require.Equal(t, http.StatusCreated, d.do(t, http.MethodPost, leasesPath, `{"metadata":{"name":"a"},"spec":{}}`).StatusCode)
	codes, _ := d.say(t, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", get, len(smuggled), smuggled))
	assert.Equal(t, []int{http.StatusOK}, codes)
	codes, _ = d.say(t, get+"Content-Length: 1073741824\r\n\r\n"+strings.Repeat("x", 1<<20))
	assert.Equal(t, []int{http.StatusOK}, codes, "what is too long to be skipped ends the connection")
	codes, _ = d.say(t, get+"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	assert.Equal(t, []int{http.StatusOK}, codes)
	d.isWell(t, "a")
}

func TestTooManyParametersAreRefused(t *testing.T) {
	d := openDoor(t)
	require.Equal(t, http.StatusCreated, d.do(t, http.MethodPost, leasesPath, `{"metadata":{"name":"a"},"spec":{}}`).StatusCode)
	many := strings.Repeat("&a=b", maxParameters-1)
	assert.Equal(t, http.StatusOK, d.do(t, http.MethodDelete, leasesPath+"?dryRun=All"+many, "").StatusCode)
	for _, query := range []string{"?dryRun=All&x=y", "?labelSelector=none&x=y"} {
		refused := d.do(t, http.MethodDelete, leasesPath+query+many, "")
		assert.Equal(t, http.StatusBadRequest, refused.StatusCode, refused.body)
	}
	d.isWell(t, "a")
}

// TestNobodyBecomesTheAdministratorByTheFormOfAHeader tries what proxies and servers have been known to read differently.
func TestNobodyBecomesTheAdministratorByTheFormOfAHeader(t *testing.T) {
	d := openDoor(t)
	const user = "Host: door\r\nAuthorization: Bearer " + userToken + "\r\n"
	for _, header := range []string{
		"Impersonate-User: admin\r\nImpersonate-Group: system:masters\r\n", "impersonate-user: admin\r\nIMPERSONATE-GROUP: system:masters\r\n",
		"Impersonate_User: admin\r\nImpersonate_Group: system:masters\r\n", "Impersonate-User:\tadmin\r\nImpersonate-Group:system:masters\r\n",
		"X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n", "Authorization: Bearer " + adminToken + "\r\n",
		"Connection: Authorization\r\nImpersonate-Group: system:masters\r\n", "Impersonate-Uid: 1\r\n", "Impersonate-Extra-Groups: system:masters\r\n",
	} {
		codes, last := d.say(t, "GET "+leasesPath+" HTTP/1.1\r\n"+user+header+"\r\n")
		assert.Len(t, codes, 1, header)
		assert.Subset(t, []int{http.StatusForbidden, http.StatusBadRequest}, codes, "%s: %s", header, last)
	}
	for _, header := range []string{
		"Impersonate-User : admin\r\n", "X: y\r\n Impersonate-User: admin\r\n", "Impersonate-User\x00: admin\r\n", "Impersonate-User: a\x00b\r\n", ": x\r\n",
	} {
		codes, _ := d.say(t, "GET "+leasesPath+" HTTP/1.1\r\n"+header+user+"\r\n")
		assert.Subset(t, []int{http.StatusBadRequest, http.StatusForbidden}, codes, header)
		assert.Len(t, codes, 1, header)
	}
	// What comes after the body is no header of the request.
	trailer := "DELETE " + leasesPath + " HTTP/1.1\r\nHost: door\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n0\r\nAuthorization: Bearer " + adminToken + "\r\n\r\n"
	codes, _ := d.say(t, trailer)
	assert.Equal(t, []int{http.StatusUnauthorized}, codes)
	d.isWell(t)
}
