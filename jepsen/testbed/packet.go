package testbed

import (
	"encoding/binary"
	"net/netip"
)

// packet is an IPv4 packet as it comes out of an interface.
type packet []byte

const (
	ipHeader  = 20 // without options
	tcpHeader = 20 // likewise
	protoTCP  = 6

	flagFIN = 1 << 0
	flagSYN = 1 << 1
	flagRST = 1 << 2
	flagACK = 1 << 4
)

// destination returns where the packet goes. ok is false for what is no IPv4 packet.
func (p packet) destination() (to netip.Addr, ok bool) {
	if len(p) < ipHeader || p[0]>>4 != 4 {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(p[16:20])), true
}

// reset returns the packet with which the destination would tell the sender that there is no such connection (RFC 9293,
// 3.5.2), or nil if that is not said in answer to such a packet.
func (p packet) reset() packet {
	header := int(p[0]&0xf) * 4
	if p[9] != protoTCP || header < ipHeader || len(p) < header+tcpHeader {
		return nil
	}
	segment := p[header:]
	flags := segment[13]
	if flags&flagRST != 0 {
		return nil
	}
	answer := make(packet, ipHeader+tcpHeader)
	answer[0] = 4<<4 | ipHeader/4
	binary.BigEndian.PutUint16(answer[2:], ipHeader+tcpHeader)
	answer[8], answer[9] = 64, protoTCP
	copy(answer[12:16], p[16:20])
	copy(answer[16:20], p[12:16])
	binary.BigEndian.PutUint16(answer[10:], ^sum(0, answer[:ipHeader]))

	tcp := answer[ipHeader:]
	copy(tcp[0:2], segment[2:4])
	copy(tcp[2:4], segment[0:2])
	tcp[12] = tcpHeader / 4 << 4
	if flags&flagACK != 0 {
		copy(tcp[4:8], segment[8:12]) // the sequence number that the sender expects
		tcp[13] = flagRST
	} else {
		length := len(segment) - int(segment[12]>>4)*4
		for _, flag := range []byte{flagSYN, flagFIN} {
			if flags&flag != 0 {
				length++
			}
		}
		binary.BigEndian.PutUint32(tcp[8:], binary.BigEndian.Uint32(segment[4:8])+uint32(length))
		tcp[13] = flagRST | flagACK
	}
	binary.BigEndian.PutUint16(tcp[16:], ^sum(sum(protoTCP+tcpHeader, answer[12:20]), tcp))
	return answer
}

// sum is the Internet checksum of an even number of bytes before it is inverted (RFC 1071), added to another.
func sum(other uint16, bytes []byte) uint16 {
	total := uint32(other)
	for i := 0; i+1 < len(bytes); i += 2 {
		total += uint32(binary.BigEndian.Uint16(bytes[i:]))
	}
	for total>>16 != 0 {
		total = total&0xffff + total>>16
	}
	return uint16(total)
}
