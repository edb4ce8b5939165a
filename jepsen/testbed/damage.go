package testbed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// What the server keeps in its data directory.
const (
	logFile       = "raft.db"
	snapshotsDir  = "snapshots"
	snapshotState = "state.bin"
)

// Damage changes the files of a node that is down, in a way that the seed alone decides, and says what it did.
func (t *Testbed) Damage(name string, d nemesis.Damage, seed uint64) (string, error) {
	done := ""
	err := t.whileDown(name, func(n *node) (err error) {
		done, err = damage(n.data(), d, rand.New(rand.NewPCG(seed, 0)))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("damage %s of %s: %w", d, name, err)
	}
	t.logger.Debug("files damaged", "node", name, "damage", done)
	return done, nil
}

// whileDown does something to a node's files, and sees to it that the node is down meanwhile.
func (t *Testbed) whileDown(name string, do func(*node) error) error {
	nodes, err := t.find(name)
	if err != nil {
		return err
	}
	n := nodes[0]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil && n.life.running() {
		return errors.New("the node runs")
	}
	return do(n)
}

func damage(data string, d nemesis.Damage, random *rand.Rand) (string, error) {
	log := filepath.Join(data, logFile)
	switch d {
	case nemesis.FlipBit:
		used, err := usedPages(log)
		if err != nil {
			return "", err
		}
		page := used[random.IntN(len(used))]
		return flipBit(log, page.at, page.size, random)
	case nemesis.Truncate:
		used, err := usedPages(log)
		if err != nil {
			return "", err
		}
		last := used[len(used)-1]
		end := last.at + last.size
		length := end/4 + random.Int64N(end-end/4)
		return fmt.Sprintf("cut %s from %d used bytes to %d", logFile, end, length), os.Truncate(log, length)
	case nemesis.TearLastBit:
		state, err := newestSnapshot(data)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(state)
		if err != nil {
			return "", err
		}
		return flipBit(state, 0, info.Size(), random)
	case nemesis.Wipe:
		return "removed everything", empty(data)
	}
	return "", fmt.Errorf("no such damage is known: %w", nemesis.ErrUnsupported)
}

// extent is a part of a file, in bytes.
type extent struct{ at, size int64 }

// usedPages are the pages of a log's file, but for the first two, that hold something.
func usedPages(log string) ([]extent, error) {
	db, err := bbolt.Open(log, 0o600, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true, Timeout: time.Second})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", logFile, err)
	}
	defer db.Close()
	size := int64(db.Info().PageSize)
	var used []extent
	err = db.View(func(tx *bbolt.Tx) error {
		for id := 2; int64(id)*size < tx.Size(); {
			page, err := tx.Page(id)
			if err != nil || page == nil {
				return err
			}
			if page.Type == "leaf" || page.Type == "branch" {
				used = append(used, extent{int64(id) * size, int64(page.OverflowCount+1) * size})
			}
			id += page.OverflowCount + 1
		}
		return nil
	})
	if err == nil && len(used) == 0 {
		err = errors.New("it holds nothing yet")
	}
	return used, err
}

// flipBit turns one bit within a part of a file, of a byte that is not zero if there is one: there is little harm in what
// nobody reads.
func flipBit(path string, at, size int64, random *rand.Rand) (string, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	part := make([]byte, size)
	n, err := file.ReadAt(part, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if n == 0 {
		return "", fmt.Errorf("%s is empty", path)
	}
	part = part[:n]
	byteAt := random.IntN(n)
	if next := slices.IndexFunc(part[byteAt:], func(b byte) bool { return b != 0 }); next >= 0 {
		byteAt += next
	}
	bit := random.IntN(8)
	part[byteAt] ^= 1 << bit
	if _, err := file.WriteAt(part[byteAt:byteAt+1], at+int64(byteAt)); err != nil {
		return "", err
	}
	return fmt.Sprintf("flipped bit %d of byte %d of %s", bit, at+int64(byteAt), filepath.Base(path)), file.Sync()
}

func newestSnapshot(data string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(data, snapshotsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	newest, when := "", time.Time{}
	for _, entry := range entries {
		state := filepath.Join(data, snapshotsDir, entry.Name(), snapshotState)
		if info, err := os.Stat(state); err == nil && (newest == "" || info.ModTime().After(when)) {
			newest, when = state, info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("there is no snapshot yet: %w", nemesis.ErrUnsupported)
	}
	return newest, nil
}

// empty removes what is in a directory.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var faults []error
	for _, entry := range entries {
		faults = append(faults, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	return errors.Join(faults...)
}
