package check

import "github.com/leasehold/leasehold/jepsen/history"

// lost tells whether nothing that was read after all was quiet shows an entry, or a later one of its object: it is not
// merely late at one node.
func (l *log) lost(at int32) bool {
	if at == none {
		return false
	}
	e := &l.entries[at]
	name := l.keys[e.key]
	shown := func(v *history.Version) bool { return v.Key == name && v.Revision >= e.revision && !e.gone }
	for i := len(l.h.Operations) - 1; i >= 0; i-- {
		op := &l.h.Operations[i]
		if !l.quiet(op) {
			break
		}
		if op.Outcome == history.Info || op.Answer == nil {
			continue
		}
		switch {
		case op.F == history.Get && op.Request.Key == name && op.Answer.Version != nil && shown(op.Answer.Version):
			return false
		case op.F == history.Get && op.Request.Key == name && op.Answer.Code == 404 && e.gone:
			return false
		case op.F == history.List && op.Outcome == history.OK && l.holds(l.scope(op.Request), e.key) && op.Request.Page == 0 && !op.Answer.More:
			there := false
			for j := range op.Answer.Items {
				there = there || op.Answer.Items[j].Key == name
				if shown(&op.Answer.Items[j]) {
					return false
				}
			}
			if e.gone && !there && op.Answer.Revision >= e.revision {
				return false
			}
		}
	}
	return true
}

// loss is the guarantee that is broken by the loss of an entry.
func (l *log) loss(at int32) string {
	switch by := l.entries[at].by; {
	case by&byAck != 0:
		return "D1"
	case by&(byRead|byList) != 0:
		return "D2"
	}
	return "W11"
}
