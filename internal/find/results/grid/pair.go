package grid

import (
	"bytes"
	"iter"
	"slices"

	"assay/internal/find/results"
)

// Pair is two runs item by item: the lanes that both have, on the items that both have. A change is the second run
// minus the first.
type Pair struct {
	Was, Now *Matrix
	Lanes    []string
	Shared   int // items
	Worse    int // items on which a lane is worse than it was
	Better   int // items on which a lane is better, and none is worse
	columns  [][2]int
}

// PairRow is one item in both runs.
type PairRow struct {
	Item     string
	Ord      int64
	Was, Now []Cell // of the shared lanes
	Worse    int    // lanes
	Better   int
}

// PairQuery picks rows of a pair, those that became worse the most first.
type PairQuery struct {
	Only  PairChange // empty: all
	After string
	Limit int
}

// PairChange is the change of an item.
type PairChange string

// The changes that rows of a pair are picked by.
const (
	PairWorse   PairChange = "worse"
	PairBetter  PairChange = "better"
	PairChanged PairChange = "changed"
)

// PairOf puts two matrices side by side.
func PairOf(was, now *Matrix) (*Pair, error) {
	p := &Pair{Was: was, Now: now}
	for i, lane := range was.Lanes {
		if k := now.Column(lane); k >= 0 {
			p.Lanes, p.columns = append(p.Lanes, lane), append(p.columns, [2]int{i, k})
		}
	}
	for both, err := range p.records() {
		if err != nil {
			return nil, err
		}
		p.Shared++
		switch d := p.delta(both); {
		case d.worse > 0:
			p.Worse++
		case d.better > 0:
			p.Better++
		}
	}
	return p, nil
}

// Page reads rows of both runs. It walks over both once and holds no more than the page.
func (p *Pair) Page(q PairQuery) (rows []PairRow, next string, err error) {
	after, err := readPlace(q.After)
	if err != nil {
		return nil, "", err
	}
	if q.Only != "" && !slices.Contains([]PairChange{PairWorse, PairBetter, PairChanged}, q.Only) {
		return nil, "", results.NewMistake("", "only: want %s, %s or %s", PairWorse, PairBetter, PairChanged)
	}
	best := smallest[pairRecord]{after: after, limit: q.Limit}
	for both, err := range p.records() {
		if err != nil {
			return nil, "", err
		}
		d := p.delta(both)
		if q.Only == PairWorse && d.worse == 0 || q.Only == PairBetter && d.better == 0 || q.Only == PairChanged && d.changed == 0 {
			continue
		}
		best.offer(place{d.key(), both[1].ord()}, func() pairRecord {
			return pairRecord{[2]record{slices.Clone(both[0]), slices.Clone(both[1])}, d}
		})
	}
	kept, next := best.page()
	for _, k := range kept {
		rows = append(rows, p.row(k.value.both, k.value.delta))
	}
	return rows, next, nil
}

// pairRecord is an item of both runs as bytes, and what changed on it.
type pairRecord struct {
	both  [2]record
	delta delta
}

func (p *Pair) row(both [2]record, d delta) PairRow {
	was, now := p.Was.decode(both[0]), p.Now.decode(both[1])
	row := PairRow{Item: now.Item, Ord: now.Ord, Worse: d.worse, Better: d.better}
	for _, c := range p.columns {
		row.Was, row.Now = append(row.Was, was.Cells[c[0]]), append(row.Now, now.Cells[c[1]])
	}
	return row
}

// delta is the change of an item.
type delta struct {
	lost, won              int // in steps of values, over all lanes
	worse, better, changed int // lanes
}

// key puts what lost the most first, then what only changed its words, then what won, then the rest.
func (d delta) key() int64 {
	switch {
	case d.lost > 0:
		return -int64(d.lost)<<20 - int64(d.changed)
	case d.won > 0:
		return 1<<41 - int64(d.won)
	case d.changed > 0:
		return 1<<40 - int64(d.changed)
	}
	return 1 << 42
}

func (p *Pair) delta(both [2]record) delta {
	var d delta
	for _, c := range p.columns {
		a, b := both[0].cell(c[0]), both[1].cell(c[1])
		switch {
		case a.value != noneByte && b.value != noneByte && a.value != b.value:
			d.changed++
			if step := int(b.value) - int(a.value); step < 0 {
				d.worse, d.lost = d.worse+1, d.lost-step
			} else {
				d.better, d.won = d.better+1, d.won+step
			}
		case a.value == noneByte && b.value == noneByte && p.Was.labelOf(a) != p.Now.labelOf(b):
			d.changed++
		}
	}
	return d
}

func (m *Matrix) labelOf(c packedCell) string {
	if int(c.label) < len(m.labels) {
		return m.labels[c.label]
	}
	return ""
}

// records walks over the items that both have; both sides come in the order of their ids.
func (p *Pair) records() iter.Seq2[[2]record, error] {
	return func(yield func([2]record, error) bool) {
		next, stop := iter.Pull2(p.Was.bytes.records())
		defer stop()
		was, err, ok := next()
		for now, e := range p.Now.bytes.records() {
			if e != nil {
				yield([2]record{}, e)
				return
			}
			for ok && err == nil && bytes.Compare(was.id(), now.id()) < 0 {
				was, err, ok = next()
			}
			if err != nil {
				yield([2]record{}, err)
				return
			}
			if !ok {
				return
			}
			if bytes.Equal(was.id(), now.id()) && !yield([2]record{was, now}, nil) {
				return
			}
		}
	}
}
