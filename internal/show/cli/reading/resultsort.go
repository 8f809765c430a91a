package reading

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
)

// sortFields returns what rows of results can be sorted by.
func sortFields() []string {
	return []string{"item", "lane", "stage", "turn", "branch", "draw", "judge", "ending", "verdict", "score", "cost", "tokens",
		"length", "time"}
}

// order is the place of a row: a number where the field has one, else a text. What is not known comes last.
type order struct {
	number  float64
	text    string
	unknown bool
}

func numbered[N int | int64 | float64](n N) order { return order{number: float64(n)} }

func texted(s string) order { return order{text: s, unknown: s == ""} }

func (a order) compare(b order) int {
	return cmp.Or(compareNatural(a.text, b.text), cmp.Compare(a.number, b.number))
}

// compareNatural compares texts so that q2 comes before q10.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			one, two := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(one), len(two)), cmp.Compare(one, two)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns how many digits a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// answerOrder returns the place of an answer by a field.
func answerOrder(a store.Answer, field string) order {
	o := a.Outcome
	switch field {
	case "item":
		return texted(a.At.Item)
	case "lane":
		return texted(a.Lane)
	case "stage":
		return texted(a.At.Stage)
	case "turn":
		return numbered(a.At.Turn)
	case "branch":
		return texted(a.At.Branch)
	case "draw":
		return numbered(a.At.Draw)
	case "judge":
		return texted(a.At.Judge)
	case "ending":
		return texted(string(o.Ending))
	case "cost":
		if a.Cost != nil {
			return numbered(int64(*a.Cost))
		}
	case "tokens":
		if o.Usage.Known {
			return numbered(o.Usage.Output)
		}
	case "length":
		if a.Ended && !a.Over {
			return numbered(len(o.Text))
		}
	case "time":
		if !a.Settled.IsZero() {
			return numbered(a.Settled.UnixMilli())
		}
	}
	return order{unknown: true}
}

// judgementOrder returns the place of a verdict by a field.
func judgementOrder(j *rows.Judgement, field string) order {
	switch field {
	case "item":
		return texted(j.Item)
	case "lane":
		return texted(cmp.Or(j.Lane, j.First))
	case "stage":
		return texted(j.Stage)
	case "turn":
		return numbered(j.Turn)
	case "branch":
		return texted(j.Branch)
	case "draw":
		return numbered(j.Draw)
	case "judge":
		return texted(j.Judge)
	case "ending", "verdict":
		return texted(verdictWord(j.Verdict))
	case "score":
		if j.Score != nil {
			return numbered(*j.Score)
		}
	case "length":
		return numbered(len(j.Text))
	case "time":
		return texted(j.GivenAt)
	}
	return order{unknown: true}
}

// arranged is a walk over rows in the order that the flags ask for, cut at their limit. Without an order nothing is held.
type arranged[T any] struct {
	field   string
	falling bool
	limit   int // 0: none
	place   func(row T, field string) order
	n       int  // rows handed over
	more    bool // rows were left out
}

// arrange reads the flags; usual is the limit where they have none.
func arrange[T any](f resultFlags, usual int, place func(row T, field string) order) *arranged[T] {
	field, falling := strings.CutPrefix(f.sort, "-")
	return &arranged[T]{field: field, falling: falling, limit: cmp.Or(f.limit, usual), place: place}
}

// walk hands over the rows of a walk.
func (s *arranged[T]) walk(all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if s.field != "" {
			all = s.sorted(all)
		}
		for row, err := range all {
			if err == nil && s.limit > 0 && s.n == s.limit {
				s.more = true
				return
			}
			s.n++
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

type placedRow[T any] struct {
	at  order
	row T
}

// sorted holds as many rows as are wanted, and a few times more while it reads.
func (s *arranged[T]) sorted(all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var kept []*placedRow[T]
		for row, err := range all {
			if err != nil {
				yield(row, err)
				return
			}
			kept = append(kept, &placedRow[T]{s.place(row, s.field), row})
			if most := 4 * (s.limit + 1); s.limit > 0 && len(kept) >= most {
				slices.SortStableFunc(kept, s.compare)
				kept = slices.Delete(kept, s.limit+1, len(kept))
			}
		}
		slices.SortStableFunc(kept, s.compare)
		for _, p := range kept {
			if !yield(p.row, nil) {
				return
			}
		}
	}
}

func (s *arranged[T]) compare(a, b *placedRow[T]) int {
	switch {
	case a.at.unknown && !b.at.unknown:
		return 1
	case b.at.unknown && !a.at.unknown:
		return -1
	case s.falling:
		return b.at.compare(a.at)
	}
	return a.at.compare(b.at)
}

// say prints that rows were left out, or that there are none.
func (s *arranged[T]) say(w *shell.World) {
	switch {
	case s.more:
		fmt.Fprintf(w.Stderr, "the first %d; --limit N prints more, --json all\n", s.limit)
	case s.n == 0:
		fmt.Fprintln(w.Stderr, "nothing matches: assay results without these flags lists what there is")
	}
}
