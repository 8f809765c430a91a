package judge

import (
	"fmt"
	"strings"

	"assay/internal/assay"
)

// Jury is how the verdicts of several judges on one subject become one.
type Jury string

// The juries. The zero value is Each.
const (
	Each      Jury = "each"      // they stay apart
	Majority  Jury = "majority"  // the label of more than half of the valid verdicts
	Mean      Jury = "mean"      // the mean score of the valid verdicts, without a label
	Unanimous Jury = "unanimous" // the label on which all judges agree, every one of them with a valid verdict
)

// Decide returns the verdict of the jury. Without a majority a comparison is a tie, and anything else is abstained; so is what should be
// unanimous and is not. Where no judge has a valid verdict there is none, in the state nearest to one that a judge has.
func (j Jury) Decide(all []assay.Verdict) []assay.Verdict {
	switch j {
	case Majority:
		return []assay.Verdict{majority(all)}
	case Mean:
		return []assay.Verdict{mean(all)}
	case Unanimous:
		return []assay.Verdict{unanimous(all)}
	}
	return all
}

// Reduce is how the verdicts on several draws of one question become one.
type Reduce string

// The ways to reduce. The zero value keeps the draws apart.
const (
	ReduceMean     Reduce = "mean"     // the mean score
	ReduceMajority Reduce = "majority" // the label of more than half
	ReduceAny      Reduce = "any"      // the highest score: 1 as soon as one draw has 1
	ReduceAll      Reduce = "all"      // the lowest score: 1 only where all draws have 1
)

// Of returns the verdict of all draws together, of those with a valid one.
func (r Reduce) Of(all []assay.Verdict) []assay.Verdict {
	switch r {
	case ReduceMean:
		return []assay.Verdict{mean(all)}
	case ReduceMajority:
		return []assay.Verdict{majority(all)}
	case ReduceAny:
		return []assay.Verdict{extreme(all, func(a, b float64) bool { return a > b })}
	case ReduceAll:
		return []assay.Verdict{extreme(all, func(a, b float64) bool { return a < b })}
	}
	return all
}

// poll counts valid verdicts by label or score, in the order in which these first came.
type poll struct {
	votes []vote
	valid int
	all   int
}

type vote struct {
	first assay.Verdict
	label string
	n     int
}

func count(all []assay.Verdict) poll {
	p := poll{all: len(all)}
next:
	for _, v := range all {
		if v.State != assay.VerdictValid {
			continue
		}
		p.valid++
		label := v.Label
		if label == "" && v.Score != nil {
			label = number(*v.Score)
		}
		for i := range p.votes {
			if p.votes[i].label == label {
				p.votes[i].n++
				continue next
			}
		}
		p.votes = append(p.votes, vote{v, label, 1})
	}
	return p
}

// String is such as "right 2, wrong 1; 1 not valid".
func (p poll) String() string {
	var parts []string
	for _, v := range p.votes {
		parts = append(parts, fmt.Sprintf("%s %d", v.label, v.n))
	}
	s := strings.Join(parts, ", ")
	if p.valid < p.all {
		s += fmt.Sprintf("; %d not valid", p.all-p.valid)
	}
	return s
}

func majority(all []assay.Verdict) assay.Verdict {
	p := count(all)
	if p.valid == 0 {
		return none(all)
	}
	compared := true
	for _, v := range p.votes {
		if 2*v.n > p.valid {
			out := valid(v.first.Label, v.first.Score)
			out.Explanation = p.String()
			return out
		}
		_, side := SideOf(v.first)
		compared = compared && side
	}
	if compared {
		out := valid(tie, num(0.5))
		out.Explanation, out.Why = p.String(), "no majority"
		return out
	}
	return without(assay.VerdictAbstained, "no majority: %s", p)
}

func unanimous(all []assay.Verdict) assay.Verdict {
	p := count(all)
	switch {
	case p.valid == 0:
		return none(all)
	case len(p.votes) > 1 || p.valid < p.all:
		return without(assay.VerdictAbstained, "not unanimous: %s", p)
	}
	out := valid(p.votes[0].first.Label, p.votes[0].first.Score)
	out.Explanation = p.String()
	return out
}

func mean(all []assay.Verdict) assay.Verdict {
	p := count(all)
	if p.valid == 0 {
		return none(all)
	}
	sum, n := 0.0, 0
	for _, v := range all {
		if v.State == assay.VerdictValid && v.Score != nil {
			sum, n = sum+*v.Score, n+1
		}
	}
	if n < p.valid {
		return without(assay.VerdictAbstained, "labels without a score have no mean: %s", p)
	}
	out := valid("", num(sum/float64(n)))
	out.Explanation = p.String()
	return out
}

// extreme returns the valid verdict whose score is ahead of all others.
func extreme(all []assay.Verdict, ahead func(a, b float64) bool) assay.Verdict {
	p := count(all)
	if p.valid == 0 {
		return none(all)
	}
	best := p.votes[0].first
	for _, v := range p.votes {
		if v.first.Score == nil {
			return without(assay.VerdictAbstained, "labels without a score have no order: %s", p)
		}
		if ahead(*v.first.Score, *best.Score) {
			best = v.first
		}
	}
	out := valid(best.Label, best.Score)
	out.Explanation = p.String()
	return out
}

// none returns the verdict of judges none of whom has a valid one.
func none(all []assay.Verdict) assay.Verdict {
	for _, state := range assay.VerdictStates() {
		for _, v := range all {
			if v.State == state {
				return without(state, "no judge has a valid verdict; the first %s: %s", state, v.Why)
			}
		}
	}
	return Missing("no judge was asked")
}
