package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// Paths of the server's own, beside the Kubernetes API.
const (
	statusPath   = "/leasehold/v1/status"
	transferPath = "/leasehold/v1/transfer-leader"
)

const (
	sampleTimeout   = time.Second
	transferTimeout = 15 * time.Second
)

// Sample asks a node about itself, past every fault of the network.
func (t *Testbed) Sample(ctx context.Context, name string) (history.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	code, body, err := t.ask(ctx, name, http.MethodGet, statusPath)
	if err != nil {
		return history.Sample{}, err
	}
	if code != http.StatusOK {
		return history.Sample{}, fmt.Errorf("status of %s: %d: %s", name, code, strings.TrimSpace(string(body)))
	}
	var status struct {
		Role, Leader          string
		Term, Revision        uint64
		CommitIndex           uint64
		AppliedIndex          uint64
		HashIndex             uint64
		Hash                  string
		Ready                 bool
		NotReady              string
		Members               []struct{ ID string }
		FirstIndex, LastIndex uint64
	}
	if err := json.Unmarshal(body, &status); err != nil {
		return history.Sample{}, fmt.Errorf("status of %s: %w", name, err)
	}
	return history.Sample{
		Role: status.Role, Leader: status.Leader, Term: status.Term, Revision: status.Revision, Commit: status.CommitIndex,
		Applied: status.AppliedIndex, First: status.FirstIndex, HashIndex: status.HashIndex, Hash: status.Hash, Ready: status.Ready,
	}, nil
}

// Transfer asks the leader to hand over to a node, "" for any.
func (t *Testbed) Transfer(ctx context.Context, to string) error {
	leader, err := t.leader(ctx)
	if err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	path := transferPath
	if to != "" {
		path += "?" + url.Values{"to": {to}}.Encode()
	}
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	code, body, err := t.ask(ctx, leader, http.MethodPost, path)
	switch {
	case err != nil:
		return fmt.Errorf("transfer leadership from %s: %w", leader, err)
	case code == http.StatusNotFound:
		return fmt.Errorf("transfer leadership: this server has no %s: %w", transferPath, nemesis.ErrUnsupported)
	case code >= 300:
		return fmt.Errorf("transfer leadership from %s: %d: %s", leader, code, strings.TrimSpace(string(body)))
	}
	return nil
}

// leader returns the node that says it leads with the highest term.
func (t *Testbed) leader(ctx context.Context) (string, error) {
	leader, term := "", uint64(0)
	for _, node := range t.order {
		if sample, err := t.Sample(ctx, node); err == nil && sample.Role == "leader" && sample.Term >= term {
			leader, term = node, sample.Term
		}
	}
	if leader == "" {
		return "", errors.New("no node says that it leads")
	}
	return leader, nil
}

// maxAnswer bounds an answer about a node itself.
const maxAnswer = 1 << 20

func (t *Testbed) ask(ctx context.Context, name, method, path string) (int, []byte, error) {
	if _, err := t.find(name); err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, t.URL(name)+path, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+t.token)
	response, err := t.monitor[name].http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, body, err
}
