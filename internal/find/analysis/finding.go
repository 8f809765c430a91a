package analysis

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/stats"
	"assay/internal/study/declare"
)

// Complete is the share of what was planned that a table must rest on; below, it is marked as incomplete.
const Complete = 0.95

// Coverage counts what was planned by what became of it. The states are never merged.
type Coverage struct {
	Planned   int // verdicts that the design asks for
	Valid     int
	Abstained int
	Malformed int
	Failed    int
	Missing   int // nothing to judge, or not judged yet
	Excluded  int // left out by the stage's rule for refused and cut answers
	Fallback  int // of Valid: given by another lane in the judge's place
	Alone     int // of Valid: decisions of a jury that rest on one vote
}

// Share returns the part of the plan that numbers rest on; what a rule of the study leaves out was never to be in it.
func (c Coverage) Share() stats.Number {
	if c.Wanted() > 0 {
		return stats.Known(float64(c.Valid) / float64(c.Wanted()))
	}
	return stats.Undefined("nothing was planned")
}

// Wanted returns the number of verdicts that numbers are to rest on.
func (c Coverage) Wanted() int { return c.Planned - c.Excluded }

// Given returns the number of verdicts that judges were asked for and that are there, readable or not.
func (c Coverage) Given() int { return c.Valid + c.Abstained + c.Malformed + c.Failed }

// Incomplete reports whether too little of the plan is there.
func (c Coverage) Incomplete() bool {
	share := c.Share()
	return !share.OK || share.Value < Complete
}

// Unknown returns the number of planned verdicts without a value.
func (c Coverage) Unknown() int { return c.Wanted() - c.Valid }

// Plus adds up two coverages.
func (c Coverage) Plus(d Coverage) Coverage {
	return Coverage{
		Planned: c.Planned + d.Planned, Valid: c.Valid + d.Valid, Abstained: c.Abstained + d.Abstained,
		Malformed: c.Malformed + d.Malformed, Failed: c.Failed + d.Failed, Missing: c.Missing + d.Missing,
		Excluded: c.Excluded + d.Excluded, Fallback: c.Fallback + d.Fallback, Alone: c.Alone + d.Alone,
	}
}

// Count counts one verdict by its state.
func (c *Coverage) Count(r *Row) {
	switch {
	case r.State == assay.VerdictExcluded:
		c.Excluded++
	case r.State == assay.VerdictValid:
		c.Valid++
		if r.Fallback {
			c.Fallback++
		}
		if r.Alone {
			c.Alone++
		}
	case r.State == assay.VerdictAbstained:
		c.Abstained++
	case r.State == assay.VerdictMalformed:
		c.Malformed++
	case r.State == assay.VerdictFailed:
		c.Failed++
	default:
		c.Missing++
	}
}

// WithMissing makes what was planned and never came missing, and what came without a plan (people's labels) planned.
func (c Coverage) WithMissing() Coverage {
	there := c.Valid + c.Abstained + c.Malformed + c.Failed + c.Missing + c.Excluded
	c.Missing += max(0, c.Planned-there)
	c.Planned = max(c.Planned, there)
	return c
}

// Unit is the unit of a value.
type Unit string

// The units.
const (
	Share    Unit = "share"             // 0 to 1
	Score    Unit = "score"             // as the rubric scores
	Logit    Unit = "logit"             // natural log of odds
	Points   Unit = "points"            // Elo
	Index    Unit = "index"             // agreement, reliability: at most 1
	Hundreds Unit = "hundreds"          // the scores of earlier benchmarks
	Squared  Unit = "squared"           // a variance: of shares or scores, squared
	Gap      Unit = "points of a share" // a difference of shares as it is shown; its finding has the unit share
)

// Value is one field that findings are grouped by.
type Value struct{ Field, Value string }

// OtherRule is the value under the other rule for refused and cut answers: left out, or as worst.
type OtherRule struct {
	Rule  string
	Value stats.Number
	N     int
}

// Finding is one number with all that is needed to believe it.
//
// For plots: an interval series is the findings of one table with the same What, distinguished by By, as Value within
// Interval (and within Bounds, fainter); a flip curve is the findings "rate" of a table of method flips, by lane,
// branch and turn, with the control's branch beside; a forest of differences is the findings "difference" or "excess"
// round 0.
type Finding struct {
	Stage    string
	What     string
	By       []Value
	Unit     Unit
	Value    stats.Number
	SE       stats.Number // standard error of the value, by the method of the interval where that has one
	Interval stats.Interval
	Level    float64 // of the interval
	N        int     // verdicts it rests on; of a difference between lanes or runs, the items that both have
	Clusters int     // independent units among them
	Coverage Coverage
	Bounds   stats.Interval // where it must lie whatever the missing verdicts are
	Rule     string         // how refused and cut answers counted
	Other    *OtherRule     // nil: no answer was refused or cut, or the value does not rest on single answers
	Method   string         // of the interval
	P        stats.Number   // of no difference, two-sided; it does not exist where nothing is tested
	Holm     stats.Number   // P adjusted over all primary tests
	Rank     *stats.RankInterval
	Best     stats.Number // chance of being the best of those that are ranked
	Record   *Record      // of win rates: what they are made of
	Counts   []Counted    // of flips: what they are made of
	Quasi    stats.Number // quasi standard error of a strength: two of them give the error of any difference
	Margin   *Margin      // of no-worse: what it is held against; nil: nothing
	Primary  bool
	Control  bool // about a neutral re-ask: conditions do not read it
	Notes    []string
	Words    string // the conclusion; primary findings alone
}

// Margin is what a difference from a baseline may lose at most, and how it compares with that.
type Margin struct {
	Size     float64 // in the unit of the finding
	Standing stats.Standing
	Tests    int    // that the level of the interval is divided by: all of the analysis
	Of       string // the baseline, in words
}

// Counted is how many there are of one kind.
type Counted struct {
	Name string
	N    int
}

// Record counts comparisons as one of the two sees them.
type Record struct{ Wins, Ties, Losses int }

// Count enters a comparison by its score: 1 is a win, 0 a loss, all else a tie.
func (r *Record) Count(score float64) {
	switch score {
	case 1:
		r.Wins++
	case 0:
		r.Losses++
	default:
		r.Ties++
	}
}

// Of returns the value of a field that the finding is grouped by; empty: it is not.
func (f *Finding) Of(field string) string {
	for _, v := range f.By {
		if v.Field == field {
			return v.Value
		}
	}
	return ""
}

// Note adds a note, once.
func (f *Finding) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, n := range f.Notes {
		if n == text {
			return
		}
	}
	f.Notes = append(f.Notes, text)
}

// name returns the fields of the finding in a few words.
func (f *Finding) name() string {
	var parts []string
	for _, v := range f.By {
		parts = append(parts, v.Field+" "+v.Value)
	}
	return strings.Join(parts, ", ")
}

// Table is the findings of one analysis. Matrix and Confusions are drawn rows by columns.
type Table struct {
	Stage      string
	Title      string
	Method     Method
	By         []string
	Findings   []Finding
	Coverage   Coverage    // of everything the table is about
	Matrix     *Matrix     // who won how often against whom; nil: no lanes were compared
	Confusions []Confusion // judges against gold; none: nothing is known to be true
	Disagreed  []Disagreed // pairs whose two orders disagree; of consistency alone
	Primary    bool
	People     bool // it rests on people's verdicts alone, which no stage waits for
	Notes      []string

	Unvalidated bool     // how far its judge can be trusted is not known
	Unclear     int      // labels of people that were chosen because it was not clear which of two is better
	Selected    string   // the stage after whose results its lanes were chosen; empty: none
	Counted     []string // of rates: the labels that the rate counts

	Leaderboards []Leaderboard // of what it ranks, group by group
	Looked       *Looked       // earlier looks at fewer items; nil: this is the first
	Sides        []Side        // of flips: what is put side by side over stages
	Hidden       bool          // it is for its leaderboards alone
}

// Incomplete reports whether too little of what was planned is in the table, or of what was planned of one of its
// lanes: the others must not hide it.
func (t *Table) Incomplete() bool { return t.Coverage.Incomplete() || len(t.gaps()) > 0 }

// gaps returns the lanes of which too little is there, by name.
func (t *Table) gaps() []string {
	type lane struct{ what, name string }
	by := map[lane]Coverage{}
	for i := range t.Findings {
		f := &t.Findings[i]
		if name := f.Of(ByLane); name != "" && f.Of(ByAgainst) == "" {
			by[lane{f.What, name}] = by[lane{f.What, name}].Plus(f.Coverage)
		}
	}
	var out []string
	for l, c := range by {
		if c.Planned > 0 && c.Incomplete() && !slices.Contains(out, l.name) {
			out = append(out, l.name)
		}
	}
	slices.Sort(out)
	return out
}

// Note adds a note, once.
func (t *Table) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, n := range t.Notes {
		if n == text {
			return
		}
	}
	t.Notes = append(t.Notes, text)
}

// Matrix is the share that each row won against each column; a tie is half a win.
type Matrix struct {
	Names  []string
	Shares [][]stats.Number
}

// Confusion counts a judge's labels of answers whose true label is known.
type Confusion struct {
	Judge  string
	Labels []string
	Counts [][]int // by the true label, then by the judge's
}

// Report is all tables.
type Report struct {
	Tables       []Table
	Leaderboards []Leaderboard // stage by stage: who is ahead, and how sure that is
	Sides        []Side        // stage by stage: what became of first answers; none: nobody pushed back
	Gates        []Table       // what conditions ask besides

	Plan *declare.Plan // when the study declared what; nil: it was not looked into
}

// Incomplete reports whether a table is; what people left undone makes nothing incomplete.
func (r *Report) Incomplete() bool {
	for i := range r.Tables {
		if r.Tables[i].Incomplete() && !r.Tables[i].People {
			return true
		}
	}
	return false
}

// Unknown returns the finding without a number, for a reason.
func (f *Finding) Unknown(format string, args ...any) Finding {
	f.Value = stats.Undefined(format, args...)
	f.Interval = stats.NoInterval("%s", f.Value.Why)
	return *f
}

// Disagreed is a pair whose two orders disagree: shown as First and Second, and the other way round.
type Disagreed struct {
	By            []Value // of the table
	Item          string  // empty: items are compared
	First, Second string
	Judge, Trait  string
	Prompt        string
	Template      string
	Branch        string
	Turn, Draw    int
	Forth, Back   string // who won with First shown first, and with Second; tie: neither
}
