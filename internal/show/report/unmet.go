package report

import (
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

// wins reports whether places are shown by the share of comparisons that they won.
func (r *ranked) wins() bool { return r.What == analysis.WhatStrength || r.What == analysis.WhatWin }

// maxGroupsNamed is how many groups that never met are named.
const maxGroupsNamed = 3

// apartFromTheStart is the headline where lanes are in groups that were never compared: who is ahead in each.
func (d *Document) apartFromTheStart(r *ranked) Sentence {
	s := say(fmt.Sprintf("The %s cannot be ranked together: ", fieldWord(r.Field))).and(r.unmet(), say("."))
	for k, members := range r.Unmet {
		if k == maxGroupsNamed {
			break
		}
		if len(members) > 1 {
			s = s.and(say(" "), d.headline(rank(r.part(members))))
		}
	}
	return s
}

// unmet says which were never compared with each other.
func (r *ranked) unmet() Sentence {
	var s Sentence
	for k, members := range r.Unmet[:min(maxGroupsNamed, len(r.Unmet))] {
		switch k {
		case 0:
		case 1:
			s = append(s, Phrase{Text: assay.Verb(len(r.Unmet[0]), " was", " were") + " never compared with "})
		default:
			s = append(s, Phrase{Text: ", nor with "})
		}
		s = s.and(listed(members))
	}
	if more := len(r.Unmet) - maxGroupsNamed; more > 0 {
		s = s.and(say(fmt.Sprintf(", nor with %s more", assay.Count(more, "group"))))
	}
	return s
}

// part is the standing of some places alone.
func (r *ranked) part(names []string) *analysis.Standing {
	out := *r.Standing
	out.Unmet, out.Places, out.Tests, out.Foretold, out.Clusters = nil, nil, nil, nil, 0
	at := map[int]int{}
	for i, p := range r.Places {
		for _, n := range names {
			if n == p.Name {
				at[i] = len(out.Places)
				out.Places = append(out.Places, p)
			}
		}
	}
	for _, t := range r.Tests {
		first, one := at[t.First]
		second, both := at[t.Second]
		if one && both {
			t.First, t.Second = first, second
			out.Tests = append(out.Tests, t)
			out.Clusters = max(out.Clusters, t.Clusters)
		}
	}
	return &out
}

// instead says why there are no strengths, and how groups that were never compared come together; nil: there are strengths.
func (d *Document) instead(r *ranked) *Caveat {
	switch {
	case r.Instead == "":
		return nil
	case len(r.Unmet) < 2:
		text := fmt.Sprintf("In stage %s, %s: strengths would be infinite. Shares of wins are compared instead, by exact sign tests.", r.Stage, assay.Clean(r.Instead, maxWords))
		few := d.tooFewWins(r)
		if few == "" || d.Rerun == "" {
			return &Caveat{"No strengths.", text + few, "", nil}
		}
		return &Caveat{"No strengths.", text + few + d.again(" Add some to the input"), d.Rerun + d.Where, nil}
	}
	text := fmt.Sprintf("In stage %s, %s.", r.Stage, assay.Clean(r.Instead, maxWords))
	joins := make([]string, 0, maxGroupsNamed)
	for k := range r.Unmet[1:min(len(r.Unmet), maxGroupsNamed+1)] {
		joins = append(joins, assay.Clean(r.Unmet[k][0], maxName)+" with "+assay.Clean(r.Unmet[k+1][0], maxName))
	}
	connect := " Comparisons of " + strings.Join(joins, ", and of ") + " would connect them."
	switch {
	case !r.Machines:
		return &Caveat{"Not all were compared.", text + connect + " Judge more pairs:", d.command("label", r.Stage), nil}
	case r.Coverage.Incomplete():
		return &Caveat{"Not all were compared.", text + connect + " Verdicts of this stage are missing; see which:", d.command("errors", "--verdicts"), nil}
	case d.Rerun == "":
		return &Caveat{"Not all were compared.", text + connect + " Add them to the pairs of the study.", "", nil}
	}
	return &Caveat{"Not all were compared.", text + connect + d.again(" Add them to the stage's pairs"), d.Rerun + d.Where, nil}
}

// tooFewWins says how many wins in a row an exact test needs, where there are fewer; empty: there are enough.
func (d *Document) tooFewWins(r *ranked) string {
	if len(r.Tests) == 0 || r.Field == analysis.ByItem { // two items meet in one or two pairs: more of them show no more
		return ""
	}
	needed, p := 1, 1.0 // two-sided p of one win
	for p*float64(len(r.Tests)) >= 1-r.Level {
		needed, p = needed+1, p/2
	}
	if r.Clusters >= needed {
		return ""
	}
	noun := d.nounOf(r.Stage)
	return fmt.Sprintf(" %s %s are too few for that: it takes %d or more, all won.", assay.Thousands(r.Clusters), noun, needed)
}
