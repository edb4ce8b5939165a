package workload

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/leasehold/leasehold/jepsen/history"
)

// result is what an operation came to.
type result struct {
	Outcome  history.Type
	Answer   *history.Answer
	Header   http.Header
	Continue string // where a list goes on
}

// ok says that the operation did what it was asked for.
func (r result) ok() bool { return r.Outcome == history.OK }

// version is what a write or get saw; it has Revision 0 if that was nothing.
func (r result) version() history.Version {
	if r.Outcome != history.OK || r.Answer.Version == nil {
		return history.Version{}
	}
	return *r.Answer.Version
}

// status is the Status that answers what was refused, and a deletion.
type status struct {
	Kind    string `json:"kind"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Code    int    `json:"code"`
	Details struct {
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"details"`
}

// read puts into the answer what its body says.
func (r *result) read(f string, body []byte, objects *reader) {
	switch {
	case r.Outcome != history.OK:
		var s status
		if len(body) > 0 && json.Unmarshal(body, &s) == nil {
			r.Answer.Reason = s.Reason
		}
		if r.Answer.Code != 0 && r.Answer.Error == "" {
			r.Answer.Error = s.Message
		}
	case f == history.List:
		r.readList(body, objects)
	case f == history.Delete:
		r.readDeletion(body, objects)
	default:
		v, malformed := objects.version(body)
		r.Answer.Version, r.Answer.Malformed = &v, malformed
	}
}

// readDeletion reads a Status with the uid of what is gone, or the object where it lives on until its finalizers are gone.
func (r *result) readDeletion(body []byte, objects *reader) {
	var s status
	if err := json.Unmarshal(body, &s); err != nil {
		r.Answer.Malformed = fmt.Sprintf("a deletion answered with no JSON: %v", err)
		return
	}
	if s.Kind == "Status" {
		r.Answer.Version = &history.Version{UID: s.Details.UID}
		return
	}
	v, malformed := objects.version(body)
	r.Answer.Version, r.Answer.Malformed = &v, malformed
}

func (r *result) readList(body []byte, objects *reader) {
	var l struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
			Continue        string `json:"continue"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(body, &l); err != nil {
		r.Answer.Malformed = fmt.Sprintf("a list that is no list: %v", err)
		return
	}
	revision, err := parseRevision(l.Metadata.ResourceVersion)
	if err != nil {
		r.Answer.Malformed = "list: " + err.Error()
	}
	r.Answer.Revision, r.Answer.More, r.Continue = revision, l.Metadata.Continue != "", l.Metadata.Continue
	r.Answer.Items = make([]history.Version, len(l.Items))
	for i, raw := range l.Items {
		v, malformed := objects.version(raw)
		r.Answer.Items[i] = v
		if malformed != "" && r.Answer.Malformed == "" {
			r.Answer.Malformed = v.Key + ": " + malformed
		}
	}
}
