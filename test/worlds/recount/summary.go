package recount

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// primary checks the correction of the tests that a study declared primary, all together.
func (c *checker) primary() {
	var p []float64
	var claimed []*Finding
	var of []*Table
	for i := range c.Claims.Tables {
		t := &c.Claims.Tables[i]
		for k := range t.Findings {
			if f := &t.Findings[k]; f.Primary && f.P != nil {
				p, claimed, of = append(p, *f.P), append(claimed, f), append(of, t)
			}
		}
	}
	for i, corrected := range holm(p) {
		c.table, c.about = of[i], claimed[i].about()
		c.same("primary", claimed[i].What+", corrected p", some(corrected), claimed[i].Holm)
	}
	c.table, c.about = nil, ""
}

// ranked checks the places of lanes in a table of rates, or of shares of wins in the place of strengths.
func (c *checker) ranked(s *stage, t *Table) {
	var st *standing
	for i := range t.Findings {
		f := &t.Findings[i]
		rated := len(f.By) == 1 && f.By["lane"] != "" && (f.What == "rate" || f.What == "mean")
		won := f.What == "win rate" && t.Method != "win-rate"
		switch {
		case f.Rank == nil, !rated && !won:
			continue
		case won:
			st = s.byStrength(t, f)
		case st == nil:
			st = s.byRate(t, f.Level)
		}
		if st == nil {
			continue
		}
		c.about = f.about()
		rank, best, worst := st.ranks(f.By["lane"] + f.By["item"])
		c.count("rank", "rank", rank, f.Rank.Rank)
		if t.lookedAgain() { // told apart by what an earlier look claimed, of which no row tells
			c.Skipped["ranks at a later look"]++
			c.text("rank", "rank between the best and the worst", "true", fmt.Sprint(f.Rank.Best <= rank && rank <= f.Rank.Worst))
			continue
		}
		c.count("rank", "best rank", best, f.Rank.Best)
		c.count("rank", "worst rank", worst, f.Rank.Worst)
	}
	c.about = ""
}

// lookedAgain reports whether fewer items of its stage were looked at before: less of the error is left for this look.
func (t *Table) lookedAgain() bool {
	return slices.ContainsFunc(t.Notes, func(n string) bool { return strings.HasPrefix(n, "look ") })
}

// ranks reports whether any place of the table has a value.
func (t *Table) ranks() bool {
	return slices.ContainsFunc(t.Findings, func(f Finding) bool { return f.Value != nil })
}

// lead returns the table whose lanes a summary ranks: of the first primary one, else of the first stage that ranks anything, flips before
// rates.
func (c *checker) lead() *Table {
	var best *Table
	value := func(t *Table) int {
		return 4*int(one(t.Primary)) + 2*int(one(t.Method == "flips"))
	}
	for i := range c.Claims.Tables {
		t := &c.Claims.Tables[i]
		ranks := t.Method == "rate" && t.Title == "rates" || t.Method == "flips" || t.Method == "bradley-terry" || t.Method == "davidson"
		if t.People || !ranks {
			continue
		}
		if best == nil || t.Primary && !best.Primary || t.Primary == best.Primary && t.ranks() && !best.ranks() ||
			t.Stage == best.Stage && value(t) > value(best) {
			best = t
		}
	}
	return best
}

// percent and dollars are how sentences have them.
var (
	percent = regexp.MustCompile(`^(\d+(?:\.\d+)?%) of the planned verdicts are there\.`)
	least   = regexp.MustCompile(`The fewest, (\d+(?:\.\d+)?%), are in stage (\S+)\.`)
	broken  = regexp.MustCompile(`([\d,]+) answers? (?:was|were) cut short, ([\d,]+) refused\.`)
)

// sentence checks the sentence on how much of the plan is there.
func (c *checker) sentence(t *Table) {
	text := c.Claims.Summary.Coverage
	c.table, c.about = t, "summary"
	stages := map[string]Coverage{t.Stage: t.Coverage} // each by its decisions
	for _, other := range c.Claims.Tables {
		votes := other.People || slices.Contains([]string{"agreement", "validity", "variance", "judge-bias"}, other.Method)
		if known, ok := stages[other.Stage]; !votes && other.Stage != t.Stage && (!ok || other.Coverage.Planned > known.Planned) {
			stages[other.Stage] = other.Coverage
		}
	}
	valid, wanted, lowest := 0, 0, 1.0
	for _, s := range stages {
		valid, wanted = valid+s.Valid, wanted+s.Planned-s.Excluded
		if s.Share != nil {
			lowest = min(lowest, *s.Share)
		}
	}
	if m := percent.FindStringSubmatch(text); m != nil && wanted > 0 {
		c.said("share of the planned verdicts", m[1], float64(valid)/float64(wanted))
	}
	if m := least.FindStringSubmatch(text); m != nil {
		c.said("least of stage "+m[2], m[1], lowest)
	}
	cut, refused := 0, 0
	for _, a := range c.Answers {
		if a.Verb != "judge" && a.Verb != "compare" {
			cut, refused = cut+int(one(a.Ending == "cut")), refused+int(one(a.Ending == "refused"))
		}
	}
	switch m := broken.FindStringSubmatch(text); {
	case m != nil:
		c.said("answers cut short", m[1], float64(cut))
		c.said("answers refused", m[2], float64(refused))
	case strings.Contains(text, "No answer was cut or refused."):
		c.count("sentences", "answers cut short or refused", cut+refused, 0)
	}
}

// said compares a number in a sentence, as it is rounded there: what is not whole is never 100%, and what is there never 0%.
func (c *checker) said(what, text string, x float64) {
	c.Compared["sentences"]++
	if !rounded(text, some(x)) {
		c.differ(what, fmt.Sprint(x), text)
	}
}

// summary checks the sentence on coverage, the order of lanes and their letters.
func (c *checker) summary() {
	t := c.lead()
	if t != nil {
		c.sentence(t)
	}
	if t == nil || c.stages[t.Stage] == nil || len(c.Claims.Summary.Ranked) == 0 {
		return
	}
	s := c.stages[t.Stage]
	st := s.standing(t)
	if st == nil {
		c.Skipped["tiers by "+t.Method]++
		return
	}
	c.table, c.about = t, ""
	var order []string
	for _, r := range c.Claims.Summary.Ranked {
		if st.values[r.Name] != nil {
			order = append(order, r.Name)
		}
	}
	if len(c.Claims.Summary.Ranked) < 40 { // a longer list is cut
		c.count("tiers", "lanes that are ranked", len(st.names), len(c.Claims.Summary.Ranked))
	}
	for i := range order[:max(0, len(order)-1)] {
		c.text("tiers", "order of "+order[i]+" and "+order[i+1], "", fmt.Sprint(wrong(st, order[i], order[i+1])))
	}
	if t.lookedAgain() {
		c.Skipped["tiers at a later look"]++
		c.table = nil
		return
	}
	letters := st.letters(order)
	for _, r := range c.Claims.Summary.Ranked {
		want := ""
		if i := slices.Index(order, r.Name); i >= 0 {
			want = letters[i]
		}
		c.text("tiers", "tier of "+r.Name, want, r.Tier)
	}
	c.table = nil
}

// wrong returns what speaks against the first being before the second; empty: nothing.
func wrong(st *standing, first, second string) string {
	if st.ahead(second, first) {
		return fmt.Sprintf("%v before %v", *st.values[first], *st.values[second])
	}
	return ""
}

// standing returns the standing behind a table; nil: it cannot be computed from rows.
func (s *stage) standing(t *Table) *standing {
	if len(t.Findings) == 0 {
		return nil
	}
	f := &t.Findings[0]
	switch t.Method {
	case "rate":
		return s.byRate(t, f.Level)
	case "flips":
		return s.byFlips(t, f.Level)
	}
	return s.byStrength(t, f)
}
