package discovery

import (
	"runtime"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/version"
)

// KubernetesVersion is the release of kube-apiserver whose behaviour is served. Clients decide by it what they can use.
const KubernetesVersion = "v1.37.2"

// versionInfo is the document at /version: kube-apiserver's, with this program's own version beside it. It is not made
// part of gitVersion, which clients parse, compare and match against lists of releases.
type versionInfo struct {
	version.Info
	LeaseholdVersion string `json:"leaseholdVersion,omitempty"`
}

func newVersionInfo(own string) versionInfo {
	commit, date, state := build()
	return versionInfo{
		Info: version.Info{
			Major: "1", Minor: "37",
			EmulationMajor: "1", EmulationMinor: "37",
			MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
			GitVersion:   KubernetesVersion,
			GitCommit:    commit,
			GitTreeState: state,
			BuildDate:    date,
			GoVersion:    runtime.Version(),
			Compiler:     runtime.Compiler,
			Platform:     runtime.GOOS + "/" + runtime.GOARCH,
		},
		LeaseholdVersion: own,
	}
}

// build tells which commit this program is of; empty strings if the Go tool did not note it.
func build() (commit, date, state string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", ""
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value
		case "vcs.time":
			date = setting.Value
		case "vcs.modified":
			state = map[string]string{"true": "dirty", "false": "clean"}[setting.Value]
		}
	}
	return commit, date, state
}
