package object

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PrepareCreate overwrites the fields that a client may send but the server decides: uid, creationTimestamp, the
// deletion marks and selfLink. A generation that was sent is kept, as kube-apiserver keeps it. If there is no name but
// a generateName, the name is made here. Times are whole seconds, as metav1.Time is written.
func PrepareCreate(next *metav1.ObjectMeta, now time.Time, uid types.UID) {
	WipeSystemFields(next)
	next.CreationTimestamp = Moment(now)
	next.UID = uid
	if next.Name == "" && next.GenerateName != "" {
		next.Name = GenerateName(next.GenerateName)
	}
}

// WipeSystemFields drops what no client decides about an object that is yet to be created. A client's uid must be
// looked at before: an update that carries one and finds no object is a conflict.
func WipeSystemFields(next *metav1.ObjectMeta) {
	next.UID = ""
	next.CreationTimestamp = metav1.Time{}
	next.DeletionTimestamp = nil
	next.DeletionGracePeriodSeconds = nil
	next.SetSelfLink("")
}

// PrepareUpdate quietly takes from current what an update cannot change: generation, creationTimestamp and, once they
// are set, the deletion marks. A missing uid is filled in. What differs after this in uid or deletionTimestamp was
// meant, and validation refuses it.
func PrepareUpdate(next, current *metav1.ObjectMeta) {
	next.SetSelfLink("")
	next.Generation = current.Generation
	next.CreationTimestamp = current.CreationTimestamp
	if next.UID == "" {
		next.UID = current.UID
	}
	if !current.DeletionTimestamp.IsZero() {
		next.DeletionTimestamp = current.DeletionTimestamp.DeepCopy()
	}
	if current.DeletionGracePeriodSeconds != nil && next.DeletionGracePeriodSeconds == nil {
		seconds := *current.DeletionGracePeriodSeconds
		next.DeletionGracePeriodSeconds = &seconds
	}
}

// Moment is now as the server writes times into metadata: UTC, whole seconds.
func Moment(now time.Time) metav1.Time {
	return metav1.NewTime(now.UTC().Truncate(time.Second))
}
