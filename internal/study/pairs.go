package study

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/inputs"
)

// Pairs selects the pairs that a compare stage judges.
type Pairs struct {
	decode.Where
	All         bool     `json:"all,omitempty" jsonschema:"every pair"`
	Sample      Portion  `json:"sample,omitzero" jsonschema:"so many unordered pairs of the whole stage, or a share such as 20%, balanced over lane pairs"`
	PerItem     int      `json:"per_item,omitempty"`
	PerLanePair int      `json:"per_lane_pair,omitempty"`
	File        PairList `json:"file,omitzero" jsonschema:"a list of pairs: .csv .tsv .jsonl or .json, one pair a row"`
	First       string   `json:"first,omitempty" jsonschema:"with file: the column of the side that is listed first (first, a, id1 or lane_a)"`
	Second      string   `json:"second,omitempty" jsonschema:"with file: the column of the other side (second, b, id2 or lane_b)"`
	Item        string   `json:"item,omitempty" jsonschema:"with file, where lanes are compared: the column of the item they meet on (item); without one they meet on every item"`
	Within      string   `json:"within,omitempty" jsonschema:"a field of the items that are compared: only items with the same value meet"`
	Order       Order    `json:"order,omitempty" jsonschema:"random (the default), alternate, both or as-listed (the default of a list)"`
	Reverse     Share    `json:"reverse,omitempty" jsonschema:"share of the pairs asked again the other way round, such as 0.3 or 30%"`
	Seed        int64    `json:"seed,omitempty" jsonschema:"of all that is random about the pairs"`
	OrderSeed   *int64   `json:"order_seed,omitempty" jsonschema:"of which is shown first, over seed"`
	ReverseSeed *int64   `json:"reverse_seed,omitempty" jsonschema:"of which pairs are asked again, over seed"`

	Adaptive *Adaptive `json:"adaptive,omitempty" jsonschema:"pairs are bought in rounds, each chosen from the verdicts so far, until the goal is settled"`
}

// Read takes the word all, or a map.
func (p *Pairs) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Text {
		p.Where = decode.Where{At: n.At}
		p.All = d.OneOf(n, "all") == "all"
		return
	}
	d.Fields(n, p)
	if p.Reverse < 0 || p.Reverse > 1 {
		d.Problems.Add(p.Key("reverse"), "a share, such as 0.3", "reverse: want 0 to 1, got %g", p.Reverse)
	}
	kinds := 0
	for _, key := range []string{"all", "sample", "per_item", "per_lane_pair", "file", "adaptive"} {
		if p.Has(key) {
			kinds++
		}
	}
	for key, n := range map[string]int{"sample": p.Sample.least(), "per_item": p.PerItem, "per_lane_pair": p.PerLanePair} {
		if p.Has(key) && n < 1 {
			d.Problems.Add(p.Key(key), "every pair is `pairs: all`", "%s: want at least 1, got %d", key, n)
		}
	}
	if kinds > 1 {
		d.Problems.Add(n.At, "", "pairs: want one of all, sample, per_item, per_lane_pair, file, adaptive")
	}
	p.checkList(d)
	p.checkAdaptive(d)
	if p.Within != "" && p.File.File != "" {
		d.Problems.Add(p.Key("within"), "leave it out", "a list of pairs says itself what meets")
	}
}

// Drawn reports whether a seed decides about the pairs or their order.
func (p *Pairs) Drawn() bool {
	return p.File.File == "" || p.Order == "random" || p.Reverse > 0 && p.Reverse < 1
}

// checkList wants columns to be named of a list alone.
func (p *Pairs) checkList(d *decode.Decoder) {
	for _, key := range []string{"first", "second", "item"} {
		if p.Has(key) && p.File.File == "" {
			d.Problems.Add(p.Key(key), "such as pairs: {file: pairs.csv, first: ID1, second: ID2}",
				"%s names a column of a list of pairs, and there is no `file`", key)
		}
	}
}

// PairList is a list of pairs in a file of their own.
type PairList struct {
	File string
	At   assay.Place
	Rows []ListedPair
}

// ListedPair is one pair of a list.
type ListedPair struct {
	Place         assay.Place
	Item          string // on which two lanes meet; empty: on every one
	First, Second string // lanes, or items, as the list has them
	Twice         bool   // a later row has it the other way round
}

// Read takes the name of a file.
func (l *PairList) Read(d *decode.Decoder, n *decode.Node) {
	l.At = n.At
	if n.Kind != decode.Text || n.Text == "" {
		d.Wrong(n, "the name of a file, such as pairs.csv")
		return
	}
	l.File = n.Text
}

// Names returns the pairs in words, in the order of the list.
func (l PairList) Names() []string {
	side := func(s string) string {
		if s == "" || strings.ContainsAny(s, " \"") {
			return strconv.Quote(s)
		}
		return s
	}
	var out []string
	for _, p := range l.Rows {
		on := ""
		if p.Item != "" {
			on = " on " + side(p.Item)
		}
		out = append(out, side(p.First)+" "+side(p.Second)+on)
		if p.Twice {
			out = append(out, side(p.Second)+" "+side(p.First)+on)
		}
	}
	return out
}

// maxPairList bounds a list of pairs, in bytes.
const maxPairList = 32 << 20

// loadPairs reads the lists of pairs that stages name.
func (r *run) loadPairs() {
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
func (r *run) listed(l pairReader) []ListedPair {
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
	pairs               *Pairs
	items               bool   // items are compared with each other
	first, second, item string // columns
	rows                []ListedPair
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
	p := ListedPair{Place: it.Place}
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
	case l.pairs.Order != "" && l.pairs.Order != "as-listed" || l.pairs.Reverse != 0:
		found.Add(it.Place, "leave it out: the study says by `order` and `reverse` what is asked both ways",
			"the pair %s, %s is the one %s the other way round", decode.Quote(p.First), decode.Quote(p.Second),
			lineOf(l.rows[before].Place))
	default:
		l.rows[before].Twice = true
	}
}

func lineOf(at assay.Place) string { return fmt.Sprintf("in line %d", at.Line) }
