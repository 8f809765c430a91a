package runs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

func (h *fakeProvider) Remove(_ context.Context, job provider.Job) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.call("remove"); err != nil {
		return err
	}
	h.removed = append(h.removed, job.ID)
	return nil
}

// plain lists the files of the run that are not packed.
func (w *world) plain() []string {
	w.t.Helper()
	all, err := os.ReadDir(filepath.Join(w.files.String(), w.run.ID))
	w.ok(err)
	var names []string
	for _, f := range all {
		if !strings.HasSuffix(f.Name(), ".zst") {
			names = append(names, f.Name())
		}
	}
	return names
}

// walksBack wants the raw bytes behind every answer.
func (w *world) walksBack() {
	w.t.Helper()
	for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "") {
		w.ok(err)
		files, err := w.s.Reader.Artifacts(w.ctx, a.Segment)
		w.ok(err)
		name := ""
		for _, f := range files {
			if f.No == a.Artifact {
				name = f.Name
			}
		}
		line, err := artifacts.Line(w.ctx, w.files, w.run.ID, name, a.Offset, a.Length)
		if err != nil || len(line) == 0 || line[0] != '{' {
			w.t.Errorf("answer to item %s: %q, %v", a.At.Item, line, err)
		}
	}
}

func TestAClosedRunIsPackedAndGoesOnFromThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := true
	w.fake.answer = func(_ assay.Key, body string) (assay.Outcome, string) {
		if broken && strings.Contains(body, "q 1") {
			return assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultInvalid}}, "free"
		}
		return good(body), ""
	}
	w.finished(store.ResultIncomplete)
	if d := cmp.Diff([]string(nil), w.plain()); d != "" {
		t.Errorf("not packed:\n%s", d)
	}
	broken = false
	w.retry()
	w.finished(store.ResultDone)
	if d := cmp.Diff([]string(nil), w.plain()); d != "" {
		t.Errorf("not packed after a retry:\n%s", d)
	}
	w.walksBack()
	w.answers(6)
	w.billedOnce(6)
}

func TestWhatJobsLeftIsDeletedOnlyWhereItIsWanted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		cleanup engine.Cleanup
		tidy    bool
		want    int
	}{
		{"by default nothing", engine.CleanupUsual, false, 0},
		{"by default where room is small", engine.CleanupUsual, true, 2},
		{"when the study says so", engine.CleanupAlways, false, 2},
		{"not when the study says no", engine.CleanupNever, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world) { w.plan.policy.Cleanup = tt.cleanup; w.fake.limits.Tidy = tt.tidy })
			w.fake.wobble = func(call string, n int) error {
				if call == "remove" && n == 1 {
					return &assay.Fault{Class: assay.FaultBusy, Status: 503}
				}
				return nil
			}
			w.finished(store.ResultDone)
			_, err := w.drive() // what the first look could not delete
			w.ok(err)
			if len(w.fake.removed) != tt.want {
				t.Errorf("removed %q, want %d jobs\n%s", w.fake.removed, tt.want, w.history())
			}
			w.walksBack()
		})
	}
}

func TestCleanDeletesWhatIsHereAndKeepsWhatMayStillCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.plan.items = 4 })
	w.fake.ends = func(j *fakeJob) provider.State { return provider.StateExpired }
	w.fake.answer = first(9, "expired", assay.Outcome{})
	w.ok(stepUntil(w, store.Settled))
	got, err := w.e.Clean(w.ctx, w.run.No, true)
	w.ok(err)
	if got.Removed != 0 || !got.Open || len(got.Kept) == 0 || !strings.Contains(got.Kept[0], "1 result may still come") {
		t.Errorf("cleaned %+v, want everything kept: results may come late", got)
	}
	w.finished(store.ResultIncomplete) // and retention has ended
	got, err = w.e.Clean(w.ctx, w.run.No, true)
	w.ok(err)
	if got.Removed != 3 || len(w.fake.removed) != 3 || got.Before == 0 {
		t.Errorf("cleaned %+v, removed %q", got, w.fake.removed)
	}
	got, err = w.e.Clean(w.ctx, w.run.No, true)
	w.ok(err)
	if got.Removed != 0 || len(w.fake.removed) != 3 {
		t.Errorf("cleaned again: %+v", got)
	}
}

// TestResultsThatAreHereAreUsedWhereTheProviderHasForgottenThem begins where a loss of power left the ledger behind: the job was
// fetched, settled and deleted at its provider, and the ledger knows only that it was launched.
func TestResultsThatAreHereAreUsedWhereTheProviderHasForgottenThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.ok(stepUntil(w, store.Launched))
	w.clock.to(w.clock.Now().Add(2 * w.fake.takes))
	job := provider.Job{ID: w.fake.jobs[0].id}
	st, err := w.fake.Check(w.ctx, job)
	w.ok(err)
	for _, part := range st.Parts {
		sink, err := artifacts.Create(w.ctx, w.files, w.run.ID, "s1-0-"+part.Name)
		w.ok(err)
		w.ok(w.fake.Fetch(w.ctx, job, part, sink))
		_, err = sink.Commit()
		w.ok(err)
	}
	w.fake.jobs = nil
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
}
