package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// succeeds tells what is wrong with one version of a lock after another. All candidates run on this machine, so their
// clock is one: whoever takes over waits until what its predecessor last wrote has run out, and not for long after that.
func succeeds(previous, next coordinationv1.LeaseSpec) error {
	lasts := time.Duration(*previous.LeaseDurationSeconds) * time.Second
	transitions := *next.LeaseTransitions - *previous.LeaseTransitions
	if *next.HolderIdentity == *previous.HolderIdentity {
		switch {
		case transitions != 0:
			return fmt.Errorf("a renewal, and %d transitions", transitions)
		case !next.AcquireTime.Equal(previous.AcquireTime):
			return fmt.Errorf("a renewal, acquired at %s and then at %s", previous.AcquireTime, next.AcquireTime)
		case !previous.RenewTime.Before(next.RenewTime):
			return fmt.Errorf("renewed at %s and then at %s", previous.RenewTime, next.RenewTime)
		}
		return nil
	}
	if *next.HolderIdentity == "" { // a release
		if transitions != 0 {
			return fmt.Errorf("a release, and %d transitions", transitions)
		}
		return nil
	}
	switch waited := next.AcquireTime.Sub(previous.RenewTime.Time); {
	case transitions == 1 && *previous.HolderIdentity == "": // after a release
		return nil
	case transitions != 1:
		return fmt.Errorf("another holder, and %d transitions", transitions)
	case waited < lasts:
		return fmt.Errorf("%s held it for %s, and %s took it after %s", *previous.HolderIdentity, lasts, *next.HolderIdentity, waited)
	case waited > 2*lasts:
		return fmt.Errorf("%s let %s go by, where %s had it for %s", *next.HolderIdentity, waited, *previous.HolderIdentity, lasts)
	}
	return nil
}

func TestSuccessionIsJudged(t *testing.T) {
	at := func(seconds int) *metav1.MicroTime {
		return &metav1.MicroTime{Time: time.Unix(int64(seconds), 0)}
	}
	version := func(holder string, transitions int32, acquired, renewed int) coordinationv1.LeaseSpec {
		return coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), LeaseTransitions: &transitions,
			AcquireTime: at(acquired), RenewTime: at(renewed),
		}
	}
	previous := version("a", 3, 100, 200)
	assert.NoError(t, succeeds(previous, version("a", 3, 100, 202)))
	assert.NoError(t, succeeds(previous, version("b", 4, 215, 215)))
	released := version("", 3, 205, 205)
	assert.NoError(t, succeeds(previous, released))
	assert.NoError(t, succeeds(released, version("b", 4, 206, 206)))
	assert.ErrorContains(t, succeeds(previous, version("", 4, 205, 205)), "a release, and 1 transitions")
	assert.ErrorContains(t, succeeds(released, version("b", 3, 206, 206)), "another holder, and 0 transitions")
	for wrong, next := range map[string]coordinationv1.LeaseSpec{
		"a renewal, and 1 transitions":      version("a", 4, 100, 202),
		"a renewal, acquired at":            version("a", 3, 202, 202),
		"and then at":                       version("a", 3, 100, 200),
		"another holder, and 0 transitions": version("b", 3, 215, 215),
		"a held it for 15s, and b took it":  version("b", 4, 214, 214),
		"b let 31s go by":                   version("b", 4, 231, 231),
	} {
		assert.ErrorContains(t, succeeds(previous, next), wrong)
	}
}
