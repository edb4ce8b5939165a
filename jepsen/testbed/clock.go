package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// clockVariable names, to an instrumented server, the file that says by how much its wall clock is off.
const clockVariable = "LEASEHOLD_CLOCK_OFFSET_FILE"

// Clock sets a node's wall clock off, also that of its later lives.
func (t *Testbed) Clock(name string, offset time.Duration) error {
	nodes, err := t.find(name)
	if err == nil {
		err = t.supportsClock()
	}
	if err == nil {
		err = writeWhole(nodes[0].clock(), offset.String()+"\n")
	}
	if err != nil {
		return fmt.Errorf("clock of %s: %w", name, err)
	}
	return nil
}

func (t *Testbed) supportsClock() error {
	if strings.Contains(t.version, "instrumented") {
		return nil
	}
	return fmt.Errorf("only an instrumented server reads its clock where the harness can set it: %w", nemesis.ErrUnsupported)
}

// clockEnvironment is what a node is told of its clock.
func (t *Testbed) clockEnvironment(n *node) []string {
	if t.supportsClock() != nil {
		return nil
	}
	return []string{clockVariable + "=" + n.clock()}
}

func (n *node) clock() string { return filepath.Join(n.dir, "clock") }

// writeWhole replaces a file, so that who reads it sees the one text or the other.
func writeWhole(path, text string) error {
	unfinished := path + ".tmp"
	if err := os.WriteFile(unfinished, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}
