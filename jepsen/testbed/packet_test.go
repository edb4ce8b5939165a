package testbed

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// segment is a TCP packet from 10.231.0.1:1000 to 10.231.0.2:2000.
func segment(flags byte, sequence, acknowledged uint32, data string) packet {
	p := make(packet, ipHeader+tcpHeader+len(data))
	p[0], p[9] = 4<<4|ipHeader/4, protoTCP
	copy(p[12:], []byte{10, 231, 0, 1, 10, 231, 0, 2})
	tcp := p[ipHeader:]
	binary.BigEndian.PutUint16(tcp[0:], 1000)
	binary.BigEndian.PutUint16(tcp[2:], 2000)
	binary.BigEndian.PutUint32(tcp[4:], sequence)
	binary.BigEndian.PutUint32(tcp[8:], acknowledged)
	tcp[12], tcp[13] = tcpHeader/4<<4, flags
	copy(tcp[tcpHeader:], data)
	return p
}

func TestPacketsDestination(t *testing.T) {
	to, ok := segment(flagACK, 1, 1, "").destination()
	require.True(t, ok)
	assert.Equal(t, netip.MustParseAddr("10.231.0.2"), to)
	for _, other := range []packet{nil, make(packet, 8), append(packet{6 << 4}, make(packet, 60)...)} {
		_, ok := other.destination()
		assert.False(t, ok)
	}
}

func TestResetIsOfTheFormThatTheSenderBelieves(t *testing.T) {
	for name, c := range map[string]struct {
		in                     packet
		flags                  byte
		sequence, acknowledged uint32
	}{
		"to a first packet": {segment(flagSYN, 7, 0, ""), flagRST | flagACK, 0, 8},
		"to data":           {segment(flagACK, 7, 100, "data"), flagRST, 100, 0},
		"to data unasked":   {segment(0, 7, 0, "data"), flagRST | flagACK, 0, 11},
	} {
		out := c.in.reset()
		require.NotNil(t, out, name)
		assert.Equal(t, []byte{10, 231, 0, 2, 10, 231, 0, 1}, []byte(out[12:20]), name)
		tcp := out[ipHeader:]
		assert.EqualValues(t, 2000, binary.BigEndian.Uint16(tcp[0:]), name)
		assert.EqualValues(t, 1000, binary.BigEndian.Uint16(tcp[2:]), name)
		assert.Equal(t, c.sequence, binary.BigEndian.Uint32(tcp[4:]), name)
		assert.Equal(t, c.acknowledged, binary.BigEndian.Uint32(tcp[8:]), name)
		assert.Equal(t, c.flags, tcp[13], name)
		assert.EqualValues(t, 0xffff, sum(0, out[:ipHeader]), name)
		assert.EqualValues(t, 0xffff, sum(sum(protoTCP+tcpHeader, out[12:20]), tcp), name)
	}
	assert.Nil(t, segment(flagRST, 1, 0, "").reset(), "a reset is never answered")
	assert.Nil(t, segment(flagACK, 1, 1, "")[:ipHeader].reset())
}
