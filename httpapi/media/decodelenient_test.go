package media

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// encodings of a body that is given as JSON, as its sender might write it.
func encodings(t require.TestingT, text string) map[Encoding][]byte {
	asYAML, err := yaml.JSONToYAML([]byte(strings.TrimSpace(text)))
	require.NoError(t, err)
	asCBOR, err := Accepted{Encoding: CBOR}.Convert([]byte(text))
	require.NoError(t, err)
	return map[Encoding][]byte{JSON: []byte(text), YAML: asYAML, CBOR: asCBOR}
}

func TestKindsKnowTheirMicroTimes(t *testing.T) {
	for _, codec := range []*Codec{Leases, Candidates("v1beta1")} {
		var found []string
		spec := reflect.TypeOf(codec.New()).Elem()
		field, _ := spec.FieldByName("Spec")
		for i := range field.Type.NumField() {
			if member := field.Type.Field(i); member.Type == reflect.TypeFor[*metav1.MicroTime]() {
				name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
				found = append(found, name)
			}
		}
		assert.ElementsMatch(t, found, codec.MicroTimes, codec.Kind.Kind)
	}
}

func TestLenientTimesAreReadInEveryEncoding(t *testing.T) {
	lenient := []*Codec{Leases.WithLenientTimes(), Candidates("v1beta1").WithLenientTimes()}
	rapid.Check(t, func(t *rapid.T) {
		second := time.Unix(rapid.Int64Range(0, 253_000_000_000).Draw(t, "second"), 0).UTC().Format("2006-01-02T15:04:05")
		digits := rapid.StringMatching(`[0-9]{0,9}`).Draw(t, "digits")
		zone := rapid.SampledFrom([]string{"Z", "+02:00", "-09:30"}).Draw(t, "zone")
		given := second + strings.TrimSuffix("."+digits, ".") + zone
		six := second + "." + (digits + "000000")[:6] + zone
		if digits == "" {
			given = second + zone
		}
		for _, codec := range lenient {
			for _, name := range codec.MicroTimes {
				body := `{"metadata":{"name":"a","annotations":{"renewTime":"` + given + `"}},"spec":{"` + name + `":"%s"}}`
				wanted, warnings, err := codec.Decode([]byte(fmt.Sprintf(body, six)), JSON, Strict)
				require.NoError(t, err)
				require.Empty(t, warnings)
				for encoding, body := range encodings(t, fmt.Sprintf(body, given)) {
					got, warnings, err := codec.Decode(body, encoding, Strict)
					require.NoError(t, err, "%v", encoding)
					assert.Empty(t, warnings)
					assert.Equal(t, wanted, got)
				}
			}
		}
	})
}

func TestOtherwiseWrongTimesAreToldAsEver(t *testing.T) {
	lenient := Leases.WithLenientTimes()
	for _, wrong := range []string{
		`"2024-01-02t03:04:05Z"`, `"2024-01-02T03:04:05z"`, `"2024-01-02 03:04:05Z"`, `"2024-01-02T03:04:05"`, `"2024-01-02T03:04:05.1234567890Z"`,
		`"2024-01-02T03:04:05.Z"`, `"2024-02-30T03:04:05Z"`, `"soon"`, `""`, `5`, `1704164645.5`, `[]`, `{}`, `true`,
	} {
		for encoding, body := range encodings(t, `{"metadata":{"name":"a"},"spec":{"renewTime":`+wrong+`}}`) {
			for _, validation := range []Validation{Warn, Ignore, Strict} {
				_, _, want := Leases.Decode(body, encoding, validation)
				require.Error(t, want, "%s %v", wrong, encoding)
				_, _, err := lenient.Decode(body, encoding, validation)
				assert.Equal(t, want, err, "%s %v", wrong, encoding)
			}
		}
	}
	// A number that CBOR says is a time: the seconds since 1970.
	tagged := []byte("\xa1\x44spec\xa1\x49renewTime\xc1\x1a\x65\x92\x00\x00")
	_, _, want := Leases.Decode(tagged, CBOR, Ignore)
	_, _, err := lenient.Decode(tagged, CBOR, Ignore)
	require.Error(t, want)
	assert.Equal(t, want, err)
}

func TestStrictTimesAreNotLenient(t *testing.T) {
	for encoding, body := range encodings(t, `{"spec":{"renewTime":"2024-01-02T03:04:05.180Z"}}`) {
		_, _, err := Leases.Decode(body, encoding, Ignore)
		assert.ErrorContains(t, err, `parsing time "`, "%v", encoding)
		assert.ErrorContains(t, err, `cannot parse`, "%v", encoding)
	}
}

func TestBodiesWithLenientTimesAreWarnedOfLikeOthers(t *testing.T) {
	lenient := Leases.WithLenientTimes()
	const head = "metadata: {name: a}\nspec:\n  holderIdentity: one\n  holderIdentity: two\n  colour: red\n  renewTime: "
	_, want, err := lenient.Decode([]byte(head+"2024-01-02T03:04:05.000000Z"), YAML, Warn)
	require.NoError(t, err)
	require.Len(t, want, 2)
	_, warnings, err := lenient.Decode([]byte(head+"2024-01-02T03:04:05Z"), YAML, Warn)
	require.NoError(t, err)
	assert.Equal(t, want, warnings)
	_, warnings, err = lenient.Decode([]byte(head+"2024-01-02T03:04:05Z"), YAML, Ignore)
	require.NoError(t, err)
	assert.Empty(t, warnings)

	twice := strings.Replace(head, "  colour: red\n", "", 1)
	_, _, wanted := lenient.Decode([]byte(twice+"2024-01-02T03:04:05.000000Z"), YAML, Strict)
	require.ErrorContains(t, wanted, `key "holderIdentity" already set`)
	_, _, err = lenient.Decode([]byte(twice+"2024-01-02T03:04:05Z"), YAML, Strict)
	assert.Equal(t, wanted, err)

	for encoding, body := range encodings(t, `{"spec":{"colour":"red","renewTime":"2024-01-02T03:04:05Z"}}`) {
		_, warnings, err := lenient.Decode(body, encoding, Warn)
		require.NoError(t, err)
		assert.Len(t, warnings, 1, "%v", encoding)
		_, _, err = lenient.Decode(body, encoding, Strict)
		assert.Error(t, err)
	}
}

// FuzzDecodeLenientTimes looks for bodies that mean something else to who takes lenient times, though they are read by others.
func FuzzDecodeLenientTimes(f *testing.F) {
	for _, text := range bodies {
		for encoding, body := range encodings(f, text) {
			f.Add(uint8(encoding), body)
		}
	}
	for _, text := range strangeBodies {
		f.Add(uint8(JSON), []byte(text))
	}
	f.Add(uint8(YAML), []byte("spec: {renewTime: 2024-01-02T03:04:05Z, ? {a: b} : c}\n---\nspec: 5"))
	lenient := Leases.WithLenientTimes()
	f.Fuzz(func(t *testing.T, encoding uint8, body []byte) {
		as := []Encoding{JSON, YAML, CBOR}[encoding%3]
		for _, validation := range []Validation{Warn, Ignore, Strict} {
			want, warnings, err := Leases.Decode(body, as, validation)
			got, others, lenientErr := lenient.Decode(body, as, validation)
			if err == nil {
				require.NoError(t, lenientErr)
				assert.Equal(t, want, got)
				assert.Equal(t, warnings, others)
			}
		}
	})
}
