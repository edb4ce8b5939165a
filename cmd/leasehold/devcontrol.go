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
		if err := d.restart(r, r.PathValue("k")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
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

// restart starts node k, after stopping it if it runs, and waits until it serves.
func (d *devCluster) restart(r *http.Request, text string) error {
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 || k > d.layout.Nodes {
		return fmt.Errorf("there is no node %q: nodes are 1 to %d", text, d.layout.Nodes)
	}
	// One at a time: a rolling restart by an impatient script stays one.
	d.restarts.Lock()
	defer d.restarts.Unlock()
	d.mu.Lock()
	current := d.nodes[k]
	if current != nil {
		d.leaving[current] = true
	}
	d.mu.Unlock()
	if current != nil {
		if err := current.stop(stopGrace); err != nil {
			d.say("%v", err)
		}
	}
	if d.stopping {
		return errors.New("the cluster is stopping")
	}
	if err := d.startNode(k); err != nil {
		return err
	}
	if err := d.awaitNode(r.Context(), k); err != nil {
		return err
	}
	if err := r.Context().Err(); err != nil {
		return err
	}
	d.say("%s: serves again", d.layout.id(k))
	return nil
}

func devRestartCommand() *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:   "restart K --dir DIR",
		Short: "Start node K of a running development cluster again, and wait until it serves",
		Args:  cobra.ExactArgs(1),
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
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		return errors.New(strings.TrimSpace(string(body)))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "node-%s serves\n", k)
	return nil
}
