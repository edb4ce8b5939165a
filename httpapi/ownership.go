package httpapi

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// own notes in next's managedFields which of its fields the request's manager now owns. present is nil on a create.
func (s *server) own(q *request, options *metav1.PatchOptions, present, next *coordinationv1.Lease) error {
	if present != nil && next.ManagedFields == nil {
		next.ManagedFields = present.ManagedFields
	}
	return nil
}
