package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/httpapi/discovery"
)

const (
	// leaseholdVersion is this program's own version.
	leaseholdVersion = "v0.1.0"
	// kubernetesVersion is the release of kube-apiserver whose behaviour is imitated.
	kubernetesVersion = discovery.KubernetesVersion
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this program and of the Kubernetes API that it serves",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout())
		},
	}
}

func printVersion(out io.Writer) error {
	commit := ""
	if revision := buildCommit(); revision != "" {
		commit = "commit " + revision + "\n"
	}
	_, err := fmt.Fprintf(out, "leasehold %s\n%sKubernetes API %s\n%s %s/%s\n",
		leaseholdVersion, commit, kubernetesVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
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
