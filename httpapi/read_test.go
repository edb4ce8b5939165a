package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

// ask sends a request straight to a handler.
func ask(t testing.TB, handler http.Handler, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil).WithContext(t.Context())
	r.Header.Set("Authorization", "Bearer "+adminToken)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, r)
	return answer
}

func TestAVersionToComeIsWaitedForALittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newOneNode(t)
		s := newServer(t, store)
		now := store.change(t, fsm.OpCreate, "ns", "a", nil)
		for _, query := range []string{"/a?resourceVersion=", "?resourceVersion=", "?resourceVersionMatch=Exact&resourceVersion=", "?limit=2&resourceVersion="} {
			begin := time.Now()
			answer := ask(t, s, leasesPath+query+version(now+1))
			assert.Equal(t, 504, answer.Code, query)
			assert.Contains(t, answer.Body.String(), `"reason":"ResourceVersionTooLarge"`)
			assert.Equal(t, "1", answer.Header().Get("Retry-After"))
			assert.Equal(t, versionWait, time.Since(begin), query)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			assert.Equal(t, 200, ask(t, s, leasesPath+"/a?resourceVersion="+version(now+1)).Code)
		}()
		time.Sleep(versionWait / 2)
		store.change(t, fsm.OpUpdate, "ns", "a", nil)
		<-done
		time.Sleep(s.config.Deadline) // shared contexts outlast their requests
	})
}

// A page's version may be forgotten before the next page is asked for; the error then tells how to go on.
func TestAPageOfAForgottenVersionGoesOnAtTheNewest(t *testing.T) {
	d := openDoor(t)
	for _, name := range []string{"a", "b", "c"} {
		d.store.change(t, fsm.OpCreate, "ns", name, nil)
	}
	token := func(a answer) string {
		var list struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &list))
		require.NotEmpty(t, list.Metadata.Continue, a.body)
		return list.Metadata.Continue
	}
	page := d.do(t, "GET", leasesPath+"?limit=1", "")
	require.Equal(t, 200, page.StatusCode)
	revision := d.store.change(t, fsm.OpCreate, "ns", "d", nil)
	_, err := d.store.Propose(t.Context(), fsm.Command{Op: fsm.OpCompact, Revision: revision})
	require.NoError(t, err)

	gone := d.do(t, "GET", leasesPath+"?limit=1&continue="+token(page), "")
	require.Equal(t, 410, gone.StatusCode, gone.body)
	assert.Contains(t, gone.body, `"reason":"Expired"`)
	rest := d.do(t, "GET", leasesPath+"?continue="+token(gone), "")
	require.Equal(t, 200, rest.StatusCode, rest.body)
	for _, name := range []string{"b", "c", "d"} {
		assert.Contains(t, rest.body, `"name":"`+name+`"`)
	}
	assert.NotContains(t, rest.body, `"name":"a"`)
}

func TestContinueTokensHoldNoMoreThanTheyMay(t *testing.T) {
	after, revision, err := parseContinue(continueAfter("ns/a", "ns", 7), "ns")
	require.NoError(t, err)
	assert.Equal(t, "ns/a", after)
	assert.EqualValues(t, 7, revision)
	after, _, err = parseContinue(continueAfter("ns/a", "", 7), "")
	require.NoError(t, err)
	assert.Equal(t, "ns/a", after)
	for _, token := range []string{"", "nonsense", "e30", continueAfter("../other/a", "ns", 7), continueAfter("a", "ns", 0)} {
		_, _, err := parseContinue(token, "ns")
		assert.Error(t, err, token)
	}
	_, revision, err = parseContinue(continueAfter("a", "ns", -2), "ns")
	require.NoError(t, err)
	assert.EqualValues(t, continueNewest, revision, "any negative one is the newest")
}

func TestRenderingsAreBounded(t *testing.T) {
	store := newOneNode(t)
	r := &renderings{limit: 3000}
	for i := range 100 {
		store.change(t, fsm.OpCreate, "ns", version(uint64(i)), nil)
	}
	for range 3 {
		for object := range store.State().Scan("leases", "", "") {
			rendered, err := r.of(ofLeases, object)
			require.NoError(t, err)
			assert.Contains(t, string(rendered.JSON()), `"name":"`+object.Key.Name+`"`)
			assert.LessOrEqual(t, r.bytes, r.limit)
		}
	}
	held := 0
	for object := range store.State().Scan("leases", "", "") {
		if kept := object.Rendering(func() any { return new(rendering) }).(*rendering).json.Load(); kept != nil {
			held += len(kept.JSON())
		}
	}
	assert.Equal(t, r.bytes, held)
	assert.NotZero(t, held)
}

func TestLargeAnswersOfWritesAreCompressedToo(t *testing.T) {
	d := openDoor(t)
	d.client.Transport.(*http.Transport).DisableCompression = true
	body := `{"metadata":{"name":"a"},"spec":{"holderIdentity":"` + strings.Repeat("h", media.MaxPlain) + `"}}`
	made := d.do(t, "POST", leasesPath, body, "Accept-Encoding", "gzip")
	require.Equal(t, 201, made.StatusCode)
	assert.Equal(t, "gzip", made.Header.Get("Content-Encoding"))
	plain := d.do(t, "GET", leasesPath+"/a", "", "Accept-Encoding", "gzip;q=0")
	assert.Empty(t, plain.Header.Get("Content-Encoding"))
}

func TestLargeListsAreCompressedForThoseWhoTakeIt(t *testing.T) {
	d := openDoor(t)
	d.client.Transport.(*http.Transport).DisableCompression = true
	for i := range 2000 {
		d.store.change(t, fsm.OpCreate, "ns", version(uint64(i)), map[string]string{"label": "value"})
	}
	plain := d.do(t, "GET", leasesPath, "")
	assert.Empty(t, plain.Header.Get("Content-Encoding"))
	packed := d.do(t, "GET", leasesPath, "", "Accept-Encoding", "gzip")
	assert.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	assert.Equal(t, "Accept-Encoding", packed.Header.Get("Vary"))
	assert.Less(t, len(packed.body), len(plain.body)/2)
	small := d.do(t, "GET", leasesPath+"/1", "", "Accept-Encoding", "gzip")
	assert.Empty(t, small.Header.Get("Content-Encoding"))
}
