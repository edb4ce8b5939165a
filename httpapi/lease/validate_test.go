package lease_test

import (
	"strings"
	"testing"

	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// causes renders errors as "field reason", in order.
func causes(errs field.ErrorList) []string {
	out := []string{}
	for _, err := range errs {
		out = append(out, err.Field+" "+string(err.Type))
	}
	return out
}

const (
	invalid      = " FieldValueInvalid"
	required     = " FieldValueRequired"
	forbidden    = " FieldValueForbidden"
	notSupported = " FieldValueNotSupported"
	tooLong      = " FieldValueTooLong"
)

func strategy(s string) *coordinationv1.CoordinatedLeaseStrategy {
	return ptr.To(coordinationv1.CoordinatedLeaseStrategy(s))
}

func TestValidateCreate(t *testing.T) {
	type lse = coordinationv1.Lease
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}
	for name, c := range map[string]struct {
		change func(*lse)
		want   []string
	}{
		"empty spec":              {func(l *lse) {}, nil},
		"zero duration":           {func(l *lse) { l.Spec.LeaseDurationSeconds = ptr.To[int32](0) }, []string{"spec.leaseDurationSeconds" + invalid}},
		"largest duration":        {func(l *lse) { l.Spec.LeaseDurationSeconds = ptr.To[int32](1<<31 - 1) }, nil},
		"negative transitions":    {func(l *lse) { l.Spec.LeaseTransitions = ptr.To[int32](-1) }, []string{"spec.leaseTransitions" + invalid}},
		"empty holder":            {func(l *lse) { l.Spec.HolderIdentity = ptr.To("") }, nil},
		"odd holder":              {func(l *lse) { l.Spec.HolderIdentity = ptr.To("ü <&>\x07" + strings.Repeat("h", 5000)) }, nil},
		"known strategy":          {func(l *lse) { l.Spec.Strategy = strategy("OldestEmulationVersion") }, nil},
		"empty strategy":          {func(l *lse) { l.Spec.Strategy = strategy("") }, []string{"spec.strategy.strategy" + notSupported}},
		"unknown strategy":        {func(l *lse) { l.Spec.Strategy = strategy("Youngest") }, []string{"spec.strategy.strategy" + notSupported}},
		"own strategy":            {func(l *lse) { l.Spec.Strategy = strategy("example.com/mine") }, nil},
		"strategy with 2 slashes": {func(l *lse) { l.Spec.Strategy = strategy("exa mple/x/y") }, []string{"spec.strategy.strategy" + invalid}},
		"long strategy": {func(l *lse) { l.Spec.Strategy = strategy("example.com/" + strings.Repeat("s", 64)) },
			[]string{"spec.strategy.strategy" + invalid}},
		"preferred holder alone":         {func(l *lse) { l.Spec.PreferredHolder = ptr.To("b") }, []string{"spec.preferredHolder" + forbidden}},
		"empty preferred holder":         {func(l *lse) { l.Spec.PreferredHolder = ptr.To("") }, nil},
		"preferred holder with strategy": {func(l *lse) { l.Spec.PreferredHolder, l.Spec.Strategy = ptr.To("b"), strategy("a.b/c") }, nil},
		"no name":                        {func(l *lse) { l.Name = "" }, []string{"metadata.name" + required}},
		"dotted name":                    {func(l *lse) { l.Name = "a.b-c.d" }, nil},
		"name of 253":                    {func(l *lse) { l.Name = strings.Repeat("n", 253) }, nil},
		"name of 254":                    {func(l *lse) { l.Name = strings.Repeat("n", 254) }, []string{"metadata.name" + invalid}},
		"name with slash":                {func(l *lse) { l.Name = "a/b" }, []string{"metadata.name" + invalid}},
		"bad generateName":               {func(l *lse) { l.GenerateName, l.Name = "Gen_", "Gen_x" }, []string{"metadata.generateName" + invalid, "metadata.name" + invalid}},
		"negative generation":            {func(l *lse) { l.Generation = -3 }, []string{"metadata.generation" + invalid}},
		"finalizer without domain":       {func(l *lse) { l.Finalizers = []string{"plain"} }, nil},
		"repeated finalizers":            {func(l *lse) { l.Finalizers = []string{"a.b/c", "a.b/c"} }, nil},
		"bad finalizer":                  {func(l *lse) { l.Finalizers = []string{"exa mple/x"} }, []string{"metadata.finalizers" + invalid}},
		"orphan and foreground":          {func(l *lse) { l.Finalizers = []string{"orphan", "foregroundDeletion"} }, []string{"metadata.finalizers" + invalid}},
		"annotations at limit":           {func(l *lse) { l.Annotations = map[string]string{"kkkk": strings.Repeat("v", 262140)} }, nil},
		"annotations over limit": {func(l *lse) { l.Annotations = map[string]string{"kkkk": strings.Repeat("v", 262141)} },
			[]string{"metadata.annotations" + tooLong}},
		"two owners of one uid": {func(l *lse) { l.OwnerReferences = []metav1.OwnerReference{owner, owner} }, nil},
		"event as owner": {func(l *lse) {
			l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Event", Name: "e", UID: "u"}}
		}, []string{"metadata.ownerReferences[0]" + invalid}},
		"everything at once": {func(l *lse) {
			l.Name = "B_"
			l.Labels = map[string]string{"x y": "z"}
			l.Annotations = map[string]string{"x y": "z"}
			l.OwnerReferences = []metav1.OwnerReference{{}}
			l.Spec.LeaseDurationSeconds, l.Spec.LeaseTransitions = ptr.To[int32](0), ptr.To[int32](-1)
			l.Spec.Strategy, l.Spec.PreferredHolder = strategy(""), ptr.To("p")
		}, []string{
			"metadata.name" + invalid,
			"metadata.labels" + invalid,
			"metadata.annotations" + invalid,
			"metadata.ownerReferences[0].apiVersion" + required,
			"metadata.ownerReferences[0].kind" + required,
			"metadata.ownerReferences[0].name" + required,
			"metadata.ownerReferences[0].uid" + required,
			"spec.leaseDurationSeconds" + invalid,
			"spec.leaseTransitions" + invalid,
			"spec.strategy.strategy" + notSupported,
			"spec.preferredHolder" + forbidden,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, append([]string{}, c.want...), causes(lease.ValidateCreate(valid(c.change))))
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	type lse = coordinationv1.Lease
	marked := func(l *lse) {
		l.DeletionTimestamp, l.DeletionGracePeriodSeconds = &metav1.Time{Time: now}, new(int64)
		l.Finalizers = []string{"example.com/a"}
	}
	for name, c := range map[string]struct {
		current, next func(*lse)
		want          []string
	}{
		"nothing changes":          {nil, nil, nil},
		"transitions go down":      {func(l *lse) { l.Spec.LeaseTransitions = ptr.To[int32](5) }, func(l *lse) { l.Spec.LeaseTransitions = ptr.To[int32](4) }, nil},
		"no version":               {nil, func(l *lse) { l.ResourceVersion = "" }, []string{"metadata.resourceVersion" + invalid}},
		"another uid":              {nil, func(l *lse) { l.UID = "u2" }, []string{"metadata.uid" + invalid}},
		"marked by the client":     {nil, func(l *lse) { l.DeletionTimestamp = &metav1.Time{Time: now} }, []string{"metadata.deletionTimestamp" + invalid}},
		"bad label told once":      {nil, func(l *lse) { l.Labels = map[string]string{"k": "a b"} }, []string{"metadata.labels" + invalid}},
		"bad annotation told once": {nil, func(l *lse) { l.Annotations = map[string]string{"x y": "v"} }, []string{"metadata.annotations" + invalid}},
		"plain finalizer":          {nil, func(l *lse) { l.Finalizers = []string{"plain"} }, nil},
		"finalizer added while deleting": {marked, func(l *lse) {
			marked(l)
			l.Finalizers = append(l.Finalizers, "example.com/b")
		}, []string{"metadata.finalizers" + forbidden}},
		"finalizer removed while deleting": {marked, func(l *lse) { marked(l); l.Finalizers = nil }, nil},
		"strategy goes, preferred holder stays": {
			func(l *lse) { l.Spec.Strategy, l.Spec.PreferredHolder = strategy("a.b/c"), ptr.To("b") },
			func(l *lse) { l.Spec.PreferredHolder = ptr.To("b") },
			[]string{"spec.preferredHolder" + forbidden}},
		"spec rules hold": {nil, func(l *lse) {
			l.Spec.LeaseTransitions, l.Spec.PreferredHolder = ptr.To[int32](-2), ptr.To("x")
		}, []string{"spec.leaseTransitions" + invalid, "spec.preferredHolder" + forbidden}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, append([]string{}, c.want...), causes(lease.ValidateUpdate(valid(c.next), valid(c.current))))
		})
	}
}

func TestMessagesReadAsTheServersDo(t *testing.T) {
	errs := lease.ValidateCreate(valid(func(l *coordinationv1.Lease) {
		l.Spec.LeaseDurationSeconds = ptr.To[int32](0)
		l.Spec.Strategy = strategy("Youngest")
	}))
	assert.Equal(t, "Invalid value: 0: must be greater than 0", errs[0].ErrorBody())
	assert.Equal(t, `Unsupported value: "Youngest": supported values: "OldestEmulationVersion"`, errs[1].ErrorBody())
}
