package judge

import (
	"strings"

	"assay/internal/assay"
)

// CountAs is how an answer counts that was refused, or cut off by its limit.
type CountAs string

// The ways to count. The zero value is AsAnswer.
const (
	AsAnswer CountAs = "answer"  // it is judged like any other
	Exclude  CountAs = "exclude" // it is left out
	AsWorst  CountAs = "worst"   // it gets the worst verdict of the rubric without asking; in a comparison it loses
)

// Counting is the rule of a stage.
type Counting struct {
	Refused CountAs
	Cut     CountAs
}

// Of returns how an answer of this ending counts.
func (c Counting) Of(e assay.Ending) CountAs {
	as := AsAnswer
	switch e {
	case assay.Refused:
		as = c.Refused
	case assay.Cut:
		as = c.Cut
	}
	if as == "" {
		as = AsAnswer
	}
	return as
}

// The reasons of verdicts that a counting rule made, before the ending of the answer. For people: programs go by the state.
const (
	whyExcluded = "excluded: "
	whyWorst    = "counted as worst: "
)

// Before returns the verdict on an answer that needs no judge: it holds nothing to judge, or the rule decides. False: ask.
func (r Rubric) Before(c Counting, answer assay.Outcome) (assay.Verdict, bool) {
	if c.Of(answer.Ending) == AsWorst {
		v := r.worst()
		v.Why = whyWorst + string(answer.Ending)
		return v, true
	}
	return nothing(c, answer)
}

// BeforePair returns the same for two answers shown side by side.
func BeforePair(c Counting, a, b assay.Outcome) (assay.Verdict, bool) {
	worstA, worstB := c.Of(a.Ending) == AsWorst, c.Of(b.Ending) == AsWorst
	if !worstA {
		if v, done := nothing(c, a); done {
			return v, true
		}
	}
	if !worstB {
		if v, done := nothing(c, b); done {
			return v, true
		}
	}
	var v assay.Verdict
	switch {
	case worstA && worstB:
		v = valid(tie, num(0.5))
		v.Why = whyWorst + string(a.Ending) + " and " + string(b.Ending)
	case worstA:
		v = valid(assay.LabelB, num(0))
		v.Why = whyWorst + string(a.Ending)
	case worstB:
		v = valid(assay.LabelA, num(1))
		v.Why = whyWorst + string(b.Ending)
	default:
		return v, false
	}
	return v, true
}

// nothing returns the verdict on an answer that is left out, or has no text. A judge is never shown one.
func nothing(c Counting, answer assay.Outcome) (assay.Verdict, bool) {
	switch {
	case c.Of(answer.Ending) == Exclude:
		return without(assay.VerdictExcluded, "%s%s", whyExcluded, answer.Ending), true
	case !answer.Ending.Stands() || strings.TrimSpace(answer.Text) == "":
		return Missing("the answer is " + string(answer.Ending) + ", without text"), true
	}
	return assay.Verdict{}, false
}

// worst returns the verdict at the bad end of the rubric.
func (r Rubric) worst() assay.Verdict {
	var worst *Label
	for i := range r.Labels {
		l := &r.Labels[i]
		if l.Score == nil || l.Abstain {
			continue
		}
		if worst == nil || r.Worse == High && *l.Score > *worst.Score || r.Worse != High && *l.Score < *worst.Score {
			worst = l
		}
	}
	end := r.Range.Low
	if r.Worse == High {
		end = r.Range.High
	}
	switch {
	case worst != nil:
		return valid(worst.Name, worst.Score)
	case end != nil:
		return valid("", end)
	}
	return assay.Verdict{State: assay.VerdictMissing}
}

// HasWorst reports whether the rubric knows a worst verdict: `worst` makes no sense under one that does not.
func (r Rubric) HasWorst() bool { return r.Kind == Pairs || r.worst().State == assay.VerdictValid }

// AskAgain reports whether a malformed verdict may be asked for once more: at most once, and never for any other state. Asked is how often
// the judge was asked already.
func AskAgain(v assay.Verdict, asked int) bool {
	return v.State == assay.VerdictMalformed && asked == 1
}
