package studyfile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
	"assay/internal/study/inputs"
)

// maxPairList bounds a list of pairs, in bytes.
const maxPairList = 32 << 20

// loadPairs reads the lists of pairs that stages name.
func (r *reader) loadPairs() {
	for i := range r.study.Stages {
		p := r.study.Stages[i].Pairs
		if p == nil || p.File.File == "" {
			continue
		}
		if _, ok := r.loadUpTo(p.File.File, p.File.At, maxPairList); ok {
			_, items := r.study.Inputs.Find(r.study.Stages[i].Compare)
			p.File.Rows = r.listed(pairReader{pairs: p, items: items, seen: map[[3]string]int{}})
		}
	}
}

// sides are names under which the columns of both sides are found where a study names none.
func sides() [][2]string {
	return [][2]string{{"first", "second"}, {"a", "b"}, {"id1", "id2"}, {"lane_a", "lane_b"}}
}

// listed reads a list of pairs.
func (r *reader) listed(l pairReader) []study.ListedPair {
	const name, shown = "pairs", 20
	p := l.pairs
	source := inputs.Open(r.fsys, map[string]inputs.Spec{name: {Name: name, At: p.File.At, File: p.File.File, Repeated: true}})
	var found assay.Problems
	for it, err := range source.Items(context.Background(), name) {
		if err != nil {
			r.scanProblem(p.File.At, err)
			return nil
		}
		if l.first == "" && !l.columns(it, &r.found) {
			return nil
		}
		l.add(it, &found)
	}
	r.found = append(r.found, found[:min(len(found), shown)]...)
	if more := len(found) - shown; more > 0 {
		r.found.Add(p.File.At, "", "%s has %s with such problems", p.File.File, assay.Count(more, "more row"))
	}
	if len(l.rows) == 0 && len(found) == 0 {
		r.found.Add(p.File.At, "one pair a row, below the names of the columns", "%s lists no pairs", p.File.File)
	}
	return l.rows
}

// pairReader makes pairs of rows.
type pairReader struct {
	pairs               *study.Pairs
	items               bool   // items are compared with each other
	first, second, item string // columns
	rows                []study.ListedPair
	seen                map[[3]string]int // by item and both sides in order: the place in rows
}

// columns finds the columns in the first row.
func (l *pairReader) columns(it assay.Item, found *assay.Problems) bool {
	fields := slices.Sorted(maps.Keys(it.Fields))
	has := func(name string) string {
		i := slices.IndexFunc(fields, func(f string) bool { return strings.EqualFold(f, name) })
		if i < 0 {
			return ""
		}
		return fields[i]
	}
	hint := "it has " + strings.Join(fields[:min(len(fields), 12)], ", ")
	for _, c := range [][2]string{{"first", l.pairs.First}, {"second", l.pairs.Second}, {"item", l.pairs.Item}} {
		if _, ok := inputs.Value(it, c[1]); c[1] != "" && !ok {
			found.Add(l.pairs.Key(c[0]), cmp.Or(assay.DidYouMean(c[1], fields), hint), "%s has no column %s, which `%s` names",
				l.pairs.File.File, decode.Quote(c[1]), c[0])
			return false
		}
	}
	l.first, l.second = l.pairs.First, l.pairs.Second
	switch {
	case !l.items:
		l.item = cmp.Or(l.pairs.Item, has("item"))
	case l.pairs.Item != "":
		found.Add(l.pairs.Key("item"), "leave it out", "items are compared with each other here: there is no item on which they meet")
		return false
	}
	for _, two := range sides() {
		if a, b := cmp.Or(l.first, has(two[0])), cmp.Or(l.second, has(two[1])); a != "" && b != "" && a != b {
			l.first, l.second = a, b
			return true
		}
	}
	if l.first != "" && l.second != "" {
		return true
	}
	at := assay.Place{File: it.Place.File, Line: 1, Col: 1}
	found.Add(at, "call them first and second, or name them: pairs: {file: "+l.pairs.File.File+", first: COLUMN, second: COLUMN}; "+hint,
		"%s has no columns for the two sides of a pair", l.pairs.File.File)
	return false
}

// add takes a row, or reports why not.
func (l *pairReader) add(it assay.Item, found *assay.Problems) {
	p := study.ListedPair{Place: it.Place}
	for _, c := range []struct {
		column string
		into   *string
	}{{l.first, &p.First}, {l.second, &p.Second}, {l.item, &p.Item}} {
		if c.column == "" {
			continue
		}
		v, _ := inputs.Value(it, c.column)
		text, ok := inputs.Text(v)
		if !ok || text == "" {
			found.Add(it.Place, "every pair has both sides, and an item where there is a column of items", "nothing in column %s",
				decode.Quote(c.column))
			return
		}
		*c.into = text
	}
	key := [3]string{p.Item, min(p.First, p.Second), max(p.First, p.Second)}
	before, again := l.seen[key]
	switch {
	case p.First == p.Second:
		found.Add(it.Place, "a pair has two sides", "%s is on both sides", decode.Quote(p.First))
	case !again:
		l.seen[key] = len(l.rows)
		l.rows = append(l.rows, p)
	case l.rows[before].First == p.First || l.rows[before].Twice:
		found.Add(it.Place, "leave it out; several votes of a judge are `repeats: N`", "the pair %s, %s is here again (first %s)",
			decode.Quote(p.First), decode.Quote(p.Second), lineOf(l.rows[before].Place))
	case l.pairs.Order != "" && l.pairs.Order != study.OrderAsListed || l.pairs.Reverse != 0:
		found.Add(it.Place, "leave it out: the study says by `order` and `reverse` what is asked both ways",
			"the pair %s, %s is the one %s the other way round", decode.Quote(p.First), decode.Quote(p.Second),
			lineOf(l.rows[before].Place))
	default:
		l.rows[before].Twice = true
	}
}

func lineOf(at assay.Place) string { return fmt.Sprintf("in line %d", at.Line) }
