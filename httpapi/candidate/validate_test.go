package candidate_test

import (
	"strings"
	"testing"

	"github.com/leasehold/leasehold/httpapi/candidate"
	"github.com/stretchr/testify/assert"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type lc = coordinationv1beta1.LeaseCandidate

// valid is a LeaseCandidate that passes ValidateCreate and, as its own successor, ValidateUpdate.
func valid(change func(*lc)) *lc {
	c := &lc{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u1", ResourceVersion: "7"},
		Spec:       coordinationv1beta1.LeaseCandidateSpec{LeaseName: "lock", BinaryVersion: "1.30.0", EmulationVersion: "1.29.0", Strategy: "OldestEmulationVersion"},
	}
	if change != nil {
		change(c)
	}
	return c
}

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
	notSupported = " FieldValueNotSupported"
)

func TestValidateCreate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*lc)
		want   []string
	}{
		"all is there":            {nil, nil},
		"no spec":                 {func(c *lc) { c.Spec = coordinationv1beta1.LeaseCandidateSpec{} }, []string{"spec.leaseName" + required, "spec.binaryVersion" + required, "spec.strategy" + required}},
		"any lease name":          {func(c *lc) { c.Spec.LeaseName = "Bad Name/" + strings.Repeat("x", 300) }, nil},
		"versions are equal":      {func(c *lc) { c.Spec.EmulationVersion = "1.30.0" }, nil},
		"emulation newer":         {func(c *lc) { c.Spec.EmulationVersion = "1.30.1" }, []string{"spec.binaryVersion" + invalid}},
		"emulation of a release":  {func(c *lc) { c.Spec.BinaryVersion, c.Spec.EmulationVersion = "1.30.0-rc.1", "1.30.0" }, []string{"spec.binaryVersion" + invalid}},
		"build is no newer":       {func(c *lc) { c.Spec.BinaryVersion, c.Spec.EmulationVersion = "1.30.0", "1.30.0+k3s1" }, nil},
		"leading v":               {func(c *lc) { c.Spec.BinaryVersion, c.Spec.EmulationVersion = "v1.30.0", ""; c.Spec.Strategy = "a/b" }, []string{"spec.binaryVersion" + invalid}},
		"two numbers":             {func(c *lc) { c.Spec.EmulationVersion = "1.29"; c.Spec.Strategy = "a/b" }, []string{"spec.emulationVersion" + invalid}},
		"leading zero":            {func(c *lc) { c.Spec.EmulationVersion = "1.029.0"; c.Spec.Strategy = "a/b" }, []string{"spec.emulationVersion" + invalid}},
		"emulation needed":        {func(c *lc) { c.Spec.EmulationVersion = "" }, []string{"spec.emulationVersion" + required}},
		"emulation of nothing":    {func(c *lc) { c.Spec.EmulationVersion = "0.0.0" }, []string{"spec.emulationVersion" + required}},
		"emulation malformed":     {func(c *lc) { c.Spec.EmulationVersion = "1.x" }, []string{"spec.emulationVersion" + invalid, "spec.emulationVersion" + required}},
		"both malformed":          {func(c *lc) { c.Spec.EmulationVersion, c.Spec.BinaryVersion, c.Spec.Strategy = "x", "y", "a/b" }, []string{"spec.emulationVersion" + invalid, "spec.binaryVersion" + invalid}},
		"binary malformed":        {func(c *lc) { c.Spec.BinaryVersion = "y" }, []string{"spec.binaryVersion" + invalid, "spec.binaryVersion" + invalid}},
		"emulation not needed":    {func(c *lc) { c.Spec.EmulationVersion, c.Spec.Strategy = "", "example.com/mine" }, nil},
		"no strategy":             {func(c *lc) { c.Spec.Strategy, c.Spec.EmulationVersion = "", "" }, []string{"spec.strategy" + required}},
		"unknown strategy":        {func(c *lc) { c.Spec.Strategy = "Youngest" }, []string{"spec.strategy.strategy" + notSupported}},
		"strategy with 2 slashes": {func(c *lc) { c.Spec.Strategy = "exa mple/x/y" }, []string{"spec.strategy.strategy" + invalid}},
		"no name":                 {func(c *lc) { c.Name = "" }, []string{"metadata.name" + required}},
		"name no Lease can have":  {func(c *lc) { c.Name = "-A_b.C-" }, nil},
		"name of 253":             {func(c *lc) { c.Name = strings.Repeat("N", 253) }, nil},
		"name of 254":             {func(c *lc) { c.Name = strings.Repeat("n", 254) }, []string{"metadata.name" + invalid}},
		"name of two dots":        {func(c *lc) { c.Name = ".." }, []string{"metadata.name" + invalid}},
		"name with slash":         {func(c *lc) { c.Name = "a/b" }, []string{"metadata.name" + invalid}},
		"metadata first":          {func(c *lc) { c.Labels, c.Spec.LeaseName = map[string]string{"x y": "z"}, "" }, []string{"metadata.labels" + invalid, "spec.leaseName" + required}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, append([]string{}, c.want...), causes(candidate.ValidateCreate(valid(c.change))))
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	for name, c := range map[string]struct {
		current, next func(*lc)
		want          []string
	}{
		"nothing changes":     {nil, nil, nil},
		"versions go down":    {nil, func(c *lc) { c.Spec.BinaryVersion, c.Spec.EmulationVersion = "1.0.0", "0.9.0" }, nil},
		"strategy changes":    {nil, func(c *lc) { c.Spec.Strategy = "a/b" }, nil},
		"another Lease":       {nil, func(c *lc) { c.Spec.LeaseName = "other" }, []string{"spec.leaseName" + invalid}},
		"no Lease any more":   {nil, func(c *lc) { c.Spec.LeaseName = "" }, []string{"spec.leaseName" + required, "spec.leaseName" + invalid}},
		"spec rules hold":     {nil, func(c *lc) { c.Spec.BinaryVersion = "" }, []string{"spec.binaryVersion" + required}},
		"bad label told once": {nil, func(c *lc) { c.Labels = map[string]string{"k": "a b"} }, []string{"metadata.labels" + invalid}},
		"no version":          {nil, func(c *lc) { c.ResourceVersion = "" }, []string{"metadata.resourceVersion" + invalid}},
		"all at once": {nil, func(c *lc) { c.UID, c.Spec.LeaseName, c.Spec.Strategy = "u2", "other", "" },
			[]string{"metadata.uid" + invalid, "spec.strategy" + required, "spec.leaseName" + invalid}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, append([]string{}, c.want...), causes(candidate.ValidateUpdate(valid(c.next), valid(c.current))))
		})
	}
}

func TestEqual(t *testing.T) {
	assert.True(t, candidate.Equal(valid(nil), valid(func(c *lc) { c.ResourceVersion, c.Kind = "9", "LeaseCandidate" })))
	for name, change := range map[string]func(*lc){
		"ping":   func(c *lc) { c.Spec.PingTime = &metav1.MicroTime{} },
		"binary": func(c *lc) { c.Spec.BinaryVersion = "1.30.1" },
		"label":  func(c *lc) { c.Labels = map[string]string{"k": "v"} },
		"owners": func(c *lc) { c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}} },
	} {
		assert.False(t, candidate.Equal(valid(change), valid(nil)), name)
	}
}
