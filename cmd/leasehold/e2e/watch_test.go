package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// follower is a watch on one node that is taken up again from its last version whenever it ends, for whatever reason.
type follower struct {
	c      *cluster
	client *http.Client
	token  string
	node   int

	mu      sync.Mutex // guards what follows
	version string     // of the last event
	names   []string   // in the order of their events
	fault   error      // what may never happen: 410, or an event that is not later than the last
	opened  int        // how often the watch was opened
}

// run follows until stop is closed.
func (f *follower) run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if err := f.follow(stop); err != nil {
			f.mu.Lock()
			f.fault = err
			f.mu.Unlock()
			return
		}
		time.Sleep(20 * time.Millisecond) // the node is restarting
	}
}

// follow opens the watch and reads it to its end. Only what a client cannot recover from is an error.
func (f *follower) follow(stop <-chan struct{}) error {
	url := fmt.Sprintf("https://127.0.0.1:%d%s?watch=true&timeoutSeconds=600&resourceVersion=%s", f.c.port+f.node-1, leasesPath, f.version)
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+f.token)
	response, err := f.client.Do(request)
	if err != nil {
		return nil
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-stop:
		case <-ended:
		}
		response.Body.Close()
	}()
	if response.StatusCode == http.StatusGone {
		return fmt.Errorf("410 at version %s", f.version)
	}
	if response.StatusCode != http.StatusOK {
		return nil
	}
	f.mu.Lock()
	f.opened++
	f.mu.Unlock()
	events := json.NewDecoder(response.Body)
	for {
		var event struct {
			Type   string
			Object struct {
				Metadata struct{ Name, ResourceVersion string }
				Message  string
			}
		}
		if err := events.Decode(&event); err != nil {
			return nil
		}
		if err := f.note(event.Type, event.Object.Metadata.Name, event.Object.Metadata.ResourceVersion); err != nil {
			return fmt.Errorf("%w %s", err, event.Object.Message)
		}
	}
}

func (f *follower) note(kind, name, version string) error {
	if kind != "ADDED" {
		return fmt.Errorf("an event of type %s after version %s", kind, f.version)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last, err := strconv.Atoi(f.version)
	if err != nil {
		return err
	}
	if next, err := strconv.Atoi(version); err != nil || next <= last {
		return fmt.Errorf("version %s after %s", version, f.version)
	}
	f.version = version
	f.names = append(f.names, name)
	return nil
}

func (f *follower) seen() (names []string, opened int, fault error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names, f.opened, f.fault
}

func TestWatchesResumeThroughARollingRestart(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	client := c.client()
	code, body, err := c.ask(client, 1, http.MethodGet, leasesPath, "")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, code, body)
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list))

	stop := make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer close(stop)
	var followers []*follower
	for node := 1; node <= 3; node++ {
		f := &follower{c: c, client: c.client(), token: c.file("admin.token"), node: node, version: list.Metadata.ResourceVersion}
		followers = append(followers, f)
		running.Go(func() { f.run(stop) })
	}

	var created []string
	for k := 1; k <= 3; k++ {
		restarted := make(chan struct{})
		go func() {
			defer close(restarted)
			c.restart(k)
		}()
		for done := false; !done; {
			name := fmt.Sprintf("lease-%06d", len(created))
			code, body, err := c.ask(client, others(k)[0], http.MethodPost, leasesPath, `{"metadata":{"name":"`+name+`"}}`)
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, code, body)
			created = append(created, name)
			select {
			case <-restarted:
				done = true
			default:
			}
		}
	}
	for _, f := range followers {
		require.Eventually(t, func() bool {
			names, _, fault := f.seen()
			return fault != nil || len(names) >= len(created)
		}, patience, 20*time.Millisecond)
		names, opened, fault := f.seen()
		assert.Greater(t, opened, 1, "node-%d: its restart ended the watch", f.node)
		assert.NoError(t, fault, "node-%d", f.node)
		assert.Equal(t, created, names, "node-%d: every change once and in order", f.node)
	}
	t.Logf("%d changes while every node restarted", len(created))
}
