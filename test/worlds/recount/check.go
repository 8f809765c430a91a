package recount

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Disagreement is a number that was claimed and came out otherwise.
type Disagreement struct {
	Stage, Analysis string
	Lanes           string // whose number it is, and what else it is grouped by
	What            string // which number, and which part of it
	Ours, Theirs    string
}

func (d Disagreement) String() string {
	return fmt.Sprintf("%s, %s, %s: %s is %s, claimed %s", d.Stage, d.Analysis, d.Lanes, d.What, d.Ours, d.Theirs)
}

// Result is what a check found, and how much it looked at.
type Result struct {
	Disagreements []Disagreement
	Compared      map[string]int // numbers, by kind
	Skipped       map[string]int // findings that are not recomputed, by method and name
}

// Merge adds up what was compared and skipped, and the disagreements, of another check.
func (r *Result) Merge(other Result) {
	r.Disagreements = append(r.Disagreements, other.Disagreements...)
	for k, n := range other.Compared {
		r.Compared[k] += n
	}
	for k, n := range other.Skipped {
		r.Skipped[k] += n
	}
}

// NewResult returns a result of nothing.
func NewResult() Result { return Result{Compared: map[string]int{}, Skipped: map[string]int{}} }

// Check computes all claims of a run again.
func Check(r *Run) Result {
	c := &checker{Run: r, Result: NewResult(), stages: r.stagesOf()}
	for i := range r.Claims.Tables {
		t := &r.Claims.Tables[i]
		s := c.stages[t.Stage]
		if s == nil {
			c.table, c.about = t, ""
			c.differ("table", "no verdict and no request", "a table of findings")
			continue
		}
		c.tableOf(s, t)
	}
	c.primary()
	c.summary()
	c.costs()
	return c.Result
}

// checker compares what it computes with what is claimed.
type checker struct {
	*Run
	Result
	stages map[string]*stage
	table  *Table
	about  string
	panel  *panel // of the table, once it is made
}

// tableOf checks the findings of one table.
func (c *checker) tableOf(s *stage, t *Table) {
	c.table, c.about = t, ""
	c.coverageOfTable(s, t)
	c.complete(s, t)
	c.ranked(s, t)
	for i := range t.Findings {
		f := &t.Findings[i]
		c.about = f.about()
		if !c.finding(s, t, f) {
			c.Skipped[t.Method+" "+f.What]++
		}
	}
	c.about = ""
}

// finding checks one finding; false: it is not of a kind that is computed here.
func (c *checker) finding(s *stage, t *Table, f *Finding) bool {
	switch t.Method {
	case "rate":
		if f.What == "difference" {
			return c.difference(s, t, f)
		}
		return c.rate(s, t, f)
	case "flips":
		return c.flip(s, t, f)
	case "bradley-terry", "davidson", "win-rate", "positional-bias", "consistency":
		return c.contest(s, t, f)
	case "judge-bias":
		return (f.What == "first wins" || f.What == "consistency") && c.contest(s, t, f)
	case "agreement":
		return c.judging(s, t, f)
	}
	return false
}

func (c *checker) differ(what, ours, theirs string) {
	d := Disagreement{Lanes: c.about, What: what, Ours: ours, Theirs: theirs}
	if c.table != nil {
		d.Stage, d.Analysis = c.table.Stage, c.table.Method+" ("+c.table.Title+")"
	}
	c.Disagreements = append(c.Disagreements, d)
}

// near is how far two numbers may differ that are computed in two ways.
const near = 1e-8

// same compares a number; kind is what it is counted under.
func (c *checker) same(kind, what string, ours, theirs *float64) {
	c.Compared[kind]++
	switch {
	case ours == nil && theirs == nil:
	case ours == nil:
		c.differ(what, "none", fmt.Sprint(*theirs))
	case theirs == nil:
		c.differ(what, fmt.Sprint(*ours), "none")
	case math.Abs(*ours-*theirs) > near*max(1, math.Abs(*ours)):
		c.differ(what, fmt.Sprint(*ours), fmt.Sprint(*theirs))
	}
}

// count compares a whole number.
func (c *checker) count(kind, what string, ours, theirs int) {
	c.Compared[kind]++
	if ours != theirs {
		c.differ(what, fmt.Sprint(ours), fmt.Sprint(theirs))
	}
}

// text compares words.
func (c *checker) text(kind, what, ours, theirs string) {
	c.Compared[kind]++
	if ours != theirs {
		c.differ(what, fmt.Sprintf("%q", ours), fmt.Sprintf("%q", theirs))
	}
}

// estimate compares a number with its error, interval and size.
func (c *checker) estimate(kind string, f *Finding, e estimate) {
	c.same(kind, f.What, e.value, f.Value)
	c.same(kind+": standard error", f.What+", standard error", e.se, f.SE)
	c.same(kind+": interval", f.What+", low bound", e.low, f.Low)
	c.same(kind+": interval", f.What+", high bound", e.high, f.High)
	c.count(kind+": n", f.What+", n", e.n, f.N)
	c.count(kind+": clusters", f.What+", clusters", e.clusters, f.Clusters)
}

// coverageOfTable checks what a table rests on.
func (c *checker) coverageOfTable(s *stage, t *Table) {
	rows, ok := s.of(t, &Finding{})
	if !ok {
		return
	}
	c.covered(s, "table", t.Coverage, s.counted(t, rows, t.Title == "rates" && byBranch(t)))
}

// byBranch reports whether findings of a table are apart by branch.
func byBranch(t *Table) bool {
	return slices.ContainsFunc(t.Findings, func(f Finding) bool { _, ok := f.By["branch"]; return ok })
}

// counted returns the rows that count in a table: rates of flips leave the control out, unless it is a row of its own. Labels of people are
// what judges are held against, and not among what is held.
func (s *stage) counted(t *Table, rows []row, branches bool) []row {
	if t.Method == "validity" {
		return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.person() || r.Vote > 0 })
	}
	if t.Method == "judge-bias" && s.machines {
		return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.person() })
	}
	if t.Method != "rate" || !s.rubric.Flips || branches {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return s.control(&r) })
}

// covered compares the states of rows. What people alone are to judge is planned without a row.
func (c *checker) covered(s *stage, of string, theirs Coverage, rows []row) {
	states := map[string]int{}
	for _, r := range rows {
		states[r.State]++
	}
	planned := len(rows)
	if !s.machines && theirs.Planned > planned {
		planned, states["missing"] = theirs.Planned, states["missing"]+theirs.Planned-planned
	}
	for _, x := range []struct {
		what         string
		ours, theirs int
	}{
		{"planned", planned, theirs.Planned}, {"valid", states["valid"], theirs.Valid},
		{"abstained", states["abstained"], theirs.Abstained}, {"malformed", states["malformed"], theirs.Malformed},
		{"failed", states["failed"], theirs.Failed}, {"missing", states["missing"], theirs.Missing},
		{"excluded", states["excluded"], theirs.Excluded},
	} {
		c.count("coverage", of+", "+x.what, x.ours, x.theirs)
	}
	share := (*float64)(nil)
	if wanted := planned - states["excluded"]; wanted > 0 {
		share = some(float64(states["valid"]) / float64(wanted))
	}
	c.same("coverage", of+", share", share, theirs.Share)
}

// complete checks that a table leaves none of its lanes out.
func (c *checker) complete(s *stage, t *Table) {
	claimed, there := map[string]bool{}, map[string]bool{}
	for _, f := range t.Findings {
		for _, field := range []string{"lane", "against", "item"} {
			claimed[f.By[field]] = true
		}
	}
	delete(claimed, "")
	if len(claimed) == 0 || t.Method == "agreement" || t.Method == "validity" || t.Method == "judge-bias" {
		return
	}
	rows, _ := s.of(t, &Finding{})
	for _, r := range s.counted(t, rows, false) {
		if r.valid() || !strings.HasPrefix(t.Title, "differences between lanes") { // a lane without a value differs from none
			there[r.Lane], there[r.First], there[r.Second] = true, true, true
		}
	}
	delete(there, "")
	var left []string
	for name := range there {
		if !claimed[name] {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	c.text("complete", "lanes without a finding", strings.Join(left, " "), "")
}
