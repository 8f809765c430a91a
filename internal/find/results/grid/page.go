package grid

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"assay/internal/find/results"
	"assay/internal/keep/store"
)

// Query picks rows of a matrix, in an order.
type Query struct {
	Is    Kind   // rows that are of all these kinds
	Sort  string // the order: empty is that of the input, SortItem that of the ids, else a lane's name
	Down  bool   // the other way round; what has no value is last both ways
	Words string // rows whose item or answers have them
	After string // the mark of the page before
	Back  bool   // the pages before the mark, the nearest row first
	Limit int
}

// SortItem orders rows by their ids.
const SortItem = "item"

// Page is a few rows, and where to go on.
type Page struct {
	Rows []Row
	Next string // the mark of the next page; empty: this is the last one
	Seen int    // rows that were searched for words
}

// place is the position of a row in an order; no two rows share one.
type place struct {
	key int64
	ord int64
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.key, o.key), cmp.Compare(p.ord, o.ord))
}

// from returns the place as an order has it that goes forth, or back.
func (p place) from(back bool) place {
	if back {
		return place{-p.key, -p.ord}
	}
	return p
}

func (p place) String() string { return fmt.Sprintf("%d.%d", p.key, p.ord) }

func readPlace(text string) (place, error) {
	if text == "" {
		return place{math.MinInt64, math.MinInt64}, nil
	}
	key, ord, _ := strings.Cut(text, ".")
	k, err := strconv.ParseInt(key, 10, 64)
	o, err2 := strconv.ParseInt(ord, 10, 64)
	if err != nil || err2 != nil {
		return place{}, results.NewMistake("", "after: %q is not a mark of a page", text)
	}
	return place{k, o}, nil
}

// Page reads the rows that a query picks. It walks over all rows once and holds no more than the page.
func (m *Matrix) Page(q Query) (Page, error) {
	picked, next, err := m.pick(q)
	if err != nil {
		return Page{}, err
	}
	rows, err := m.rowsAt(picked)
	return Page{Rows: rows, Next: next}, err
}

// pick finds the places of the rows that a query picks, and the mark of the next page.
func (m *Matrix) pick(q Query) (picked []placed[span], next string, err error) {
	after, err := readPlace(q.After)
	if err != nil {
		return nil, "", err
	}
	column, err := m.sortedBy(q.Sort)
	if err != nil {
		return nil, "", err
	}
	best := smallest[span]{after: after.from(q.Back && q.After != ""), limit: q.Limit}
	n, at := int64(0), int64(0)
	for r, err := range m.bytes.records() {
		if err != nil {
			return nil, "", err
		}
		n++
		if r.is()&q.Is == q.Is {
			best.offer(place{q.key(r, column, n), r.ord()}.from(q.Back), func() span { return span{at, len(r)} })
		}
		at += int64(len(r))
	}
	picked, next = best.page()
	for i := range picked {
		picked[i].at = picked[i].at.from(q.Back)
	}
	if next != "" {
		next = picked[len(picked)-1].at.String()
	}
	return picked, next, nil
}

// sortedBy returns the column that rows are ordered by; -1: none.
func (m *Matrix) sortedBy(name string) (int, error) {
	column := m.Column(name)
	if name != "" && name != SortItem && column < 0 {
		return 0, results.NewMistake("", "sort: there is no lane %q", name)
	}
	return column, nil
}

// Beside is where an item is among the rows that a query picks.
type Beside struct {
	Mark   string // of the item, for pages after and before it; empty: the matrix has no such item
	At, Of int    // which of the rows it is, from 1, and how many there are; words are not looked for. 0: it is none of them
}

// Beside finds an item. It may have left the rows that a query picks, and has its place among them all the same.
func (m *Matrix) Beside(q Query, item string) (Beside, error) {
	column, err := m.sortedBy(q.Sort)
	if err != nil {
		return Beside{}, err
	}
	var out Beside
	var here place
	n := int64(0)
	for r, err := range m.bytes.records() {
		if err != nil {
			return out, err
		}
		if n++; string(r.id()) == item {
			here = place{q.key(r, column, n), r.ord()}
			out.Mark = here.String()
			break
		}
	}
	if out.Mark == "" {
		return out, nil
	}
	n = 0
	is := false
	for r, err := range m.bytes.records() {
		if err != nil {
			return out, err
		}
		if n++; r.is()&q.Is != q.Is {
			continue
		}
		out.Of++
		at := place{q.key(r, column, n), r.ord()}.compare(here)
		if is = is || at == 0; at <= 0 {
			out.At++
		}
	}
	if !is {
		out.At = 0
	}
	return out, nil
}

// rowsAt reads rows by their places.
func (m *Matrix) rowsAt(picked []placed[span]) ([]Row, error) {
	var rows []Row
	for _, p := range picked {
		r, err := m.bytes.at(p.value)
		if err != nil {
			return nil, err
		}
		rows = append(rows, m.decode(r))
	}
	return rows, nil
}

// key returns what a row is ordered by first.
func (q Query) key(r record, column int, n int64) int64 {
	key := n // ids come in their own order
	switch {
	case column >= 0:
		v := r.cell(column).value
		if v == noneByte {
			return math.MaxInt64 - 1
		}
		key = int64(v)
	case q.Sort == "":
		key = r.ord()
	}
	if q.Down {
		key = -key
	}
	return key
}

// smallest keeps the first few of many, after a place: a heap whose top is the last of them. As long as each place is
// before all that came until then, the newest few are the first few, and kept in a row.
type smallest[T any] struct {
	after place
	limit int
	kept  []placed[T]
	mixed bool // a place was not before all until then: it is a heap now
}

type placed[T any] struct {
	at    place
	value T
}

// offer takes a value in where it is among the first; one more than a page is kept, to know that there are more.
func (s *smallest[T]) offer(at place, value func() T) {
	switch {
	case at.compare(s.after) <= 0:
	case !s.mixed && (len(s.kept) == 0 || at.compare(s.kept[len(s.kept)-1].at) < 0):
		if len(s.kept) >= 8*(s.limit+1) {
			s.newest()
		}
		s.kept = append(s.kept, placed[T]{at, value()})
	case !s.mixed:
		s.newest() // in falling order: a heap as it is
		s.mixed = true
		s.offer(at, value)
	case len(s.kept) <= s.limit:
		s.kept = append(s.kept, placed[T]{at, value()})
		for i := len(s.kept) - 1; i > 0 && s.kept[i].at.compare(s.kept[(i-1)/2].at) > 0; i = (i - 1) / 2 {
			s.kept[i], s.kept[(i-1)/2] = s.kept[(i-1)/2], s.kept[i]
		}
	case at.compare(s.kept[0].at) < 0:
		s.kept[0] = placed[T]{at, value()}
		s.sink()
	}
}

// newest lets all go but the newest few.
func (s *smallest[T]) newest() {
	n := min(len(s.kept), s.limit+1)
	s.kept = s.kept[:copy(s.kept, s.kept[len(s.kept)-n:])]
}

// sink moves the top down to where it belongs.
func (s *smallest[T]) sink() {
	for i := 0; ; {
		last := i
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < len(s.kept) && s.kept[k].at.compare(s.kept[last].at) > 0 {
				last = k
			}
		}
		if last == i {
			return
		}
		s.kept[i], s.kept[last] = s.kept[last], s.kept[i]
		i = last
	}
}

// page returns what was kept, in order.
func (s *smallest[T]) page() (kept []placed[T], next string) {
	if !s.mixed {
		s.newest()
	}
	sort.Slice(s.kept, func(i, j int) bool { return s.kept[i].at.compare(s.kept[j].at) < 0 })
	if len(s.kept) > s.limit {
		s.kept = s.kept[:s.limit]
		next = s.kept[s.limit-1].at.String()
	}
	return s.kept, next
}

// How many answers one page of a search reads at most, and how many items at least.
const (
	searchAnswers  = 2_000
	searchLeast    = 25
	searchPageRows = 100
)

// Search reads the rows that a query picks, among those that have its words. A search looks at some thousands of
// answers: words that are rare take several pages, never a long wait.
func Search(ctx context.Context, r *results.Reader, run store.Run, m *Matrix, q Query) (Page, error) {
	if q.Words == "" {
		return m.Page(q)
	}
	most, err := searchMost(ctx, r, run, m)
	if err != nil {
		return Page{}, err
	}
	look := q
	look.Limit = most
	picked, next, err := m.pick(look) // one walk over the rows, however many of them are searched
	if err != nil {
		return Page{}, err
	}
	var out Page
	for chunk := range slices.Chunk(picked, searchPageRows) {
		rows, err := m.rowsAt(chunk)
		if err != nil {
			return out, err
		}
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.Item
		}
		has, err := r.Pages.ItemsSaying(ctx, run.No, m.Input, m.Answers, ids, q.Words)
		if err != nil {
			return out, err
		}
		for i, row := range rows {
			out.Seen++
			if !has[row.Item] {
				continue
			}
			if out.Rows = append(out.Rows, row); len(out.Rows) == q.Limit {
				if out.Seen < len(picked) || next != "" {
					out.Next = chunk[i].at.String()
				}
				return out, nil
			}
		}
	}
	out.Next = next
	return out, nil
}

// searchMost returns how many items one page of a search looks at.
func searchMost(ctx context.Context, r *results.Reader, run store.Run, m *Matrix) (int, error) {
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return 0, err
	}
	var answers int64
	for _, l := range lanes {
		if slices.Contains(m.Answers, l.Stage) {
			answers += l.Planned
		}
	}
	each := max(1, answers/int64(max(1, m.Rows)))
	return max(searchLeast, int(searchAnswers/each)), nil
}
