package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	diskProbeFile  = "probe.tmp"
	diskProbeBytes = 1 << 20 // a start needs room for more than one block: bolt grows its file in steps
	diskProbePause = time.Second
)

// waitForDisk returns once dir takes a write, syncs and forgets it again. Until then it reports why it does not: each
// reason once, and nil at the end. Raft panics on a full disk as soon as it votes; a node that waits here instead tells
// its operator what it lacks.
func waitForDisk(ctx context.Context, dir string, report func(reason error)) error {
	return waitForProbe(ctx, func() error { return probeDisk(dir) }, report)
}

func waitForProbe(ctx context.Context, probe func() error, report func(reason error)) error {
	reported := ""
	tell := func(reason error) {
		if reason.Error() != reported {
			reported = reason.Error()
			report(reason)
		}
	}
	for {
		// A probe of a disk that hangs cannot be given up; it is waited for as long as we may.
		result := make(chan error, 1)
		go func() { result <- probe() }()
		err := errors.New("disk hangs: a write and sync has not returned")
		select {
		case err = <-result:
		case <-time.After(diskProbePause):
			tell(err)
			select {
			case err = <-result:
			case <-ctx.Done():
				return fmt.Errorf("%w: %w", ctx.Err(), err)
			}
		}
		if err == nil {
			if reported != "" {
				report(nil)
			}
			return nil
		}
		tell(err)
		select {
		case <-time.After(diskProbePause):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// probeDisk does once what the stores will do: create, write, sync, remove, and sync the directory.
func probeDisk(dir string) error {
	path := filepath.Join(dir, diskProbeFile)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, diskProbeBytes))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(path), syncDir(dir))
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
