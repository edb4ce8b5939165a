package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/leasehold/leasehold/fsm/seeded"
)

// boltLockTimeout is how long to wait for another process to let the file go; a restart may overlap with the end of the
// former process.
const boltLockTimeout = 3 * time.Second

// unfinishedBolt is the name of a bolt file that is being made. Bolt's creation of a file is not safe against crashes,
// so that a file under its final name is always whole, and one under this name may be thrown away.
const unfinishedBolt = ".new"

// openBolt opens the file that holds log, term and vote, and creates it in a data directory that holds nothing else.
// Snapshot is the newest one, nil for none.
func openBolt(path string, snapshot *raft.SnapshotMeta, logger hclog.Logger) (*boltdb.BoltStore, error) {
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && snapshot != nil:
		return nil, fmt.Errorf("%s is missing although there are snapshots: %w", path, errDamaged)
	case errors.Is(err, fs.ErrNotExist):
		if err := createBolt(path); err != nil {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
	case err != nil:
		return nil, err
	}
	started := time.Now()
	if err := verifyBolt(path, snapshot); err != nil {
		return nil, err
	}
	logger.Debug("verified", "file", path, "took", time.Since(started))
	return open(path)
}

func createBolt(path string) error {
	unfinished := path + unfinishedBolt
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	store, err := open(unfinished)
	if err != nil {
		return err
	}
	if err := errors.Join(store.Sync(), store.Close()); err != nil {
		return err
	}
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// open opens a file that is known to be whole. Bolt panics where it finds otherwise.
func open(path string) (store *boltdb.BoltStore, err error) {
	defer recoverDamage(path, &err)
	store, err = boltdb.New(boltdb.Options{Path: path, BoltOptions: boltOptions(false), NoSync: seeded.NoSync})
	if err != nil {
		return nil, refuse(path, err)
	}
	return store, nil
}

// boltOptions leave the list of free pages out of each commit: halves its time, and costs a scan at start.
func boltOptions(readOnly bool) *bbolt.Options {
	return &bbolt.Options{
		Timeout:        boltLockTimeout,
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		ReadOnly:       readOnly,
	}
}

// verifyBolt reads all of the file that the stores will read, checks every entry of the log, and that it goes on from the
// snapshot without a hole. Bolt itself answers damage by a panic or a fault in a goroutine of its own, which nobody can
// catch; so its first reader is this goroutine.
func verifyBolt(path string, snapshot *raft.SnapshotMeta) (err error) {
	if err := verifyMeta(path); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recoverDamage(path, &err)
	store, err := boltdb.New(boltdb.Options{Path: path, BoltOptions: boltOptions(true)})
	if err != nil {
		return refuse(path, err)
	}
	defer store.Close()
	current, err := store.GetUint64([]byte(keyCurrentTerm))
	if err != nil && !notFound(err) {
		return refuse(path, err)
	}
	voted, _, err := newVoteStore(store).vote()
	if err != nil && !notFound(err) {
		return fmt.Errorf("%s: %w", path, damaged(err))
	}
	if voted > current { // raft stores a term before it votes in it
		return fmt.Errorf("%s: vote in term %d, beyond the current term %d: %w", path, voted, current, errDamaged)
	}
	return verifyLog(path, store, snapshot)
}

func verifyLog(path string, store *boltdb.BoltStore, snapshot *raft.SnapshotMeta) error {
	var base uint64 // the snapshot stands for the entries up to here, of which the log may lack some
	if snapshot != nil {
		base = snapshot.Index
	}
	first, err := store.FirstIndex()
	if err != nil {
		return refuse(path, err)
	}
	last, err := store.LastIndex()
	if err != nil {
		return refuse(path, err)
	}
	if first > base {
		first = base + 1 // or there is a hole
	}
	log := checkedLog{store}
	for index := first; index <= last; index++ {
		err := log.GetLog(index, new(raft.Log))
		if err != nil && !(index <= base && errors.Is(err, raft.ErrLogNotFound)) {
			return fmt.Errorf("%s: entry %d: %w", path, index, damaged(err))
		}
	}
	return nil
}

// verifyMeta checks both of bolt's meta pages. With one of them damaged bolt takes the other in silence, which may be
// the older one: the last transaction, a vote or an acknowledged entry, would be forgotten. (A crash leaves both whole: a
// meta page's content is smaller than a sector.)
func verifyMeta(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	pageSize := int64(os.Getpagesize())
	for page := range int64(2) {
		// A page's header of 16 bytes, then the meta: magic, version, page size, flags (4 bytes each), root bucket (16),
		// freelist, high water mark, transaction (8 each), and the FNV-1a sum of all that.
		var meta [64]byte
		_, err := file.ReadAt(meta[:], page*pageSize+16)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", path, err)
		}
		sum := fnv.New64a()
		_, _ = sum.Write(meta[:56])
		if binary.NativeEndian.Uint32(meta[0:]) != 0xED0CDAED || binary.NativeEndian.Uint64(meta[56:]) != sum.Sum64() {
			return fmt.Errorf("%s: meta page %d: %w", path, page, errDamaged)
		}
		if page == 0 {
			pageSize = int64(binary.NativeEndian.Uint32(meta[8:]))
		}
	}
	return nil
}

// recoverDamage turns bolt's panics and faults into a refusal.
func recoverDamage(path string, err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%s: %v: %w", path, cause, errDamaged)
	}
}

// refuse says why a bolt file cannot be opened.
func refuse(path string, err error) error {
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%s is in use by another process: %w", path, err)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return fmt.Errorf("%s: %w", path, damaged(err))
	}
	return fmt.Errorf("open %s: %w", path, err)
}

// damaged marks err as damage, once.
func damaged(err error) error {
	if errors.Is(err, errDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", err, errDamaged)
}
