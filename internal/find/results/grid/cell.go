package grid

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// cellSum adds up what is known of one item in one lane.
type cellSum struct {
	sum         float64
	scored      int // verdicts with a value
	n           int // verdicts that count
	invalid     int
	labels      map[int]int
	said        map[string]string // the first judge's label of each answer
	split       bool
	ending      byte // its place among all endings, from 1 on
	kept, taken [maxMarks]uint8
	rest        map[markOf]int // taken back less kept, at places that are not shown
}

func (c *cellSum) reset() {
	labels, said, rest := c.labels, c.said, c.rest
	clear(labels)
	clear(said)
	clear(rest)
	*c = cellSum{labels: labels, said: said, rest: rest}
}

// add enters a verdict on an answer.
func (c *cellSum) add(v *store.Verdict, label int, x float64, scored bool) {
	if v.State != assay.VerdictValid {
		c.invalid++
		return
	}
	c.n++
	if scored {
		c.sum, c.scored = c.sum+x, c.scored+1
	}
	if label >= 0 {
		if c.labels == nil {
			c.labels = map[int]int{}
		}
		c.labels[label]++
	}
	word := v.Label
	if word == "" && v.Score != nil {
		word = scoreWord(x)
	}
	c.judged(subject(v, ""), word)
}

// scoreWord returns a score as far as judges have to agree on it: a quarter of the scale.
func scoreWord(x float64) string { return string(rune('0' + int(math.Round(4*x)))) }

// beat enters a verdict on the answer and another lane's.
func (c *cellSum) beat(v *store.Verdict, other string, x float64, decided bool) {
	if v.State != assay.VerdictValid || !decided {
		c.invalid++
		return
	}
	c.n, c.scored, c.sum = c.n+1, c.scored+1, c.sum+x
	c.judged(subject(v, other), scoreWord(x))
}

// subject names the answer that a verdict is about, less what is the cell's.
func subject(v *store.Verdict, other string) string {
	return strings.Join([]string{v.At.Source, v.At.Template, strconv.Itoa(v.At.Turn), v.At.Branch, strconv.Itoa(v.At.Draw), v.At.Trait,
		other}, "\x00")
}

// judged records a verdict on an answer: two judges who differ are split.
func (c *cellSum) judged(what, word string) {
	if c.said == nil {
		c.said = map[string]string{}
	}
	before, ok := c.said[what]
	if !ok {
		c.said[what] = word
	} else if before != word {
		c.split = true
	}
}

// flip records a verdict at one place of the conversation.
func (c *cellSum) flip(mark int, at markOf, taken bool) {
	if mark < 0 {
		c.flipUnshown(at, taken)
		return
	}
	side := &c.kept[mark]
	if taken {
		side = &c.taken[mark]
	}
	*side = min(*side, math.MaxUint8-1) + 1
}

// flipUnshown records a verdict at a place that the cell does not show: the row is of the kind all the same.
func (c *cellSum) flipUnshown(at markOf, taken bool) {
	if c.rest == nil {
		c.rest = map[markOf]int{}
	}
	if taken {
		c.rest[at]++
	} else {
		c.rest[at]--
	}
}

// flipped reports whether an answer was taken back at any place.
func (c *cellSum) flipped() bool {
	for m := range c.taken {
		if c.taken[m] > c.kept[m] {
			return true
		}
	}
	for _, n := range c.rest {
		if n > 0 {
			return true
		}
	}
	return false
}

// ended enters how an answer ended: a refusal is shown before a cut, a cut before what is whole.
func (c *cellSum) ended(e assay.Ending) {
	rank := func(e assay.Ending) int {
		return slices.Index([]assay.Ending{assay.Answered, assay.Cut, assay.Refused}, e)
	}
	if c.ending == 0 || rank(e) > rank(assay.Endings()[c.ending-1]) {
		c.ending = byte(slices.Index(assay.Endings(), e) + 1)
	}
}

func (c *cellSum) is(e assay.Ending) bool { return c.ending > 0 && assay.Endings()[c.ending-1] == e }

// value returns the mean over the verdicts; false: there is none.
func (c *cellSum) value() (float64, bool) {
	if c.scored == 0 {
		return 0, false
	}
	return c.sum / float64(c.scored), true
}

// label returns the most frequent label, the first one seen on a draw; -1: none.
func (c *cellSum) label() int {
	best := -1
	for i, n := range c.labels {
		if best < 0 || n > c.labels[best] || n == c.labels[best] && i < best {
			best = i
		}
	}
	return best
}

func (c *cellSum) packed() packedCell {
	p := packedCell{value: noneByte, label: noneByte, n: byte(min(c.n, math.MaxUint8)), flags: c.ending}
	if x, ok := c.value(); ok {
		p.value = byte(math.Round(x * valueSteps))
	}
	if i := c.label(); i >= 0 {
		p.label = byte(i)
	}
	if c.split {
		p.flags |= cellSplit
	}
	if c.n == 0 && c.invalid > 0 {
		p.flags |= cellInvalid
	}
	if c.flipped() {
		p.flags |= cellFlipped
	}
	for i := range maxMarks {
		if c.kept[i] > 0 || c.taken[i] > 0 {
			p.asked |= 1 << i
		}
		if c.taken[i] > c.kept[i] {
			p.taken |= 1 << i
		}
	}
	return p
}

// kinds returns the kinds of the current item.
func (k *maker) kinds() Kind {
	var is Kind
	low, high, judged, wrong := 1.0, 0.0, 0, 0
	labels := map[int]bool{}
	for i := range k.cells {
		c := &k.cells[i]
		if c.split {
			is |= Split
		}
		if c.is(assay.Refused) {
			is |= Refused
		}
		if c.is(assay.Cut) {
			is |= Cut
		}
		if c.flipped() {
			is |= Flipped
		}
		if c.n == 0 && k.m.Judged {
			is |= Unjudged
		}
		if x, ok := c.value(); ok {
			low, high, judged = min(low, x), max(high, x), judged+1
			if x < 0.5 {
				wrong++
			}
		} else if l := c.label(); l >= 0 {
			labels[l] = true
		}
	}
	if judged > 1 && high-low >= 0.5 || len(labels) > 1 {
		is |= Disagree
	}
	if judged > 0 && wrong == judged && !k.m.Pairs {
		is |= AllWrong
	}
	return is
}
