package document

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/show/report"
	"assay/internal/study"
)

// Outline gathers what is shown of a run's findings outside of a report: enough for its summary and its tables.
func Outline(ctx context.Context, r *results.Reader, found *findings.Findings) (*report.Document, error) {
	run := found.Run
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	segments, err := r.Ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return nil, err
	}
	is, err := standing(ctx, r, run)
	if err != nil {
		return nil, err
	}
	d := &report.Document{
		Standing: is,
		Study:    run.Study, Description: st.Description, Run: run.ID, Rehearsal: r.Rehearsal, Created: run.Created, Closed: run.Closed,
		Report: found.Report, Gates: found.Gates, Budget: run.Budget, Lanes: laneFacts(st, lanes, nil),
		Spend: spendFacts(st, found.Costs, segments), Nouns: nounsOf(st), Reads: readsOf(st), Pairings: pairingsOf(st),
		Sources: sourcesOf(st), Drawn: drawnOf(st),
	}
	if err := priceOne(ctx, r, run, d.Spend, segments); err != nil {
		return nil, err
	}
	if d.Comparing, err = comparingOf(ctx, r, found); err != nil {
		return nil, err
	}
	d.Rerun, err = r.Rerun(run, run.Folder)
	return d, err
}

// nounsOf returns what the independent units of each judging stage are called: its input, where that is a plural and has no clusters.
func nounsOf(st *study.Study) map[string]string {
	out := map[string]string{}
	for i := range st.Stages {
		s := &st.Stages[i]
		if !results.GivesVerdicts(s) {
			continue
		}
		name := RootInput(st, s)
		for _, e := range st.Inputs {
			if e.Name == name && e.Value.Cluster == "" && strings.HasSuffix(name, "s") &&
				strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" {
				out[s.Name] = name
			}
		}
	}
	return out
}

// readsOf returns the stages that ask, by the stage that judges what they brought.
func readsOf(st *study.Study) map[string][]string {
	out := map[string][]string{}
	for i := range st.Stages {
		s := &st.Stages[i]
		if !results.GivesVerdicts(s) {
			continue
		}
		below := append([]string{s.Compare}, s.Judge.List...)
		for k := 0; k < len(below); k++ {
			if from, ok := st.Stage(below[k]); ok && !slices.Contains(out[s.Name], from.Name) {
				out[s.Name] = append(out[s.Name], from.Name)
				below = append(below, from.Continue)
			}
		}
	}
	return out
}

// sourcesOf returns the input that the questions of each judging stage come from.
func sourcesOf(st *study.Study) map[string]string {
	out := map[string]string{}
	for i := range st.Stages {
		if name := RootInput(st, &st.Stages[i]); name != "" && results.GivesVerdicts(&st.Stages[i]) {
			out[st.Stages[i].Name] = name
		}
	}
	return out
}

// drawnOf returns how many rows are drawn of the inputs that a sample is drawn of.
func drawnOf(st *study.Study) map[string]int {
	out := map[string]int{}
	for _, e := range st.Inputs {
		if e.Value.Sample != nil {
			out[e.Name] = e.Value.Sample.N
		}
	}
	return out
}

// pairingsOf returns where the pairs of each stage come from that compares the texts of an input.
func pairingsOf(st *study.Study) map[string]report.Pairing {
	out := map[string]report.Pairing{}
	for i := range st.Stages {
		s := &st.Stages[i]
		if _, answers := st.Stage(s.Compare); s.Verb() != study.VerbCompare || answers {
			continue
		}
		p := report.Pairing{Input: s.Compare}
		if from := s.Pairs; from != nil {
			p.Grouped, p.Both = from.Within != "", from.Order == study.OrderBoth || from.Reverse == 1
			for _, key := range []string{"sample", "per_item", "file"} {
				if from.Has(key) {
					p.Limit = key
				}
			}
		}
		out[s.Name] = p
	}
	return out
}

// RootInput returns the input that a stage's questions come from; empty: there are several, or none.
func RootInput(st *study.Study, s *study.Stage) string {
	for range st.Stages {
		from := cmp.Or(s.Ask, s.Continue, s.Compare)
		if s.Import != nil {
			from = s.Import.Of
		}
		if len(s.Judge.List) > 1 {
			return ""
		}
		if len(s.Judge.List) == 1 {
			from = s.Judge.List[0]
		}
		next, ok := st.Stage(from)
		if !ok {
			return from
		}
		s = next
	}
	return ""
}
