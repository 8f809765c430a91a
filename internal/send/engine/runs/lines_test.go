package runs_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// TestAnAnswerBeatsAnErrorOfTheSameID has the results name some requests twice, as an error and as an answer.
func TestAnAnswerBeatsAnErrorOfTheSameID(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"the error comes first": true, "the answer comes first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one)
			w.fake.spoil = func(lines [][]byte) [][]byte {
				var errors [][]byte
				for _, line := range lines {
					var l fakeLine
					if err := json.Unmarshal(line, &l); err != nil {
						t.Error(err)
					}
					text, _ := json.Marshal(fakeLine{ID: l.ID,
						Outcome: assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultBusy, Status: 500}}})
					errors = append(errors, text)
				}
				if before {
					return slices.Concat(errors, lines)
				}
				return slices.Concat(lines, errors)
			}
			w.finished(store.ResultDone)
			w.answers(3)
			w.billedOnce(3)
			if strays := w.strays(); strays[store.StrayDuplicate] != 3 {
				t.Errorf("strays %v, want the 3 errors", strays)
			}
		})
	}
}

// TestWithoutCountsAMissingResultIsFetchedAgain has a job expire at a provider that does not report how much of it was
// done, and show one of its results only later.
func TestWithoutCountsAMissingResultIsFetchedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.silent = true
	late := w.plan.at("red", 0, 1).Key()
	w.fake.answer = func(key assay.Key, _ string) (assay.Outcome, string) {
		o := assay.Outcome{Ending: assay.Answered, Text: "yes", Usage: assay.Usage{Known: true, Input: 1, Output: 1}}
		if key == late {
			return o, "late"
		}
		return o, ""
	}
	w.fake.ends = func(j *fakeJob) provider.State { return provider.StateExpired }
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if n := w.fake.calls["fetch"]; n != 2 {
		t.Errorf("fetched %d times, want 2", n)
	}
}

// TestLinesAtFaultAreCutOutOneByOne has a provider that stops at the first bad line of two.
func TestLinesAtFaultAreCutOutOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.ends = func(j *fakeJob) provider.State {
		if j.count > 1 {
			return provider.StateFailed
		}
		return provider.StateEnded
	}
	w.fake.problems = func(*fakeJob) (*assay.Fault, []provider.LineProblem) {
		f := assay.Fault{Class: assay.FaultInvalid, Code: "invalid_url"}
		return &f, []provider.LineProblem{{Line: 1, Fault: f}}
	}
	w.finished(store.ResultIncomplete)
	if got := w.lane("red").Endings; got[assay.Rejected] != 2 || got[assay.Answered] != 1 {
		t.Errorf("endings %v\n%s", got, w.history())
	}
	w.billedOnce(1)
}

// TestALineThatIsRefusedAtTheUploadIsFound has a provider that refuses all lines for one, and does not name it.
func TestALineThatIsRefusedAtTheUploadIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.plan.items, w.fake.limits.AllOrNothing = 5, true })
	w.fake.refuse = func(p provider.BatchInput) error {
		r, err := p.Body.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		body, err := io.ReadAll(r)
		if err != nil || !strings.Contains(string(body), `"q 3"`) {
			return err
		}
		return &assay.Fault{Class: assay.FaultInvalid, Status: 422, Message: "Invalid file format."}
	}
	w.finished(store.ResultIncomplete)
	if got := w.lane("red").Endings; got[assay.Rejected] != 1 || got[assay.Answered] != 4 {
		t.Errorf("endings %v\n%s", got, w.history())
	}
	w.billedOnce(4)
}

// TestAStatusOfAnotherJobIsNotBelieved has the provider answer looks at a job with one that failed, which is not ours.
func TestAStatusOfAnotherJobIsNotBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.fake.mistakes = 3 })
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if n := len(w.fake.jobs); n != 1 || w.fake.mistakes != 0 {
		t.Errorf("%d jobs\n%s", n, w.history())
	}
}

// TestAFileThatIsGoneIsUploadedAgain has a job fail because what was uploaded for it is not there any more.
func TestAFileThatIsGoneIsUploadedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.ends = func(j *fakeJob) provider.State {
		if j.id == "job1" {
			return provider.StateFailed
		}
		return provider.StateEnded
	}
	w.fake.problems = func(*fakeJob) (*assay.Fault, []provider.LineProblem) {
		f := assay.Fault{Class: assay.FaultGone, Code: "invalid_request", Param: "file_id"}
		return &f, []provider.LineProblem{{Fault: f}}
	}
	w.finished(store.ResultDone)
	w.billedOnce(3)
	if n := w.fake.calls["prepare"]; n != 4 {
		t.Errorf("%d calls to upload, want 4", n)
	}
}
