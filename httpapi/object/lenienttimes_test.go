package object

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

var (
	strict  = Kind{MicroTimes: []string{"acquireTime", "renewTime", "pingTime"}}
	lenient = Kind{MicroTimes: strict.MicroTimes, LenientTimes: true}
)

func TestSixDigits(t *testing.T) {
	for given, want := range map[string]string{
		"2024-01-02T03:04:05Z":                "2024-01-02T03:04:05.000000Z",
		"2024-01-02T03:04:05+02:00":           "2024-01-02T03:04:05.000000+02:00",
		"2024-01-02T03:04:05.1Z":              "2024-01-02T03:04:05.100000Z",
		"2024-01-02T03:04:05.180Z":            "2024-01-02T03:04:05.180000Z",
		"2024-01-02T03:04:05.123456789Z":      "2024-01-02T03:04:05.123456Z",
		"2024-01-02T03:04:05.999999999-11:30": "2024-01-02T03:04:05.999999-11:30",
		"2024-01-02T03:04:05,5Z":              "2024-01-02T03:04:05.500000Z", // MicroTime takes a comma
		"2024-01-02T3:04:05Z":                 "2024-01-02T3:04:05.000000Z",  // and one digit for an hour
		"1969-12-31T23:59:59.9999999Z":        "1969-12-31T23:59:59.999999Z",
	} {
		six, ok := SixDigits(given)
		assert.True(t, ok, given)
		assert.Equal(t, want, six)
	}
	for _, given := range []string{
		"", "Z", "now", "2024-01-02", "2024-01-02T03:04:05", "2024-01-02T03:04:05.123",
		"2024-01-02t03:04:05Z", "2024-01-02T03:04:05z", "2024-01-02 03:04:05Z", "2024-01-02T03:04:05 Z", " 2024-01-02T03:04:05Z",
		"2024-01-02T03:04:05.Z", "2024-01-02T03:04:05.1234567890Z", "2024-01-02T03:04:05+0200", "2024-01-02T03:04:05+02",
		"2024-02-30T03:04:05Z", "2024-01-02T24:00:00Z", "2024-01-02T03:04:60Z", "2024-01-02T03:04Z", "24-01-02T03:04:05Z",
		"2024-01-02T03:04:05.123456Z", "2024-01-02T03:04:05.123456+02:00", // as MicroTime has them
	} {
		_, ok := SixDigits(given)
		assert.False(t, ok, given)
	}
}

// fractions are times with none to nine digits of a second, and what they are in whole microseconds.
var fractions = rapid.Custom(func(t *rapid.T) (drawn struct {
	text  string
	micro time.Time
}) {
	digits := rapid.StringMatching(`[0-9]{0,9}`).Draw(t, "digits")
	zone := rapid.SampledFrom([]string{"Z", "+00:00", "+02:00", "-09:30", "+14:00"}).Draw(t, "zone")
	second := time.Unix(rapid.Int64Range(-62_000_000_000, 253_000_000_000).Draw(t, "second"), 0).UTC().Format("2006-01-02T15:04:05")
	drawn.text = second + zone
	if digits != "" {
		drawn.text = second + "." + digits + zone
	}
	exact, err := time.Parse(time.RFC3339Nano, drawn.text)
	require.NoError(t, err)
	drawn.micro = exact.Add(-time.Duration(exact.Nanosecond() % 1000)) // what Truncate does depends on the year 1
	return drawn
})

func TestLenientTimesAreTheirWholeMicroseconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		acquired, renewed := fractions.Draw(t, "acquired"), fractions.Draw(t, "renewed")
		body := fmt.Sprintf(`{"spec":{"acquireTime":%q,"renewTime" : %q}}`, acquired.text, renewed.text)
		var got struct {
			Spec struct{ AcquireTime, RenewTime metav1.MicroTime }
		}
		require.NoError(t, json.Unmarshal(lenient.TimesInJSON([]byte(body)), &got))
		assert.True(t, acquired.micro.Equal(got.Spec.AcquireTime.Time), "%s: %s", acquired.text, got.Spec.AcquireTime)
		assert.True(t, renewed.micro.Equal(got.Spec.RenewTime.Time), "%s: %s", renewed.text, got.Spec.RenewTime)

		tree := map[string]any{"spec": map[string]any{"pingTime": renewed.text}}
		lenient.TimesInTree(tree)
		var ping metav1.MicroTime
		told, err := json.Marshal(tree["spec"].(map[string]any)["pingTime"])
		require.NoError(t, err)
		require.NoError(t, ping.UnmarshalJSON(told))
		assert.True(t, renewed.micro.Equal(ping.Time))
	})
}

func TestOnlyTimesOfTheSpecAreRead(t *testing.T) {
	const whole = "2024-01-02T03:04:05Z"
	for given, want := range map[string]string{
		`{"spec":{"renewTime":"WHOLE"}}`:                                                                              `{"spec":{"renewTime":"SIX"}}`,
		"{ \"spec\" :\n{\"renewTime\"\t: \"WHOLE\" , \"x\": 15.0} , \"y\":1}":                                         "{ \"spec\" :\n{\"renewTime\"\t: \"SIX\" , \"x\": 15.0} , \"y\":1}",
		`{"spec":{"renewTime":"WHOLE","renewTime":"WHOLE"},"spec":{"pingTime":"WHOLE"}}`:                              `{"spec":{"renewTime":"SIX","renewTime":"SIX"},"spec":{"pingTime":"SIX"}}`,
		`{"spec":{"\u0072enewTime":"\u0032024-01-02T03:04:05Z"}}`:                                                     `{"spec":{"\u0072enewTime":"SIX"}}`,
		`{"spec":{"RenewTime":"WHOLE"},"Spec":{"renewTime":"WHOLE"}}`:                                                 `{"spec":{"RenewTime":"WHOLE"},"Spec":{"renewTime":"WHOLE"}}`,
		`{"metadata":{"annotations":{"renewTime":"WHOLE"},"spec":{"renewTime":"WHOLE"},"creationTimestamp":"WHOLE"}}`: `{"metadata":{"annotations":{"renewTime":"WHOLE"},"spec":{"renewTime":"WHOLE"},"creationTimestamp":"WHOLE"}}`,
		`{"spec":{"holderIdentity":"WHOLE","deeper":{"renewTime":"WHOLE"}}}`:                                          `{"spec":{"holderIdentity":"WHOLE","deeper":{"renewTime":"WHOLE"}}}`,
		`{"spec":[{"renewTime":"WHOLE"}]}`:                                                                            `{"spec":[{"renewTime":"WHOLE"}]}`,
		`{"spec":{"renewTime":["WHOLE"]}}`:                                                                            `{"spec":{"renewTime":["WHOLE"]}}`,
		`{"spec":{"renewTime":null,"acquireTime":5}}`:                                                                 `{"spec":{"renewTime":null,"acquireTime":5}}`,
		`{"spec":{"renewTime":"WHOLE"}`:                                                                               `{"spec":{"renewTime":"WHOLE"}`,
		`{"spec":{"renewTime":"WHOLE"},`:                                                                              `{"spec":{"renewTime":"WHOLE"},`,
		`[{"spec":{"renewTime":"WHOLE"}}]`:                                                                            `[{"spec":{"renewTime":"WHOLE"}}]`,
		``:                                                                                                            ``,
	} {
		given = strings.ReplaceAll(given, "WHOLE", whole)
		want = strings.NewReplacer("WHOLE", whole, "SIX", "2024-01-02T03:04:05.000000Z").Replace(want)
		assert.Equal(t, want, string(lenient.TimesInJSON([]byte(given))))
		assert.Equal(t, given, string(strict.TimesInJSON([]byte(given))))
	}
}
