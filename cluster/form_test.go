package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
)

// The member that forms the cluster may crash between any two of its writes. The others, who are known to it by then, may
// have joined before it comes back.
func TestFormingIsFinishedAfterACrash(t *testing.T) {
	for _, term := range []uint64{0, 1} {
		t.Run(fmt.Sprintf("in term %d", term), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.New(t, 3, clustertest.Options{Memory: true, Change: func(config *cluster.Config) {
					if config.ID != "node-1" {
						return
					}
					dial, calls := config.Dial, atomic.Int32{}
					config.Dial = func(ctx context.Context, id string) (net.Conn, error) {
						if calls.Add(1) <= 2 {
							return nil, errors.New("let the others ask first")
						}
						return dial(ctx, id)
					}
					var members []string
					for id := range config.Initial {
						members = append(members, fmt.Sprintf("%q: %q", id, strings.Replace(config.Incarnation, "node-1", id, 1)))
					}
					forming := "{" + strings.Join(members, ",") + "}"
					require.NoError(t, config.Stable.Set([]byte("LeaseholdForming"), []byte(forming)))
					if term > 0 {
						require.NoError(t, config.Stable.SetUint64([]byte("CurrentTerm"), term))
					}
				}})
				c.WaitReady()
				_, err := c.Node(2).Propose(patient(t), create("first", "value"))
				require.NoError(t, err)
				c.Close()
			})
		})
	}
}
