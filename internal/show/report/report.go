// Package report holds what a report is made of: a document with the findings and facts of a run as plain values, which
// know no ledger. Packages below make it into plots (plot, and figures of findings), sentences (words) and pages.
package report

import (
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report/plot"
)

// Document is all that a report shows. What is empty is left out.
type Document struct {
	Study       string
	Description string // a long one comes after the answer
	Run         string
	Standing    Standing
	Rehearsal   bool
	Note, By    string   // of the run
	Remarks     []string // what a reader should know before anything else
	Created     time.Time
	Closed      time.Time // zero: the run is open

	Report   *analysis.Report
	Gates    []analysis.Passage
	Inputs   []Input
	Stages   []Stage
	Lanes    []Lane
	Spend    []Spend
	Segments []Segment
	Budget   *assay.Money // nil: none
	Grid     *Matrix      // items by lanes, those in Items; nil: there is none
	Items    []Item
	Examples []Example
	Origin   Origin

	Wordings   []Wording
	Statements []Statement
	Prices     []Price

	Reads map[string][]string // the stages that ask, whose answers a stage that judges reads
	Nouns map[string]string   // what the independent units of a stage are called, in the plural; without one: items
	Where string              // the flags by which commands find the run, with a space before; empty: none are needed
	Rerun Rerun               // how the study goes on

	Sources  map[string]string  // the input that a stage's questions come from; without one: there are several
	Drawn    map[string]int     // how many rows of an input are drawn at random; without one: all are asked
	Pairings map[string]Pairing // by the stage that compares the texts of an input

	Comparing map[string]Comparing // by the stage that ranks by comparisons
}

// Rerun is how a study goes on after it was edited. Its answers are kept.
type Rerun struct {
	Command string // empty: there is none
	File    string // of the study, as Command names it
	Limit   int    // the first items of each input that the run asks about; 0: all
	Whole   string // the command without the limit; empty: there is no limit
}

// Pairing is where the pairs of a stage come from that compares the texts of an input.
type Pairing struct {
	Input   string
	Limit   string // the key of `pairs` that limits them: sample, per_item or file; empty: none does
	Grouped bool   // only texts of the same group meet
	Both    bool   // every pair is shown both ways
}

// Comparing describes the comparisons of a stage.
type Comparing struct {
	Verdicts int               // that tables count of one comparison
	PerItem  int               // comparisons that two lanes have on one more item
	Left     map[[2]string]int // comparisons that neighbours can still have on the items that there are, by their names
}

// Input is a source of items.
type Input struct {
	Name     string
	Items    int64
	Clusters int64
}

// Stage is a short description of a stage.
type Stage struct {
	Name, Verb string
	Of         string // the input or the stages it reads
	With       string // lanes or judges
	How        string // rubric, pairs, turns, control
}

// Lane is a lane in one stage, with its requests counted by outcome.
type Lane struct {
	Stage, Name string
	Model       string // provider and model as a study writes them
	Params      string // the effective parameters
	State       string // empty: open
	Note        string // further remarks
	Asks        bool   // its answers are judged; false: it judges
	Planned     int64
	Spared      int64 // of them, those that need not be asked: a condition left them out, or both answers are the same
	Open        int64
	Endings     map[assay.Ending]int64
}

// Spend is the cost of a lane in a stage.
type Spend struct {
	Stage, Lane string
	Asks        bool       // its answers are judged; false: it judges
	Cost        assay.Cost // of its answers, where they were paid for
	Spent       assay.Cost // by this run: less than the cost where answers were taken over or imported
	Answers     int64      // current answers
	Valid       int64      // valid verdicts of the stage, where the lane judges alone; 0: not known
	Input       int64      // tokens
	Cached      int64
	Hits        *float64 // the share of requests that read from the provider's cache; nil: no lane does
	Output      int64
	Reasoning   int64
	Batch, Live assay.Cost // of one answer, by what answers took so far; neither priced nor unknown: it was not looked into
	Mute        int64      // replies without a count of tokens
}

// Segment is requests that travelled together, and when. A zero time has not come yet.
type Segment struct {
	No          int64
	Stage, Lane string
	Mode, State string
	Requests    int64
	Created     time.Time
	Launched    time.Time
	Ended       time.Time
	Settled     time.Time
	Cost        assay.Cost
}

// Example is one conversation, or a pair of answers, with the verdicts on it.
type Example struct {
	Stage, Item string
	Shown       []Picture
	Answers     []Answer
	Verdicts    []Verdict
}

// Picture is a file that requests about an item show: a small picture, or its name alone.
type Picture struct {
	Label         string
	Note          string // what is known of it
	Small         []byte // the small picture as JPEG; none: it is named alone
	Width, Height int    // of the small picture
}

// Standing is the state of the run.
type Standing struct {
	State    string   // a word
	Sentence string   // the state, where its requests are, what it cost and why it is so
	Why      string   // a sentence; empty: the state alone is enough
	Next     []string // commands to type in this state
	Told     bool     // other parts of the report tell it: what is missing, what people have to judge, or that nothing is
}

// Answer is one lane's conversation.
type Answer struct {
	Lane  string
	Place string // A or B where two are compared; empty: alone
	Turns []Turn
}

// Turn is one message of a conversation.
type Turn struct {
	Role string // system, user or assistant
	Text string

	Calls []assay.ToolCall // of tools, behind the text
}

// Verdict is one judge's verdict on an example.
type Verdict struct {
	Judge, State, Label string
	Score               *float64
	Reason              string
}

// Origin is the source of a report, so that others can reproduce it.
type Origin struct {
	Version  string // of the program
	Digest   string // of the study
	Catalog  string // date of the prices and rules
	Seed     uint64 // of resamples
	Seeds    []Seed // of everything else that is drawn
	Commands []string
	Source   string // the study file as the run keeps it
}

// Links give the addresses of the rows that numbers came from. A nil function, or an empty address, is no link.
type Links struct {
	Finding func(t *analysis.Table, f *analysis.Finding) string
	Pair    func(t *analysis.Table, row, column string) string // a cell of a win matrix
	Lane    func(stage, lane string, e assay.Ending) string    // requests of a lane; e empty: all, "open": staged or sent
	Segment func(no int64) string
}

// ToFinding returns the address of the rows behind a finding; empty: there is none.
func (l Links) ToFinding(t *analysis.Table, f *analysis.Finding) string {
	if l.Finding == nil {
		return ""
	}
	return l.Finding(t, f)
}

// ToPair returns the address of the comparisons of two lanes.
func (l Links) ToPair(t *analysis.Table, row, column string) string {
	if l.Pair == nil {
		return ""
	}
	return l.Pair(t, row, column)
}

// ToLane returns the address of a lane's requests that ended so.
func (l Links) ToLane(stage, lane string, e assay.Ending) string {
	if l.Lane == nil {
		return ""
	}
	return l.Lane(stage, lane, e)
}

// ToSegment returns the address of a segment.
func (l Links) ToSegment(no int64) string {
	if l.Segment == nil {
		return ""
	}
	return l.Segment(no)
}

// Tokens returns a number of tokens, as far as replies counted them.
func (s Spend) Tokens(n int64) string { return assay.TokensText(n, s.Mute) }

// AnswersOf adds up what a lane's own answers cost, in all stages that ask.
func AnswersOf(lane string, spend []Spend) Spend {
	var out Spend
	for _, s := range spend {
		if s.Asks && s.Lane == lane {
			out.Cost = out.Cost.Add(s.Cost)
			out.Answers += s.Answers
		}
	}
	return out
}

// Origins names the study and the run in a caption.
func (d *Document) Origins() string {
	return "study " + assay.Clean(d.Study, plot.MaxName) + ", run " + assay.Clean(d.Run, plot.MaxName)
}

// Times returns when the run began and ended.
func (d *Document) Times() string {
	text := "begun " + plot.Stamp(d.Created) + " UTC"
	if !d.Closed.IsZero() {
		text += ", closed " + plot.Stamp(d.Closed) + " UTC"
	}
	return text
}

// Wording is a text that models or judges were given.
type Wording struct {
	Stage string
	What  string // prompt, system, turn 2, rubric, …
	Text  string
	Says  string // what a judge may reply; empty: it is no rubric
}

// Statement is an item that answers are held against, such as a rule of a specification.
type Statement struct{ Input, Item, Text string }

// Price is a price of a run, for a million tokens.
type Price struct {
	Model, Mode           string
	Input, Cached, Output string
	Date, Source          string
}

// Seed is a number that decides what is drawn.
type Seed struct{ Of, Value string }

// Open reports whether something of the segment is still to come.
func (g Segment) Open() bool {
	return g.Settled.IsZero() && g.State != "failed" && g.State != "cancelled"
}

// Last returns when a segment came to its end, or the end of the plot.
func (g Segment) Last(end time.Time) time.Time {
	if g.Open() {
		return end
	}
	last := g.Created
	for _, t := range []time.Time{g.Launched, g.Ended, g.Settled} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// Answered returns how many requests have something to judge, and how many were planned and not spared.
func (d *Document) Answered() (stands, planned int64) {
	for _, l := range d.Lanes {
		planned += l.Planned - l.Spared
		stands += l.stands()
	}
	return stands, planned
}

func (l Lane) stands() int64 {
	var n int64
	for e, k := range l.Endings {
		if e.Stands() {
			n += k
		}
	}
	return n
}

// Share returns the part of the planned requests, without those that were spared, that have something to judge.
func (l Lane) Share() stats.Number {
	wanted := l.Planned - l.Spared
	if wanted <= 0 {
		return stats.Undefined("nothing was planned")
	}
	return stats.Known(float64(l.stands()) / float64(wanted))
}

// Incomplete reports whether too little of what was planned is there.
func (l Lane) Incomplete() bool {
	share := l.Share()
	return share.OK && share.Value < analysis.Complete
}
