// Package analysis holds what analyses read and give: rows of verdicts, stages and specs; findings with their error,
// their coverage and their method, in tables and reports; and leaderboards, with what may be claimed of them.
//
// The unit of every error is the cluster: repeats, turns, branches, orders and judges are nested in it. A verdict that
// is not valid is counted by its state and enters no number. What cannot be known is unknown, with the reason. The
// packages below compute: answers, talks and contests, each with the kit of gather; methods is their list.
package analysis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// Row is one verdict, or the place where one is expected.
type Row struct {
	Stage       string
	Judge       string
	Lane        string       // whose answer; of a pair, the lane or item that was shown first
	Other       string       // of a pair, the one that was shown second
	Asked       *LaneSetting // how Lane was asked; nil: not known
	OtherAsked  *LaneSetting // how Other was
	JudgeAsked  *LaneSetting // how Judge was; nil: not known, or no lane
	Source      string       // the stage whose answers are judged
	Root        string       // the stage in which the conversation began
	Item        string
	Cluster     string // empty: the item
	Template    string
	Prompt      string // the judge's
	Trait       string
	Branch      string
	Turn        int
	Draw        int
	Vote        int               // of the same judge on the same answer, from 0
	Expect      string            // the item's right answer; empty: not known
	Ending      assay.Ending      // of the judged answer; empty counts as answered
	Fields      map[string]string // of the item, as far as a table groups by them
	Branches    map[string]string // of the branch, where it is an item itself, under branch.NAME
	Length      int               // of the judged answer, in characters; of a pair, of the one shown first; 0: not known
	OtherLength int               // of the one shown second
	Style       Style             // of the judged answer, where it is asked for
	OtherStyle  Style             // of the one shown second

	State   assay.VerdictState
	Decided bool // the joint decision of a jury or several draws
	Alone   bool // of a jury: it rests on one vote
	Again   bool // the judge was asked once more
	Label   string
	Score   *float64
	// Confidence is how sure the judge is of its label, from 0 to 1, where people have labelled the same; nil: not known.
	Confidence *float64

	Fallback bool // another lane gave it in the judge's place
	Drawn    bool // of a person: the answer was drawn, and not chosen
	Earlier  bool // of a person: the judge's prompt has changed since
	// Adjudicated: people differed, and this label of a person decides.
	Adjudicated bool
	// Probability is with which chance the answer of a person's label was drawn, as its file declares; 0: it does not.
	Probability float64
	// Among is of how many items it then was; 0: that is not known.
	Among int

	Baseline string // the earlier run that it is of, as an analysis names it; empty: the run at hand
}

// The fields that every row has; all others are the item's own.
const (
	ByLane     = "lane"
	ByJudge    = "judge"
	ByBranch   = "branch"
	ByTurn     = "turn"
	ByTrait    = "trait"
	ByTemplate = "template"
	ByPrompt   = "prompt"
	ByItem     = "item"
	ByCluster  = "cluster"
	ByExpect   = "expect"
	ByDraw     = "draw"
	BySource   = "source" // the stage whose answers are judged

	ByProvider  = "provider"
	ByModel     = "model"
	ByEffort    = "effort"
	ByThinking  = "thinking"
	ByDirection = "direction" // of a pair: forward, as the two names sort, or reverse
)

// LaneSetting is how a lane is asked, as far as findings are grouped by it.
type LaneSetting struct{ Provider, Model, Effort, Thinking string }

// LaneFields lists the fields that are settings of lanes. A field of the items may have the same name, and wins;
// lane.NAME is the lane's.
func LaneFields() []string { return []string{ByProvider, ByModel, ByEffort, ByThinking} }

// settingOf returns the setting of lanes that a field is, as NAME or lane.NAME.
func settingOf(field string) (setting string, ok bool) {
	setting = strings.TrimPrefix(field, ByLane+".")
	return setting, slices.Contains(LaneFields(), setting)
}

// judgeSettingOf returns the setting of judges that a field is, as judge.NAME.
func judgeSettingOf(field string) (setting string, ok bool) {
	setting, ok = strings.CutPrefix(field, ByJudge+".")
	return setting, ok && slices.Contains(LaneFields(), setting)
}

// OwnField reports whether every row has a field: one of OwnFields, or a setting as lane.NAME or judge.NAME.
func OwnField(field string) bool {
	_, lane := settingOf(field)
	_, judge := judgeSettingOf(field)
	return lane || judge || slices.Contains(OwnFields(), field)
}

// OfItems reports whether a field may be the items' own: all but the coordinates of verdicts.
func OfItems(field string) bool {
	_, setting := settingOf(field)
	return setting && !strings.Contains(field, ".") || field == BySource || field == ByDirection || !OwnField(field)
}

// Field returns the value of one setting.
func (s *LaneSetting) Field(name string) string {
	if s == nil {
		return ""
	}
	switch name {
	case ByProvider:
		return s.Provider
	case ByModel:
		return s.Model
	case ByEffort:
		return s.Effort
	}
	return s.Thinking
}

// direction returns which way round a pair was shown, by the same rule and in the same words as in the ledger and in
// exports.
func (r *Row) direction() string {
	switch {
	case r.Other == "":
		return ""
	case r.Lane <= r.Other:
		return string(assay.Forward)
	}
	return string(assay.Reverse)
}

// OwnFields lists the fields that every row has.
func OwnFields() []string {
	return []string{ByLane, ByJudge, ByBranch, ByTurn, ByTrait, ByTemplate, ByPrompt, ByItem, ByCluster, ByExpect, ByDraw, BySource,
		ByProvider, ByModel, ByEffort, ByThinking, ByDirection}
}

// Field returns the value of a field to group by; a field that the item does not have is empty.
func (r *Row) Field(name string) string {
	switch name {
	case ByLane:
		return r.Lane
	case ByJudge:
		return r.Judge
	case ByBranch:
		return r.Branch
	case ByTurn:
		return strconv.Itoa(r.Turn)
	case ByTrait:
		return r.Trait
	case ByTemplate:
		return r.Template
	case ByPrompt:
		return r.Prompt
	case ByItem:
		return r.Item
	case ByCluster:
		return r.ClusterName()
	case ByExpect:
		return r.Expect
	case ByDraw:
		return strconv.Itoa(r.Draw)
	}
	if v, ok := r.Fields[name]; ok { // the item has a field of that name
		return v
	}
	switch setting, ok := settingOf(name); {
	case ok:
		return r.Asked.Field(setting)
	case name == BySource:
		return r.Source
	case name == ByDirection:
		return r.direction()
	}
	if setting, ok := judgeSettingOf(name); ok {
		return r.JudgeAsked.Field(setting)
	}
	if strings.HasPrefix(name, ByBranch+".") {
		return r.Branches[name]
	}
	return ""
}

// Person reports whether a person gave the verdict.
func (r *Row) Person() bool { return isPerson(r.Judge) }

// isPerson reports whether a judge's name is that of a person: human:NAME.
func isPerson(judge string) bool { return strings.HasPrefix(judge, "human:") }

// ClusterName returns the cluster of the row: its item where none is given.
func (r *Row) ClusterName() string {
	if r.Cluster == "" {
		return r.Item
	}
	return r.Cluster
}

// Valid reports whether the row is a verdict that enters numbers.
func (r *Row) Valid() bool { return r.State == assay.VerdictValid }

// Whole reports whether the judged answer is neither refused nor cut.
func (r *Row) Whole() bool { return r.Ending != assay.Refused && r.Ending != assay.Cut }

// AppendUnit appends what distinguishes one judged answer, or one pair of answers, from all others about the same item:
// all coordinates but lane and judge.
func (r *Row) AppendUnit(b []byte) []byte { return r.AppendKind(AppendText(b, r.Item)) }

// AppendKind returns the unit without its item.
func (r *Row) AppendKind(b []byte) []byte {
	b = AppendText(b, r.Template, r.Branch)
	b = strconv.AppendInt(b, int64(r.Turn), 10)
	b = append(b, ' ')
	return strconv.AppendInt(b, int64(r.Draw), 10)
}

// AppendText appends texts with their lengths, so that no two lists run together.
func AppendText(b []byte, texts ...string) []byte {
	for _, t := range texts {
		b = strconv.AppendInt(b, int64(len(t)), 10)
		b = append(b, ':')
		b = append(b, t...)
	}
	return b
}

// CompareTexts orders texts as appendText writes them, each with its length before it.
func CompareTexts(a, b string) int {
	if len(a) == len(b) {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(strconv.Itoa(len(a))+":", strconv.Itoa(len(b))+":")
}
