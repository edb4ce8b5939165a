package fieldmanager

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The library reads the clock itself. It hands times on as the pointers it got, so that the times it made are those that
// were not there before: they are replaced by the caller's.

// times notes the times that entries have before a call of the library.
func times(lists ...[]metav1.ManagedFieldsEntry) map[*metav1.Time]bool {
	known := map[*metav1.Time]bool{}
	for _, entries := range lists {
		for i := range entries {
			if entries[i].Time != nil {
				known[entries[i].Time] = true
			}
		}
	}
	return known
}

// stamp gives now to the entries with times that are not known, and restores the order.
func stamp(entries []metav1.ManagedFieldsEntry, known map[*metav1.Time]bool, now time.Time) {
	for i := range entries {
		if at := entries[i].Time; at != nil && !known[at] {
			entries[i].Time = moment(now)
		}
	}
	order(entries)
}

func moment(now time.Time) *metav1.Time {
	return &metav1.Time{Time: now.UTC().Truncate(time.Second)}
}

// order sorts entries as the server does: Apply before Update, the oldest first.
func order(entries []metav1.ManagedFieldsEntry) {
	slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(
			cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(seconds(a.Time), seconds(b.Time)),
			cmp.Compare(a.Manager, b.Manager),
			cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(a.Subresource, b.Subresource),
		)
	})
}

func seconds(at *metav1.Time) int64 {
	if at == nil {
		return 0
	}
	return at.Unix()
}
