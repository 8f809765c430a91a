package results

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/store"
)

// MatrixQuery picks rows of a matrix, in an order.
type MatrixQuery struct {
	Is    Kind   // rows that are of all these kinds
	Sort  string // the order: empty is that of the input, SortItem that of the ids, else a lane's name
	Down  bool   // the other way round; what has no value is last both ways
	Words string // rows whose item or answers have them
	After string // the mark of the page before
	Limit int
}

// SortItem orders rows by their ids.
const SortItem = "item"

// MatrixPage is a few rows, and where to go on.
type MatrixPage struct {
	Rows []MatrixRow
	Next string // the mark of the next page; empty: this is the last one
	Seen int    // rows that were searched for words
}

// place is where a row stands in an order; two rows never share one.
type place struct {
	key int64
	ord int64
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.key, o.key), cmp.Compare(p.ord, o.ord))
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
		return place{}, mistake("", "after: %q is not a mark of a page", text)
	}
	return place{k, o}, nil
}

// Page reads the rows that a query picks. It walks over all rows once and holds no more than the page.
func (m *Matrix) Page(q MatrixQuery) (MatrixPage, error) {
	after, err := readPlace(q.After)
	if err != nil {
		return MatrixPage{}, err
	}
	column := m.Column(q.Sort)
	if q.Sort != "" && q.Sort != SortItem && column < 0 {
		return MatrixPage{}, mistake("", "sort: there is no lane %q", q.Sort)
	}
	best := smallest[MatrixRow]{after: after, limit: q.Limit}
	n := int64(0)
	for r, err := range m.bytes.records() {
		if err != nil {
			return MatrixPage{}, err
		}
		n++
		if r.is()&q.Is != q.Is {
			continue
		}
		best.offer(place{q.key(r, column, n), r.ord()}, func() MatrixRow { return m.decode(r) })
	}
	rows, next := best.page()
	return MatrixPage{Rows: rows, Next: next}, nil
}

// key is what a row is ordered by first.
func (q MatrixQuery) key(r record, column int, n int64) int64 {
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

// smallest keeps the first few of many, after a place.
type smallest[T any] struct {
	after place
	limit int
	kept  []placed[T]
}

type placed[T any] struct {
	at    place
	value T
}

// offer takes a value in where it is among the first; one more than a page is kept, to know that there are more.
func (s *smallest[T]) offer(at place, value func() T) {
	if at.compare(s.after) <= 0 {
		return
	}
	full := len(s.kept) > s.limit
	if full && at.compare(s.kept[s.limit].at) >= 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(s.kept, at, func(p placed[T], at place) int { return p.at.compare(at) })
	if full {
		s.kept = s.kept[:s.limit]
	}
	s.kept = slices.Insert(s.kept, i, placed[T]{at, value()})
}

func (s *smallest[T]) page() (rows []T, next string) {
	if len(s.kept) > s.limit {
		s.kept = s.kept[:s.limit]
		next = s.kept[s.limit-1].at.String()
	}
	for _, p := range s.kept {
		rows = append(rows, p.value)
	}
	return rows, next
}

// How many answers one page of a search reads at most, and how many items at least.
const (
	searchAnswers  = 8_000
	searchLeast    = 25
	searchPageRows = 100
)

// MatrixPage reads the rows that a query picks, among those that have its words. A search looks at some thousands of answers: words that are rare
// take several pages, never a long wait.
func (r *Reader) MatrixPage(ctx context.Context, run store.Run, m *Matrix, q MatrixQuery) (MatrixPage, error) {
	if q.Words == "" {
		return m.Page(q)
	}
	most, err := r.searchMost(ctx, run, m)
	if err != nil {
		return MatrixPage{}, err
	}
	var out MatrixPage
	for len(out.Rows) < q.Limit && out.Seen < most {
		look := q
		look.Limit = min(searchPageRows, most-out.Seen)
		page, err := m.Page(look)
		if err != nil {
			return out, err
		}
		ids := make([]string, len(page.Rows))
		for i, row := range page.Rows {
			ids[i] = row.Item
		}
		has, err := r.Ledger.ItemsSaying(ctx, run.No, m.input, m.answers, ids, q.Words)
		if err != nil {
			return out, err
		}
		for i, row := range page.Rows {
			out.Seen++
			if !has[row.Item] {
				continue
			}
			if out.Rows = append(out.Rows, row); len(out.Rows) == q.Limit && (i+1 < len(page.Rows) || page.Next != "") {
				out.Next, err = m.placeOf(q, row)
				return out, err
			}
		}
		if q.After, out.Next = page.Next, page.Next; page.Next == "" {
			break
		}
	}
	return out, nil
}

// searchMost is how many items one page of a search looks at.
func (r *Reader) searchMost(ctx context.Context, run store.Run, m *Matrix) (int, error) {
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return 0, err
	}
	var answers int64
	for _, l := range lanes {
		if slices.Contains(m.answers, l.Stage) {
			answers += l.Planned
		}
	}
	each := max(1, answers/int64(max(1, m.Rows)))
	return max(searchLeast, int(searchAnswers/each)), nil
}

// placeOf is the mark of a row in the order of a query.
func (m *Matrix) placeOf(q MatrixQuery, row MatrixRow) (string, error) {
	n := int64(0)
	for r, err := range m.bytes.records() {
		if err != nil {
			return "", err
		}
		if n++; r.ord() == row.Ord {
			return place{q.key(r, m.Column(q.Sort), n), r.ord()}.String(), nil
		}
	}
	return "", fmt.Errorf("item %q is not in the grid", row.Item)
}
