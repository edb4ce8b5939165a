package media

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/httpapi/candidate"
	"github.com/leasehold/leasehold/httpapi/object"
)

// Candidates are how objects of the kind LeaseCandidate are written and read in one of its versions.
func Candidates(version string) *Codec {
	return newCodec(Codec{
		Kind: candidate.Kind(version),
		columns: []metav1.TableColumnDefinition{
			{Name: "LeaseName", Type: "string", Description: coordinationv1alpha2.LeaseCandidateSpec{}.SwaggerDoc()["leaseName"]},
			{Name: "BinaryVersion", Type: "string"}, // kube-apiserver looks for these two descriptions where they are not
			{Name: "EmulationVersion", Type: "string"},
		},
		cells:         candidateCells,
		appendSpec:    appendCandidateSpec,
		scanSpec:      scanCandidateSpec,
		transcodeSpec: transcodeCandidateSpec,
	})
}

func candidateCells(o object.Object) []string {
	spec := &o.(*coordinationv1beta1.LeaseCandidate).Spec
	return []string{spec.LeaseName, spec.BinaryVersion, spec.EmulationVersion}
}

func appendCandidateSpec(dst []byte, o object.Object) []byte {
	spec := &o.(*coordinationv1beta1.LeaseCandidate).Spec
	w := writer{buffer: append(dst, '{')}
	w.present("leaseName", &spec.LeaseName)
	w.moment("pingTime", spec.PingTime)
	w.moment("renewTime", spec.RenewTime)
	w.present("binaryVersion", &spec.BinaryVersion)
	w.text("emulationVersion", spec.EmulationVersion)
	w.text("strategy", string(spec.Strategy))
	return append(w.buffer, '}')
}

func scanCandidateSpec(s *scanner, o object.Object) {
	spec := &o.(*coordinationv1beta1.LeaseCandidate).Spec
	s.fields(func(name string) int {
		switch name {
		case "leaseName":
			spec.LeaseName = s.string()
			return 0
		case "pingTime":
			spec.PingTime = &metav1.MicroTime{Time: s.moment(6)}
			return 1
		case "renewTime":
			spec.RenewTime = &metav1.MicroTime{Time: s.moment(6)}
			return 2
		case "binaryVersion":
			spec.BinaryVersion = s.string()
			return 3
		case "emulationVersion":
			spec.EmulationVersion = s.string()
			return 4
		case "strategy":
			spec.Strategy = coordinationv1.CoordinatedLeaseStrategy(s.string())
			return 5
		}
		s.fail()
		return unknown
	})
}

func transcodeCandidateSpec(t *transcoder, data []byte) {
	var named, versioned bool // these two are shown even when they are empty, and Marshal writes them
	t.begin()
	fields := walker{rest: data, repeats: noneRepeats}
	for fields.next() {
		switch text := fields.text; fields.number {
		case -1:
			named = true
			t.present("leaseName", text)
		case -2:
			t.moment("pingTime", text, appendMicrosecond)
		case -3:
			t.moment("renewTime", text, appendMicrosecond)
		case -4:
			versioned = true
			t.present("binaryVersion", text)
		case -5:
			t.string("emulationVersion", text)
		case -6:
			t.string("strategy", text)
		default:
			t.ok = false
		}
	}
	t.ok = t.ok && !fields.bad && named && versioned
	t.end()
}
