package check

import (
	"fmt"
	"io"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/leasehold/leasehold/jepsen/history"
)

// timelineObjects is how many objects a timeline shows.
const timelineObjects = 5

// WriteTimeline writes a page of HTML that shows the operations on the objects that a report finds fault with, or on the
// first object if it finds none: which orders are possible, and where none is. The faults stand beside them.
func WriteTimeline(h *history.History, report Report, w io.Writer) error {
	l, _ := merge(h, Options{}.withDefaults())
	var wanted []string
	for _, result := range report.Results {
		for _, f := range result.Findings {
			for _, key := range f.Keys {
				if f.Verdict == Broken && !slices.Contains(wanted, key) && len(wanted) < timelineObjects {
					wanted = append(wanted, key)
				}
			}
		}
	}
	var ops []porcupine.Operation
	for _, p := range l.partitions(len(h.Operations)) {
		if slices.Contains(wanted, l.keys[p.key]) || len(wanted) == 0 && len(ops) == 0 {
			ops = append(ops, p.ops...)
		}
	}
	model := linearModel()
	model.Partition = func(ops []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		at := make(map[int32]int)
		for _, op := range ops {
			key := l.opKey[op.Input.(*step).op]
			i, ok := at[key]
			if !ok {
				i = len(parts)
				at[key] = i
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	}
	for _, op := range ops {
		s := op.Input.(*step)
		s.call = l.keys[l.opKey[s.op]] + ": " + s.call
	}
	_, info := porcupine.CheckOperationsVerbose(model, ops, l.options.LinearTimeout)
	var faults []porcupine.Annotation
	for i := range h.Windows {
		f := &h.Windows[i]
		faults = append(faults, porcupine.Annotation{Tag: "faults: " + f.Family, Start: f.Start, End: min(f.Stop, h.End), Description: f.Name,
			Details: fmt.Sprintf("%v %s %s", f.Nodes, f.Effect, f.Error), BackgroundColor: "#ffd9d9"})
	}
	info.AddAnnotations(faults)
	if err := porcupine.Visualize(model, info, w); err != nil {
		return fmt.Errorf("write timeline: %w", err)
	}
	return nil
}
