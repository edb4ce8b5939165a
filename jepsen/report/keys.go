package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// keyHistory is what happened to one object, as far as anybody saw.
type keyHistory struct {
	Key    string
	Rows   []keyRow
	Before int // rows left out
	After  int
}

// keyRow is a version, or a write of which nobody knows what became of it.
type keyRow struct {
	Revision  uint64 // 0 if unknown
	What      string
	Client    string
	Node      string
	Called    int64
	Answered  int64
	Line      int64
	Content   string
	Seen      int // reads, lists and watches that showed it
	Concerned bool
	Unknown   bool
}

const (
	mostKeys = 4
	mostRows = 40
)

// historyOf puts an object's versions into their order. Revisions and lines of the steps are marked, and rows near them kept.
func historyOf(h *history.History, key string, concerned map[int64]bool) keyHistory {
	versions := make(map[uint64]*keyRow)
	see := func(v *history.Version, deleted bool) {
		if v == nil || v.Key != key || v.Revision == 0 {
			return
		}
		row := versions[v.Revision]
		if row == nil {
			row = &keyRow{Revision: v.Revision, What: "written by " + cmp.Or(v.ID, "somebody else"), Content: content(v), Called: history.Never, Answered: history.Never}
			if deleted {
				row.What, row.Content = "deletion", ""
			}
			versions[v.Revision] = row
		}
		row.Seen++
	}
	var unknown []keyRow
	for i := range h.Operations {
		op := &h.Operations[i]
		if !writes(op.F) {
			if op.Answer != nil {
				see(op.Answer.Version, false)
				for j := range op.Answer.Items {
					see(&op.Answer.Items[j], false)
				}
			}
			continue
		}
		if op.Request.Key != key && (op.Answer == nil || op.Answer.Version == nil || op.Answer.Version.Key != key) {
			continue
		}
		row := keyRow{What: op.F, Client: op.Process, Node: op.Node, Called: op.Invoked, Answered: op.Returned, Line: op.Index, Concerned: concerned[op.Index]}
		if op.Request.ID != "" {
			row.What += " " + op.Request.ID
		}
		switch {
		case op.Outcome == history.OK && op.Answer != nil && op.Answer.Version != nil && op.Answer.Version.Revision != 0:
			row.Revision, row.Content = op.Answer.Version.Revision, content(op.Answer.Version)
			if known := versions[row.Revision]; known != nil {
				if known.Line != 0 { // two writes claim one revision: both are shown
					unknown = append(unknown, row)
					continue
				}
				row.Seen, row.Concerned = known.Seen, row.Concerned || known.Concerned
			}
			versions[row.Revision] = &row
		case op.Outcome != history.Fail:
			row.Unknown = true
			row.Content = wanted(op.Request)
			unknown = append(unknown, row)
		}
	}
	for i := range h.Streams {
		for j := range h.Streams[i].Changes {
			if c := &h.Streams[i].Changes[j]; c.Version != nil {
				see(c.Version, c.Type == "DELETED")
				if row := versions[c.Version.Revision]; row != nil && c.Version.Key == key && concerned[c.Index] {
					row.Concerned = true
				}
			}
		}
	}
	return keyHistory{Key: key}.of(versions, unknown)
}

// of sorts the rows and keeps those near what is concerned.
func (k keyHistory) of(versions map[uint64]*keyRow, unknown []keyRow) keyHistory {
	byID := make(map[string]bool)
	rows := make([]keyRow, 0, len(versions)+len(unknown))
	for _, row := range versions {
		byID[strings.TrimPrefix(row.What, "written by ")] = true
		rows = append(rows, *row)
	}
	for _, row := range unknown {
		if _, id, named := strings.Cut(row.What, " "); named && row.Unknown && byID[id] {
			row.What += " (unknown outcome; somebody saw it)"
		}
		rows = append(rows, row)
	}
	rows = ordered(rows)
	center := slices.IndexFunc(rows, func(r keyRow) bool { return r.Concerned })
	last := center
	for i, r := range rows {
		if r.Concerned {
			last = i
		}
	}
	from := max(0, min((center+last)/2-mostRows/2, len(rows)-mostRows))
	to := min(len(rows), from+mostRows)
	k.Rows, k.Before, k.After = rows[from:to], from, len(rows)-to
	return k
}

// ordered puts rows by their revisions, and each without one before the first that was called later.
func ordered(rows []keyRow) []keyRow {
	var known, unknown []keyRow
	for _, r := range rows {
		if r.Revision != 0 {
			known = append(known, r)
		} else {
			unknown = append(unknown, r)
		}
	}
	slices.SortFunc(known, func(a, b keyRow) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Called, b.Called), cmp.Compare(a.Line, b.Line))
	})
	slices.SortFunc(unknown, func(a, b keyRow) int { return cmp.Or(cmp.Compare(a.Called, b.Called), cmp.Compare(a.Line, b.Line)) })
	for _, r := range unknown {
		place := slices.IndexFunc(known, func(k keyRow) bool { return k.Called != history.Never && k.Called > r.Called })
		if place < 0 {
			place = len(known)
		}
		known = slices.Insert(known, place, r)
	}
	return known
}

func content(v *history.Version) string {
	var parts []string
	if v.Holder != "" {
		parts = append(parts, fmt.Sprintf("holder %s (%d)", v.Holder, v.Transitions))
	}
	if v.Group != "" {
		parts = append(parts, "group "+v.Group)
	}
	if len(v.Elements) > 0 {
		parts = append(parts, "elements "+few(v.Elements, 8))
	}
	return clip(strings.Join(parts, ", "), 200)
}

func wanted(r *history.Request) string {
	return content(&history.Version{Holder: r.Holder, Transitions: r.Transitions, Group: r.Group, Elements: strings.Fields(r.Append)})
}
