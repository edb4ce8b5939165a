package fsm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var anyText = rapid.StringN(0, 20, 60)

func anyCommand(t *rapid.T) Command {
	c := Command{Op: rapid.SampledFrom([]Op{
		OpCreate, OpUpdate, OpDelete, OpOpenSession, OpEndSession, OpCompact, OpReady, OpForm,
	}).Draw(t, "op")}
	session := func() SessionID {
		return SessionID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "session"))
	}
	switch c.Op {
	case OpCreate, OpUpdate, OpDelete:
		c.Session = session()
		c.Seq, c.Mark = rapid.Uint64().Draw(t, "seq"), rapid.Uint64().Draw(t, "mark")
		c.Key = Key{anyText.Draw(t, "resource"), anyText.Draw(t, "namespace"), anyText.Draw(t, "name")}
		c.UID = anyText.Draw(t, "uid")
		c.Expect = Expect{Revision: rapid.Uint64().Draw(t, "revision"), UID: anyText.Draw(t, "expected uid")}
		if object := rapid.SliceOf(rapid.Byte()).Draw(t, "object"); len(object) > 0 {
			c.Object = object
		}
	case OpOpenSession:
		c.Session, c.Node = session(), anyText.Draw(t, "node")
	case OpEndSession:
		c.Node = anyText.Draw(t, "node")
	case OpCompact:
		c.Revision, c.HistoryBytes = rapid.Uint64().Draw(t, "revision"), rapid.Uint64().Draw(t, "bytes")
	case OpForm:
		if m := rapid.MapOfN(anyText, anyText, 0, 5).Draw(t, "incarnations"); len(m) > 0 {
			c.Incarnations = m
		}
	}
	return c
}

func TestCommandsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		commands := rapid.SliceOfN(rapid.Custom(anyCommand), 0, 5).Draw(t, "commands")
		var data []byte
		for i := range commands {
			data = AppendCommand(data, &commands[i])
		}
		for i := range commands {
			var decoded Command
			var err error
			decoded, data, err = DecodeCommand(data)
			require.NoError(t, err)
			require.Equal(t, commands[i], decoded)
		}
		require.Empty(t, data)
		for i := range commands {
			one := AppendCommand(nil, &commands[i])
			_, _, err := DecodeCommand(one[:rapid.IntRange(0, len(one)-1).Draw(t, "cut")])
			require.ErrorIs(t, err, ErrEncoding)
		}
	})
}

// TestEncodingIsThatOfVersionOne holds the bytes that are in logs already.
func TestEncodingIsThatOfVersionOne(t *testing.T) {
	session := SessionID{0xab, 15: 0xcd}
	id := "\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xcd"
	for _, c := range []struct {
		command Command
		bytes   string
	}{
		{Command{
			Op: OpUpdate, Session: session, Seq: 300, Mark: 2, Key: Key{"leases", "ns", "x"}, UID: "u", Object: []byte("data"),
			Expect: Expect{Revision: 1001, UID: "v"},
		}, "\x02" + id + "\xac\x02\x02\x06leases\x02ns\x01x\x01u\xe9\x07\x01v\x04data"},
		{Command{Op: OpOpenSession, Session: session, Node: "n1"}, "\x40" + id + "\x02n1"},
		{Command{Op: OpEndSession, Node: "n1"}, "\x41\x02n1"},
		{Command{Op: OpCompact, Revision: 1001, HistoryBytes: 5}, "\x42\xe9\x07\x05"},
		{Command{Op: OpReady}, "\x43"},
		{Command{Op: OpForm, Incarnations: map[string]string{"n2": "j", "n1": "i"}}, "\x44\x02\x02n1\x01i\x02n2\x01j"},
	} {
		require.Equal(t, c.bytes, string(AppendCommand(nil, &c.command)))
	}
	require.Equal(t, 1, EntryHeader)
}

func FuzzDecodeCommand(f *testing.F) {
	for _, command := range []Command{create(1, "x"), {Op: OpOpenSession, Node: "n"}, {Op: OpForm, Incarnations: map[string]string{"a": "b"}}} {
		f.Add(AppendCommand(nil, &command))
	}
	f.Add([]byte{byte(OpForm), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		command, rest, err := DecodeCommand(data)
		if err != nil {
			require.ErrorIs(t, err, ErrEncoding)
			return
		}
		require.Less(t, len(rest), len(data))
		again, rest, err := DecodeCommand(AppendCommand(nil, &command))
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, command, again)
	})
}
