// Package report draws what a run found: plots, tables and words, the same for one self-contained file and for web pages.
//
// It takes findings and facts as plain values and knows no ledger. Everything foreign (names, texts, labels) reaches a
// page through html/template alone, after Clean has made what steers a reader's eye visible.
package report

import (
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

// Document is all that a report shows. What is empty is left out.
type Document struct {
	Study       string
	Description string // a long one comes after the answer
	Run         string
	Standing    string // one sentence: how the run stands
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
	Rerun string              // the command that goes on after the study was edited, and keeps its answers; empty: there is none
}

// Input is a source of items.
type Input struct {
	Name     string
	Items    int64
	Clusters int64
}

// Stage says in a few words what a stage does.
type Stage struct {
	Name, Verb string
	Of         string // the input or the stages it reads
	With       string // lanes or judges
	How        string // rubric, pairs, turns, control
}

// Lane is a lane in one stage, with its requests counted by what stands for each.
type Lane struct {
	Stage, Name string
	Model       string // provider and model as a study writes them
	Params      string // the effective parameters
	State       string // empty: open
	Note        string // what else is to be said of it
	Asks        bool   // its answers are what is judged; false: it judges
	Planned     int64
	Spared      int64 // of them, those that need not be asked: a condition left them out, or both answers are the same
	Open        int64
	Endings     map[assay.Ending]int64
}

// Spend is what a lane cost in a stage.
type Spend struct {
	Stage, Lane string
	Asks        bool // its answers are what is judged; false: it judges
	Cost        assay.Cost
	Answers     int64 // answers that stand
	Valid       int64 // valid verdicts of the stage, where the lane judges alone; 0: not known
	Input       int64 // tokens
	Cached      int64
	Output      int64
	Reasoning   int64
	Batch, Live assay.Cost // of one answer, by what answers took so far; neither priced nor unknown: it was not looked into
	Mute        int64      // replies that did not say how many tokens they took
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

// Example is one conversation, or a pair of answers, with what was said about it.
type Example struct {
	Stage, Item string
	Answers     []Answer
	Verdicts    []Verdict
}

// Answer is what one lane was sent and said.
type Answer struct {
	Lane  string
	Place string // A or B where two are compared; empty: alone
	Turns []Turn
}

// Turn is one message of a conversation.
type Turn struct {
	Role string // system, user or assistant
	Text string
}

// Verdict is what one judge said about an example.
type Verdict struct {
	Judge, State, Label string
	Score               *float64
	Reason              string
}

// Origin is what a report was made from, so that others can make it again.
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

func (l Links) finding(t *analysis.Table, f *analysis.Finding) string {
	if l.Finding == nil {
		return ""
	}
	return l.Finding(t, f)
}

func (l Links) pair(t *analysis.Table, row, column string) string {
	if l.Pair == nil {
		return ""
	}
	return l.Pair(t, row, column)
}

func (l Links) lane(stage, lane string, e assay.Ending) string {
	if l.Lane == nil {
		return ""
	}
	return l.Lane(stage, lane, e)
}

func (l Links) segment(no int64) string {
	if l.Segment == nil {
		return ""
	}
	return l.Segment(no)
}
