package report

import (
	"time"
)

// Run tells what was run, where and how.
type Run struct {
	Name     string    `json:"name"` // of its folder
	Began    time.Time `json:"began"`
	Workload string    `json:"workload"`
	Nemesis  string    `json:"nemesis"`
	Seed     uint64    `json:"seed"`
	Nodes    []string  `json:"nodes,omitempty"`
	// Mode is where the nodes ran: root, userns, proxy, url or sim. Why says why not in a stronger one.
	Mode string `json:"mode"`
	Why  string `json:"why,omitempty"`
	// Command runs it again.
	Command string `json:"command,omitempty"`
	// Bug names the bug that was seeded on purpose, if one was.
	Bug         string      `json:"bug,omitempty"`
	Environment Environment `json:"environment"`
}

// Environment is what else a run depends on.
type Environment struct {
	Commit string `json:"commit,omitempty"`
	// Dirty says that the tree had changes that no commit holds.
	Dirty   bool   `json:"dirty,omitempty"`
	Machine string `json:"machine,omitempty"` // cpu and memory, never a name
	Kernel  string `json:"kernel,omitempty"`
	CPUs    int    `json:"cpus,omitempty"`
	Go      string `json:"go,omitempty"`
	// Binary is the server's path, Versions what it says of itself.
	Binary   string            `json:"binary,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
}
