package runs_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
)

// TestLiveAnswersOfALedgerThatIsPutBackAreReadFromTheirLogs saves the ledger at a moment of a live study of two turns, goes on for a while,
// and puts the ledger back beside the artifacts as they are: what came after it was saved is in the logs, and is not asked again.
func TestLiveAnswersOfALedgerThatIsPutBackAreReadFromTheirLogs(t *testing.T) {
	t.Parallel()
	moments := map[string]func(w *world) bool{
		"begun":    func(w *world) bool { return len(w.segments(store.Staged)) == 0 },
		"staged":   func(w *world) bool { return len(w.segments(store.Staged)) == 1 },
		"launched": func(w *world) bool { return len(w.segments(store.Launched)) == 1 },
		"settled":  func(w *world) bool { return len(w.segments(store.Settled)) == 1 },
	}
	ends := map[string]func(w *world) bool{
		"turn 1 asked": func(w *world) bool { return w.asked() >= 5 },
		"turn 2 asked": func(w *world) bool { return w.asked() >= 8 },
		"all over": func(w *world) bool {
			r, err := w.s.Reader.Run(w.ctx, w.run.No)
			w.ok(err)
			return r.State == store.RunClosed
		},
	}
	for moment, saved := range moments {
		for end, over := range ends {
			for _, taken := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, numbers taken by another run %v", moment, end, taken), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, liveOf(5, func(w *world) { w.plan.turns = 2 }))
					w.untilStep(func() bool { return saved(w) })
					b := w.save()
					w.untilStep(func() bool { return over(w) })
					w.putBack(b, false)
					if taken {
						w.otherRun(3)
					}
					w.finished(store.ResultDone)
					w.askedOnce(10)
					if strings.Contains(w.history(), store.DoubleEvent) {
						t.Error("doubles are reported\n" + w.history())
					}
				})
			}
		}
	}
}

// TestLiveCallsInALogThatTheLedgerLacksCountInTheBudget puts a ledger back that does not know the segment of a log: of two calls that left,
// one did not come back.
func TestLiveCallsInALogThatTheLedgerLacksCountInTheBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(5, func(w *world) { w.plan.price = 70_000 }))
	log, err := w.files.Log(w.run.ID, "s9-live-1")
	w.ok(err)
	for _, head := range []string{`{"is":"open","segment":9,"epoch":1}`, `{"is":"ahead","ord":2}`, `{"is":"sent","ord":1,"most":500}`,
		`{"is":"sent","ord":2,"most":700}`, `{"is":"back","ord":1}`} {
		_, err := log.Add([]byte(head), nil)
		w.ok(err)
	}
	w.ok(log.Close())
	for range 2 { // told and counted once, however often it is compared
		w.ok(w.s.Work.OweReconcile(w.ctx, w.run.No, "put back"))
		w.reopen()
		_, err := w.drive()
		w.ok(err)
	}
	w.finished(store.ResultDone)
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if told := w.events(store.DoubleEvent); r.Perhaps != 700 || len(told) != 1 || !strings.Contains(told[0].Text, "1 live call left") {
		t.Errorf("perhaps %d, told %+v\n%s", r.Perhaps, told, w.history())
	}
	sent := 0
	for k, err := range w.files.List(w.ctx, w.run.ID, "s10-live-") { // its own
		w.ok(err)
		own, err := w.files.Open(w.ctx, w.run.ID, k.Name)
		w.ok(err)
		for rec, err := range artifacts.Records(own) {
			w.ok(err)
			if strings.Contains(string(rec.Head), `"sent"`) && strings.Contains(string(rec.Head), `"most":70000`) {
				sent++
			}
		}
		w.ok(own.Close())
	}
	if sent != 5 {
		t.Errorf("%d requests are noted with their price as they leave", sent)
	}
}

// otherRun begins another run, which takes the next numbers of segments.
func (w *world) otherRun(segments int) {
	w.t.Helper()
	r, err := w.s.Runs.CreateRun(w.ctx, store.NewRun{ID: "run2", Study: "demo", Settings: "{}"})
	w.ok(err)
	for range segments {
		_, err := w.s.Work.AddSegment(w.ctx, store.NewSegment{Run: r.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "red", Turn: 1},
			Mode: store.Batch, Purpose: store.ForWave, Provider: "red", Model: "m"}, "another", w.timing.Lease)
		w.ok(err)
	}
}
