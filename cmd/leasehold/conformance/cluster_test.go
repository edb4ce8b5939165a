package conformance

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/httpapi/conformance"
)

const (
	repository = "../../.."
	nodes      = 3
	// patience is how long a cluster may take to be ready. Machines that run tests are busy.
	patience = time.Minute
)

// build builds the binary under test, once for all tests.
var build = sync.OnceValues(func() (binary string, err error) {
	// What go test has to look at before it repeats a result without running: the binary is built behind its back.
	for _, room := range []string{"cmd", "cluster", "fsm", "httpapi"} {
		if err := filepath.WalkDir(filepath.Join(repository, room), func(string, fs.DirEntry, error) error { return nil }); err != nil {
			return "", err
		}
	}
	binary = filepath.Join(binaryDir, "leasehold")
	command := exec.Command("go", "build", "-o", binary, "./cmd/leasehold")
	command.Dir = repository
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return binary, nil
})

// binaryDir holds the binary while the tests run.
var binaryDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if binaryDir, err = os.MkdirTemp("", "leasehold-conformance-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(binaryDir)
		return m.Run()
	}())
}

// startCluster runs leasehold dev with these flags for its nodes until the end of the test.
func startCluster(t *testing.T, serveFlags ...string) conformance.Server {
	t.Helper()
	binary, err := build()
	require.NoError(t, err)
	dir, port := t.TempDir(), freePorts(t)
	dev := exec.Command(binary, append([]string{"dev", "--dir", dir, "--base-port", strconv.Itoa(port), "--"}, serveFlags...)...)
	said := &sayings{ready: make(chan struct{})}
	dev.Stdout, dev.Stderr = said, said
	require.NoError(t, dev.Start())
	ended := make(chan error, 1)
	go func() { ended <- dev.Wait() }()
	t.Cleanup(func() {
		_ = dev.Process.Signal(os.Interrupt)
		<-ended
	})
	select {
	case <-said.ready:
	case err := <-ended:
		ended <- err
		require.FailNow(t, "dev ended", "%v\n%s", err, said)
	case <-time.After(patience):
		require.FailNow(t, "dev is not ready", said.String())
	}
	server := conformance.Server{
		Token:     read(t, dir, "admin.token"),
		UserToken: read(t, dir, "user.token"),
		TLS:       &tls.Config{RootCAs: x509.NewCertPool()},
	}
	require.True(t, server.TLS.RootCAs.AppendCertsFromPEM([]byte(read(t, dir, "ca.crt"))))
	for node := range nodes {
		server.URLs = append(server.URLs, fmt.Sprintf("https://127.0.0.1:%d", port+node))
	}
	return server
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

// sayings gathers what dev prints.
type sayings struct {
	ready chan struct{} // closed when it has said so

	mu    sync.Mutex // guards what follows
	text  strings.Builder
	isNow bool // ready is closed
}

func (s *sayings) Write(more []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(more)
	if !s.isNow && strings.Contains("\n"+s.text.String(), "\nready") {
		s.isNow = true
		close(s.ready)
	}
	return len(more), nil
}

func (s *sayings) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Ranges of ports to try: below those that the kernel gives to outgoing connections, and apart from those of other tests.
const (
	firstPort = 13000
	portSlot  = 120
	portSlots = 50
)

// nextSlot keeps the tests of this process off each other's ports.
var nextSlot atomic.Int64

// freePorts returns a base port such that all ports that dev uses from there on are free.
func freePorts(t *testing.T) int {
	t.Helper()
	for range portSlots {
		slot := (int64(os.Getpid()) + nextSlot.Add(1)) % portSlots
		if base := firstPort + int(slot)*portSlot; areFree(base) {
			return base
		}
	}
	require.FailNow(t, "no free ports")
	return 0
}

func areFree(base int) bool {
	for _, offset := range []int{0, 1, 2, 50, 100, 101, 102} {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(base+offset)))
		if err != nil {
			return false
		}
		_ = listener.Close()
	}
	return true
}
