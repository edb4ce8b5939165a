package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/leasehold/leasehold/cluster"
)

// willing is a node that gives the leadership to whom it is told, but to node-9.
type willing struct{ asked []string }

func (w *willing) TransferLeadership(_ context.Context, to string) (string, error) {
	w.asked = append(w.asked, to)
	if to == "node-9" {
		return "", fmt.Errorf("%s: %w", to, cluster.ErrNotVoter)
	}
	return "node-2", nil
}

func TestTheNextLeaderIsNamedInTheQueryOrTheBodyOrNotAtAll(t *testing.T) {
	for _, c := range []struct{ query, body, to string }{
		{"", "", ""}, {"", "{}", ""}, {"?to=node-2", "", "node-2"}, {"?to=node-2", "{}", "node-2"}, {"", `{"to":"node-2"}`, "node-2"}, {"?to=node-2", `{"to":"node-2"}`, "node-2"},
	} {
		node := &willing{}
		told, err := transferLeader(node)(httptest.NewRequest("POST", transferPath+c.query, strings.NewReader(c.body)))
		assert.NoError(t, err, c)
		assert.Equal(t, newLeader{"node-2"}, told)
		assert.Equal(t, []string{c.to}, node.asked)
	}
}

func TestATransferThatMakesNoSenseIsABadRequest(t *testing.T) {
	for _, c := range []struct{ query, body string }{
		{"?to=node-1", `{"to":"node-2"}`}, {"", "node-2"}, {"", `{"leader":"node-2"}`}, {"", `{"to":"` + strings.Repeat("x", 2000) + `"}`}, {"?to=node-9", ""},
	} {
		_, err := transferLeader(&willing{})(httptest.NewRequest("POST", transferPath+c.query, strings.NewReader(c.body)))
		assert.True(t, apierrors.IsBadRequest(err), "%v: %v", c, err)
	}
}
