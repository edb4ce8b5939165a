package object_test

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.FixedZone("east", 3600))

// valid is an object with valid metadata, changed.
func valid(change func(*coordinationv1.Lease)) *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u1", ResourceVersion: "7"}}
	if change != nil {
		change(l)
	}
	return l
}
