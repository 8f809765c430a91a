package document

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/script/snapshot"
	"assay/internal/show/report"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// paper adds what others need to check a report, or to do the study again: the texts, what was judged against, prices
// and seeds.
func paper(ctx context.Context, r *results.Reader, run store.Run, st *study.Study, settings snapshot.Settings, d *report.Document) error {
	d.Wordings = wordings(st)
	d.Origin.Seeds = seeds(st, settings, r.Rehearsal)
	var err error
	if d.Statements, err = statements(ctx, r, run, st); err != nil {
		return err
	}
	if _, ok := batchrun.Of(run); ok {
		return nil
	}
	prices, err := r.Scripts.Rates(ctx, run.No)
	d.Prices = priceFacts(prices, d.Segments)
	return err
}

// wordings returns the texts of a study's stages, in their order.
func wordings(st *study.Study) []report.Wording {
	var out []report.Wording
	for _, s := range plan.InOrder(st) {
		add := func(what, text string) {
			if strings.TrimSpace(text) != "" {
				out = append(out, report.Wording{Stage: s.Name, What: what, Text: text})
			}
		}
		add("system prompt", s.System.Text)
		add("context", s.Context.Text)
		for _, p := range s.Prompt {
			add(named("prompt", p.Name), p.Text.Text)
		}
		for i, t := range s.Turns {
			turn := fmt.Sprintf("turn %d", i+1)
			add(turn, t.User.Text)
			add(turn+", given answer", t.Assistant.Text)
			add(turn+", for each of "+t.Each, t.Say.Text)
			for _, b := range t.Branches {
				add(turn+", "+named("branch", b.Name), b.Text.Text)
			}
		}
		if s.Control != nil {
			add("control", s.Control.Say.Text)
		}
		out = append(out, rubricWordings(st, s)...)
	}
	return out
}

func named(what, name string) string { return strings.TrimSpace(what + " " + name) }

// rubricWordings returns the judges' questions and their choices.
func rubricWordings(st *study.Study, s *study.Stage) []report.Wording {
	if !results.GivesVerdicts(s) {
		return nil
	}
	rubric, err := (&plan.Input{Study: st}).Rubric(s)
	if err != nil {
		return nil // the stage is shown as it is; what is wrong with it is reported elsewhere
	}
	var out []report.Wording
	name := "rubric " + cmp.Or(rubric.Name, "of its own")
	says := strings.Join(rubric.Words(), ", ")
	if r := rubric.Range; says == "" && r.Low != nil && r.High != nil {
		says = fmt.Sprintf("%v to %v", *r.Low, *r.High)
	}
	if rubric.System != "" {
		out = append(out, report.Wording{Stage: s.Name, What: name + ", system prompt", Text: rubric.System})
	}
	for _, p := range rubric.Prompts {
		out = append(out, report.Wording{Stage: s.Name, What: named(name, p.Name), Text: p.Text, Says: says})
	}
	if len(rubric.Prompts) == 0 {
		out = append(out, report.Wording{Stage: s.Name, What: name, Text: "No model is asked: a rule or a program judges.", Says: says})
	}
	for _, t := range s.Trait.List {
		if trait, ok := st.Traits.Find(t); ok && trait.Description.Text != "" {
			out = append(out, report.Wording{Stage: s.Name, What: "trait " + t, Text: trait.Description.Text})
		}
	}
	return out
}

// The most statements that a report carries, and the most of each.
const (
	maxStatements = 200
	maxStatement  = 1000
)

// statements returns the items of inputs that other inputs are joined with: what answers are held against.
func statements(ctx context.Context, r *results.Reader, run store.Run, st *study.Study) ([]report.Statement, error) {
	var out []report.Statement
	for _, e := range st.Inputs {
		if !joined(st, e.Name) {
			continue
		}
		for it, err := range r.Ledger.Items(ctx, run.No, e.Name) {
			if err != nil {
				return nil, err
			}
			if len(out) == maxStatements {
				return out, nil
			}
			if text, ok := it.Fields[cmp.Or(e.Value.Text, "text")].(string); ok {
				if len(text) > maxStatement {
					text = strings.ToValidUTF8(text[:maxStatement], "") + "…"
				}
				out = append(out, report.Statement{Input: e.Name, Item: it.ID, Text: text})
			}
		}
	}
	return out, nil
}

func joined(st *study.Study, input string) bool {
	for _, e := range st.Inputs {
		for _, j := range e.Value.Join {
			if j.With == input {
				return true
			}
		}
	}
	return false
}

// seeds returns those that a study or a command set.
func seeds(st *study.Study, s snapshot.Settings, rehearsal bool) []report.Seed {
	var out []report.Seed
	for _, e := range st.Inputs {
		if e.Value.Sample != nil {
			out = append(out, report.Seed{Of: "the sample of input " + e.Name, Value: fmt.Sprint(e.Value.Sample.Seed)})
		}
	}
	for _, stage := range plan.InOrder(st) {
		if stage.Pairs != nil && stage.Pairs.Drawn() {
			seed := stage.Pairs.Seed
			if a := stage.Pairs.Adaptive; a != nil {
				seed = a.Seed
			}
			out = append(out, report.Seed{Of: "the pairs of stage " + stage.Name, Value: fmt.Sprint(seed)})
		}
	}
	if rehearsal {
		value := "the usual one"
		if s.Luck != 0 {
			value = fmt.Sprint(s.Luck)
		}
		out = append(out, report.Seed{Of: "the simulator", Value: value})
	}
	return out
}

// priceFacts returns the prices of the modes that the run used.
func priceFacts(prices []catalog.Price, segments []report.Segment) []report.Price {
	modes := map[string]bool{}
	for _, g := range segments {
		modes[g.Mode] = true
	}
	var out []report.Price
	for _, p := range prices {
		for _, m := range []struct {
			mode  string
			rates catalog.Rates
		}{{string(store.Batch), p.Batch.Short}, {string(store.Live), p.Live.Short}} {
			if modes[m.mode] {
				out = append(out, report.Price{
					Model: p.Vendor + "/" + p.Model, Mode: m.mode, Input: rateText(m.rates.Input), Cached: rateText(m.rates.Cached),
					Output: rateText(m.rates.Output), Date: string(p.Date), Source: p.Source,
				})
			}
		}
	}
	return out
}

func rateText(r catalog.Rate) string {
	if !r.Known {
		return "unknown"
	}
	text := strconv.FormatFloat(r.Million.Float(), 'f', -1, 64) // every digit of it
	if whole, part, _ := strings.Cut(text, "."); len(part) < 2 {
		text = whole + "." + (part + "00")[:2]
	}
	return "$" + text
}
