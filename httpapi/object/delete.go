package object

//lint:file-ignore SA1019 orphanDependents is deprecated, but clients may still send it.

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Delete tells what a delete of current does: it removes the object (next is nil), or, where finalizers hold it, leaves
// it marked. Next is then a new object; a repeated delete gives one that differs from current in nothing, hence no new
// version. The grace period is of no effect.
func Delete(current Object, options *metav1.DeleteOptions, now time.Time) (next Object) {
	finalizers := finalizersForDelete(current.GetFinalizers(), options)
	if len(finalizers) == 0 {
		return nil
	}
	next = Copy(current)
	meta := Meta(next)
	meta.Finalizers = finalizers
	if meta.DeletionTimestamp == nil && meta.Generation > 0 {
		meta.Generation++
	}
	moment := Moment(now)
	if meta.DeletionTimestamp == nil || meta.DeletionTimestamp.After(moment.Time) {
		meta.DeletionTimestamp = &moment
	}
	meta.DeletionGracePeriodSeconds = new(int64)
	return next
}

// Released tells whether writing next over current completes a deletion: current is marked, and no finalizer is left.
// The write is then a removal, answered with next under the version of current.
func Released(next, current *metav1.ObjectMeta) bool {
	if len(next.Finalizers) > 0 || current.DeletionTimestamp == nil {
		return false
	}
	return current.DeletionGracePeriodSeconds == nil || *current.DeletionGracePeriodSeconds == 0
}

// finalizersForDelete sets or drops the two finalizers of the garbage collector, which stand for the propagation
// policy. A delete that asks for no policy leaves the object under the one it has. If nothing comes or goes the list
// stays as it is, repeated entries and order included.
func finalizersForDelete(current []string, options *metav1.DeleteOptions) []string {
	orphan, foreground := policy(current, options)
	var next []string
	for _, finalizer := range current {
		if finalizer != metav1.FinalizerOrphanDependents && finalizer != metav1.FinalizerDeleteDependents {
			next = append(next, finalizer)
		}
	}
	if orphan {
		next = append(next, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		next = append(next, metav1.FinalizerDeleteDependents)
	}
	if sameSet(current, next) {
		return current
	}
	return next
}

func policy(finalizers []string, options *metav1.DeleteOptions) (orphan, foreground bool) {
	switch {
	case options != nil && options.OrphanDependents != nil:
		return *options.OrphanDependents, false
	case options != nil && options.PropagationPolicy != nil:
		return *options.PropagationPolicy == metav1.DeletePropagationOrphan,
			*options.PropagationPolicy == metav1.DeletePropagationForeground
	}
	for _, finalizer := range finalizers {
		switch finalizer {
		case metav1.FinalizerOrphanDependents:
			return true, false
		case metav1.FinalizerDeleteDependents:
			return false, true
		}
	}
	return false, false
}

func sameSet(a, b []string) bool {
	within := func(list []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(list, s) }
	}
	return !slices.ContainsFunc(a, within(b)) && !slices.ContainsFunc(b, within(a))
}
