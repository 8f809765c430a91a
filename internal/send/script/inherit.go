package script

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/study/edit"
)

// donor is an earlier run from which a run takes over answers, and verdicts that no request asks for again: those of people and programs.
type donor struct {
	run     int64
	rereads map[string]bool // stages that read or give verdicts otherwise than they did there
	labels  []store.Verdict // of people, that are not taken over yet
}

// donorsOf opens the runs that the script takes over from, the newest first, once.
func (s *Script) donorsOf(ctx context.Context) ([]*donor, error) {
	if s.donors != nil || len(s.settings.ReuseRuns) == 0 {
		return s.donors, nil
	}
	var all []*donor
	for _, id := range s.settings.ReuseRuns {
		run, err := s.Reader.FindRun(ctx, id, "")
		if err != nil {
			return nil, err
		}
		d := &donor{run: run.No, rereads: map[string]bool{}}
		was, _, err := s.Kept(ctx, run)
		if _, unreadable := errors.AsType[assay.Problems](err); err != nil && !unreadable {
			return nil, err
		}
		var since edit.Difference
		if was != nil {
			since = edit.Compare(was, s.input.Study)
		}
		for name, rec := range s.stages {
			if _, ok := rec.(reader); !ok {
				continue
			}
			for v, err := range s.Reader.PeopleVerdicts(ctx, run.No, name) {
				if err != nil {
					return nil, err
				}
				d.labels = append(d.labels, v)
			}
			if st, ok := s.input.Study.Stage(name); ok {
				d.rereads[name] = was == nil || since.Rereads(s.input.Study, st)
			}
		}
		all = append(all, d)
	}
	s.donors = all
	return all, nil
}

// takeLabels writes the labels that people gave in earlier runs on answers and items that are the same in this one. A person who has
// labelled the same here keeps that label, withdrawn or not.
func (s *Script) takeLabels(ctx context.Context) error {
	donors, err := s.donorsOf(ctx)
	if err != nil {
		return err
	}
	for _, d := range donors {
		var later []store.Verdict
		for block := range slices.Chunk(d.labels, verdictBlock) {
			wait, err := s.takeBlock(ctx, d, block)
			if err != nil {
				return err
			}
			later = append(later, wait...)
		}
		d.labels = later
	}
	return nil
}

// takeBlock takes over some labels, and returns those whose answers are not there yet.
func (s *Script) takeBlock(ctx context.Context, d *donor, block []store.Verdict) (later []store.Verdict, err error) {
	same, err := s.sameAsIn(ctx, d, block)
	if err != nil {
		return nil, err
	}
	var taken []store.TakenLabel
	for i, v := range block {
		if same[i] == unknown {
			later = append(later, v)
		}
		if label, ok := s.relabelled(v); ok && same[i] == alike {
			taken = append(taken, store.TakenLabel{Verdict: label, Others: sameTask(label)})
		}
	}
	return later, s.Runs.TakeLabels(ctx, taken)
}

// relabelled returns a person's label under the rubric as it is now; false where the rubric does not know it, or it is
// about something else.
func (s *Script) relabelled(v store.Verdict) (store.Verdict, bool) {
	rec := s.stages[v.At.Stage].(reader)
	r, _ := rec.by()
	subject, against := v.Subject, v.Against
	v.Run, v.At.Prompt = s.run.No, r.forPeople()
	about, err := rec.frame(v.At)
	if err != nil || about.Subject != subject || about.Against != against {
		return v, false
	}
	if v.State != assay.VerdictValid {
		return v, true
	}
	now := r.Take(judge.Given{Label: v.Label, Score: v.Score})
	v.State, v.Label, v.Score = now.State, now.Label, now.Score
	return v, now.State == assay.VerdictValid
}

// inherited returns the verdicts of an unchanged program on answers and items that are the same as in earlier runs, by their keys.
func (s *Script) inherited(ctx context.Context, rec reader, block []wanted) (map[assay.Key]store.Verdict, error) {
	out := map[assay.Key]store.Verdict{}
	if r, _ := rec.by(); len(r.command) == 0 || len(block) == 0 {
		return out, nil
	}
	donors, err := s.donorsOf(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range donors {
		if d.rereads[block[0].at.Stage] {
			continue
		}
		keys := make([]assay.Key, len(block))
		for i, w := range block {
			keys[i] = w.at.Key()
		}
		given, err := s.Reader.VerdictsAt(ctx, d.run, keys)
		if err != nil {
			return nil, err
		}
		var some []store.Verdict
		for k, v := range given {
			if _, taken := out[k]; !taken && (v.State == assay.VerdictValid || v.State == assay.VerdictAbstained) {
				some = append(some, v)
			}
		}
		same, err := s.sameAsIn(ctx, d, some)
		if err != nil {
			return nil, err
		}
		for i, v := range some {
			if same[i] == alike {
				v.Run = s.run.No
				out[v.At.Key()] = v
			}
		}
	}
	return out, nil
}

// sameness is whether what a verdict is about is the same in two runs.
type sameness int

const (
	unknown sameness = iota // there is no answer here yet
	alike
	different
)

// sameAsIn finds out which verdicts of a donor are about items and answers that are the same in this run: the same was asked, and the
// same came back.
func (s *Script) sameAsIn(ctx context.Context, d *donor, verdicts []store.Verdict) ([]sameness, error) {
	var keys []assay.Key
	ids := map[string][]string{}
	for _, v := range verdicts {
		input := s.stages[v.At.Stage].items()
		ids[input] = append(ids[input], v.At.Item)
		if _, items := s.stages[v.At.Stage].(*itemContest); items {
			ids[input] = append(ids[input], v.At.Against)
		} else {
			keys = append(keys, v.Subject, v.Against)
		}
	}
	here, err := s.Reader.AnswersTo(ctx, s.run.No, keys)
	if err != nil {
		return nil, err
	}
	there, err := s.Reader.AnswersTo(ctx, d.run, keys)
	if err != nil {
		return nil, err
	}
	items := map[string]map[string]bool{}
	for input, some := range ids {
		if items[input], err = s.sameItems(ctx, d, input, some); err != nil {
			return nil, err
		}
	}
	out := make([]sameness, len(verdicts))
	for i, v := range verdicts {
		rec := s.stages[v.At.Stage]
		known := items[rec.items()]
		_, ofItems := rec.(*itemContest)
		switch {
		case !known[v.At.Item] || ofItems && !known[v.At.Against]:
			out[i] = different
		case ofItems:
			out[i] = alike
		default:
			out[i] = sameAnswer(here, there, v.Subject)
			if v.Against != (assay.Key{}) {
				out[i] = both(out[i], sameAnswer(here, there, v.Against))
			}
		}
	}
	return out, nil
}

// both returns the sameness of two things together.
func both(a, b sameness) sameness {
	switch {
	case a == different || b == different:
		return different
	case a == unknown || b == unknown:
		return unknown
	}
	return alike
}

// sameItems reports which items of an input are the same in a donor.
func (s *Script) sameItems(ctx context.Context, d *donor, input string, ids []string) (map[string]bool, error) {
	here, err := s.Reader.ItemsByID(ctx, s.run.No, input, ids)
	if err != nil {
		return nil, err
	}
	there, err := s.Reader.ItemsByID(ctx, d.run, input, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string]bool, len(ids))
	for id, a := range here {
		b, ok := there[id]
		out[id] = ok && a.Expect == b.Expect && reflect.DeepEqual(a.Fields, b.Fields)
	}
	return out, nil
}

// sameAnswer compares the answers to a request in two runs.
func sameAnswer(here, there map[assay.Key]store.Answer, key assay.Key) sameness {
	a, ok := here[key]
	b, was := there[key]
	switch {
	case !was || !b.Ended:
		return different
	case !ok || !a.Ended || !a.Outcome.Ending.Stands():
		return unknown
	case !bytes.Equal(a.Digest, b.Digest) || a.Over != b.Over || a.Outcome.Ending != b.Outcome.Ending:
		return different
	case a.Over && (a.Length != b.Length || a.Sum != b.Sum), !a.Over && a.Outcome.Text != b.Outcome.Text:
		return different
	}
	return alike
}
