// Package stages makes the stages of a study executable: which requests each of them has, what a request asks, which answers it is made
// from, and which verdict a reply becomes. Everything is made again from coordinates. It knows no ledger: answers are arguments.
package stages

import (
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/send/script/rubric"
	"assay/internal/study"
	"assay/internal/study/expr"
	"assay/internal/study/plan"
)

// Stage makes the requests of one stage.
type Stage interface {
	// Lanes lists the lanes that answer, in the order of the study.
	Lanes() []*study.Lane
	// Turns returns how many turns of answers the stage has, or is about.
	Turns() int
	// Tries lists the ways in which the same may be asked, in the order they are taken: one, where no judge is asked.
	Tries() []int
	// Items names the input whose items the stage walks over.
	Items() string
	// At lists the requests about one item, the ord-th of its input from 0, that a lane is asked in a turn, first tries alone.
	At(it assay.Item, ord int64, lane string, turn int) []assay.Coordinates
	// Extra lists the requests about that item in a turn that one redo adds.
	Extra(it assay.Item, ord int64, r store.Redo, turn int) []assay.Coordinates
	// Needs lists the requests whose answers one request is made from.
	Needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error)
	// Prompt makes one request's prompt; false where an answer it needs is missing.
	Prompt(it assay.Item, at assay.Coordinates, answered Answers) (assay.Prompt, bool, error)
	// After lists the groups that have to be settled before nothing more can join the first tries of a turn.
	After(lane string, turn int) []store.GroupKey
	// Conditional reports whether conditions may drop requests.
	Conditional() bool
	// Conditions lists the conditions that one request has to pass.
	Conditions(it assay.Item, at assay.Coordinates) ([]Condition, error)
}

// Judging is a stage that gives verdicts.
type Judging interface {
	Stage
	// Judges lists who judges: lanes, or the one rule or program.
	Judges() []string
	// By returns the rubric.
	By() *rubric.Rubric
	// Frame returns a verdict without its content: its coordinates, and the answers it is about.
	Frame(at assay.Coordinates) (store.Verdict, error)
	// Known returns the verdict that needs no judge; false: one has to be asked, or there is no answer.
	Known(at assay.Coordinates, answered Answers) (assay.Verdict, bool, error)
	// Line appends what a program reads; false where an answer is missing.
	Line(dst []byte, it assay.Item, at assay.Coordinates, answered Answers) ([]byte, bool, error)
	// Place returns the coordinates of a verdict that was made elsewhere.
	Place(f Foreign) (assay.Coordinates, error)
	// Tasks lists what people may be asked about one item in a turn, each pair once.
	Tasks(it assay.Item, ord int64, turn int) []Task
	// Names lists the keys that a table of labels may call a task by.
	Names(at assay.Coordinates) []Name
	// Sheet returns what a person is shown; false where an answer is missing, or both have the same text.
	Sheet(it assay.Item, at assay.Coordinates, answered Answers) (LabelSheet, bool, error)
}

// Answers are the answers to some requests.
type Answers map[assay.Key]Answer

// Answer is an answer that can be judged.
type Answer struct {
	Text   string // with calls of tools behind it, as judges read them
	Calls  []assay.ToolCall
	Ending assay.Ending
}

func (a Answer) outcome() assay.Outcome { return assay.Outcome{Ending: a.Ending, Text: a.Text} }

// Wanted is a request that is to be made.
type Wanted struct {
	Item assay.Item
	At   assay.Coordinates
}

// KeysOf returns the keys of some requests, in their order.
func KeysOf(block []Wanted) []assay.Key {
	keys := make([]assay.Key, len(block))
	for i, w := range block {
		keys[i] = w.At.Key()
	}
	return keys
}

// RefsOf returns the names of some requests, in their order.
func RefsOf(block []Wanted) []assay.Ref {
	refs := make([]assay.Ref, len(block))
	for i, w := range block {
		refs[i] = w.At.Ref()
	}
	return refs
}

// Task is a question for a person: an answer, or a pair under one trait.
type Task struct {
	At            assay.Coordinates
	First, Second string // of a pair
	Group         string // of pairs of lanes: the same for all of the same two
}

// LabelSheet is shown to a person. No name of a lane or model is on it, unless an answer gives itself away.
type LabelSheet struct {
	Answer *judge.Subject // a single answer with what led to it; or
	Pair   *judge.Showing // two texts side by side
	Told   rubric.Told    // what the other judges of the stage are told around the texts that they read
	Same   bool           // nothing is shown because both texts are the same
}

// Name is a key that means a task, and the way round it means a pair.
type Name struct {
	Key  assay.Key
	Turn bool
}

// Foreign is a verdict that was made elsewhere, and what it is about.
type Foreign struct {
	Source        string // the stage whose answers were judged, where there are several
	Item, Lane    string
	First, Second string // of a pair, as it was shown: lanes, or items
	Template      string // of the answers
	Prompt, Trait string // of the judge
	Branch        string
	Turn, Draw    int
	Vote          int
	Judge         string
	Again         int    // how often the same was asked before: it took the place of those
	By            string // the lane that gave it in the judge's place; empty: the judge
	Verdict       assay.Verdict
}

// Condition is one stage's conditions on a request: of its own stage, or of one that it follows.
type Condition struct {
	Stage         *study.Stage
	Item          *assay.Item
	Lane          string                // whose answer it is about
	Conversations [][]assay.Coordinates // whose verdicts `where` sees, each with its latest answer first
	All           bool                  // it has to hold for all of them, not for one
}

// conditional reports whether requests of a stage may turn out not to be asked.
func conditional(st *study.Stage) bool {
	return st.Gate != nil || st.LaneGate != nil || AsksVerdicts(st)
}

// AsksVerdicts reports whether the `where` of a stage looks at verdicts. One that looks at the item alone was obeyed when the
// requests were listed.
func AsksVerdicts(st *study.Stage) bool { return st.Keep != nil && len(st.Keep.Stages()) > 0 }

// Keeps reports whether an item passes a `where` that looks at the item alone. An item that it cannot be decided for was reported before
// the run began.
func Keeps(st *study.Stage, it assay.Item) bool {
	if st.Keep == nil || AsksVerdicts(st) {
		return true
	}
	own := it // what is asked is kept apart: most stages ask nothing
	ok, err := st.Keep.Bool(expr.Vars{Item: &own})
	return ok && err == nil
}

// latestFirst returns a conversation from its end.
func latestFirst(answers []assay.Coordinates) []assay.Coordinates {
	out := slices.Clone(answers)
	slices.Reverse(out)
	return out
}

// NamesOf returns the names of lanes.
func NamesOf(lanes []*study.Lane) []string {
	out := make([]string, len(lanes))
	for i, l := range lanes {
		out[i] = l.Name
	}
	return out
}

// counting returns a stage's rule for answers that are none.
func counting(st *study.Stage) judge.Counting {
	return judge.Counting{Refused: judge.CountAs(st.Count.Refused), Cut: judge.CountAs(st.Count.Cut)}
}

// panel is who judges in a stage, and by what.
type panel struct {
	in     *plan.Input
	stage  *study.Stage
	rubric *rubric.Rubric
	chosen []*study.Lane
	others []*study.Lane // that are asked in their place
	votes  int
	orders *again.Orders
}

// Lanes lists the judges that are asked, and those in their place.
func (p *panel) Lanes() []*study.Lane {
	if p.rubric.NeedsNoModel() {
		return nil
	}
	return slices.Concat(p.chosen, p.others)
}

// What judges without a model are called among the judges.
const (
	byRule    = "rule"
	byProgram = "command"
)

// Judges lists who judges by the rubric.
func (p *panel) Judges() []string {
	switch {
	case p.rubric.Rule != nil:
		return []string{byRule}
	case p.rubric.NeedsNoModel():
		return []string{byProgram}
	}
	return NamesOf(p.chosen)
}

// Tries lists the ways in which a judge may be asked the same, in the order they are taken.
func (p *panel) Tries() []int {
	out := []int{again.FirstAsked}
	if p.rubric.NeedsNoModel() {
		return out
	}
	if again.HasSecondTry(p.stage) {
		out = append(out, again.SecondTry)
	}
	if p.stage.Fallback != "" {
		out = append(out, again.Fallback)
	}
	for i := range p.orders.Retries() {
		out = append(out, again.FirstRetry+i)
	}
	return out
}

// By returns the rubric.
func (p *panel) By() *rubric.Rubric { return p.rubric }

// Stage returns the stage of the study.
func (p *panel) Stage() *study.Stage { return p.stage }

// conditional reports whether requests of the panel may turn out not to be asked by conditions of its own.
func (p *panel) conditional() bool { return conditional(p.stage) || len(p.Tries()) > 1 }

// reveal puts what a candidate was shown before the text of a judge's prompt; where the stage has `media` of its own, that.
func (p *panel) reveal(to *assay.Prompt, it assay.Item, seen []*assay.Media) error {
	var parts []assay.Part
	for _, m := range seen {
		parts = append(parts, assay.Part{Media: m})
	}
	if p.stage.Has("media") {
		var err error
		if parts, err = p.in.Shown(p.stage.Media, &it); err != nil {
			return err
		}
	}
	show(to, parts)
	return nil
}

// show puts parts before the last message of a prompt.
func show(to *assay.Prompt, parts []assay.Part) {
	last := &to.Messages[len(to.Messages)-1]
	*last = plan.Showing(last.Text, parts)
}
