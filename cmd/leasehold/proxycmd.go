package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leasehold/leasehold/cmd/leasehold/proxy"
)

func proxyCommand() *cobra.Command {
	var (
		config           proxy.Config
		listen, caFile   string
		level, format    string
		untilStdinCloses bool
	)
	command := &cobra.Command{
		Use:   "proxy --listen HOST:PORT --ca-file FILE --backends HOST:PORT,...",
		Short: "Balance connections over the API ports of the nodes that are ready",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger := newLogger(cmd.ErrOrStderr(), level, format)
			if caFile == "" {
				return errors.New("--ca-file: is required")
			}
			roots, err := readAuthorities(caFile)
			if err != nil {
				return fmt.Errorf("--ca-file: %w", err)
			}
			config.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
			config.Logger = logger.Named("proxy")
			balancer, err := proxy.New(config)
			if err != nil {
				return err
			}
			listener, err := net.Listen("tcp", listen)
			if err != nil {
				return fmt.Errorf("--listen: %w", err)
			}
			ctx := cmd.Context()
			if untilStdinCloses {
				ctx = untilClosed(ctx, os.Stdin)
			}
			logger.Info("balancing", "listen", listener.Addr(), "backends", config.Backends)
			return balancer.Run(ctx, listener)
		},
	}
	flags := command.Flags()
	flags.StringVar(&listen, "listen", "127.0.0.1:7493", "host:port to accept connections on")
	flags.StringSliceVar(&config.Backends, "backends", nil, "host:port of each node's API, ...")
	flags.StringVar(&caFile, "ca-file", "", "authority of the nodes' serving certificates, PEM")
	flags.IntVar(&config.MaxConnections, "max-connections", 10000, "connections carried at once; more wait")
	flags.DurationVar(&config.Interval, "interval", 0, "time between two questions to a node's /readyz (default 500ms)")
	flags.DurationVar(&config.Timeout, "timeout", 0, "how long one question or one attempt to connect may take (default 1s)")
	flags.StringVar(&level, "log-level", "info", "trace, debug, info, warn or error")
	flags.StringVar(&format, "log-format", "text", "text or json")
	hiddenUntilStdinCloses(flags, &untilStdinCloses)
	return command
}

// readAuthorities reads a pool of certificates from a PEM file.
func readAuthorities(file string) (*x509.CertPool, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New(file + " holds no PEM certificate")
	}
	return pool, nil
}

// untilClosed returns a context that ends when file reaches its end: a child whose parent was killed stops too.
func untilClosed(ctx context.Context, file *os.File) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		buffer := make([]byte, 64)
		for {
			if _, err := file.Read(buffer); err != nil {
				return
			}
		}
	}()
	return ctx
}

// untilStdinClosesFlag is for processes that leasehold dev starts.
const untilStdinClosesFlag = "until-stdin-closes"

func hiddenUntilStdinCloses(flags *pflag.FlagSet, value *bool) {
	flags.BoolVar(value, untilStdinClosesFlag, false, "stop when standard input ends, as it does when the parent was killed")
	_ = flags.MarkHidden(untilStdinClosesFlag) // fails only for a flag that does not exist
}
