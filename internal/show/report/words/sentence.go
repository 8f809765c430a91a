package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
)

// Sentence is a text in which names of lanes and models are marked, because they are foreign words.
type Sentence []Phrase

// Phrase is a part of a sentence.
type Phrase struct {
	Text string
	Name bool // of a model or a stage
	Lane bool // of a lane or an item
}

// String returns the sentence as plain text. Names are as they were written: a printer cleans them.
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

// nounOf returns what the independent units of a stage are called, in the plural.
func (d document) nounOf(stage string) string {
	if noun := d.Nouns[stage]; noun != "" {
		return noun
	}
	return "items"
}

// modelOf returns the model of a lane, without its provider; empty: not known, or it adds nothing.
func (d document) modelOf(lane string) string {
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

// name returns a lane with its model beside it.
func (d document) name(lane string) Sentence {
	s := Sentence{{Text: lane, Lane: true}}
	if model := d.modelOf(lane); model != "" {
		s = append(s, Phrase{Text: " ("}, Phrase{Text: model, Name: true}, Phrase{Text: ")"})
	}
	return s
}

// fieldWord returns the plural of what is ranked.
func fieldWord(field string) string {
	if field == analysis.ByItem {
		return "items"
	}
	return "lanes"
}

// document is a report whose words are made here.
type document struct{ *report.Document }

// command returns what to type about the run.
func (d document) command(verb string, more ...string) string {
	return strings.Join(append([]string{"assay", verb, d.Run}, more...), " ") + d.Where
}

// roughly rounds up to two digits.
func roughly(n int) int {
	step := 1
	for n/step >= 100 {
		step *= 10
	}
	return (n + step - 1) / step * step
}

// again leads from a change to the command that makes it. A rehearsal begins anew.
func (d document) again(change string) string {
	if d.Rehearsal {
		return change + ":"
	}
	return change + "; answers are kept:"
}

// edited leads from a change of the study's file to the command that runs it again.
func (d document) edited(change string) string {
	if d.Rehearsal {
		return fmt.Sprintf(" First %s in %s, then type:", change, d.Rerun.File)
	}
	return fmt.Sprintf(" First %s in %s, then type (answers are kept):", change, d.Rerun.File)
}

// more returns what to do for more items of a stage, and the command.
func (d document) more(stage string) (text, command string) {
	switch from := d.Sources[stage]; {
	case d.Rerun.Command == "":
		return "", ""
	case d.Rerun.Whole != "":
		text = fmt.Sprintf(" The run asks about the first %s of each input alone. All of them", assay.Thousands(d.Rerun.Limit))
		return d.again(text), d.Rerun.Whole + d.Where
	case from == "":
		return d.edited("add rows to the `inputs`"), d.Rerun.Command + d.Where
	case d.Drawn[from] > 0:
		change := fmt.Sprintf("raise `sample` of input `%s`, now %s,", from, assay.Thousands(d.Drawn[from]))
		return d.edited(change), d.Rerun.Command + d.Where
	default:
		return d.edited(fmt.Sprintf("add rows to input `%s`", from)), d.Rerun.Command + d.Where
	}
}

func were(n int64, noun string) string {
	return assay.Count(n, noun) + assay.Verb(n, " was", " were")
}

// maxNamed is how many lanes a sentence names.
const maxNamed = 4

// percentOf returns a share in whole percent; with a digit more where that would be all or nothing.
func percentOf(x float64) string {
	text := strconv.FormatFloat(100*x, 'f', 0, 64)
	if (text == "0" || text == "-0") && x != 0 || text == "100" && x != 1 {
		text = strconv.FormatFloat(100*x, 'f', 1, 64)
		if text == "100.0" {
			text = "99.9"
		}
	}
	if text == "-0" || text == "-0.0" || text == "0.0" && x <= 0 {
		text = "0"
	}
	return text + "%"
}

// pointsOf returns a difference of shares in whole points.
func pointsOf(x float64) string { return strconv.Itoa(int(math.Round(100 * x))) }

func scoreOf(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
