package engine_test

import (
	"encoding/json"
	"slices"
	"testing"

	"assay"
	"assay/provider"
	"assay/store"
)

// TestAnAnswerBeatsAnErrorOfTheSameID has the results name some requests twice, as an error and as an answer.
func TestAnAnswerBeatsAnErrorOfTheSameID(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"the error comes first": true, "the answer comes first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one)
			w.house.spoil = func(lines [][]byte) [][]byte {
				var errors [][]byte
				for _, line := range lines {
					var l fakeLine
					if err := json.Unmarshal(line, &l); err != nil {
						t.Error(err)
					}
					text, _ := json.Marshal(fakeLine{ID: l.ID, Outcome: assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultBusy, Status: 500}}})
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
			strays, err := w.s.Strays(w.ctx, w.run.No)
			w.ok(err)
			if strays[store.StrayDuplicate] != 3 {
				t.Errorf("strays %v, want the 3 errors", strays)
			}
		})
	}
}

// TestWithoutCountsAMissingResultIsFetchedAgain has a job expire at a provider that does not say how much of it was done, and
// show one of its results only later.
func TestWithoutCountsAMissingResultIsFetchedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.house.silent = true
	late := w.plan.at("red", 0, 1).Key()
	w.house.answer = func(key assay.Key, _ string) (assay.Outcome, string) {
		o := assay.Outcome{Ending: assay.Answered, Text: "yes", Usage: assay.Usage{Known: true, Input: 1, Output: 1}}
		if key == late {
			return o, "late"
		}
		return o, ""
	}
	w.house.ends = func(j *fakeJob) provider.State { return provider.StateExpired }
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if n := w.house.calls["fetch"]; n != 2 {
		t.Errorf("fetched %d times, want 2", n)
	}
}
