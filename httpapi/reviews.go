package httpapi

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/auth"
	"github.com/leasehold/leasehold/httpapi/discovery"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/object"
	"github.com/leasehold/leasehold/httpapi/review"
	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// Reviews are what users ask about themselves: who they are (kubectl auth whoami) and what they may do (kubectl auth
// can-i). They are asked by creating them, answered at once, and not stored.

// answerer answers one review. It may change and return what was sent; manager is who sent it.
type answerer = func(q *request, sent object.Object, manager string) (object.Object, error)

func (t *routes) addReviews() {
	for _, r := range []struct {
		discovery.Resource
		kind   *object.Kind
		answer answerer
	}{
		{discovery.SelfSubjectReviews(), &review.Subject, whoAmI},
		{discovery.SelfSubjectAccessReviews(), &review.Access, mayI},
		{discovery.SelfSubjectRulesReviews(), &review.Rules, whatMayI},
	} {
		t.add("/apis/"+r.Group+"/"+r.Version+"/"+r.Plural, func(q *request, _ map[string]string) {
			q.group, q.version, q.key = r.Group, r.Version, fsm.Key{Resource: r.Plural}
			q.columnless = true
			q.verb, q.answer = "create", asked(r.kind, r.answer)
			if q.http.Method != http.MethodPost {
				q.known, q.answer = false, noSuchMethod
			}
		})
	}
}

// asked is a create without anything stored: the same options, the same reading of the body.
func asked(kind *object.Kind, answer answerer) verb {
	return func(q *request) (*response, error) {
		options, err := q.writeOptions("CreateOptions")
		if err != nil {
			return nil, err
		}
		encoding, err := q.encodings.OfBody(q.http.Header.Get("Content-Type"))
		if err != nil {
			return nil, err
		}
		sent, warnings, err := media.Decode(kind, q.body, encoding, validationOf(options))
		if err != nil {
			return nil, err
		}
		for _, warning := range warnings {
			q.warn(warning)
		}
		object.WipeSystemFields(object.Meta(sent))
		sent.SetNamespace("")
		answered, err := answer(q, sent, q.manager(options))
		if err != nil {
			return nil, err
		}
		return &response{code: http.StatusCreated, value: kind.As(answered)}, nil
	}
}

// whoAmI tells the user as the server knows it, after impersonation.
func whoAmI(q *request, _ object.Object, _ string) (object.Object, error) {
	answer := &authenticationv1.SelfSubjectReview{}
	answer.CreationTimestamp = object.Moment(wallclock.Now())
	answer.Status.UserInfo = authenticationv1.UserInfo{Username: q.user.Name, UID: q.user.UID, Groups: q.user.Groups}
	for key, values := range q.user.Extra {
		if answer.Status.UserInfo.Extra == nil {
			answer.Status.UserInfo.Extra = make(map[string]authenticationv1.ExtraValue)
		}
		answer.Status.UserInfo.Extra[key] = values
	}
	return answer, nil
}

// mayI tells whether the user may do one thing.
func mayI(q *request, sent object.Object, manager string) (object.Object, error) {
	question := sent.(*authorizationv1.SelfSubjectAccessReview)
	if err := review.Fits(question); err != nil {
		return nil, err
	}
	owned, err := review.ManagedFields(question, manager, wallclock.Now())
	if err != nil {
		return nil, err
	}
	question.ManagedFields = owned
	if found := review.Validate(question); len(found) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", found)
	}
	var action auth.Action
	question.Status = authorizationv1.SubjectAccessReviewStatus{}
	if asked := question.Spec.ResourceAttributes; asked != nil {
		action = auth.Action{Verb: asked.Verb, Group: asked.Group, Resource: asked.Resource, Subresource: asked.Subresource,
			Namespace: asked.Namespace, Name: asked.Name}
		question.Status.EvaluationError = review.Misunderstood(asked)
	} else {
		asked := question.Spec.NonResourceAttributes
		action = auth.Action{Verb: asked.Verb, OnPath: true, Path: asked.Path}
	}
	question.Status.Allowed, question.Status.Reason = auth.Review(q.user, action)
	return question, nil
}

// whatMayI tells all that the user may do. No right depends on a namespace, but the question must name one.
func whatMayI(q *request, sent object.Object, _ string) (object.Object, error) {
	if sent.(*authorizationv1.SelfSubjectRulesReview).Spec.Namespace == "" {
		return nil, badRequest("no namespace on request")
	}
	answer := &authorizationv1.SelfSubjectRulesReview{Status: authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}}
	resources, paths := auth.Rules(q.user)
	for _, rule := range resources {
		answer.Status.ResourceRules = append(answer.Status.ResourceRules,
			authorizationv1.ResourceRule{Verbs: rule.Verbs, APIGroups: rule.Groups, Resources: rule.Resources})
	}
	for _, rule := range paths {
		answer.Status.NonResourceRules = append(answer.Status.NonResourceRules,
			authorizationv1.NonResourceRule{Verbs: rule.Verbs, NonResourceURLs: rule.Paths})
	}
	return answer, nil
}
