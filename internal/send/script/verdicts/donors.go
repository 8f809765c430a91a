package verdicts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/script/stages"
	"assay/internal/study/edit"
)

// donor is an earlier run from which a run takes over answers, and verdicts that no request asks for again: those of people and programs.
type donor struct {
	run      int64
	rejudges map[string]bool // stages whose judges are asked otherwise
	rereads  map[string]bool // stages that read or give verdicts otherwise than they did there
	labels   []store.Verdict // of people, that are not taken over yet
}

// donorsOf opens the runs that the script takes over from, the newest first, once.
func (v *Verdicts) donorsOf(ctx context.Context) ([]*donor, error) {
	if v.donors != nil || len(v.Settings.ReuseRuns) == 0 {
		return v.donors, nil
	}
	var all []*donor
	for _, id := range v.Settings.ReuseRuns {
		run, err := v.reader.FindRun(ctx, id, "")
		if err != nil {
			return nil, err
		}
		d := &donor{run: run.No, rereads: map[string]bool{}, rejudges: map[string]bool{}}
		was, _, err := v.Snapshots.Kept(ctx, run)
		if _, unreadable := errors.AsType[assay.Problems](err); err != nil && !unreadable {
			return nil, err
		}
		var since edit.Difference
		if was != nil {
			since = edit.Compare(was, v.Stages.Input.Study)
		}
		for st, rec := range v.Stages.InOrder() {
			if _, ok := rec.(stages.Judging); !ok {
				continue
			}
			for label, err := range v.reader.PeopleVerdicts(ctx, run.No, st.Name) {
				if err != nil {
					return nil, err
				}
				d.labels = append(d.labels, label)
			}
			d.rereads[st.Name] = was == nil || since.Rereads(v.Stages.Input.Study, st)
			d.rejudges[st.Name] = was != nil && since.Rejudges(v.Stages.Input.Study, st)
			if err := v.takeDraw(ctx, d, st.Name); err != nil {
				return nil, err
			}
		}
		all = append(all, d)
	}
	v.donors = all
	return all, nil
}

// takeDraw writes down what people were asked in an earlier run, so that its labels go on being a sample here. Items that are no more are
// left out of it.
func (v *Verdicts) takeDraw(ctx context.Context, d *donor, stage string) error {
	rec, _ := v.Stages.Judging(stage)
	here, err := snapshot.DrawOf(ctx, v.reader, v.Run.No, stage)
	if err != nil || here != nil {
		return err
	}
	draw, err := snapshot.DrawOf(ctx, v.reader, d.run, stage)
	if draw == nil || err != nil {
		return err
	}
	ids := make([]string, len(draw.Items))
	for i, it := range draw.Items {
		ids[i] = it.Item
	}
	items, err := v.reader.ItemsByID(ctx, v.Run.No, rec.Items(), ids)
	if err != nil || len(items) == 0 {
		return err
	}
	lanes := map[string]bool{}
	for _, it := range items {
		for _, t := range rec.Tasks(it, 0, 1) {
			lanes[t.At.Lane], lanes[cmp.Or(t.At.Against, t.At.Lane)] = true, true
		}
		break
	}
	if !draw.Among(slices.Sorted(maps.Keys(lanes)), func(item string) bool { _, there := items[item]; return there }) {
		return nil
	}
	return snapshot.KeepDraw(ctx, v.Snapshots.Runs, v.Run.No, stage, draw)
}

// takeLabels writes the labels that people gave in earlier runs on answers and items that are the same in this one. A person who has
// labelled the same here keeps that label, withdrawn or not.
func (v *Verdicts) takeLabels(ctx context.Context) error {
	donors, err := v.donorsOf(ctx)
	if err != nil {
		return err
	}
	for _, d := range donors {
		var later []store.Verdict
		for block := range slices.Chunk(d.labels, verdictBlock) {
			wait, err := v.takeBlock(ctx, d, block)
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
func (v *Verdicts) takeBlock(ctx context.Context, d *donor, block []store.Verdict) (later []store.Verdict, err error) {
	same, err := v.sameAsIn(ctx, d, block)
	if err != nil {
		return nil, err
	}
	var taken []store.TakenLabel
	for i, label := range block {
		if same[i] == unknown {
			later = append(later, label)
		}
		label, ok := v.relabelled(label)
		if ok && d.rejudges[label.At.Stage] {
			label.Fields, ok = withEarlier(label.Fields)
		}
		if ok && same[i] == alike {
			taken = append(taken, store.TakenLabel{Verdict: label, Others: stages.SameTask(label)})
		}
	}
	return later, v.Snapshots.Runs.TakeLabels(ctx, taken)
}

// withEarlier returns what is kept beside a label with a note that the judge's prompt has changed since.
func withEarlier(fields string) (string, bool) {
	kept := map[string]any{}
	if fields != "" && json.Unmarshal([]byte(fields), &kept) != nil {
		return fields, true
	}
	kept["before_the_prompt_changed"] = true
	text, err := json.Marshal(kept)
	return string(text), err == nil
}

// relabelled returns a person's label under the rubric as it is now; false where the rubric does not know it, or it is
// about something else.
func (v *Verdicts) relabelled(label store.Verdict) (store.Verdict, bool) {
	rec, ok := v.Stages.Judging(label.At.Stage)
	if !ok {
		return label, false
	}
	r := rec.By()
	subject, against := label.Subject, label.Against
	label.Run, label.At.Prompt = v.Run.No, r.ForPeople()
	about, err := rec.Frame(label.At)
	if err != nil || about.Subject != subject || about.Against != against {
		return label, false
	}
	if label.State != assay.VerdictValid {
		return label, true
	}
	now := r.Take(judge.Given{Label: label.Label, Score: label.Score})
	label.State, label.Label, label.Score = now.State, now.Label, now.Score
	return label, now.State == assay.VerdictValid
}

// inherited returns the verdicts of an unchanged program on answers and items that are the same as in earlier runs, by their keys.
func (v *Verdicts) inherited(ctx context.Context, rec stages.Judging, block []stages.Wanted) (map[assay.Key]store.Verdict, error) {
	out := map[assay.Key]store.Verdict{}
	if len(rec.By().Command) == 0 || len(block) == 0 {
		return out, nil
	}
	donors, err := v.donorsOf(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range donors {
		if d.rereads[block[0].At.Stage] {
			continue
		}
		given, err := v.reader.VerdictsAt(ctx, d.run, stages.KeysOf(block))
		if err != nil {
			return nil, err
		}
		var some []store.Verdict
		for k, old := range given {
			if _, taken := out[k]; !taken && (old.State == assay.VerdictValid || old.State == assay.VerdictAbstained) {
				some = append(some, old)
			}
		}
		same, err := v.sameAsIn(ctx, d, some)
		if err != nil {
			return nil, err
		}
		for i, old := range some {
			if same[i] == alike {
				old.Run = v.Run.No
				out[old.At.Key()] = old
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
func (v *Verdicts) sameAsIn(ctx context.Context, d *donor, verdicts []store.Verdict) ([]sameness, error) {
	var refs []assay.Ref
	ids := map[string][]string{}
	for _, old := range verdicts {
		input, ofItems := v.inputOf(old.At.Stage)
		ids[input] = append(ids[input], old.At.Item)
		if ofItems {
			ids[input] = append(ids[input], old.At.Against)
		} else {
			refs = append(refs, old.Answers()...)
		}
	}
	here, err := v.reader.AnswersTo(ctx, v.Run.No, refs)
	if err != nil {
		return nil, err
	}
	there, err := v.reader.AnswersTo(ctx, d.run, refs)
	if err != nil {
		return nil, err
	}
	items := map[string]map[string]bool{}
	for input, some := range ids {
		if items[input], err = v.sameItems(ctx, d, input, some); err != nil {
			return nil, err
		}
	}
	out := make([]sameness, len(verdicts))
	for i, old := range verdicts {
		input, ofItems := v.inputOf(old.At.Stage)
		known := items[input]
		switch {
		case !known[old.At.Item] || ofItems && !known[old.At.Against]:
			out[i] = different
		case ofItems:
			out[i] = alike
		default:
			out[i] = sameAnswer(here, there, old.Subject)
			if old.Against != (assay.Key{}) {
				out[i] = both(out[i], sameAnswer(here, there, old.Against))
			}
		}
	}
	return out, nil
}

// inputOf names the input that the verdicts of a stage are about, and reports whether they compare its items.
func (v *Verdicts) inputOf(stage string) (input string, ofItems bool) {
	rec, _ := v.Stages.Of(stage)
	_, ofItems = rec.(*stages.ItemContest)
	return rec.Items(), ofItems
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
func (v *Verdicts) sameItems(ctx context.Context, d *donor, input string, ids []string) (map[string]bool, error) {
	here, err := v.reader.ItemsByID(ctx, v.Run.No, input, ids)
	if err != nil {
		return nil, err
	}
	there, err := v.reader.ItemsByID(ctx, d.run, input, ids)
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
