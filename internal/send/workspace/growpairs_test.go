package workspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/plan"
)

const sampledStudy = `study: sampled
inputs:
  questions:
    items: [{id: one, text: What is one?}, {id: two, text: What is two?}, {id: three, text: What is three?}, {id: four, text: What is four?}]
canary: false
lane_defaults: {max_tokens: 100, temperature: 0}
lanes:
  a: {model: openai/gpt-4.1}
  b: {model: openai/gpt-4.1-mini}
  c: {model: openai/gpt-4.1-nano}
  j: {model: openai/gpt-4o}
stages:
  - {name: answers, ask: questions, turns: ["{{ text }}"]}
  - {name: arena, compare: answers, pairs: {sample: 6, order: random, seed: 7}, rubric: better, identical: ask, judges: [j]}
  - {name: texts, compare: questions, rubric: better, trait: overall_quality, pairs: {sample: 4, seed: 7}, judges: [j]}
`

// shown returns the comparisons of a stage that have an answer, with the number of the outcome by which each has it.
func (r *rig) shown(h *Home, run store.Run, stage string) map[assay.Key]assay.Coordinates {
	r.t.Helper()
	out := map[assay.Key]assay.Coordinates{}
	for a, err := range h.Ledger.Reader.Answers(r.ctx, run.No, stage, "") {
		if err != nil || a.Try != 1 || a.Reused != 0 {
			r.t.Error(a.At, a.Try, a.Reused, err)
		}
		out[a.At.Key()] = a.At
	}
	return out
}

func TestSampledPairsStayWhereARunGrows(t *testing.T) {
	t.Parallel()
	r := newRig(t, sampledStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	arena, texts := r.shown(h, run, "arena"), r.shown(h, run, "texts")
	if len(arena) != 6 || len(texts) != 4 {
		t.Fatalf("%d and %d comparisons", len(arena), len(texts))
	}
	grow := func(text string, wantArena, wantTexts int, fresh int64) {
		t.Helper()
		r.write("study.yaml", text)
		again, _, over := r.extended(h)
		if again.ID != run.ID || over.New != fresh {
			t.Errorf("run %s, %+v, want %d new requests of run %s", again.ID, over, fresh, run.ID)
		}
		done := r.drive(h, again, Drive{})
		if done.State != runs.StateDone {
			t.Fatalf("it is %s", done.State)
		}
		nowArena, nowTexts := r.shown(h, done.Run, "arena"), r.shown(h, done.Run, "texts")
		if len(nowArena) != wantArena || len(nowTexts) != wantTexts {
			t.Errorf("%d and %d comparisons, want %d and %d", len(nowArena), len(nowTexts), wantArena, wantTexts)
		}
		for _, two := range [][2]map[assay.Key]assay.Coordinates{{arena, nowArena}, {texts, nowTexts}} {
			for key, at := range two[0] {
				if d := cmp.Diff(at, two[1][key]); d != "" {
					t.Errorf("what was drawn is another: %s", d)
				}
			}
		}
		lanes, err := h.Ledger.Reader.Lanes(r.ctx, run.No)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lanes {
			if l.Stage == "arena" && l.Planned != int64(wantArena) {
				t.Errorf("%d are planned, want %d", l.Planned, wantArena)
			}
		}
		// The same command again has nothing to do, and another process reads the same pairs.
		if now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{})); err != nil || now.Run.ID != run.ID ||
			now.Edit != nil {
			t.Errorf("%+v, %v", now, err)
		}
		arena, texts = nowArena, nowTexts
	}
	// A lane between the others: 3 pairs of lanes on 4 questions become 6, and 6 comparisons 12.
	text := strings.Replace(sampledStudy, "  b: {", "  new: {model: openai/gpt-4o-mini}\n  b: {", 1)
	grow(text, 12, 4, 4+6)
	met := map[string]int{}
	for _, at := range arena {
		met[min(at.Lane, at.Against)+" "+max(at.Lane, at.Against)]++
	}
	if d := cmp.Diff(map[string]int{"a b": 2, "a c": 2, "b c": 2, "a new": 2, "b new": 2, "c new": 2}, met); d != "" {
		t.Error(d)
	}
	// Two questions: 12 become 18, and 4 comparisons of texts 6, two of them of the new ones.
	text = strings.Replace(text, "]\ncanary", ", {id: five, text: What is five?}, {id: six, text: What is six?}]\ncanary", 1)
	grow(text, 18, 6, 8+6+2)
	clear(met)
	for _, at := range texts {
		met[at.Item]++
		met[at.Against]++
	}
	if met["five"]+met["six"] < 3 {
		t.Errorf("the new texts are compared too seldom: %v", met)
	}
	// A second answer to each question, and a larger sample of the texts.
	text = strings.Replace(text, `["{{ text }}"]`, `["{{ text }}"], repeats: 2`, 1)
	grow(text, 36, 6, 24+18)
	grow(strings.Replace(text, "sample: 4", "sample: 9", 1), 36, 9, 3)
}

func TestOtherPairsAreANewRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, sampledStudy)
	h := r.open(false)
	r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.write("study.yaml", strings.ReplaceAll(strings.Replace(sampledStudy, "  b: {", "  new: {model: openai/gpt-4o-mini}\n  b: {", 1),
		"seed: 7", "seed: 8"))
	now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if err != nil || now.Run.No != 0 || now.Edit == nil || now.Edit.Grows {
		t.Errorf("%+v, %v", now, err)
	}
}

func TestComparisonsThatRoundsDidNotBuyAreNotNew(t *testing.T) {
	t.Parallel()
	study := strings.Replace(sampledStudy, "pairs: {sample: 6, order: random, seed: 7}",
		"pairs: {adaptive: {goal: {width: 9}, rounds: 4, per_round: 40, seed: 7}}", 1)
	study = study[:strings.Index(study, "  - {name: texts")]
	const items = 30
	for n := 5; n <= items; n++ {
		study = strings.Replace(study, "]\ncanary", fmt.Sprintf(", {id: q%d, text: What is %d?}]\ncanary", n, n), 1)
	}
	r := newRig(t, study)
	h := r.open(false)
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	run := r.finished(h, want)
	asked := int64(len(r.shown(h, run, "arena")))
	planned := want.Plan.Sum(func(p plan.Part) bool { return p.Stage == "arena" }).Requests
	if asked == 0 || asked >= planned {
		t.Fatalf("%d of %d comparisons were bought: want fewer", asked, planned)
	}
	r.write("study.yaml", study+"  - {name: fine, judge: answers, rubric: stance, judges: [j]}\n")
	_, _, over := r.extended(h)
	if over.New != 3*items || over.Over != planned-asked || over.Most != 3*items+asked {
		t.Errorf("%+v, of %d planned comparisons %d were asked", over, planned, asked)
	}
}
