package fsm

import "errors"

// ErrEncoding says that bytes are not commands of a version known here.
var ErrEncoding = errors.New("unknown or damaged command encoding")

// AppendCommand appends one command's encoding to dst. Commands so encoded may be joined into an entry by Entry.
func AppendCommand(dst []byte, command *Command) []byte { return dst }

// DecodeCommand decodes one command and returns what follows it. The result shares memory with data.
func DecodeCommand(data []byte) (command Command, rest []byte, err error) {
	return Command{}, nil, ErrEncoding
}

// EntryHeader begins every log entry: a version byte. After it come encoded commands, one after the other.
const EntryHeader = 1
