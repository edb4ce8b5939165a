package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const core = "/api/v1/namespaces"

// prepare makes the namespaces that are not there, and returns those. A server whose namespaces need not be made says that
// they exist, one that has no namespaces at all says nothing. None of it is recorded, for it is no Lease.
func prepare(ctx context.Context, s *scene, namespaces []string) (made []string, err error) {
	for _, namespace := range namespaces {
		code, _, err := insist(ctx, s, message{method: "GET", path: core + "/" + namespace})
		if err != nil {
			return made, fmt.Errorf("look for namespace %s: %w", namespace, err)
		}
		if code != http.StatusNotFound {
			continue
		}
		body := encode(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]string{"name": namespace}})
		code, _, err = insist(ctx, s, message{method: "POST", path: core, media: "application/json", body: body})
		if err != nil {
			return made, fmt.Errorf("make namespace %s: %w", namespace, err)
		}
		if code/100 == 2 {
			made = append(made, namespace)
		}
		if code == http.StatusForbidden || code == http.StatusUnauthorized {
			return made, fmt.Errorf("make namespace %s: the server answers %d: the token given may not make namespaces", namespace, code)
		}
	}
	return made, nil
}

// clean deletes all objects in the namespaces, those with finalizers after taking them away, and the namespaces that were made.
func clean(ctx context.Context, s *scene, namespaces, made []string) error {
	for _, namespace := range namespaces {
		_, body, err := insist(ctx, s, message{method: "GET", path: path(namespace + "/")})
		if err != nil {
			return fmt.Errorf("clean namespace %s: %w", namespace, err)
		}
		var l struct {
			Items []object `json:"items"`
		}
		if err := json.Unmarshal(body, &l); err != nil {
			return fmt.Errorf("clean namespace %s: %w", namespace, err)
		}
		for _, o := range l.Items {
			if len(o.Metadata.Finalizers) == 0 {
				continue
			}
			patch := encode(map[string]any{"metadata": map[string]any{"finalizers": nil}})
			if _, _, err := insist(ctx, s, message{method: "PATCH", path: path(namespace + "/" + o.Metadata.Name), media: mergePatch, body: patch}); err != nil {
				return fmt.Errorf("clean namespace %s: %w", namespace, err)
			}
		}
		if _, _, err := insist(ctx, s, message{method: "DELETE", path: path(namespace + "/")}); err != nil {
			return fmt.Errorf("clean namespace %s: %w", namespace, err)
		}
	}
	for _, namespace := range made {
		if _, _, err := insist(ctx, s, message{method: "DELETE", path: core + "/" + namespace}); err != nil {
			return fmt.Errorf("delete namespace %s: %w", namespace, err)
		}
	}
	return nil
}

// insist asks one node after the other until one answers with neither 429 nor 5xx, for half a minute. It is only for what
// may be done twice.
func insist(ctx context.Context, s *scene, m message) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for n := 0; ; n++ {
		e := s.Endpoints[n%len(s.Endpoints)]
		attempt, done := context.WithTimeout(ctx, patience)
		code, _, body, x := send(attempt, e, m)
		done()
		if x.err == nil && code != http.StatusTooManyRequests && code/100 != 5 {
			return code, body, nil
		}
		if x.err == nil {
			x.err = fmt.Errorf("%s answers %d", e.Node, code)
		}
		if !sleep(ctx, time.Second/4) {
			return 0, nil, x.err
		}
	}
}
