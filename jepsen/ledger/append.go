package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Append adds an entry at the end of the ledger at path, which is made if it is not there, and returns the entry as it was
// written. Several processes may do so at once. A ledger that is damaged is left as it is.
func Append(path string, e Entry) (Entry, error) {
	e.Time = e.Time.UTC().Truncate(time.Second)
	if err := e.validate(); err != nil {
		return e, fmt.Errorf("append to the ledger: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return e, fmt.Errorf("append to the ledger: %w", err)
	}
	defer file.Close() // and the lock goes with it
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return e, fmt.Errorf("append to the ledger: lock %s: %w", path, err)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return e, fmt.Errorf("append to the ledger: %w", err)
	}
	before := ""
	entries, faults := read(data)
	if len(faults) > 0 {
		return e, fmt.Errorf("nothing was appended to a damaged ledger (%s): %w", path, errors.Join(faults...))
	}
	if n := len(entries); n > 0 {
		before = entries[n-1].Hash
	}
	if e.Hash, err = e.chain(before); err != nil {
		return e, fmt.Errorf("append to the ledger: %w", err)
	}
	line, err := json.Marshal(e)
	if err != nil {
		return e, fmt.Errorf("append to the ledger: %w", err)
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return e, fmt.Errorf("append to the ledger: %w", err)
	}
	return e, file.Sync()
}

// Read returns the entries of the ledger at path. It checks all but the histories.
func Read(path string) ([]Entry, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	entries, faults := read(data)
	if len(faults) > 0 {
		return nil, fmt.Errorf("read the ledger: %w", errors.Join(faults...))
	}
	return entries, nil
}

// mostFaults bounds what is said of one ledger.
const mostFaults = 20

// read reads lines and follows their chain. After a fault it goes on with the hash that stands there, so that each fault is
// told once.
func read(data []byte) (entries []Entry, faults []error) {
	before := ""
	for number := 1; len(data) > 0 && len(faults) < mostFaults; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		if !whole {
			return entries, append(faults, fmt.Errorf("line %d has no end: it was cut short", number))
		}
		e, err := parse(line)
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", number, err))
			continue
		}
		want, err := e.chain(before)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("line %d: %w", number, err))
		case e.Hash != want:
			faults = append(faults, fmt.Errorf("line %d (%s, %s): its hash does not follow from itself and the line before: it was changed, or a line before it was changed, taken out or put in",
				number, e.Time.Format(time.RFC3339), e.Kind))
		}
		before = e.Hash
		entries = append(entries, e)
	}
	return entries, faults
}

// Verified is what Verify could check.
type Verified struct {
	Lines     int
	Histories int // whose hash was compared
	Gone      int // histories that are no longer there
}

// Verify checks form and chain of the ledger at path and, where the folder of a run is still in store, that its history is
// the one that was judged. With store "" histories are not looked for.
func Verify(path, store string) (Verified, error) {
	var v Verified
	data, err := os.ReadFile(path)
	if err != nil {
		return v, fmt.Errorf("verify the ledger: %w", err)
	}
	entries, broken := read(data)
	v.Lines = len(entries)
	if len(broken) > 0 {
		return v, fmt.Errorf("verify the ledger: %w", errors.Join(broken...))
	}
	var faults []error
	for i := range entries {
		e := &entries[i]
		if e.History == "" || store == "" || len(faults) == mostFaults {
			continue
		}
		sum, err := Hash(filepath.Join(store, filepath.Base(e.Run), "history.jsonl"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			v.Gone++
		case err != nil:
			faults = append(faults, fmt.Errorf("line %d: %w", i+1, err))
		case sum != e.History:
			faults = append(faults, fmt.Errorf("line %d: the history of %s is not the one that was judged", i+1, e.Run))
		default:
			v.Histories++
		}
	}
	if len(faults) > 0 {
		return v, fmt.Errorf("verify the ledger: %w", errors.Join(faults...))
	}
	return v, nil
}

// Hash is the SHA-256 of a file, as an Entry's History.
func Hash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("hash %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
