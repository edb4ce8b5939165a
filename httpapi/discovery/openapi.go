package discovery

import (
	"net/http"
	"net/url"
	"time"
)

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
