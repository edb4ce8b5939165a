package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/fsm/seeded"
	"github.com/leasehold/leasehold/httpapi/discovery"
)

const (
	// leaseholdVersion is this program's own version.
	leaseholdVersion = "v0.1.0"
	// kubernetesVersion is the release of kube-apiserver whose behaviour is imitated.
	kubernetesVersion = discovery.KubernetesVersion
)

func versionCommand() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "version [-o json]",
		Short: "Print the versions of this program and of the Kubernetes API that it serves",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("--output: %q is neither text nor json", output)
			}
			return printVersion(cmd.OutOrStdout(), thisBuild(), output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return command
}

// build is what a binary tells of itself.
type build struct {
	Version      string `json:"version"`
	Commit       string `json:"commit,omitempty"`
	Kubernetes   string `json:"kubernetes"`
	Go           string `json:"go"`
	Platform     string `json:"platform"`
	Instrumented bool   `json:"instrumented,omitempty"` // for the chaos harness: never to be trusted with data
}

func thisBuild() build {
	return build{
		Version:      leaseholdVersion,
		Commit:       buildCommit(),
		Kubernetes:   kubernetesVersion,
		Go:           runtime.Version(),
		Platform:     runtime.GOOS + "/" + runtime.GOARCH,
		Instrumented: seeded.Instrumented,
	}
}

func printVersion(out io.Writer, b build, output string) error {
	if output == "json" {
		return json.NewEncoder(out).Encode(b)
	}
	lines := []string{"leasehold " + b.Version}
	if b.Commit != "" {
		lines = append(lines, "commit "+b.Commit)
	}
	if b.Instrumented {
		lines = append(lines, "instrumented: for the chaos harness only")
	}
	lines = append(lines, "Kubernetes API "+b.Kubernetes, b.Go+" "+b.Platform)
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// buildCommit returns the commit that the Go tool stamped into the binary, or "" when it stamped none.
func buildCommit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit := ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value + commit
		case setting.Key == "vcs.modified" && setting.Value == "true":
			commit += " with local changes"
		}
	}
	return commit
}
