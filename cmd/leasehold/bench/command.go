package bench

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/cmd/leasehold/kubeconfig"
)

// echoServerName is the hidden command that a measurement starts as the yardstick.
const echoServerName = "echo-server"

// Command returns leasehold bench.
func Command() *cobra.Command {
	var (
		spec   Spec
		server serverFlags
		output string
	)
	command := &cobra.Command{
		Use:   "bench --mode MODE (--kubeconfig FILE | --url URL ... --token TOKEN)",
		Short: "Measure a server of the coordination API, or the echo yardstick",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			target, err := server.target()
			if err != nil {
				return err
			}
			m, err := Measure(cmd.Context(), target, spec, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if output == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(m)
			}
			if m.Errors > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "first of %d errors: %s\n", m.Errors, m.FirstError)
			}
			return printTable(cmd.OutOrStdout(), []row{{name: spec.Mode, measured: m}}, nil)
		},
	}
	flags := command.Flags()
	flags.StringVar(&spec.Mode, "mode", "renew", "echo, renew, create, get, list or watch")
	flags.BoolVar(&spec.Protobuf, "protobuf", false, "protobuf instead of JSON")
	flags.IntVar(&spec.Workers, "workers", 64, "operations under way at a time")
	flags.IntVar(&spec.Connections, "connections", 0, "connections that the workers share (default one each, up to 256)")
	flags.Float64Var(&spec.Rate, "rate", 0, "operations a second, started at fixed times (default: as fast as they end)")
	flags.DurationVar(&spec.Warmup, "warmup", time.Second, "time not measured at the start")
	flags.DurationVar(&spec.Duration, "duration", 10*time.Second, "time measured")
	flags.IntVar(&spec.Leases, "leases", 1000, "leases to renew, get, list or watch; at least one a worker")
	flags.IntVar(&spec.Watchers, "watchers", 100, "watches, in mode watch")
	flags.StringVarP(&output, "output", "o", "table", "table or json")
	flags.StringVar(&server.kubeconfig, "kubeconfig", "", "reach the nodes by its contexts node-*, or by its current one")
	flags.StringArrayVar(&server.urls, "url", nil, "URL of a node; once for each node")
	flags.StringVar(&server.token, "token", "", "bearer token for --url")
	flags.StringVar(&server.caFile, "ca-file", "", "authority of the servers' certificates for --url, PEM")
	flags.BoolVar(&server.insecure, "insecure-skip-tls-verify", false, "trust any certificate")
	command.AddCommand(suiteCommand(), echoServerCommand())
	return command
}

func suiteCommand() *cobra.Command {
	var suite Suite
	command := &cobra.Command{
		Use:   "suite",
		Short: "Measure rounds of every mode on a development cluster that it starts, and compare with echo",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return suite.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.IntVar(&suite.Rounds, "rounds", 5, "rounds; the table shows medians")
	flags.DurationVar(&suite.Warmup, "warmup", time.Second, "time not measured at the start of each case")
	flags.DurationVar(&suite.Duration, "duration", 10*time.Second, "time measured for each case")
	flags.IntVar(&suite.BasePort, "base-port", 9443, "base port of the cluster")
	flags.BoolVar(&suite.Large, "large", false, "also renew among 100,000 leases")
	return command
}

func echoServerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    echoServerName,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveEcho(os.Stdin, os.Stdout)
		},
	}
}

// serverFlags say which server to measure.
type serverFlags struct {
	kubeconfig, token, caFile string
	urls                      []string
	insecure                  bool
}

func (f serverFlags) target() (Target, error) {
	if f.kubeconfig != "" {
		if len(f.urls) > 0 {
			return Target{}, errors.New("--url and --kubeconfig exclude each other")
		}
		file, err := kubeconfig.Read(f.kubeconfig)
		if err != nil {
			return Target{}, err
		}
		return TargetOf(file)
	}
	target := Target{URLs: f.urls, Token: f.token, TLS: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: f.insecure}}
	if f.caFile != "" {
		data, err := os.ReadFile(f.caFile)
		if err != nil {
			return Target{}, fmt.Errorf("--ca-file: %w", err)
		}
		target.TLS.RootCAs = x509.NewCertPool()
		if !target.TLS.RootCAs.AppendCertsFromPEM(data) {
			return Target{}, fmt.Errorf("--ca-file: %s holds no PEM certificate", f.caFile)
		}
	}
	return target, nil
}
