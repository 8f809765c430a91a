package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

// Summary is the answer of a run in the fewest words: who is ahead and how sure that is, what it costs, and what to do about the
// weak points. It is made from findings alone and shown the same way everywhere.
type Summary struct {
	Headline  Sentence
	Result    string     // the same in a few words, for lists; empty: nothing is known
	Further   []Sentence // cost, and one for each further stage
	Coverage  string     // how much of the plan it rests on
	Complete  bool       // enough of it
	Caveats   []Caveat
	Settling  []Settling // neighbours that cannot be told apart, of all stages
	Board     *Board     // nil: nothing is ranked
	Rehearsal bool
}

// result is who leads, in the fewest words; empty: that is not known.
func (d *Document) result(r *ranked) string {
	if len(r.order) < 2 || !r.tested {
		return ""
	}
	if len(r.Unmet) > 1 {
		return "not all were compared"
	}
	name := func(i int) string { return assay.Clean(r.Places[i].Name, maxName) }
	top, clique := r.top()
	switch {
	case len(r.unknown()) > 0:
		return name(top[0]) + " is first, not all were tested"
	case len(top) == len(r.order) && clique:
		return "no difference shown"
	case len(top) == 1:
		return name(top[0]) + " is ahead"
	case len(top) == 2:
		return name(top[0]) + " and " + name(top[1]) + " lead"
	}
	return fmt.Sprintf("%s and %d others lead", name(top[0]), len(top)-1)
}

// Sentence is a text in which names of lanes and models are marked, because they are foreign words.
type Sentence []Phrase

// Phrase is a part of a sentence.
type Phrase struct {
	Text string
	Name bool // of a model or a stage
	Lane bool // of a lane or an item
}

// String is the sentence as plain text. Names are as they were written: a printer cleans them.
func (s Sentence) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.Text)
	}
	return b.String()
}

func say(text string) Sentence { return Sentence{{Text: text}} }

func (s Sentence) and(more ...Sentence) Sentence {
	for _, m := range more {
		s = append(s, m...)
	}
	return s
}

// Caveat is a weak point and what to do about it.
type Caveat struct {
	Title   string
	Text    string
	Command string // to type; empty: there is none
	Points  []string
}

// Board ranks lanes, best first.
type Board struct {
	Field   string // lane or item
	Columns []BoardColumn
	Rows    []BoardRow
	Tiers   bool
	Models  bool
	Costs   bool
	Note    string
	More    int // rows that are left out
}

// BoardColumn is one thing that lanes were measured by.
type BoardColumn struct {
	Head  string
	Label string // the stage, and the group where there are several
	Stage string
}

// BoardRow is one lane.
type BoardRow struct {
	Tier, Name, Model string
	Cells             []BoardCell
	Cost              string // per 1,000 answers
}

// BoardCell is one value. At, From and Wide are parts of a hundred, for a drawing of the interval.
type BoardCell struct {
	Text           string
	Between        string
	Drawn          bool
	At, From, Wide float64
	Why            string // there is no value
	None           bool   // the stage is not about this lane
	Link           string // to the rows behind it
}

// Mark is where the drawing of the value begins: all of it is to be seen.
func (c BoardCell) Mark() float64 { return min(98, max(0, c.At-1)) }

// maxBoard is how many rows a board has.
const maxBoard = 40

// Summary computes the summary of a document.
func (d *Document) Summary() *Summary {
	out := &Summary{Rehearsal: d.Rehearsal}
	if d.Report == nil || len(d.Report.Standings) == 0 {
		out.Headline = say("Nothing was judged: no stage of this study judges or compares its answers.")
		if d.Report != nil && len(d.Report.Tables) > 0 {
			out.Headline = say("No stage ranks its lanes: what was measured stands in the tables below.")
		}
		out.Coverage, out.Complete = d.requestsAnswered()
		out.Caveats = d.unfinished(nil)
		return out
	}
	all := make([]*ranked, len(d.Report.Standings))
	for i := range d.Report.Standings {
		all[i] = rank(&d.Report.Standings[i])
	}
	lead := leader(all)
	out.Headline, out.Result = d.headline(lead), d.result(lead)
	if s := d.cheapest(lead); s != nil {
		out.Further = append(out.Further, s)
	}
	for _, r := range all {
		if r != lead {
			out.Further = append(out.Further, d.further(r))
		}
	}
	out.Coverage, out.Complete = d.verdictsThere(lead)
	out.Caveats = d.caveats(lead, all)
	for _, r := range append([]*ranked{lead}, others(lead, all)...) {
		out.Settling = append(out.Settling, d.settlings(r)...)
	}
	out.Board = d.board(lead, all)
	return out
}

// maxBrief is how long a caveat may be to stand before the board, in bytes.
const maxBrief = 280

// Brief are the caveats that stand between the answer and the board.
func (s *Summary) Brief() []Caveat {
	return slices.DeleteFunc(slices.Clone(s.Caveats), func(c Caveat) bool { return c.lengthy() })
}

// Lengthy are the caveats that come after the board: they must not push it away.
func (s *Summary) Lengthy() []Caveat {
	return slices.DeleteFunc(slices.Clone(s.Caveats), func(c Caveat) bool { return !c.lengthy() })
}

func (c Caveat) lengthy() bool { return len(c.Text) > maxBrief || len(c.Points) > 0 }

// maxLead is how long a description may be to stand before the answer, in bytes.
const maxLead = 240

// Lead is a description that stands before the answer: a short one. A long one comes after it.
func Lead(description string) (lead, about string) {
	description = strings.TrimSpace(description)
	if len(description) <= maxLead && !strings.Contains(description, "\n") {
		return description, ""
	}
	return "", description
}

// Lead is what stands before the answer.
func (p *page) Lead() string {
	lead, _ := Lead(p.Description)
	return lead
}

// About is what the study says of itself at length.
func (p *page) About() string {
	_, about := Lead(p.Description)
	return about
}

// leader is the primary standing, else the first that ranks anything, else the first.
func leader(all []*ranked) *ranked {
	for _, yes := range []func(*ranked) bool{
		func(r *ranked) bool { return r.Primary && len(r.order) > 0 },
		func(r *ranked) bool { return r.Primary },
		func(r *ranked) bool { return len(r.order) > 0 },
	} {
		for _, r := range all {
			if yes(r) {
				return r
			}
		}
	}
	return all[0]
}

// requestsAnswered says how much of a run without verdicts is there.
func (d *Document) requestsAnswered() (text string, complete bool) {
	for _, f := range d.facts() {
		if f.Name == answeredFact {
			text = f.Value + " requests have an answer."
		}
	}
	complete = true
	for _, l := range d.Lanes {
		complete = complete && !standsCell(l).Strong
	}
	return text, complete
}

// verdictsThere says how much of the plan the first standing rests on, and which other stage has less.
func (d *Document) verdictsThere(lead *ranked) (text string, complete bool) {
	share := lead.Coverage.Share()
	if !share.OK {
		return "No verdict was planned.", false
	}
	text = percentOf(share.Value) + " of the planned verdicts are there."
	worst, name := share.Value, ""
	for i := range d.Report.Tables {
		t := &d.Report.Tables[i]
		if s := t.Coverage.Share(); !t.People && s.OK && s.Value < worst {
			worst, name = s.Value, t.Stage
		}
	}
	if name != "" && name != lead.Stage {
		text += " Least of stage " + name + ": " + percentOf(worst) + "."
	}
	return text + d.cutOrRefused(), !d.Report.Incomplete()
}

// cutOrRefused says how many answers are not whole.
func (d *Document) cutOrRefused() string {
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

// nounOf is what the independent units of a stage are called, in the plural.
func (d *Document) nounOf(stage string) string {
	if noun := d.Nouns[stage]; noun != "" {
		return noun
	}
	return "items"
}

// modelOf is the model of a lane, without its provider; empty: not known, or it says nothing new.
func (d *Document) modelOf(lane string) string {
	for _, l := range d.Lanes {
		if l.Name == lane {
			_, model, _ := strings.Cut(l.Model, "/")
			if model == lane {
				return ""
			}
			return model
		}
	}
	return ""
}

// name is a lane with its model beside it.
func (d *Document) name(lane string) Sentence {
	s := Sentence{{Text: lane, Lane: true}}
	if model := d.modelOf(lane); model != "" {
		s = append(s, Phrase{Text: " ("}, Phrase{Text: model, Name: true}, Phrase{Text: ")"})
	}
	return s
}

// fieldWord is the plural of what is ranked.
func fieldWord(field string) string {
	if field == analysis.ByItem {
		return "items"
	}
	return "lanes"
}
