package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// shortTypes are the media types that cases call by a short name.
var shortTypes = map[string]string{
	"json":      "application/json",
	"yaml":      "application/yaml",
	"cbor":      "application/cbor",
	"protobuf":  protobufType,
	"jsonpatch": "application/json-patch+json",
	"merge":     "application/merge-patch+json",
	"strategic": "application/strategic-merge-patch+json",
	"apply":     "application/apply-patch+yaml",
	"applycbor": "application/apply-patch+cbor",
	"table":     "application/json;as=Table;v=v1;g=meta.k8s.io",
	"partial":   "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
	"partials":  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
}

// userAgent is the recorded client's: the server notes it as the manager of what it sets.
const userAgent = "apidiff/1"

func inFull(mediaType string) string {
	if full, ok := shortTypes[mediaType]; ok {
		return full
	}
	return mediaType
}

// request builds the HTTP request of a step for the node whose turn it is.
func (c *conversation) request(ctx context.Context, step Step, method, path string) (*http.Request, error) {
	path, err := c.scope.fill(path)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(c.nextNode() + path)
	if err != nil {
		return nil, err
	}
	body, contentType, err := c.body(step)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.URL = target // as the case wrote it
	if len(body) == 0 {
		r.Body, r.GetBody, r.ContentLength = http.NoBody, nil, 0
	}
	if step.Type != "" {
		contentType = step.Type
	}
	if contentType != "" && contentType != "none" {
		r.Header.Set("Content-Type", inFull(contentType))
	}
	if step.Accept != "" {
		r.Header.Set("Accept", inFull(step.Accept))
	}
	r.Header.Set("User-Agent", userAgent)
	if err := c.authenticate(r, step.As); err != nil {
		return nil, err
	}
	for name, value := range step.Headers {
		if value, err = c.scope.fill(value); err != nil {
			return nil, err
		}
		r.Header.Set(name, value)
	}
	return r, nil
}

func (c *conversation) authenticate(r *http.Request, as string) error {
	switch as {
	case "", "admin":
		r.Header.Set("Authorization", "Bearer "+c.server.Token)
	case "user":
		r.Header.Set("Authorization", "Bearer "+c.server.UserToken)
	case "badtoken":
		r.Header.Set("Authorization", "Bearer not-a-known-token")
	case "nobody":
	default:
		return fmt.Errorf("nobody is known as %q", as)
	}
	return nil
}

// body returns a step's body and the Content-Type that goes with it, in short.
func (c *conversation) body(step Step) ([]byte, string, error) {
	var text, encoding string
	switch {
	case step.Body != "":
		text, err := c.scope.fill(step.Body)
		return []byte(text), "json", err
	case step.YAML != nil:
		text, encoding = string(step.YAML), "yaml"
	case step.JSON != nil:
		text, encoding = string(step.JSON), step.Encode
	case step.Lease != nil:
		text, encoding = withKind("coordination.k8s.io/v1", "Lease", step.Lease), step.Encode
	case step.Candidate != nil:
		text, encoding = withKind("coordination.k8s.io/v1beta1", "LeaseCandidate", step.Candidate), step.Encode
	default:
		return nil, "", nil
	}
	text, err := c.scope.fill(text)
	if err != nil {
		return nil, "", err
	}
	body, err := encode([]byte(text), encoding)
	if encoding == "" {
		encoding = "json"
	}
	return body, encoding, err
}

// withKind puts apiVersion and kind first in an object. The other fields stay as they are written, which matters where a
// name is there twice.
func withKind(apiVersion, kind string, object json.RawMessage) string {
	fields := strings.TrimPrefix(strings.TrimSpace(string(object)), "{")
	head := fmt.Sprintf(`{"apiVersion":%q,"kind":%q`, apiVersion, kind)
	if strings.TrimSpace(fields) == "}" {
		return head + "}"
	}
	return head + "," + fields
}
