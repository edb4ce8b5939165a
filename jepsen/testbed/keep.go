package testbed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

var (
	_ nemesis.Keeper = (*Testbed)(nil)
	_ nemesis.Census = (*Testbed)(nil)
)

// Keep copies the files of a node that is down aside, in place of an earlier copy.
func (t *Testbed) Keep(name string) error {
	err := t.whileDown(name, func(n *node) error {
		if err := os.RemoveAll(n.kept()); err != nil {
			return err
		}
		return copyTree(n.kept(), n.data())
	})
	if err != nil {
		return fmt.Errorf("keep the files of %s: %w", name, err)
	}
	return nil
}

// Restore gives a node that is down the files that were kept.
func (t *Testbed) Restore(name string) error {
	err := t.whileDown(name, func(n *node) error {
		if _, err := os.Stat(n.kept()); err != nil {
			return fmt.Errorf("nothing was kept: %w", err)
		}
		if err := empty(n.data()); err != nil {
			return err
		}
		return copyTree(n.data(), n.kept())
	})
	if err != nil {
		return fmt.Errorf("restore the files of %s: %w", name, err)
	}
	return nil
}

func (n *node) kept() string { return filepath.Join(n.dir, "kept") }

// copyTree copies directories and plain files, and has the disk keep them. What is there already is written over.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case entry.Type().IsRegular():
			return copyFile(target, path)
		}
		return nil
	})
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close())
}
