package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// control tells how to reach the leasehold dev that runs a directory's cluster. It is in DIR/control while that runs.
type control struct {
	Address string `json:"address"`
	Token   string `json:"token"`
}

// serveControl takes requests to restart a node, from this machine and from who can read DIR/control.
func (d *devCluster) serveControl(ctx context.Context) (closeControl func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := control{Address: listener.Addr().String(), Token: rand.Text()}
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	path := d.layout.path("control")
	if err := writeSecret(path, data); err != nil {
		listener.Close()
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /restart/{k}", func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+c.Token)) != 1 {
			http.Error(w, "wrong token", http.StatusForbidden)
			return
		}
		reached, err := d.restart(r.Context(), r.PathValue("k"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		_, _ = io.WriteString(w, reached) // fails when the client is gone
	})
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx }, // so that a restart under way ends too
	}
	go func() { _ = server.Serve(listener) }() // ends with ErrServerClosed
	return func() {
		server.Close()
		os.Remove(path)
	}, nil
}

// restart starts node k, after stopping it if it runs. It waits until the node serves, or only until it is alive while
// too few nodes run for any of them to serve; it returns what it has waited for.
func (d *devCluster) restart(ctx context.Context, text string) (string, error) {
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 || k > d.layout.Nodes {
		return "", fmt.Errorf("there is no node %q: nodes are 1 to %d", text, d.layout.Nodes)
	}
	d.restarts[k].Lock()
	defer d.restarts[k].Unlock()
	if err := d.stopNode(k); err != nil {
		d.say("%v", err)
	}
	if err := d.startNode(k); err != nil {
		return "", err
	}
	path, reached := "/readyz", "serves"
	if d.running() <= d.layout.Nodes/2 {
		path, reached = "/livez", "runs, and will serve once a majority does"
	}
	if err := d.awaitNode(ctx, k, path); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	d.say("%s: %s", d.layout.id(k), reached)
	return reached, nil
}

// stopNode stops node k if it runs.
func (d *devCluster) stopNode(k int) error {
	d.mu.Lock()
	p := d.nodes[k]
	if p != nil {
		d.leaving[p] = true
	}
	d.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.stop(stopGrace)
}

// running returns how many nodes run.
func (d *devCluster) running() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, p := range d.nodes {
		if p.running() {
			n++
		}
	}
	return n
}

func devRestartCommand() *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:   "restart K --dir DIR",
		Short: "Start node K of a running development cluster again (stopping it first if it runs), and wait until it serves if it can",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one node by its number: leasehold dev restart K")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return askRestart(cmd, dir, args[0])
		},
	}
	command.Flags().StringVar(&dir, "dir", ".leasehold", "directory of the cluster")
	return command
}

func askRestart(cmd *cobra.Command, dir, k string) error {
	data, err := os.ReadFile(filepath.Join(dir, "control"))
	if err != nil {
		return fmt.Errorf("no leasehold dev runs on %s: %w", dir, err)
	}
	var c control
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, "control"), err)
	}
	request, err := http.NewRequestWithContext(cmd.Context(), http.MethodPost, "http://"+c.Address+"/restart/"+k, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("the leasehold dev of %s does not answer: %w", dir, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("the leasehold dev of %s went away: %w", dir, err)
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(body)))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "node-%s %s\n", k, body)
	return nil
}
