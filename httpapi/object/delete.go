package object

//lint:file-ignore SA1019 orphanDependents is deprecated, but clients may still send it.

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Delete tells what a delete of current does. Without finalizers it removes the object, and there is no more to tell: both
// results are nil. Else shown is the object marked as deleted, with the finalizers that it is answered with, and kept is what
// stays in the store.
//
// The two finalizers of the garbage collector are shown and not kept: nothing depends on what is stored here, so what they
// wait for is done already. An object that nothing else holds is removed (kept is nil), and shown is its last state.
//
// A repeated delete keeps what differs from current in nothing, hence no new version. The grace period is of no effect.
func Delete(current Object, options *metav1.DeleteOptions, now time.Time) (shown, kept Object) {
	finalizers := finalizersForDelete(current.GetFinalizers(), options)
	if len(finalizers) == 0 {
		return nil, nil
	}
	shown = Copy(current)
	meta := Meta(shown)
	meta.Finalizers = finalizers
	if meta.DeletionTimestamp == nil && meta.Generation > 0 {
		meta.Generation++
	}
	moment := Moment(now)
	if meta.DeletionTimestamp == nil || meta.DeletionTimestamp.After(moment.Time) {
		meta.DeletionTimestamp = &moment
	}
	meta.DeletionGracePeriodSeconds = new(int64)
	holding := holders(finalizers)
	switch len(holding) {
	case 0:
		return shown, nil
	case len(finalizers):
		return shown, shown
	}
	kept = Copy(shown)
	kept.SetFinalizers(holding)
	return shown, kept
}

// Released tells whether writing next over current completes a deletion: current is marked, and no finalizer is left that
// holds it. The write is then a removal, answered with next under the version of current.
func Released(next, current *metav1.ObjectMeta) bool {
	if len(holders(next.Finalizers)) > 0 || current.DeletionTimestamp == nil {
		return false
	}
	return current.DeletionGracePeriodSeconds == nil || *current.DeletionGracePeriodSeconds == 0
}

// holders are the finalizers that a deletion waits for: all but those of the garbage collector.
func holders(finalizers []string) []string {
	var holding []string
	for _, finalizer := range finalizers {
		if finalizer != metav1.FinalizerOrphanDependents && finalizer != metav1.FinalizerDeleteDependents {
			holding = append(holding, finalizer)
		}
	}
	return holding
}

// finalizersForDelete sets or drops the two finalizers of the garbage collector, which stand for the propagation
// policy. A delete that asks for no policy leaves the object under the one it has. If nothing comes or goes the list
// stays as it is, repeated entries and order included.
func finalizersForDelete(current []string, options *metav1.DeleteOptions) []string {
	orphan, foreground := policy(current, options)
	next := holders(current)
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
