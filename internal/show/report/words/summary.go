// Package words puts a report into sentences: who is ahead and how sure that is, with a leaderboard, caveats and what
// it would take to tell two apart.
package words

import (
	"fmt"
	"maps"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// Summary is the answer of a run in the fewest words: who is ahead and how sure that is, what it costs, and what to do
// about the weak points. It is made from findings alone and shown the same way everywhere.
type Summary struct {
	Headline  Sentence     // at most 25 words
	Basis     []Fact       // what it rests on, in a line
	Judges    []JudgeState // of all stages that models judge
	Result    string       // the same in a few words, for lists; empty: nothing is known
	First     *First       // nil: nobody is
	Further   []Sentence   // who is behind and what was not tested, and one for each further stage
	Aside     []Sentence   // of those, the ones that no column of the board has
	Coverage  string       // how much of the plan it rests on
	Complete  bool         // enough of it
	Caveats   []Caveat
	Settling  []Settling   // neighbours that cannot be told apart, of all stages
	Board     *Board       // nil: nothing is ranked
	Quality   *plot.Figure // cost against what is ranked; nil: it cannot be drawn
	Sides     []SideRow    // lanes of all stages that push back
	Rehearsal bool
	Read      string // the address of the items that lanes disagree on; empty: there is none
}

// JudgeState is how far the judge of a stage was checked.
type JudgeState struct {
	Stage     string
	Checked   *analysis.Checked // nil: not at all
	Corrected bool              // the numbers of its lanes are corrected by people's labels
	Alone     string            // why they are not, though people have checked it; empty: they are, or nobody has
}

// judges returns the states of all judges, stage by stage. A rule needs no check.
func judges(all []*ranked) (out []JudgeState) {
	for _, r := range all {
		told := slices.ContainsFunc(out, func(j JudgeState) bool { return j.Stage == r.Stage })
		if r.Machines && !told && (r.Checked != nil || !r.Validated) {
			out = append(out, JudgeState{r.Stage, r.Checked, r.Corrected(), r.Alone})
		}
	}
	return out
}

// First is who is first, for lists.
type First struct {
	Name  string
	Cell  BoardCell // what it reached
	Value float64   // more is better
}

// firstOf returns the best place; nil: none has a value, or there are too few votes to name one.
func firstOf(r *ranked) *First {
	if len(r.order) == 0 || len(r.Unmet) > 1 || r.early() {
		return nil
	}
	p := r.Places[r.order[0]]
	f := &First{Name: assay.Clean(p.Name, plot.MaxName), Cell: r.cell(p.Name), Value: p.Value.Value}
	if r.Less {
		f.Value = -f.Value
	}
	return f
}

// result is who leads, in the fewest words; empty: that is not known.
func (d document) result(r *ranked) string {
	if len(r.order) < 2 || !r.tested {
		return ""
	}
	if len(r.Unmet) > 1 {
		return "not all were compared"
	}
	name := func(i int) string { return assay.Clean(r.Places[i].Name, plot.MaxName) }
	top, _ := r.top()
	switch {
	case len(r.unknown()) > 0:
		return name(top[0]) + " is first, not all were tested"
	case r.Field == analysis.ByItem && len(top) > maxNamed:
		return name(top[0]) + " comes first"
	case len(top) == len(r.order) && len(top) == 2:
		return "both tied at the top"
	case len(top) == len(r.order):
		return fmt.Sprintf("all %d tied at the top", len(top))
	case len(top) == 1:
		return name(top[0]) + " is ahead"
	case len(top) == 2:
		return name(top[0]) + " and " + name(top[1]) + " lead"
	}
	return fmt.Sprintf("%s and %d others lead", name(top[0]), len(top)-1)
}

// Summarise returns the answer of a run in words, with its board and its caveats.
func Summarise(d *report.Document) *Summary { return document{d}.summary() }

func (d document) summary() *Summary {
	out := &Summary{Rehearsal: d.Rehearsal}
	if d.Report == nil || len(d.Report.Leaderboards) == 0 {
		out.Headline = d.empty()
		if d.Report != nil && len(d.Report.Tables) > 0 {
			out.Headline = say("No stage ranks its lanes: the findings have what was measured.")
		}
		out.Coverage, out.Complete = d.requestsAnswered()
		out.Caveats = append(append(d.unfinished(nil), d.judgeless()...), d.moved()...)
		return out
	}
	all := make([]*ranked, len(d.Report.Leaderboards))
	for i := range d.Report.Leaderboards {
		all[i] = rank(&d.Report.Leaderboards[i])
	}
	lead := leader(all)
	out.Headline, out.Further = d.headline(lead)
	out.Result, out.First, out.Basis = d.result(lead), firstOf(lead), d.basis(lead)
	out.Board, out.Quality, out.Sides = d.board(lead, all), d.quality(lead), d.sides()
	out.Judges = judges(append([]*ranked{lead}, all...))
	out.Aside = slices.Clone(out.Further)
	for _, r := range all {
		if r == lead || r.early() {
			continue
		}
		s := d.further(r)
		if out.Further = append(out.Further, s); !out.Board.has(r) {
			out.Aside = append(out.Aside, s)
		}
	}
	held := d.held()
	out.Further, out.Aside = append(out.Further, held...), append(out.Aside, held...)
	out.Coverage, out.Complete = d.verdictsThere(lead)
	out.Caveats = d.caveats(lead, all)
	for _, r := range append([]*ranked{lead}, others(lead, all)...) {
		out.Settling = append(out.Settling, d.settlings(r)...)
	}
	return out
}

// empty returns why there is no verdict: none is asked for, or none is there yet.
func (d document) empty() Sentence {
	if len(d.Reads)+len(d.Pairings) > 0 {
		return say("Nothing was judged yet: there is no verdict.")
	}
	return say("Nothing was judged: no stage of this study judges or compares its answers.")
}

// judgeless returns a way on for a study that nothing judges: a stage in which people do.
func (d document) judgeless() []Caveat {
	if len(d.Reads)+len(d.Pairings) > 0 || d.Report != nil && len(d.Report.Tables) > 0 || d.Rerun.Command == "" {
		return nil
	}
	i := slices.IndexFunc(d.Lanes, func(l report.Lane) bool { return l.Asks })
	if i < 0 {
		return nil
	}
	stage := fmt.Sprintf("{name: better, compare: %s, rubric: better, pairs: {sample: 60}, judges: [\"human:*\"]}", d.Lanes[i].Stage)
	return []Caveat{{Title: "Not judged.", Text: "People or models may judge the answers." + d.edited("add a stage such as `- "+stage+"`"),
		Command: d.Rerun.Command + d.Where, Button: "Have the answers judged", Size: "a stage to add"}}
}

// maxHeld is how many lanes that were held against a baseline have a sentence each.
const maxHeld = 10

// held returns how lanes compare with a baseline, a sentence each.
func (d document) held() []Sentence {
	var out []Sentence
	for i := range d.Report.Tables {
		for k := range d.Report.Tables[i].Findings {
			f := &d.Report.Tables[i].Findings[k]
			if f.Margin != nil && len(out) < maxHeld && !d.Report.Tables[i].People {
				out = append(out, say(f.Held()))
			}
		}
	}
	return out
}

// requestsAnswered returns the sentence on how many requests of a run without verdicts are answered.
func (d document) requestsAnswered() (text string, complete bool) {
	stands, planned := d.Answered()
	complete = true
	for _, l := range d.Lanes {
		complete = complete && !l.Incomplete()
	}
	return assay.Thousands(stands) + " of " + assay.Thousands(planned) + " requests have an answer.", complete
}

// verdictsThere returns the sentence on how much of what is planned in all stages is there, and which stage has the least. Where judges
// decide together, decisions count and not votes.
func (d document) verdictsThere(lead *ranked) (text string, complete bool) {
	stages := map[string]analysis.Coverage{lead.Stage: lead.Coverage}
	for i := range d.Report.Tables {
		t := &d.Report.Tables[i]
		votes := t.People || (&analysis.Spec{Method: t.Method}).EachVerdict()
		if before, ok := stages[t.Stage]; !votes && t.Stage != lead.Stage && (!ok || t.Coverage.Planned > before.Planned) {
			stages[t.Stage] = t.Coverage
		}
	}
	var all analysis.Coverage
	worst, name := 1.0, ""
	for _, stage := range slices.Sorted(maps.Keys(stages)) {
		c := stages[stage]
		if all = all.Plus(c); c.Share().OK && c.Share().Value < worst {
			worst, name = c.Share().Value, stage
		}
	}
	share := all.Share()
	if !share.OK {
		return "No verdict was planned.", false
	}
	text = percentOf(share.Value) + " of the planned verdicts are there."
	if name != "" && len(stages) > 1 {
		text += " The fewest, " + percentOf(worst) + ", are in stage " + name + "."
	}
	return text + d.cutOrRefused(), !d.Report.Incomplete()
}

// cutOrRefused returns the sentence on answers that were cut or refused.
func (d document) cutOrRefused() string {
	var cut, refused int64
	for _, l := range d.Lanes {
		if l.Asks {
			cut, refused = cut+l.Endings[assay.Cut], refused+l.Endings[assay.Refused]
		}
	}
	switch {
	case len(d.Lanes) == 0:
		return ""
	case cut+refused == 0:
		return " No answer was cut or refused."
	}
	return fmt.Sprintf(" %s cut short, %s refused.", were(cut, "answer"), assay.Thousands(refused))
}
