package media

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/leasehold/leasehold/httpapi/object"
)

// Leases are how objects of the kind Lease are written and read.
var Leases = newCodec(Codec{
	Kind: lease.Kind,
	columns: []metav1.TableColumnDefinition{
		{Name: "Holder", Type: "string", Description: coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]},
	},
	cells:         leaseCells,
	appendSpec:    appendLeaseSpec,
	scanSpec:      scanLeaseSpec,
	transcodeSpec: transcodeLeaseSpec,
})

func leaseCells(o object.Object) []string {
	holder := ""
	if spec := &o.(*coordinationv1.Lease).Spec; spec.HolderIdentity != nil {
		holder = *spec.HolderIdentity
	}
	return []string{holder}
}

func appendLeaseSpec(dst []byte, o object.Object) []byte {
	spec := &o.(*coordinationv1.Lease).Spec
	w := writer{buffer: append(dst, '{')}
	w.present("holderIdentity", spec.HolderIdentity)
	w.number("leaseDurationSeconds", spec.LeaseDurationSeconds)
	w.moment("acquireTime", spec.AcquireTime)
	w.moment("renewTime", spec.RenewTime)
	w.number("leaseTransitions", spec.LeaseTransitions)
	w.present("strategy", (*string)(spec.Strategy))
	w.present("preferredHolder", spec.PreferredHolder)
	return append(w.buffer, '}')
}

func scanLeaseSpec(s *scanner, o object.Object) {
	spec := &o.(*coordinationv1.Lease).Spec
	s.fields(func(name string) int {
		switch name {
		case "holderIdentity":
			spec.HolderIdentity = pointer(s.string())
			return 0
		case "leaseDurationSeconds":
			spec.LeaseDurationSeconds = pointer(int32(s.integer(32)))
			return 1
		case "acquireTime":
			spec.AcquireTime = &metav1.MicroTime{Time: s.moment(6)}
			return 2
		case "renewTime":
			spec.RenewTime = &metav1.MicroTime{Time: s.moment(6)}
			return 3
		case "leaseTransitions":
			spec.LeaseTransitions = pointer(int32(s.integer(32)))
			return 4
		case "strategy":
			spec.Strategy = pointer(coordinationv1.CoordinatedLeaseStrategy(s.string()))
			return 5
		case "preferredHolder":
			spec.PreferredHolder = pointer(s.string())
			return 6
		}
		s.fail()
		return unknown
	})
}

func transcodeLeaseSpec(t *transcoder, data []byte) {
	t.begin()
	fields := walker{rest: data, repeats: noneRepeats}
	for fields.next() {
		switch text := fields.text; fields.number {
		case -1:
			t.present("holderIdentity", text)
		case 2:
			t.number("leaseDurationSeconds", int64(int32(fields.value)))
		case -3:
			t.moment("acquireTime", text, appendMicrosecond)
		case -4:
			t.moment("renewTime", text, appendMicrosecond)
		case 5:
			t.number("leaseTransitions", int64(int32(fields.value)))
		case -6:
			t.present("strategy", text)
		case -7:
			t.present("preferredHolder", text)
		default:
			t.ok = false
		}
	}
	t.ok = t.ok && !fields.bad
	t.end()
}
