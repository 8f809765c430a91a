package stats

import (
	"cmp"
	"fmt"
	"slices"
)

// Judgement is a judge's reading of two models' answers to one prompt, shown in an order.
type Judgement struct {
	Group         string // what the prompt belongs to, a statement say
	Prompt        string // unique inside its group
	First, Second int    // the models
	Result        Result
}

// Swapped is one pair of models on one prompt that was judged in both orders.
type Swapped struct {
	Group, Prompt string
	Low, High     int    // the models, Low < High
	Forth, Back   Result // as seen by Low shown first, and by High shown first
}

// Agrees tells whether both orders say the same.
func (s Swapped) Agrees() bool { return s.Forth.Score() == 1-s.Back.Score() }

// Corrected is the verdict that does not depend on the position, as seen by Low shown first: what both orders say, or a
// tie.
func (s Swapped) Corrected() Result {
	if s.Agrees() {
		return s.Forth
	}
	return Tied
}

// Swaps are the judgements that come in both orders.
type Swaps struct {
	Pairs []Swapped // by group, prompt, models
	Alone int       // judgements whose other order is missing: not corrected, not counted as ties
}

// MatchSwaps matches each judgement with the one in the other order.
func MatchSwaps(judgements []Judgement) (*Swaps, error) {
	type place struct {
		group, prompt string
		first, second int
	}
	seen := make(map[place]Result, len(judgements))
	for k, j := range judgements {
		at := place{j.Group, j.Prompt, j.First, j.Second}
		if _, twice := seen[at]; twice || j.First == j.Second || j.Result >= results {
			return nil, fmt.Errorf("match judgement %d: models %d and %d with result %d, or judged twice", k, j.First, j.Second, j.Result)
		}
		seen[at] = j.Result
	}
	out := &Swaps{}
	for at, forth := range seen {
		back, ok := seen[place{at.group, at.prompt, at.second, at.first}]
		switch {
		case !ok:
			out.Alone++
		case at.first < at.second:
			out.Pairs = append(out.Pairs, Swapped{at.group, at.prompt, at.first, at.second, forth, back})
		}
	}
	slices.SortFunc(out.Pairs, func(a, b Swapped) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Prompt, b.Prompt),
			cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High))
	})
	return out, nil
}

// Tally counts the corrected verdicts: a win only where both orders agree on it, once per pair and prompt.
func (s *Swaps) Tally(models int) (*Tally, error) {
	t := NewTally(models)
	for _, p := range s.Pairs {
		if err := t.Count(p.Low, p.High, p.Corrected(), 1); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// JudgeConsistency is how far a judge agrees with itself when the order is turned round.
type JudgeConsistency struct {
	Groups, Prompts     int
	Matched, Mismatched int
	Share               Number // matched of all
	Correlation         Number // of the verdicts in both orders, as seen by the same model
	Mismatches          []Swapped
}

// Consistency reports on the judge.
func (s *Swaps) Consistency() *JudgeConsistency {
	c := &JudgeConsistency{Prompts: len(s.Pairs)}
	groups := make(map[string]bool)
	var forth, back []float64
	for _, p := range s.Pairs {
		groups[p.Group] = true
		forth, back = append(forth, p.Forth.Score()), append(back, 1-p.Back.Score())
		if p.Agrees() {
			c.Matched++
		} else {
			c.Mismatches = append(c.Mismatches, p)
		}
	}
	c.Groups, c.Mismatched = len(groups), len(c.Mismatches)
	c.Share = ratio(float64(c.Matched), float64(c.Prompts), "nothing was judged in both orders")
	c.Correlation = Pearson(forth, back)
	return c
}
