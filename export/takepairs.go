package export

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"assay"
)

// pairInput is the input of a study made from the files of the pairwise system.
const pairInput = "samples"

// PairwiseLLM reads the files of the pairwise system: the merged table where there is one, else the combined results of
// each run, else the results of each segment. A comparison without a winner is malformed or failed, never left out.
func PairwiseLLM(ctx context.Context, tree fs.FS, t *Take) error {
	names, err := filesUnder(tree, ".csv")
	if err != nil {
		return err
	}
	p := &pairTaker{Take: t, votes: map[string]int64{}}
	for _, name := range names {
		if base := path.Base(name); strings.HasPrefix(base, "batch_") && strings.HasSuffix(base, "_pairs.csv") {
			if err := p.samples(ctx, tree, name); err != nil {
				return err
			}
		}
	}
	for _, want := range []func(base string) bool{
		func(base string) bool { return base == "combined_all_runs.csv" },
		func(base string) bool { return base == "combined_results.csv" },
		func(base string) bool {
			return strings.HasPrefix(base, "batch_") && strings.HasSuffix(base, "_results.csv")
		},
	} {
		for _, name := range names {
			if !want(path.Base(name)) {
				continue
			}
			if err := p.file(ctx, tree, name); err != nil {
				return err
			}
		}
		if p.found > 0 {
			return nil
		}
	}
	return ErrNothing
}

type pairTaker struct {
	*Take
	votes map[string]int64 // comparisons of the same two in the same place so far
	found int
}

// samples takes the texts of samples from a file of pairs.
func (p *pairTaker) samples(ctx context.Context, tree fs.FS, name string) error {
	for row, err := range Rows[SamplePair](ctx, CSV, tree, name, p.Bad) {
		if err != nil {
			return err
		}
		for _, s := range [][2]string{{row.ID1, row.Text1}, {row.ID2, row.Text2}} {
			if s[0] == "" || row.Item != "" { // a lane has another text on every item
				continue
			}
			if err := p.sample(s[0], s[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pairTaker) sample(id, text string) error {
	fields, err := json.Marshal(map[string]any{"text": text})
	if err != nil {
		return err
	}
	return p.item(&Item{Input: pairInput, Item: id, Cluster: id, Fields: Raw(fields)})
}

func (p *pairTaker) file(ctx context.Context, tree fs.FS, name string) error {
	cell := strings.Split(path.Base(path.Dir(name)), "__")
	for row, err := range Rows[MergedComparison](ctx, CSV, tree, name, p.Bad) {
		if err != nil {
			return err
		}
		if row.ID1 == "" || row.ID2 == "" || row.ID1 == row.ID2 {
			p.Bad.at(assay.Place{File: name}, "comparison %q does not name two samples", row.CustomID)
			continue
		}
		if len(cell) >= 5 && row.TemplateID == "" { // the folder tells what the row does not
			row.TemplateID, row.Provider = cell[0], cell[1]
			row.Judge = cmp.Or(row.Judge, strings.Join(cell[2:4], "."))
		}
		p.found++
		if err := p.take(row); err != nil {
			return err
		}
	}
	return nil
}

func (p *pairTaker) take(row *MergedComparison) error {
	for _, id := range []string{row.ID1, row.ID2} {
		if err := p.sample(id, ""); err != nil {
			return err
		}
	}
	v := p.verdict(row)
	v.Stage, v.Verb, v.Input = cmp.Or(row.Stage, "comparisons"), "compare", pairInput
	v.First, v.Second, v.Judge, v.Trait, v.Turn, v.Draw = row.ID1, row.ID2, cmp.Or(row.Judge, row.Model, "judge"), row.Trait, 1, 1
	if row.TemplateID != "default" {
		v.Prompt = row.TemplateID
	}
	key := strings.Join([]string{v.Stage, v.First, v.Second, v.Judge, v.Trait, v.Prompt}, "\x00")
	v.Vote = p.votes[key]
	p.votes[key]++
	return p.Verdict(v)
}

func (p *pairTaker) verdict(row *MergedComparison) *Verdict {
	states := assay.VerdictStates()
	failed := row.StatusCode != nil && *row.StatusCode != 200 || row.ErrorMessage != ""
	switch {
	case row.State != "" && row.State != string(assay.VerdictValid) && slices.Contains(states, assay.VerdictState(row.State)):
		return without(assay.VerdictState(row.State), row.Reason)
	case row.BetterSample == Sample1, row.BetterSample == "" && row.BetterID == row.ID1:
		return because(valid(assay.LabelA, 1), row.Reason)
	case row.BetterSample == Sample2, row.BetterSample == "" && row.BetterID == row.ID2:
		return because(valid(assay.LabelB, 0), row.Reason)
	case row.BetterSample == SampleTie:
		return because(valid(assay.LabelTie, 0.5), row.Reason)
	case failed:
		return without(assay.VerdictFailed, row.ErrorMessage)
	}
	return without(assay.VerdictMalformed, "no winner could be read")
}

func because(v *Verdict, reason string) *Verdict {
	v.Reason = reason
	return v
}
