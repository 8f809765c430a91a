package answers

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// change is words that two texts share, or that one of them has alone.
type change struct {
	Kind string `json:"kind"` // same, left, right
	Text string `json:"text"`
}

// maxDiffWords bounds the work: longer texts are compared as far as this.
const maxDiffWords = 6000

// maxEdits bounds how different two texts may be before they are just called different.
const maxEdits = 1500

type diffData struct {
	Left    answerRow `json:"left"`
	Right   answerRow `json:"right"`
	Changes []change  `json:"changes"`
	Cut     bool      `json:"cut,omitempty"` // only the beginnings were compared
	Same    int       `json:"words_same"`
	Other   int       `json:"words_different"`
}

// Alike reports whether the two share enough for a reader to see what is not shared: a third of their words.
func (d diffData) Alike() bool { return 2*d.Same >= d.Other }

// Shared tells how much the two share.
func (d diffData) Shared() string {
	out := fmt.Sprintf("%s %s the same, %s %s not.", assay.Count(d.Same, "word"), assay.Verb(d.Same, "is", "are"), assay.Thousands(d.Other),
		assay.Verb(d.Other, "is", "are"))
	if !d.Alike() {
		out += " They share too little to be set against each other."
	}
	return out
}

// Diff shows what two answers have in common.
func (s *Pages) Diff(q *site.Request) (*site.View, error) {
	left, err := answerOf(q, q.FormValue("a"))
	if err != nil {
		return nil, err
	}
	right, err := answerOf(q, q.FormValue("b"))
	if err != nil {
		return nil, err
	}
	rows, err := s.answerRows(q, []store.Answer{left, right})
	if err != nil {
		return nil, err
	}
	data := diffData{Left: rows[0], Right: rows[1]}
	a, cutA := cutWords(left.Outcome.Text)
	b, cutB := cutWords(right.Outcome.Text)
	data.Cut = cutA || cutB
	data.Changes = diffWords(a, b)
	for _, c := range data.Changes {
		if n, _ := cutWords(c.Text); c.Kind == "same" {
			data.Same += len(n)
		} else {
			data.Other += len(n)
		}
	}
	return &site.View{Template: "diff", Title: "Two answers", Tab: "answers", Data: data}, nil
}

// cutWords cuts a text into words, each with the space after it. It reports whether it stopped before the end.
func cutWords(text string) (out []string, cut bool) {
	for len(text) > 0 {
		if len(out) == maxDiffWords {
			return out, true
		}
		end, spaced := 0, false
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if space := unicode.IsSpace(r); spaced && !space {
				break
			} else if space {
				spaced = true
			}
			end += size
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out, false
}

// diffWords returns the shortest way from one list of words to another, by Myers' greedy walk; where it is too long,
// all of one and then all of the other.
func diffWords(a, b []string) []change {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []change
	for _, w := range a[:head] {
		out = grow(out, "same", w)
	}
	for _, c := range middle(a[head:len(a)-tail], b[head:len(b)-tail]) {
		out = grow(out, c.Kind, c.Text)
	}
	for _, w := range a[len(a)-tail:] {
		out = grow(out, "same", w)
	}
	return out
}

// grow adds a word to the last change where it is of the same kind.
func grow(all []change, kind, word string) []change {
	if n := len(all); n > 0 && all[n-1].Kind == kind {
		all[n-1].Text += word
		return all
	}
	return append(all, change{kind, word})
}

// middle compares what is left between a common head and a common tail, word by word.
func middle(a, b []string) []change {
	most := min(len(a)+len(b), maxEdits)
	far := make([]int, 2*most+2) // far[k+most]: how far in a on diagonal k
	var trail [][]int
	for d := 0; d <= most; d++ {
		trail = append(trail, slices.Clone(far[most-d:most+d+1]))
		for k := -d; k <= d; k += 2 {
			x := 0
			if k == -d || k != d && far[most+k-1] < far[most+k+1] {
				x = far[most+k+1]
			} else if d > 0 {
				x = far[most+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			far[most+k] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(a, b, trail)
			}
		}
	}
	var out []change
	for _, w := range a {
		out = append(out, change{"left", w})
	}
	for _, w := range b {
		out = append(out, change{"right", w})
	}
	return out
}

// backtrack reads the way out of the trail, from the end.
func backtrack(a, b []string, trail [][]int) []change {
	var out []change
	x, y := len(a), len(b)
	for d := len(trail) - 1; d > 0; d-- {
		before := trail[d] // before step d: diagonals -d to d
		at := func(k int) int { return before[k+d] }
		k := x - y
		down := k == -d || k != d && at(k-1) < at(k+1)
		from := k - 1
		if down {
			from = k + 1
		}
		px := at(from)
		py := px - from
		for x > px && y > py && x > 0 && y > 0 && (!down || y > py+1) && (down || x > px+1) {
			x, y = x-1, y-1
			out = append(out, change{"same", a[x]})
		}
		if down {
			y--
			out = append(out, change{"right", b[y]})
		} else {
			x--
			out = append(out, change{"left", a[x]})
		}
	}
	for x > 0 {
		x--
		out = append(out, change{"same", a[x]})
	}
	slices.Reverse(out)
	return out
}
