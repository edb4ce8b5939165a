package cluster

import (
	"errors"
	"io"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errDisk = errors.New("input/output error")

// brokenStore fails whatever it is asked.
type brokenStore struct{}

func (brokenStore) FirstIndex() (uint64, error)                            { return 0, errDisk }
func (brokenStore) LastIndex() (uint64, error)                             { return 0, errDisk }
func (brokenStore) GetLog(uint64, *raft.Log) error                         { return errDisk }
func (brokenStore) StoreLog(*raft.Log) error                               { return errDisk }
func (brokenStore) StoreLogs([]*raft.Log) error                            { return errDisk }
func (brokenStore) DeleteRange(uint64, uint64) error                       { return errDisk }
func (brokenStore) Set([]byte, []byte) error                               { return errDisk }
func (brokenStore) Get([]byte) ([]byte, error)                             { return nil, errDisk }
func (brokenStore) SetUint64([]byte, uint64) error                         { return errDisk }
func (brokenStore) GetUint64([]byte) (uint64, error)                       { return 0, errDisk }
func (brokenStore) List() ([]*raft.SnapshotMeta, error)                    { return nil, errDisk }
func (brokenStore) Read([]byte) (int, error)                               { return 0, errDisk }
func (brokenStore) Write([]byte) (int, error)                              { return 0, errDisk }
func (brokenStore) Close() error                                           { return errDisk }
func (brokenStore) Cancel() error                                          { return errDisk }
func (brokenStore) ID() string                                             { return "2-40-1" }
func (brokenStore) Open(string) (*raft.SnapshotMeta, io.ReadCloser, error) { return nil, nil, errDisk }
func (brokenStore) Create(raft.SnapshotVersion, uint64, uint64, raft.Configuration, uint64, raft.Transport) (raft.SnapshotSink, error) {
	return nil, errDisk
}

func TestAnyStoreErrorEndsTheProcess(t *testing.T) {
	var fatal error
	crash := crashOnly{path: "/data", watch: func(string) func() { return func() {} }, fatal: func(err error) { fatal = err }}
	log, stable, snapshots := crashLog{brokenStore{}, crash}, newVoteStore(crashStable{brokenStore{}, crash}), crashSnapshots{brokenStore{}, crash}
	sink, reader := crashSink{brokenStore{}, crash}, crashReader{brokenStore{}, "2-40-1", crash}
	for _, test := range []struct {
		call func()
		want string
	}{
		{func() { log.FirstIndex() }, "read first log index in /data"},
		{func() { log.LastIndex() }, "read last log index in /data"},
		{func() { log.GetLog(1, nil) }, "read log entry in /data"},
		{func() { log.StoreLog(nil) }, "write log entry in /data"},
		{func() { log.StoreLogs(nil) }, "write log entries in /data"},
		{func() { log.DeleteRange(1, 2) }, "delete log entries in /data"},
		{func() { stable.SetUint64([]byte("CurrentTerm"), 1) }, "write CurrentTerm in /data"},
		{func() { stable.GetUint64([]byte("CurrentTerm")) }, "read CurrentTerm in /data"},
		{func() { stable.Set([]byte("x"), nil) }, "write x in /data"},
		{func() { stable.Get([]byte("x")) }, "read x in /data"},
		{func() { stable.SetUint64([]byte(keyVoteTerm), 1); stable.Set([]byte(keyVoteCandidate), nil) }, "write LeaseholdVote in /data"},
		{func() { stable.GetUint64([]byte(keyVoteTerm)) }, "read LeaseholdVote in /data"},
		{func() { snapshots.List() }, "list snapshots in /data"},
		{func() { snapshots.Open("2-40-1") }, "open snapshot 2-40-1 in /data"},
		{func() { snapshots.Create(1, 1, 1, raft.Configuration{}, 1, nil) }, "create snapshot in /data"},
		{func() { sink.Write(nil) }, "write snapshot 2-40-1 in /data"},
		{func() { sink.Close() }, "finish snapshot 2-40-1 in /data"},
		{func() { sink.Cancel() }, "cancel snapshot 2-40-1 in /data"},
		{func() { reader.Read(nil) }, "read snapshot 2-40-1 in /data"},
	} {
		fatal = nil
		wentOn := false
		done := make(chan struct{})
		go func() {
			defer close(done)
			test.call()
			wentOn = true
		}()
		<-done
		require.ErrorIs(t, fatal, errDisk, test.want)
		assert.ErrorContains(t, fatal, test.want+": ")
		assert.False(t, wentOn, test.want)
	}
}

func TestAnAnswerIsNotAStoreError(t *testing.T) {
	store := raft.NewInmemStore()
	guarded, err := guardStores(store, store, raft.NewInmemSnapshotStore(), "memory", nil, func(err error) { t.Error(err) })
	require.NoError(t, err)
	require.ErrorIs(t, guarded.log.GetLog(7, &raft.Log{}), raft.ErrLogNotFound)
	_, err = guarded.stable.Get([]byte("nothing"))
	require.EqualError(t, err, "not found")
}
