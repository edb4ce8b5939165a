package check

// revisions finds the entry of a revision. Most servers count revisions without large gaps, so a table that is indexed by
// revision does; what lies far off goes into a map.
type revisions struct {
	base  uint64 // the revision of the table's first slot
	table []int32
	far   map[uint64]int32
}

// slack is how many empty slots the table may begin or end with beyond four for each that is in use.
const slack = 1 << 20

func (r *revisions) find(revision uint64) (int32, bool) {
	if i := revision - r.base; revision >= r.base && i < uint64(len(r.table)) {
		at := r.table[i]
		return at - 1, at > 0
	}
	at, ok := r.far[revision]
	return at, ok
}

// put notes that a revision's entry is at, which must not be known yet. count is how many there are.
func (r *revisions) put(revision uint64, at int32, count int) {
	if r.base == 0 && len(r.table) == 0 && len(r.far) == 0 {
		r.base = revision - min(revision, 4096)
	}
	i := revision - r.base
	if revision < r.base || i >= uint64(4*count+slack) {
		if r.far == nil {
			r.far = make(map[uint64]int32)
		}
		r.far[revision] = at
		return
	}
	for uint64(len(r.table)) <= i {
		// What was far off may fall within the grown table.
		if far, ok := r.far[r.base+uint64(len(r.table))]; ok {
			r.table = append(r.table, far+1)
			continue
		}
		r.table = append(r.table, 0)
	}
	r.table[i] = at + 1
}
