package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

// kubectl is one version of kubectl that is installed here.
type kubectl struct {
	path  string
	minor int // of version 1
}

func (k kubectl) String() string { return fmt.Sprintf("1.%d", k.minor) }

// kubectls returns $KUBECTL if that is set, or else the kubectl of the PATH and those that lie beside it and tell their
// version in their names, kubectl.1.27 for one; oldest first, one of each version. The test skips where there is none,
// unless LEASEHOLD_E2E_REQUIRE_KUBECTL is set.
func kubectls(t *testing.T) []kubectl {
	t.Helper()
	needKubectl(t)
	paths := []string{kubectlName()}
	if os.Getenv("KUBECTL") == "" {
		first, err := exec.LookPath(paths[0])
		require.NoError(t, err)
		first, err = filepath.EvalSymlinks(first)
		require.NoError(t, err)
		// Where there are several, the first is likely to call one of the others: which, it finds out from the server.
		beside, err := filepath.Glob(filepath.Join(filepath.Dir(first), "kubectl.1.[0-9][0-9]"))
		require.NoError(t, err)
		paths = append(beside, first)
	}
	byVersion := map[int]kubectl{}
	for _, path := range paths {
		if k := askKubectl(t, path); byVersion[k.minor].path == "" {
			byVersion[k.minor] = k
		}
	}
	var all []kubectl
	for _, k := range byVersion {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kubectl) int { return cmp.Compare(a.minor, b.minor) })
	return all
}

func askKubectl(t *testing.T, path string) kubectl {
	t.Helper()
	out, err := exec.Command(path, "version", "--client", "-o", "json").Output()
	require.NoError(t, err, path)
	var told struct {
		ClientVersion struct{ Minor string }
	}
	require.NoError(t, json.Unmarshal(out, &told), path)
	minor, err := strconv.Atoi(strings.TrimRight(told.ClientVersion.Minor, "+")) // vendors add a plus
	require.NoError(t, err, path)
	return kubectl{path, minor}
}

// thorough returns the kubectls that a test runs all of its commands with: all of them if LEASEHOLD_E2E_KUBECTLS is set
// to all, or else the oldest, the newest and the one whose outputs were recorded.
func thorough(all []kubectl) []kubectl {
	if os.Getenv("LEASEHOLD_E2E_KUBECTLS") == "all" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(k kubectl) bool {
		return k != all[0] && k != all[len(all)-1] && k.minor != recordedMinor
	})
}

// kubectlName is the kubectl that a test uses which does not care for its version.
func kubectlName() string { return cmp.Or(os.Getenv("KUBECTL"), "kubectl") }

// needKubectl is called before a cluster is started for nothing.
func needKubectl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(kubectlName()); err == nil {
		return
	}
	if os.Getenv("LEASEHOLD_E2E_REQUIRE_KUBECTL") != "" {
		t.Fatalf("there is no %s, and LEASEHOLD_E2E_REQUIRE_KUBECTL asks for it", kubectlName())
	}
	t.Skip("kubectl is not on the PATH: this test shows nothing here")
}

// turn is one kubectl at one door of a cluster.
type turn struct {
	kubectl
	door    string // leader, follower or balancer
	context string
}

func (t turn) String() string { return t.kubectl.String() + "-" + t.door }

// turns returns as many turns as it takes for each kubectl and for each door to have had one.
func (c *cluster) turns(all []kubectl) []turn {
	c.t.Helper()
	leader, follower := c.leader()
	doors := []turn{
		{door: "follower", context: nodeName(follower)},
		{door: "leader", context: nodeName(leader)},
		{door: "balancer", context: "cluster"},
	}
	var turns []turn
	for i := range max(len(all), len(doors)) {
		one := doors[i%len(doors)]
		one.kubectl = all[i%len(all)]
		turns = append(turns, one)
	}
	return turns
}

// writeKubeconfig writes to a file the cluster's kubeconfig, with a current context and its namespace.
func (c *cluster) writeKubeconfig(path, context, namespace string) error {
	config, err := clientcmd.LoadFromFile(c.path("kubeconfig"))
	if err != nil {
		return err
	}
	config.CurrentContext = context
	config.Contexts[context].Namespace = namespace
	return clientcmd.WriteToFile(*config, path)
}
