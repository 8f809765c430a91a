package results

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/show/report"
	"assay/internal/study"
)

// Outline gathers what is shown of a run's findings outside of a report: enough for its summary and its tables.
func (r *Reader) Outline(ctx context.Context, found *Findings) (*report.Document, error) {
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
	d := &report.Document{
		Study: run.Study, Description: st.Description, Run: run.ID, Rehearsal: r.Rehearsal, Created: run.Created, Closed: run.Closed, Report: found.Report, Gates: found.Gates,
		Budget: run.Budget, Lanes: laneFacts(st, lanes, nil), Spend: spendFacts(st, found.Costs, segments), Nouns: nounsOf(st), Reads: readsOf(st),
	}
	if err := r.priceOne(ctx, run, d.Spend, segments); err != nil {
		return nil, err
	}
	d.Rerun, err = r.Rerun(run, run.Folder)
	return d, err
}

// studyFrom is how a study's folder is called where commands are typed: not at all in the folder itself, and as a whole elsewhere.
func studyFrom(folder, dir string) string {
	if rel, err := filepath.Rel(dir, folder); err == nil && dir != "" && filepath.IsLocal(rel) {
		return rel
	}
	return folder
}

// Rerun is the command that goes on with a study after it was edited, typed in a folder; empty: in any.
func (r *Reader) Rerun(run store.Run, dir string) (string, error) {
	var s script.Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil {
		return "", fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	if s.File == "" {
		return "", nil
	}
	return r.rerun(run, s, dir), nil
}

// rerun is the command that runs a study with other settings than a run has.
func (r *Reader) rerun(run store.Run, s script.Settings, dir string) string {
	s.File = filepath.Join(studyFrom(run.Folder, dir), s.File)
	return runAgain(s, r.Rehearsal)
}

// nounsOf is what the independent units of each judging stage are called: its input, where that is a plural and has no clusters.
func nounsOf(st *study.Study) map[string]string {
	out := map[string]string{}
	for i := range st.Stages {
		s := &st.Stages[i]
		if !judges(s) {
			continue
		}
		name := rootInput(st, s)
		for _, e := range st.Inputs {
			if e.Name == name && e.Value.Cluster == "" && strings.HasSuffix(name, "s") && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" {
				out[s.Name] = name
			}
		}
	}
	return out
}

// readsOf are the stages that ask, by the stage that judges what they brought.
func readsOf(st *study.Study) map[string][]string {
	out := map[string][]string{}
	for i := range st.Stages {
		s := &st.Stages[i]
		if !judges(s) {
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

// rootInput is the input that a stage's questions come from; empty: there are several, or none.
func rootInput(st *study.Study, s *study.Stage) string {
	for range st.Stages {
		from := cmp.Or(s.Ask, s.Continue, s.Compare)
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
