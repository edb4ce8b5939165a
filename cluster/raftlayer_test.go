package cluster

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
)

func TestConnectionsThatThisNodeClosedAreNoErrors(t *testing.T) {
	var out strings.Builder
	logger := hangUpLogger{hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: &out})}
	logger.Error("failed to decode incoming command", "error", fmt.Errorf("read tcp: %w", net.ErrClosed))
	assert.Empty(t, out.String())
	logger.Error("failed to decode incoming command", "error", errors.New("unknown rpc type 200"))
	assert.Contains(t, out.String(), "unknown rpc type 200")
}
