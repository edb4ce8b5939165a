// Command specgen writes the OpenAPI descriptions that package discovery embeds: openapi/v2 and, below openapi/v3, one
// for each group and version. Run it by go generate in httpapi/discovery after changing routes.go, after adding a
// resource, or after a new k8s.io/api.
//
// The schemas come out of the types' own comments by openapi-gen; the rest is put together by the builders that
// kube-apiserver uses. It is done here rather than at a server's start so that every node has the same bytes, and so
// that these builders and what they need are no part of the server.
package main

//go:generate go tool openapi-gen --go-header-file=/dev/null --report-filename=/dev/null --output-dir=. --output-pkg=main --output-file=zz_generated.openapi.go k8s.io/api/authentication/v1 k8s.io/api/authorization/v1 k8s.io/api/coordination/v1 k8s.io/api/coordination/v1beta1 k8s.io/api/coordination/v1alpha2 k8s.io/api/core/v1 k8s.io/apimachinery/pkg/apis/meta/v1 k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/version
//go:generate go run ./prune zz_generated.openapi.go k8s.io/api/core/v1 Namespace NamespaceList

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
)

func main() {
	if err := write("openapi"); err != nil {
		fmt.Fprintln(os.Stderr, "specgen:", err)
		os.Exit(1)
	}
}

// write replaces everything in dir.
func write(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the content of all files by name. JSON is indented, for people who review changes; what is served is
// compact.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	v2, err := specV2(allRoutes())
	if err != nil {
		return nil, fmt.Errorf("version 2: %w", err)
	}
	if err := encode(files, "v2", v2, handler.ToProtoBinary); err != nil {
		return nil, err
	}
	for path, routes := range routesByDocument() {
		v3, err := specV3(routes)
		if err != nil {
			return nil, fmt.Errorf("version 3, %s: %w", path, err)
		}
		if err := encode(files, "v3/"+path, v3, handler3.ToV3ProtoBinary); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func encode(files map[string][]byte, name string, spec any, toProtobuf func([]byte) ([]byte, error)) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if files[name+".pb"], err = toProtobuf(text); err != nil {
		return fmt.Errorf("%s as protobuf: %w", name, err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	out.WriteByte('\n')
	files[name+".json"] = out.Bytes()
	return nil
}
