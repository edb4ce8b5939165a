package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cmd/leasehold/kubeconfig"
)

// statusPath answers with cluster.Status and the node's URL, as JSON.
const statusPath = "/leasehold/v1/status"

// nodeStatus is what statusPath answers.
type nodeStatus struct {
	cluster.Status
	URL     string `json:"url"`
	Version string `json:"version"`
}

func tellStatus(node *cluster.Node, url string) func(*http.Request) (any, error) {
	return func(*http.Request) (any, error) { return nodeStatus{node.Status(), url, leaseholdVersion}, nil }
}

// statusTimeout bounds the wait for one node, so that a paused one does not hide the others.
const statusTimeout = 5 * time.Second

// askedNode is what one node says of itself, or why it says nothing: then Error is set and only ID and URL are.
type askedNode struct {
	nodeStatus
	Error string `json:"error,omitempty"`
}

func statusCommand() *cobra.Command {
	var file, output string
	command := &cobra.Command{
		Use:   "status --kubeconfig FILE [-o json]",
		Short: "Tell role, term, revision, applied index and readiness of each node",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return fmt.Errorf("--output: %q is neither table nor json", output)
			}
			contexts, err := nodeContexts(file)
			if err != nil {
				return fmt.Errorf("--kubeconfig: %w", err)
			}
			nodes := askNodes(cmd.Context(), contexts)
			if err := printStatus(cmd.OutOrStdout(), nodes, output); err != nil {
				return err
			}
			for _, node := range nodes {
				if node.Error == "" {
					return nil
				}
			}
			return errors.New("no node answered")
		},
	}
	command.Flags().StringVar(&file, "kubeconfig", ".leasehold/kubeconfig", "file whose contexts node-* are the nodes")
	command.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	return command
}

// nodeContexts returns a kubeconfig's nodes, or its current context where it names none.
func nodeContexts(path string) ([]kubeconfig.Context, error) {
	file, err := kubeconfig.Read(path)
	if err != nil {
		return nil, err
	}
	if nodes := file.Nodes(); len(nodes) > 0 {
		return nodes, nil
	}
	current, err := file.Context("")
	return []kubeconfig.Context{current}, err
}

// askNodes asks all nodes at once and returns their answers in the order of the contexts.
func askNodes(ctx context.Context, contexts []kubeconfig.Context) []askedNode {
	nodes := make([]askedNode, len(contexts))
	var asking sync.WaitGroup
	for i, at := range contexts {
		asking.Go(func() {
			status, err := askNode(ctx, at)
			if err != nil {
				nodes[i] = askedNode{nodeStatus{Status: cluster.Status{ID: at.Name}, URL: at.URL}, err.Error()}
				return
			}
			status.URL = cmp.Or(status.URL, at.URL)
			nodes[i] = askedNode{nodeStatus: status}
		})
	}
	asking.Wait()
	return nodes
}

func askNode(ctx context.Context, at kubeconfig.Context) (nodeStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL+statusPath, nil)
	if err != nil {
		return nodeStatus{}, err
	}
	if at.Token != "" {
		request.Header.Set("Authorization", "Bearer "+at.Token)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: at.TLS, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nodeStatus{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nodeStatus{}, err
	}
	if response.StatusCode != http.StatusOK {
		return nodeStatus{}, fmt.Errorf("%s: %s", response.Status, strings.TrimSpace(string(body)))
	}
	var status nodeStatus
	return status, json.Unmarshal(body, &status)
}

func printStatus(out io.Writer, nodes []askedNode, output string) error {
	if output == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(nodes)
	}
	table := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(table, "ID\tURL\tROLE\tTERM\tREVISION\tAPPLIED\tREADY")
	for _, n := range nodes {
		switch {
		case n.Error != "":
			fmt.Fprintf(table, "%s\t%s\tunknown\t-\t-\t-\tno: %s\n", n.ID, n.URL, n.Error)
		case n.Ready:
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\tyes\n", n.ID, n.URL, n.Role, n.Term, n.Revision, n.AppliedIndex)
		default:
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\tno: %s\n", n.ID, n.URL, n.Role, n.Term, n.Revision, n.AppliedIndex, n.NotReady)
		}
	}
	return table.Flush()
}
