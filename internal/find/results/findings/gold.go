package findings

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/find/results"
	"assay/internal/find/results/labels"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/send/script/people"
	"assay/internal/send/script/snapshot"
	"assay/internal/study"
)

// gold enters what is taken to be true about the answers of a stage: people's labels and, over them, the labels of the
// file that the study names, as it is now. Labels come after answers, so the file counts more than what the run's
// snapshot has of it; a bundle takes it along.
func (s *stageRows) gold(ctx context.Context, analyzer *methods.Analyzer) error {
	var labelled []assay.Key
	said := func(all iter.Seq2[store.Verdict, error], judge string) coordinated {
		return func(yield func(assay.Coordinates, func(*analysis.Row), error) bool) {
			for v, err := range all {
				labelled = append(labelled, v.Subject)
				note := func(r *analysis.Row) {
					r.State, r.Label, r.Score = v.State, v.Label, v.Score
					chosen, probability := people.ChosenAs(&v)
					r.Drawn, r.Probability = chosen == analysis.ChosenDrawn, probability
					r.Earlier, r.Among = people.Earlier(&v), people.Among(&v)
					r.Adjudicated = chosen == analysis.ChosenAdjudicated
					if judge != "" {
						r.Judge = judge
					}
				}
				if !yield(v.At, note, err) {
					return
				}
			}
		}
	}
	err := analyzer.Gold(s.of(said(s.Ledger.PeopleVerdicts(ctx, s.run.No, s.stage.Name), "")))
	if err == nil && s.declared.Gold != "" {
		err = s.goldOf(ctx, analyzer, said)
	}
	if err == nil && s.stage.Machines() {
		err = s.readSure(ctx, labelled)
	}
	return err
}

// goldOf enters the labels of the file that the study names.
func (s *stageRows) goldOf(ctx context.Context, analyzer *methods.Analyzer,
	said func(iter.Seq2[store.Verdict, error], string) coordinated) error {
	labels, err := s.goldFile(ctx, s.declared)
	if err != nil {
		return err
	}
	all := func(yield func(store.Verdict, error) bool) {
		for _, v := range labels {
			if !yield(v, nil) {
				return
			}
		}
	}
	return analyzer.Gold(s.of(said(all, analysis.GoldJudge)))
}

// readSure reads how sure judges are of the answers that people have labelled.
func (s *stageRows) readSure(ctx context.Context, labelled []assay.Key) error {
	slices.SortFunc(labelled, func(a, b assay.Key) int { return bytes.Compare(a[:], b[:]) })
	given, err := s.Ledger.VerdictsOn(ctx, s.run.No, slices.Compact(labelled))
	if err != nil {
		return err
	}
	s.sure = map[int64]*float64{}
	for _, list := range given {
		for i := range list {
			if v := &list[i]; v.At.Stage == s.stage.Name && !strings.HasPrefix(v.At.Judge, people.Prefix) {
				s.sure[v.No] = rows.Confidence(v)
			}
		}
	}
	return nil
}

// goldFile reads the gold labels of a stage. Rows that mean nothing in this run become warnings.
func (w *walk) goldFile(ctx context.Context, st *study.Stage) ([]store.Verdict, error) {
	file, err := OpenGold(ctx, w.question.Reader, w.run, st)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotFound) {
		w.unmatched = append(w.unmatched,
			fmt.Sprintf("stage %s: its gold labels %s are not there: the judge counts as unchecked", st.Name, st.Gold))
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read gold labels: %w", err)
	}
	defer file.Close()
	rows, err := labels.Read(file, st.Gold)
	if err != nil {
		return nil, err
	}
	stage, err := w.Scripts.People(ctx, w.run, st.Name)
	if err != nil {
		return nil, err
	}
	var problems assay.Problems
	var mine []*labels.Label
	for i := range rows {
		rows[i].Stage, rows[i].Judge = st.Name, people.Prefix+analysis.GoldJudge
		mine = append(mine, &rows[i])
	}
	if len(mine) == 0 {
		return nil, nil
	}
	found, err := labels.Match(ctx, w.question.Reader, w.run, stage, mine, &problems)
	if err != nil {
		return nil, err
	}
	for _, p := range problems[:min(len(problems), labels.MaxProblems)] {
		w.unmatched = append(w.unmatched, p.String())
	}
	out := make([]store.Verdict, len(found))
	for i, l := range found {
		out[i] = l.Verdict
	}
	return out, nil
}

// GoldPart is under which name, before that of the file, gold labels travel in a bundle.
const GoldPart = "gold/"

// OpenGold opens the gold labels of a stage: from the run's folder, or out of the bundle.
func OpenGold(ctx context.Context, r *results.Reader, run store.Run, st *study.Stage) (io.ReadCloser, error) {
	if r.Bundled {
		text, err := io.ReadAll(r.Ledger.Part(ctx, run.No, GoldPart+st.Gold))
		return io.NopCloser(bytes.NewReader(text)), err
	}
	name := st.Gold
	if !filepath.IsAbs(name) {
		name = filepath.Join(run.Folder, filepath.FromSlash(name))
	}
	if _, err := os.Stat(run.Folder); !errors.Is(err, fs.ErrNotExist) && !assay.IsRemote(st.Gold) {
		return os.Open(name)
	}
	// This machine does not have the run's folder, or they are those of a commit: the labels count that were there when it began.
	text, err := io.ReadAll(r.Ledger.Part(ctx, run.No, snapshot.GoldPart+st.Gold))
	return io.NopCloser(bytes.NewReader(text)), err
}

// anybody is the judge of tasks for people that nobody has labelled yet.
const anybody = people.Prefix + "*"

// asksPeople reports whether people are to judge all that a stage is about. Labels of named people that were imported
// may be on a part of it: how much they were asked is not known.
func (s *stageRows) asksPeople() bool {
	from := sources(s.study, s.declared)
	imported := slices.ContainsFunc(from, func(s *study.Stage) bool { return s.Verb() == study.VerbImport })
	return slices.Contains(s.declared.Judges.List, anybody) || len(from) > 0 && !imported
}

// expectPeople enters what people alone judge as planned: each answer or pair once by each person whom the stage names, else once
// and each further person's word on it.
func (s *stageRows) expectPeople(ctx context.Context, analyzer *methods.Analyzer) error {
	people, err := s.Scripts.People(ctx, s.run, s.stage.Name)
	if err != nil {
		return err
	}
	note := func(r *analysis.Row) {
		if s.panel != nil {
			s.panel.unit(r)
		}
	}
	return analyzer.Expect(s.of(func(yield func(assay.Coordinates, func(*analysis.Row), error) bool) {
		for v, err := range s.Ledger.PeopleVerdicts(ctx, s.run.No, s.stage.Name) {
			if !yield(v.At, note, err) {
				return
			}
		}
		for _, who := range named(s.declared) {
			for at, err := range people.Unlabelled(ctx, who) {
				if !yield(at, func(r *analysis.Row) { r.Judge = cmp.Or(who, anybody); note(r) }, err) {
					return
				}
			}
		}
	}))
}

// named returns the people whom a stage names; one without a name where anybody may judge.
func named(st *study.Stage) []string {
	if slices.Contains(st.Judges.List, anybody) {
		return []string{""}
	}
	return st.Judges.List
}
