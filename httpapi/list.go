package httpapi

import (
	"context"
	"errors"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

// list answers the objects of a namespace or of all, in byte order of namespace/name.
func (s *server) list(q *request) (*response, error) {
	options, err := s.listOptions(q)
	if err != nil {
		return nil, err
	}
	objects, meta, err := s.page(q.context(), options)
	if err != nil {
		return nil, err
	}
	if err := s.listBudget.take(q, estimate(objects)); err != nil {
		return nil, err
	}
	return s.shown(q, objects, meta)
}

// shown is the answer that lists these objects.
func (s *server) shown(q *request, objects []*fsm.Object, meta metav1.ListMeta) (*response, error) {
	body, err := s.renderList(q.kind, q.form, objects, meta)
	if err != nil {
		return nil, err
	}
	return &response{
		code:         http.StatusOK,
		document:     body,
		documentType: q.form.ContentType(),
		written:      func() { s.lists.give(body) },
	}, nil
}

// page finds what a list shows, and says where it goes on.
func (s *server) page(ctx context.Context, options *listOptions) ([]*fsm.Object, metav1.ListMeta, error) {
	state, after, err := s.listed(ctx, options)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	limit := int(options.Limit)
	if options.ResourceVersion == "0" {
		limit = 0 // kube-apiserver answers these from its cache, which knows no pages
	}
	selector, revision := &options.selector, state.Revision()
	if seeded.ListTorn && options.Continue != "" {
		state = s.store.State()
	}
	meta := metav1.ListMeta{ResourceVersion: version(revision), ShardInfo: selector.shardInfo()}
	var objects []*fsm.Object
	if selector.name != "" && selector.namespace != "" && after == "" {
		key := selector.kind.key(selector.namespace, selector.name)
		if object := state.Get(key); object != nil && selector.covers(key) && selector.selects(object) {
			objects = append(objects, object)
		}
		return objects, meta, nil
	}
	if limit <= 0 && selector.everything() {
		objects = make([]*fsm.Object, 0, state.Count(selector.kind.resource.Resource, selector.namespace, after))
	}
	last := ""
	for object := range state.Scan(selector.kind.resource.Resource, selector.namespace, after) {
		// Whether there is more depends on what is stored, not on what is selected.
		if limit > 0 && len(objects) == limit {
			meta.Continue = continueAfter(last, selector.namespace, int64(revision))
			if selector.everything() {
				remaining := int64(state.Count(selector.kind.resource.Resource, selector.namespace, last))
				meta.RemainingItemCount = &remaining
			}
			break
		}
		if selector.covers(object.Key) && selector.selects(object) {
			objects = append(objects, object)
			if limit > 0 {
				last = object.Key.String()
			}
		}
	}
	return objects, meta, nil
}

// listed returns the state that a list is of and the key it begins after, "" for the start. What the version means depends
// on the match, on the limit, and on whether this is a later page:
//
//	continue            the version of the first page
//	no version          now
//	0                   what this node happens to know
//	NotOlderThan        that version or later; so is a version alone
//	Exact               that version; so is a version with a limit
func (s *server) listed(ctx context.Context, options *listOptions) (state *fsm.State, after string, err error) {
	given := options.ResourceVersion
	if options.Continue != "" {
		return s.continued(ctx, options)
	}
	revision, err := options.version()
	if err != nil {
		return nil, "", badRequest("invalid resource version: %v", err)
	}
	exact := options.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		options.ResourceVersionMatch == "" && options.Limit > 0 && revision > 0
	switch {
	case given == "", exact && revision == 0: // in other digits than "0", which is refused beside Exact
		state, err = s.newest()
	case exact:
		state, err = s.exactly(ctx, revision)
		if errors.Is(err, fsm.ErrExpired) {
			err = expired()
		}
	default:
		state, err = s.notOlder(ctx, revision)
	}
	return state, "", err
}

// continued is listed for a later page.
func (s *server) continued(ctx context.Context, options *listOptions) (state *fsm.State, after string, err error) {
	if given := options.ResourceVersion; given != "" && given != "0" {
		return nil, "", badRequest("specifying resource version is not allowed when using continue")
	}
	namespace := options.selector.namespace
	after, revision, err := parseContinue(options.Continue, namespace)
	if err != nil {
		return nil, "", badRequest("invalid continue token: %v", err)
	}
	if revision == continueNewest {
		state, err = s.newest()
		return state, after, err
	}
	state, err = s.exactly(ctx, uint64(revision))
	if errors.Is(err, fsm.ErrExpired) {
		err = expiredPage(after, namespace)
	}
	return state, after, err
}
