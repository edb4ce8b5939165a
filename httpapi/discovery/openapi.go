package discovery

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/leasehold/leasehold/httpapi/media"
)

// specs holds the OpenAPI descriptions: openapi/v2 and openapi/v3/PATH, each as .json and as protobuf, .pb.
//
//go:embed openapi
var specs embed.FS

// The protobuf types of OpenAPI. Clients ask by the older name, with the @, and are answered with the newer.
const (
	protobufV2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	protobufV3 = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

// index is the document at /openapi/v3: where each group and version is described.
type index struct {
	Paths map[string]indexEntry `json:"paths"`
}

type indexEntry struct {
	ServerRelativeURL string `json:"serverRelativeURL"`
}

// addOpenAPI adds the descriptions; every group and version that is served must have one.
func (d Documents) addOpenAPI(groups []group) error {
	v2, err := described("openapi/v2", protobufV2, "Accept-Encoding", "Accept")
	if err != nil {
		return err
	}
	v2.AnyMethod = true
	d["/openapi/v2"] = v2

	all := index{Paths: map[string]indexEntry{}}
	err = fs.WalkDir(specs, "openapi/v3", func(path string, entry fs.DirEntry, err error) error {
		name, isJSON := strings.CutSuffix(path, ".json")
		if err != nil || !isJSON {
			return err
		}
		document, err := described(name, protobufV3, "Accept", "Accept-Encoding")
		if err != nil {
			return err
		}
		document.AnyMethod = true
		document.path, document.hash = "/"+name, strings.Trim(document.forms[0].etag, `"`)
		d[document.path] = document
		all.Paths[strings.TrimPrefix(name, "openapi/v3/")] = indexEntry{hashed(document.path, document.hash)}
		return nil
	})
	if err != nil {
		return err
	}
	for _, g := range groups {
		for _, v := range g.versions {
			if d["/openapi/v3"+v.path()] == nil {
				return fmt.Errorf("%s is not described in openapi/v3: add it to specgen", v)
			}
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	// kube-apiserver lets Go guess the type of this one.
	d["/openapi/v3"] = &Document{AnyMethod: true, forms: []form{{contentType: "text/plain; charset=utf-8", body: text}}}
	return nil
}

// described is one description in its two encodings, which have the ETag of the first.
func described(name, protobuf string, vary ...string) (*Document, error) {
	text, err := specs.ReadFile(name + ".json")
	if err != nil {
		return nil, err
	}
	binary, err := specs.ReadFile(name + ".pb")
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	etag := quotedHash(compact.Bytes())
	header := http.Header{"Etag": {etag}, "Vary": vary}
	return &Document{forms: []form{
		{mediaTypes: []string{jsonType}, contentType: jsonType, body: compact.Bytes(), gzipped: media.Gzip(compact.Bytes()), etag: etag, header: header},
		{mediaTypes: []string{protobuf, strings.Replace(protobuf, ".v1.0", "@v1.0", 1)}, contentType: protobuf,
			body: binary, gzipped: media.Gzip(binary), etag: etag, header: header},
	}}, nil
}

// elsewhere sends a client that asks for another hash to the document there is.
func (d *Document) elsewhere() Answer {
	return Answer{
		Code:        http.StatusMovedPermanently,
		ContentType: "text/html; charset=utf-8",
		Header:      http.Header{"Location": {hashed(d.path, d.hash)}},
		Body:        []byte{},
	}
}

// forEver is the form for a client that asked for it by its hash: it never needs to ask again.
func (f *form) forEver() *form {
	kept := *f
	kept.header = f.header.Clone()
	kept.header.Set("Cache-Control", "public, immutable")
	kept.header.Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	return &kept
}

// hashed is the relative URL of a document with a hash.
func hashed(path, hash string) string { return path + "?hash=" + url.QueryEscape(hash) }
