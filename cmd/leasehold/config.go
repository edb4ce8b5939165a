package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"
)

// Config describes one node. Every field is a flag; the same name, upper-cased with _ for - and LEASEHOLD_ before it,
// is an environment variable, and the name itself is a key of the YAML file. A flag wins over the environment, and
// the environment over the file.
type Config struct {
	// ID names this node in the cluster. It is one of the names in InitialCluster, it is in the peer certificate, and
	// it belongs to the data directory for good.
	ID string
	// DataDir holds the log, the snapshots and the node's incarnation. Nothing else may use it.
	DataDir string

	// Listen is the host:port of the API.
	Listen string
	// AdvertiseURL is where clients reach this node's API, for status output. Default: https:// and Listen.
	AdvertiseURL string
	// TLSCertFile and TLSKeyFile are the API's serving certificate; a changed file is picked up without a restart.
	TLSCertFile string
	TLSKeyFile  string
	// ClientCAFile holds the authorities whose client certificates name a user (CN) and its groups (O). Optional.
	ClientCAFile string
	// TokenAuthFile holds bearer tokens in Kubernetes' CSV form: token,user,uid,"group,group". Optional.
	TokenAuthFile string
	// AnonymousAuth takes a request without credentials for one of the user system:anonymous, who may look at health and
	// version alone and is told 403 elsewhere; without it such a request is told 401.
	AnonymousAuth bool

	// PeerListen is the host:port for the other nodes.
	PeerListen string
	// PeerAdvertise is where the other nodes reach this one. Default: this node's address in InitialCluster.
	PeerAdvertise string
	// InitialCluster maps each member's ID to the host:port of its peer port. The same on every node of a new cluster.
	InitialCluster map[string]string
	// PeerCertFile, PeerKeyFile and PeerCAFile are for mutual TLS between nodes, under an authority of its own.
	PeerCertFile string
	PeerKeyFile  string
	PeerCAFile   string

	// HistoryAge is how long past changes stay available to watches and to lists at an exact version.
	HistoryAge time.Duration
	// HistoryBytes bounds the memory that past changes may take.
	HistoryBytes int64
	// SnapshotBytes is how much log is applied between two snapshots.
	SnapshotBytes int64
	// TrailingBytes is about how much of the log stays after a snapshot. A node that was away for less catches up from
	// the log, one that was away for longer needs the whole snapshot.
	TrailingBytes int64
	// ElectionTimeout is after how long without news of a leader a node stands for election itself, and after how long
	// without a majority a leader resigns: Raft's heartbeat, election and lease timeout alike. Heartbeats go out about ten
	// times as often. Reads are safe whatever it is, and whether or not the nodes agree about it.
	ElectionTimeout time.Duration
	// MaxInFlight bounds the requests being answered at once, watches apart; more get 429.
	MaxInFlight int
	// ShutdownDelay is how long a stopping node goes on serving while it already says that it is not ready, so that
	// balancers take it out first.
	ShutdownDelay time.Duration
	// ShutdownGrace bounds how long a stopping node waits for requests under way and for handing leadership over.
	ShutdownGrace time.Duration

	// FeatureGates switches on what kube-apiserver has behind gates of the same names. See docs/api.md.
	FeatureGates featureGates

	// LenientMicroTime lets clients write the times of a spec with none to nine digits of a second, not six alone.
	LenientMicroTime bool

	// LogLevel is trace, debug, info, warn or error.
	LogLevel string
	// LogFormat is text or json.
	LogFormat string
	// DebugListen is a loopback host:port that serves Go's profiles without authentication. Empty: none.
	DebugListen string
}

// minElectionTimeout leaves time for two syncs of a slow disk between two heartbeats that count.
const minElectionTimeout = 100 * time.Millisecond

// register binds every field to a flag and sets the defaults.
func (c *Config) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.ID, "id", "", "name of this node, one of --initial-cluster")
	flags.StringVar(&c.DataDir, "data-dir", "", "directory for log and snapshots")
	flags.StringVar(&c.Listen, "listen", "127.0.0.1:7443", "host:port of the API")
	flags.StringVar(&c.AdvertiseURL, "advertise-url", "", "URL at which clients reach this node (default https:// and --listen)")
	flags.StringVar(&c.TLSCertFile, "tls-cert-file", "", "serving certificate of the API, PEM")
	flags.StringVar(&c.TLSKeyFile, "tls-private-key-file", "", "key of the serving certificate, PEM")
	flags.StringVar(&c.ClientCAFile, "client-ca-file", "", "authorities of client certificates, PEM")
	flags.StringVar(&c.TokenAuthFile, "token-auth-file", "", `bearer tokens, CSV: token,user,uid,"group,group"`)
	flags.BoolVar(&c.AnonymousAuth, "anonymous-auth", false, "take requests without credentials for those of the user system:anonymous")
	flags.StringVar(&c.PeerListen, "peer-listen", "127.0.0.1:7543", "host:port for the other nodes")
	flags.StringVar(&c.PeerAdvertise, "peer-advertise", "", "host:port at which the other nodes reach this one (default as in --initial-cluster)")
	flags.StringToStringVar(&c.InitialCluster, "initial-cluster", nil, "all first members: id=host:port of the peer port, ...")
	flags.StringVar(&c.PeerCertFile, "peer-cert-file", "", "this node's certificate towards the others, PEM")
	flags.StringVar(&c.PeerKeyFile, "peer-key-file", "", "key of the peer certificate, PEM")
	flags.StringVar(&c.PeerCAFile, "peer-ca-file", "", "authority of the peer certificates, PEM")
	flags.DurationVar(&c.HistoryAge, "history-age", 5*time.Minute, "how long past changes stay available to watches")
	flags.Int64Var(&c.HistoryBytes, "history-bytes", 256<<20, "memory that past changes may take, in bytes")
	flags.Int64Var(&c.SnapshotBytes, "snapshot-bytes", 64<<20, "log between two snapshots, in bytes")
	flags.Int64Var(&c.TrailingBytes, "trailing-bytes", 64<<20, "log that stays after a snapshot for nodes that were away, in bytes")
	flags.DurationVar(&c.ElectionTimeout, "election-timeout", 500*time.Millisecond, "how long a leader may not be heard of before there is an election: heartbeat, election and lease timeout of Raft")
	flags.IntVar(&c.MaxInFlight, "max-in-flight", 2000, "requests answered at once, watches apart")
	flags.DurationVar(&c.ShutdownDelay, "shutdown-delay", 0, "how long to go on serving, not ready, before stopping")
	flags.DurationVar(&c.ShutdownGrace, "shutdown-grace", 20*time.Second, "how long to wait for requests under way when stopping")
	flags.Var(&c.FeatureGates, "feature-gates", "what to serve that kube-apiserver has behind gates: "+strings.Join(knownGates, ", "))
	flags.BoolVar(&c.LenientMicroTime, "lenient-microtime", false, "take times with none to nine digits of a second, as JavaScript, Rust and Python write them, not six alone")
	flags.StringVar(&c.LogLevel, "log-level", "info", "trace, debug, info, warn or error")
	flags.StringVar(&c.LogFormat, "log-format", "text", "text or json")
	flags.StringVar(&c.DebugListen, "debug-listen", "", "loopback host:port for Go's profiles, without authentication")
}

// Validate returns everything that is wrong with the configuration, each fault named by its flag, and fills in what
// is derived from other fields.
func (c *Config) Validate() error {
	var faults []error
	fault := func(flag, format string, args ...any) {
		faults = append(faults, fmt.Errorf("--"+flag+": "+format, args...))
	}
	required := func(flag, value string) {
		if value == "" {
			fault(flag, "is required")
		}
	}
	readable := func(flag, file string) {
		if file == "" {
			return
		}
		if _, err := os.ReadFile(file); err != nil {
			fault(flag, "%w", err)
		}
	}
	address := func(flag, value string) {
		if _, _, err := net.SplitHostPort(value); err != nil {
			fault(flag, "%q is not host:port: %w", value, err)
		}
	}

	required("id", c.ID)
	required("data-dir", c.DataDir)
	address("listen", c.Listen)
	address("peer-listen", c.PeerListen)

	if len(c.InitialCluster) == 0 {
		fault("initial-cluster", "is required")
	} else if _, ok := c.InitialCluster[c.ID]; !ok && c.ID != "" {
		fault("initial-cluster", "does not name this node, %s", c.ID)
	}
	for id, at := range c.InitialCluster {
		if id == "" {
			fault("initial-cluster", "a member has no name")
		}
		address("initial-cluster", at)
	}
	if c.PeerAdvertise == "" {
		c.PeerAdvertise = c.InitialCluster[c.ID]
	} else {
		address("peer-advertise", c.PeerAdvertise)
	}

	if c.AdvertiseURL == "" {
		c.AdvertiseURL = "https://" + c.Listen
	}
	if u, err := url.Parse(c.AdvertiseURL); err != nil || u.Scheme != "https" || u.Host == "" {
		fault("advertise-url", "%q is not an https URL", c.AdvertiseURL)
	}

	for flag, file := range map[string]string{
		"tls-cert-file": c.TLSCertFile, "tls-private-key-file": c.TLSKeyFile,
		"peer-cert-file": c.PeerCertFile, "peer-key-file": c.PeerKeyFile, "peer-ca-file": c.PeerCAFile,
	} {
		required(flag, file)
		readable(flag, file)
	}
	readable("client-ca-file", c.ClientCAFile)
	readable("token-auth-file", c.TokenAuthFile)
	if c.ClientCAFile == "" && c.TokenAuthFile == "" {
		fault("token-auth-file", "without it and without --client-ca-file nobody can be known")
	}

	if c.HistoryAge < 75*time.Second {
		fault("history-age", "%s is less than 75s, what a client may need to come back", c.HistoryAge)
	}
	if c.HistoryBytes < 1<<20 {
		fault("history-bytes", "%d is less than 1 MiB", c.HistoryBytes)
	}
	if c.SnapshotBytes < 64<<10 {
		fault("snapshot-bytes", "%d is less than 64 KiB", c.SnapshotBytes)
	}
	if c.TrailingBytes < 1 {
		fault("trailing-bytes", "%d is not positive", c.TrailingBytes)
	}
	if c.ElectionTimeout < minElectionTimeout {
		fault("election-timeout", "%s is less than %s: a slow disk or a busy processor would cost leaders their leadership", c.ElectionTimeout, minElectionTimeout)
	}
	if c.MaxInFlight < 1 {
		fault("max-in-flight", "%d is not positive", c.MaxInFlight)
	}
	if c.ShutdownDelay < 0 || c.ShutdownGrace < 0 {
		fault("shutdown-grace", "durations cannot be negative")
	}
	if hclog.LevelFromString(c.LogLevel) == hclog.NoLevel {
		fault("log-level", "%q is none of trace, debug, info, warn, error", c.LogLevel)
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		fault("log-format", "%q is neither text nor json", c.LogFormat)
	}
	if c.DebugListen != "" && !isLoopback(c.DebugListen) {
		fault("debug-listen", "%q is not a loopback address: profiles are served without authentication", c.DebugListen)
	}

	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
