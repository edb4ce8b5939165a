package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// continuation is where a list goes on: what a continue token holds. Its form is kube-apiserver's, so it holds the name
// only as far as the path does not fix it, and fits the same list on any node.
type continuation struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`    // of the first page; -1 to go on at the newest state
	Start    string `json:"start"` // the least key that the next page may hold, relative to the path's namespace
}

const (
	continueVersion = "meta.k8s.io/v1"
	continueNewest  = -1
)

// continueAfter makes the token of a list that goes on after the key namespace/name.
func continueAfter(after, namespace string, revision int64) string {
	start := after
	if namespace != "" {
		start = strings.TrimPrefix(after, namespace+"/")
	}
	token, err := json.Marshal(continuation{Version: continueVersion, Revision: revision, Start: start + "\x00"})
	if err != nil {
		panic(err) // three plain fields always have a JSON form
	}
	return base64.RawURLEncoding.EncodeToString(token)
}

// parseContinue reads a token: after is the key namespace/name that the list goes on after.
func parseContinue(token, namespace string) (after string, revision int64, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", 0, fmt.Errorf("continue key is not valid: %w", err)
	}
	var c continuation
	if err := json.Unmarshal(data, &c); err != nil {
		return "", 0, fmt.Errorf("continue key is not valid: %w", err)
	}
	switch {
	case c.Version != continueVersion:
		return "", 0, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %s", c.Version)
	case c.Revision == 0:
		return "", 0, errors.New("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case c.Start == "":
		return "", 0, errors.New("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")
	}
	// A start that climbs out of the path's namespace would list what the caller was not asked about.
	start := c.Start
	if !strings.HasPrefix(start, "/") {
		start = "/" + start
	}
	if path.Clean(start) != start {
		return "", 0, fmt.Errorf("continue key is not valid: %s", c.Start)
	}
	after = strings.TrimSuffix(start[1:], "\x00")
	if namespace != "" {
		after = namespace + "/" + after
	}
	return after, max(c.Revision, continueNewest), nil
}

// What clients are told of versions that are forgotten; the sentences are kube-apiserver's.
const (
	expiredList     = "The resourceVersion for the provided list is too old."
	expiredContinue = "The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to retrieve the " +
		"remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were " +
		"created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
)

// expired is a list at a version that is forgotten.
func expired() error { return apierrors.NewResourceExpired(expiredList) }

// expiredPage is a page of such a list. Its token goes on from the same place at the newest state.
func expiredPage(after, namespace string) error {
	err := apierrors.NewResourceExpired(expiredContinue)
	err.ErrStatus.Continue = continueAfter(after, namespace, continueNewest)
	return err
}
