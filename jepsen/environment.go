package jepsen

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/leasehold/leasehold/jepsen/report"
)

// surroundings tell on what the run depends besides its spec.
func surroundings(binary, version string) report.Environment {
	e := report.Environment{CPUs: runtime.NumCPU(), Go: runtime.Version(), Binary: binary, Machine: machine(), Kernel: kernel()}
	if version != "" {
		e.Versions = map[string]string{"server": version}
	}
	e.Commit, e.Dirty = commit(version)
	return e
}

// commit is that of the server under test by its own account, else the harness's.
func commit(version string) (hash string, dirty bool) {
	for line := range strings.Lines(version) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "commit "); ok {
			hash, local := strings.CutSuffix(rest, " with local changes")
			return hash, local
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				hash = setting.Value
			case "vcs.modified":
				dirty = setting.Value == "true"
			}
		}
	}
	if hash != "" {
		return hash, dirty
	}
	return checkout()
}

// checkout is the commit of the tree that the harness is run in, for binaries that were built without a stamp. What cannot be
// told counts as changed.
func checkout() (hash string, dirty bool) {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", true
	}
	changes, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(out)), err != nil || onlyLedger(string(changes)) != ""
}

// onlyLedger drops the ledger's own files from a list of changed ones: they change with each run.
func onlyLedger(changes string) string {
	var others []string
	for line := range strings.Lines(changes) {
		if !strings.Contains(line, "jepsen/ledger.jsonl") && !strings.Contains(line, "jepsen/LEDGER.md") {
			others = append(others, line)
		}
	}
	return strings.Join(others, "")
}

// machine tells processors and memory, and never a name.
func machine() string {
	memory := ""
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib int64
		if _, err := fmt.Sscanf(string(data), "MemTotal: %d kB", &kib); err == nil {
			memory = fmt.Sprintf(", %d GiB", (kib+(1<<19))>>20)
		}
	}
	return fmt.Sprintf("%d cores%s, %s/%s", runtime.NumCPU(), memory, runtime.GOOS, runtime.GOARCH)
}

// kernel is the kernel's release, "" where it cannot be told.
func kernel() string {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
