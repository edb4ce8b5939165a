package cluster

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

// errChecksum says that a log entry is not what was written.
var errChecksum = fmt.Errorf("checksum does not match: %w", errDamaged)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkedLog gives each stored entry a checksum, in the field that raft leaves to middleware. Bolt guards its structure
// but not the data: a flipped bit in an entry would be applied by one node alone.
type checkedLog struct {
	raft.LogStore
}

func (l checkedLog) StoreLog(log *raft.Log) error { return l.StoreLogs([]*raft.Log{log}) }

func (l checkedLog) StoreLogs(logs []*raft.Log) error {
	// Raft still reads the entries it gave, so the checksums go into copies.
	checked := make([]raft.Log, len(logs))
	pointers := make([]*raft.Log, len(logs))
	for i, log := range logs {
		checked[i] = *log
		checked[i].Extensions = binary.BigEndian.AppendUint32(nil, checksum(log))
		pointers[i] = &checked[i]
	}
	return l.LogStore.StoreLogs(pointers)
}

func (l checkedLog) GetLog(index uint64, log *raft.Log) error {
	if err := l.LogStore.GetLog(index, log); err != nil {
		return err
	}
	if log.Index != index || len(log.Extensions) != 4 || binary.BigEndian.Uint32(log.Extensions) != checksum(log) {
		return errChecksum
	}
	log.Extensions = nil
	return nil
}

// checksum covers all that raft and the machine use of an entry.
func checksum(log *raft.Log) uint32 {
	var head [17]byte
	binary.BigEndian.PutUint64(head[0:], log.Index)
	binary.BigEndian.PutUint64(head[8:], log.Term)
	head[16] = byte(log.Type)
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, log.Data)
}
