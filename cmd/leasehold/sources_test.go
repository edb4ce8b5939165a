package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parse fills a Config as the serve command does.
func parse(t *testing.T, args []string, environment map[string]string, file string) (Config, error) {
	t.Helper()
	var config Config
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.register(flags)
	flags.String("config", "", "")
	if file != "" {
		path := filepath.Join(t.TempDir(), "leasehold.yaml")
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		args = append(args, "--config", path)
	}
	require.NoError(t, flags.Parse(args))
	err := fillFlags(flags, func(name string) (string, bool) {
		value, set := environment[name]
		return value, set
	})
	return config, err
}

func TestFlagWinsOverEnvironmentAndEnvironmentOverFile(t *testing.T) {
	config, err := parse(t,
		[]string{"--id", "from-flag"},
		map[string]string{"LEASEHOLD_ID": "from-env", "LEASEHOLD_DATA_DIR": "from-env"},
		"id: from-file\ndata-dir: from-file\nlisten: 127.0.0.1:1\n")
	require.NoError(t, err)
	assert.Equal(t, "from-flag", config.ID)
	assert.Equal(t, "from-env", config.DataDir)
	assert.Equal(t, "127.0.0.1:1", config.Listen)
	assert.Equal(t, "127.0.0.1:7543", config.PeerListen, "what nobody set keeps its default")
}

func TestFlagGivenItsDefaultStillWins(t *testing.T) {
	config, err := parse(t, []string{"--history-age", "5m"}, map[string]string{"LEASEHOLD_HISTORY_AGE": "9m"}, "")
	require.NoError(t, err)
	assert.Equal(t, 5*time.Minute, config.HistoryAge)
}

func TestFileMayUseMapsListsAndNumbers(t *testing.T) {
	config, err := parse(t, nil, nil, "initial-cluster:\n  n1: 127.0.0.1:1\n  n2: 127.0.0.1:2\nhistory-bytes: 1073741824\nmax-in-flight: 7\n")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"n1": "127.0.0.1:1", "n2": "127.0.0.1:2"}, config.InitialCluster)
	assert.EqualValues(t, 1<<30, config.HistoryBytes)
	assert.Equal(t, 7, config.MaxInFlight)
}

func TestEnvironmentMayNameTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leasehold.yaml")
	require.NoError(t, os.WriteFile(path, []byte("id: n7\n"), 0o600))
	config, err := parse(t, nil, map[string]string{"LEASEHOLD_CONFIG": path}, "")
	require.NoError(t, err)
	assert.Equal(t, "n7", config.ID)
}

func TestBadSourcesSayWhereTheyAre(t *testing.T) {
	_, err := parse(t, nil, map[string]string{"LEASEHOLD_HISTORY_AGE": "soon"}, "")
	assert.ErrorContains(t, err, "LEASEHOLD_HISTORY_AGE")

	_, err = parse(t, nil, nil, "histroy-age: 5m\n")
	assert.ErrorContains(t, err, `unknown key "histroy-age"`)

	_, err = parse(t, nil, nil, "id: a\nid: b\n")
	assert.Error(t, err, "a key given twice")

	_, err = parse(t, []string{"--config", "/does/not/exist"}, nil, "")
	assert.ErrorContains(t, err, "--config")
}

func TestValidateNamesEveryFault(t *testing.T) {
	config, err := parse(t, []string{"--id", "n9", "--initial-cluster", "n1=127.0.0.1:1", "--history-age", "1s", "--election-timeout", "99ms",
		"--log-level", "loud", "--debug-listen", "0.0.0.0:6060", "--listen", "8443"}, nil, "")
	require.NoError(t, err)
	fault := config.Validate()
	for _, part := range []string{
		"--data-dir: is required", "--initial-cluster: does not name this node, n9", "--tls-cert-file: is required",
		"--peer-ca-file: is required", "--token-auth-file: without it", "--history-age: 1s is less", "--election-timeout: 99ms is less", "--log-level",
		"--debug-listen", `--listen: "8443" is not host:port`,
	} {
		assert.ErrorContains(t, fault, part)
	}
}

func TestValidateAcceptsAWholeNodeAndDerivesTheRest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "any.pem")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	config, err := parse(t, []string{"--id", "n1", "--data-dir", t.TempDir(), "--initial-cluster", "n1=127.0.0.1:5",
		"--tls-cert-file", file, "--tls-private-key-file", file, "--client-ca-file", file,
		"--peer-cert-file", file, "--peer-key-file", file, "--peer-ca-file", file}, nil, "")
	require.NoError(t, err)
	require.NoError(t, config.Validate())
	assert.Equal(t, "https://127.0.0.1:7443", config.AdvertiseURL)
	assert.Equal(t, "127.0.0.1:5", config.PeerAdvertise)
}
