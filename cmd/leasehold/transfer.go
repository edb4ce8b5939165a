package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/leasehold/leasehold/cluster"
)

// transferPath takes a POST that makes another voter lead, on whichever node. The query's to, or that of a body
// {"to":"ID"}, names the one; without it the most current one is taken. It answers {"leader":"ID"} once that is known.
const transferPath = "/leasehold/v1/transfer-leader"

// transferTimeout bounds the wait for another leader. An election takes one or two of --election-timeout.
const transferTimeout = 10 * time.Second

// transferee is what a body may say.
type transferee struct {
	To string `json:"to"`
}

// newLeader is what transferPath answers.
type newLeader struct {
	Leader string `json:"leader"`
}

// mover is what transferLeader needs of a node.
type mover interface {
	TransferLeadership(ctx context.Context, to string) (leader string, err error)
}

func transferLeader(node mover) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		to, err := readTransferee(r)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		ctx, cancel := context.WithTimeout(r.Context(), transferTimeout)
		defer cancel()
		leader, err := node.TransferLeadership(ctx, to)
		if errors.Is(err, cluster.ErrNotVoter) {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return newLeader{leader}, err
	}
}

// readTransferee returns who shall lead, "" for anybody.
func readTransferee(r *http.Request) (string, error) {
	asked := r.URL.Query().Get("to")
	var body transferee
	decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<10))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&body); {
	case errors.Is(err, io.EOF):
		return asked, nil
	case err != nil:
		return "", fmt.Errorf("the body is not {\"to\": \"ID of a node\"}: %w", err)
	case asked != "" && body.To != "" && body.To != asked:
		return "", fmt.Errorf("the query names %q, the body %q", asked, body.To)
	}
	return cmp.Or(asked, body.To), nil
}
