package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

const (
	boltFile        = "raft.db"
	snapshotDir     = "snapshots" // raft's file snapshot store insists on the name
	keptSnapshots   = 2
	cachedLogs      = 256 // entries; raft reads each new one once for every follower
	unfinishedSnaps = ".tmp"
)

// errDamaged says that a data directory must not be used any more. A node never starts empty in its place: it would
// have forgotten its votes and its share of acknowledged changes, and a majority could then lose some.
var errDamaged = errors.New("data is damaged or lost; move the data directory away: this member must not return under its ID, and a majority of the others goes on without it")

// stores are where raft keeps its log, its term and vote, and its snapshots.
type stores struct {
	log       raft.LogStore
	stable    raft.StableStore
	snapshots raft.SnapshotStore
	close     func() error
}

// Close closes the files. Raft must have stopped.
func (s *stores) Close() error { return s.close() }

// openStores opens or creates the stores in dir, which must exist. It refuses damaged ones with errDamaged and the name
// of the file. Watch is told of each call of the log and stable store (a *watchdog's method; nil is nobody). Once open,
// a store error is given to fatal, which must end the process.
func openStores(dir string, watch func(operation string) (done func()), fatal func(error), logger hclog.Logger) (*stores, error) {
	if err := removeUnfinishedSnapshots(dir); err != nil {
		return nil, err
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, logger.Named("snapshot"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, snapshotDir), err)
	}
	newest, err := newestSnapshot(dir, snapshots)
	if err != nil {
		return nil, err
	}
	bolt, err := openBolt(filepath.Join(dir, boltFile), newest, logger)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(syncDir(dir), syncDir(filepath.Dir(filepath.Clean(dir)))); err != nil {
		return nil, errors.Join(fmt.Errorf("sync %s: %w", dir, err), bolt.Close())
	}
	s, err := guardStores(checkedLog{bolt}, bolt, snapshots, dir, watch, fatal)
	if err != nil {
		return nil, errors.Join(err, bolt.Close())
	}
	s.close = bolt.Close
	return s, nil
}

// guardStores puts the guards before any stores: errors are fatal, calls are watched, a vote is one value, the log
// follows an installed snapshot.
func guardStores(log raft.LogStore, stable raft.StableStore, snapshots raft.SnapshotStore, path string,
	watch func(operation string) (done func()), fatal func(error)) (*stores, error) {
	if watch == nil {
		watch = func(string) func() { return func() {} }
	}
	crash := crashOnly{path: path, watch: watch, fatal: fatal}
	cached, err := raft.NewLogCache(cachedLogs, crashLog{log, crash})
	if err != nil {
		return nil, err
	}
	aligned := alignedSnapshots{crashSnapshots{snapshots, crash}, cached}
	if err := aligned.alignNewest(); err != nil {
		return nil, err
	}
	return &stores{
		log:       cached,
		stable:    newVoteStore(crashStable{stable, crash}),
		snapshots: aligned,
		close:     func() error { return nil },
	}, nil
}

// removeUnfinishedSnapshots removes what a crash during a snapshot left; raft ignores it for ever.
func removeUnfinishedSnapshots(dir string) error {
	names, err := snapshotNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, unfinishedSnaps) {
			if err := os.RemoveAll(filepath.Join(dir, snapshotDir, name)); err != nil {
				return fmt.Errorf("remove unfinished snapshot: %w", err)
			}
		}
	}
	return nil
}

// newestSnapshot returns the newest snapshot, nil if there is none. A snapshot that raft would pass over in silence,
// because its description cannot be read, is damage.
func newestSnapshot(dir string, snapshots *raft.FileSnapshotStore) (*raft.SnapshotMeta, error) {
	listed, err := snapshots.List()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", filepath.Join(dir, snapshotDir), err)
	}
	known := make(map[string]bool)
	for _, meta := range listed {
		known[meta.ID] = true
	}
	names, err := snapshotNames(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if known[name] {
			continue
		}
		_, data, err := snapshots.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, snapshotDir, name), damaged(err))
		}
		_ = data.Close() // one more than is kept: the crash came before its removal
	}
	if len(listed) == 0 {
		return nil, nil
	}
	return listed[0], nil
}

func snapshotNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, snapshotDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
