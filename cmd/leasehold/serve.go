package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm/seeded"
	"github.com/leasehold/leasehold/httpapi"
	"github.com/leasehold/leasehold/httpapi/auth"
)

func serveCommand() *cobra.Command {
	var (
		config           Config
		untilStdinCloses bool
	)
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run one node, configured by flags, environment (LEASEHOLD_*) or a YAML file",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fillFlags(cmd.Flags(), os.LookupEnv); err != nil {
				return err
			}
			if err := config.Validate(); err != nil {
				return fmt.Errorf("bad configuration:\n%w", err)
			}
			ctx := cmd.Context()
			if untilStdinCloses {
				ctx = untilClosed(ctx, os.Stdin)
			}
			return serve(ctx, config, newLogger(cmd.ErrOrStderr(), config.LogLevel, config.LogFormat))
		},
	}
	config.register(command.Flags())
	command.Flags().String("config", "", "YAML file with the other flags' names as keys")
	hiddenUntilStdinCloses(command.Flags(), &untilStdinCloses)
	return command
}

// serve runs a node until ctx ends or something fails, and then stops it in order.
func serve(ctx context.Context, config Config, logger hclog.Logger) error {
	defer runtime.KeepAlive(newBallast(os.LookupEnv))
	// Listen before the node takes part in anything: a port in use is a fault of the configuration.
	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer listener.Close()
	peers, err := net.Listen("tcp", config.PeerListen)
	if err != nil {
		return fmt.Errorf("--peer-listen: %w", err)
	}
	defer peers.Close()
	stopDebug, err := serveDebug(config.DebugListen, logger)
	if err != nil {
		return err
	}
	defer stopDebug()
	api, err := apiTLS(config, logger)
	if err != nil {
		return err
	}
	authenticator, err := newAuthenticator(config)
	if err != nil {
		return err
	}
	directory, err := nodeDirectory(config, peers, logger)
	if err != nil {
		return err
	}

	if seeded.Instrumented {
		logger.Warn("this binary is for the chaos harness only: it can be told to lose data")
	}
	entrance := &doorway{}
	server := httpapi.NewHTTPServer(entrance, api, logger.Named("http"))
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(listener, "", "") }()
	defer server.Close()

	node, err := cluster.OpenDirectory(ctx, directory)
	if err != nil {
		return err
	}
	store := newLeavingStore(node)
	door, err := openDoor(store, node, authenticator, config, logger)
	if err != nil {
		return errors.Join(err, closeNode(node, config.ShutdownGrace))
	}
	entrance.open(door)
	logger.Info("serving", "version", leaseholdVersion, "id", config.ID, "url", config.AdvertiseURL, "peers", config.PeerListen)

	select {
	case <-ctx.Done():
		logger.Info("stopping")
	case err = <-failed:
	}
	return errors.Join(err, stopServing(store, server, node, config, logger))
}

// openDoor is the door as httpapi wants it.
func openDoor(store httpapi.Store, node *cluster.Node, authenticator *auth.Authenticator, config Config, logger hclog.Logger) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(nodeMetrics{node}); err != nil {
		return nil, err
	}
	return httpapi.New(httpapi.Config{
		Authenticator: authenticator,
		Logger:        logger.Named("httpapi"),
		Version:       leaseholdVersion,
		Metrics:       registry,
		MaxInFlight:   config.MaxInFlight,
		Extra: map[string]httpapi.Extra{
			statusPath:   {Method: http.MethodGet, Answer: tellStatus(node, config.AdvertiseURL)},
			transferPath: {Method: http.MethodPost, Answer: transferLeader(node)},
		},

		ShardedListAndWatch: config.FeatureGates.enabled(gateShards),
		CBOR:                config.FeatureGates.enabled(gateCBOR),
		LenientMicroTime:    config.LenientMicroTime,
	}, store)
}

// stopServing is the order of a graceful stop. Each step makes the next one quiet: a node that is not ready gets no new
// work, watches that have ended let the HTTP server drain, and a server that is drained asks nothing of the node any
// more when that hands its leadership over.
func stopServing(store *leavingStore, server *http.Server, node *cluster.Node, config Config, logger hclog.Logger) error {
	store.leave()
	if config.ShutdownDelay > 0 {
		time.Sleep(config.ShutdownDelay)
	}
	ctx, cancel := context.WithTimeout(context.Background(), config.ShutdownGrace)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil { // sends GOAWAY, and waits for what is under way
		logger.Warn("requests under way were cut", "error", err)
		server.Close()
	}
	if err := closeNode(node, config.ShutdownGrace); err != nil {
		return fmt.Errorf("close the node: %w", err)
	}
	logger.Info("stopped")
	return nil
}

func closeNode(node *cluster.Node, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return node.Close(ctx)
}

// nodeDirectory is the node as cluster wants it.
func nodeDirectory(config Config, peers net.Listener, logger hclog.Logger) (cluster.Directory, error) {
	certificate, err := tls.LoadX509KeyPair(config.PeerCertFile, config.PeerKeyFile)
	if err != nil {
		return cluster.Directory{}, fmt.Errorf("--peer-cert-file: %w", err)
	}
	roots, err := readAuthorities(config.PeerCAFile)
	if err != nil {
		return cluster.Directory{}, fmt.Errorf("--peer-ca-file: %w", err)
	}
	return cluster.Directory{
		Config: cluster.Config{
			ID:           config.ID,
			Initial:      config.InitialCluster,
			Dir:          config.DataDir,
			HistoryAge:   config.HistoryAge,
			HistoryBytes: int(config.HistoryBytes),

			SnapshotBytes: config.SnapshotBytes,
			TrailingBytes: config.TrailingBytes,

			ElectionTimeout: config.ElectionTimeout,

			Logger: logger,
			Exit: func(err error) {
				// What disk and memory hold may differ now. Nothing is closed in order: that would write again.
				logger.Error("ending the process at once", "error", err)
				os.Exit(exitFatal)
			},
		},
		Port:        peers,
		Certificate: certificate,
		Roots:       roots,
	}, nil
}

// exitFatal is the exit status after an error that left the node's disk or log in doubt.
const exitFatal = 70

// apiTLS is how clients are spoken to. A client certificate is optional; one that is given must be good.
func apiTLS(config Config, logger hclog.Logger) (*tls.Config, error) {
	serving, err := openCertificates(config.TLSCertFile, config.TLSKeyFile, logger.Named("tls"))
	if err != nil {
		return nil, fmt.Errorf("--tls-cert-file: %w", err)
	}
	api := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: serving.forHandshake}
	if config.ClientCAFile != "" {
		if api.ClientCAs, err = readAuthorities(config.ClientCAFile); err != nil {
			return nil, fmt.Errorf("--client-ca-file: %w", err)
		}
		api.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return api, nil
}

func newAuthenticator(config Config) (*auth.Authenticator, error) {
	if config.TokenAuthFile == "" {
		return auth.New(nil, config.AnonymousAuth), nil
	}
	tokens, err := auth.ReadTokens(config.TokenAuthFile)
	if err != nil {
		return nil, fmt.Errorf("--token-auth-file: %w", err)
	}
	return auth.New(tokens, config.AnonymousAuth), nil
}
