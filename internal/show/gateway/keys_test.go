package gateway_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/workers"
)

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *logBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *logBuffer) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), text)
}

// made returns the key that made the one job of the newest run, by its fingerprint.
func (r *rig) made() string { return r.maker(r.run()) }

func (r *rig) maker(run store.Run) string {
	r.t.Helper()
	all, err := r.home.Ledger.Reader.Segments(r.t.Context(), run.No)
	if err != nil || len(all) != 1 || all[0].Account == "" {
		r.t.Fatalf("want one job: %+v (%v)", all, err)
	}
	return all[0].Account
}

// orders returns what was ordered about a run, and not by its user.
func (r *rig) orders(run store.Run) (all []store.Order) {
	r.t.Helper()
	for _, kind := range []store.OrderKind{store.OrderResolve, store.OrderCancel} {
		some, err := r.home.Ledger.Reader.OrdersOf(r.t.Context(), run.No, kind)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}

const othersJob = "a job waits for the key that made it" // in the log

// TestGatewaysWithKeysOfDifferentAccountsLeaveEachOthersJobsAlone has a job of each in one ledger.
func TestGatewaysWithKeysOfDifferentAccountsLeaveEachOthersJobsAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{queue: time.Hour})
	other := r.beside("another-account")
	_, one := r.create(anna, r.upload(anna, chat("a", sonnet, "")))
	r.waitForSegments(1, store.Launched)
	first, mine := r.run(), r.made()
	r.stop()
	var log logBuffer
	other.start(rigOptions{log: &log})
	other.wait("the second looks at the job of the first", func() (bool, error) { return log.has(othersJob), nil })
	if _, b := other.call(anna, "GET", "/batches/"+one.text("id"), nil); b.text("status") != "in_progress" ||
		!strings.Contains(b.text("waiting_for"), "waits for the key of anthropic that made it") {
		t.Errorf("at the second, while the first is away: %v", b)
	}
	_, two := other.create(anna, other.upload(anna, chat("b", sonnet, "")))
	other.waitForSegments(1, store.Launched)
	second, theirs := other.run(), other.made()
	r.start(rigOptions{})
	r.wait("each knows that the other is there", func() (bool, error) {
		_, a := other.call(anna, "GET", "/batches/"+one.text("id"), nil)
		_, b := r.call(anna, "GET", "/batches/"+two.text("id"), nil)
		return a.text("waiting_for")+b.text("waiting_for") == "", nil
	})
	r.pass("3h")
	for id, custom := range map[string]string{one.text("id"): "a", two.text("id"): "b"} {
		b := r.until(anna, id, "completed", "expired", "cancelled")
		if rows := r.rows(anna, b.text("output_file_id")); b.text("status") != "completed" || len(rows) != 1 || rows[custom] == nil {
			t.Errorf("the batch came to %v, its answers to %v", b, rows)
		}
	}
	if jobs := r.sim.Ledger().Jobs; len(jobs) != 2 {
		t.Errorf("there are %d jobs, want 2", len(jobs))
	}
	if mine == theirs || r.maker(first) != mine || r.maker(second) != theirs || len(r.orders(first))+len(r.orders(second)) > 0 {
		t.Errorf("the jobs of %s and %s are those of %s and %s, after orders %v and %v", mine, theirs, r.maker(first), r.maker(second),
			r.orders(first), r.orders(second))
	}
}

// TestTwoKeysOfOneAccountDoNotTakeTheirJobsFromEachOther has both at one ledger: the job stays with the key that made it.
func TestTwoKeysOfOneAccountDoNotTakeTheirJobsFromEachOther(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{queue: time.Hour})
	r.keys.Store("another-name", "sim")
	_, b := r.create(anna, r.upload(anna, chat("a", sonnet, "")))
	r.waitForSegments(1, store.Launched)
	run, made := r.run(), r.made()
	r.wait("its key is in the ledger", func() (bool, error) {
		return r.home.Ledger.Leases.KeyAlive(t.Context(), store.WorkerKey{Run: run.No, Provider: "anthropic", Account: made})
	})
	other := r.beside("another-name")
	other.start(rigOptions{})
	r.wait("the second has looked at the job", func() (bool, error) {
		all, err := r.home.Ledger.Reader.Segments(t.Context(), run.No)
		return len(all) == 1 && strings.Contains(all[0].Reason.String(), "made with another key"), err
	})
	if r.made() != made || len(r.orders(run)) > 0 {
		t.Errorf("the job of %s is that of %s: %v", made, r.made(), r.orders(run))
	}
	r.stop() // and now the second takes it over at its next look, or a gateway that begins
	other.stop()
	r.pass("3h")
	other.start(rigOptions{})
	b = other.until(anna, b.text("id"), "completed", "expired", "cancelled")
	if rows := other.rows(anna, b.text("output_file_id")); len(rows) != 1 || len(r.sim.Ledger().Jobs) != 1 {
		t.Errorf("the batch came to %v, its answers to %v, with %d jobs", b, rows, len(r.sim.Ledger().Jobs))
	}
}

// TestAJobWithoutItsKeySaysSoAndGoesOnWhenTheKeyIsSetAgain takes the key away from a gateway whose job runs, has ended and is not
// fetched, or may not have been made, for longer than the window.
func TestAJobWithoutItsKeySaysSoAndGoesOnWhenTheKeyIsSetAgain(t *testing.T) {
	t.Parallel()
	for state, c := range map[store.State]struct {
		rules []string
		queue time.Duration
		says  string
	}{
		store.Launched: {queue: time.Hour, says: "its job waits for the key of openai that made it"},
		store.Ended:    {rules: []string{"openai fetch 500"}, says: "its job waits for the key of openai that made it"},
		store.Intended: {rules: []string{"openai create drop-reply once", "openai list 500 after=2"},
			says: "whether its job was made can be seen only with the key of openai"},
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{queue: c.queue, rules: c.rules})
			_, b := r.create(anna, r.upload(anna, chat("a", "gpt-4o-mini", "")))
			r.waitForSegments(1, state)
			// it is intended before the call goes
			r.wait("its job is made", func() (bool, error) { return len(r.sim.Ledger().Jobs) == 1, nil })
			run := r.run()
			r.stop()
			for _, key := range []string{"", "another-account"} { // none, and one that does not know the job
				r.env["OPENAI_API_KEY"] = key
				r.later.Add(int64(49 * time.Hour))
				var log logBuffer
				r.start(rigOptions{log: &log})
				r.wait("it is looked at in vain", func() (bool, error) {
					all, err := r.home.Ledger.Reader.Segments(t.Context(), run.No)
					return log.has("waits for the key of openai that made its job") ||
						len(all) == 1 && strings.Contains(all[0].Reason.String(), "made with another key"), err
				})
				if _, b := r.call(anna, "GET", "/batches/"+b.text("id"), nil); b.text("status") != "in_progress" ||
					!strings.Contains(b.text("waiting_for"), c.says) {
					t.Errorf("with the key %q: %v", key, b)
				}
				if u := r.used("anna"); u.Keyless != 1 {
					t.Errorf("with the key %q: %d batches wait for theirs", key, u.Keyless)
				}
				r.stop()
				if waits, err := workers.WaitingForKeys(t.Context(), r.home, run); key == "" &&
					(err != nil || len(waits) != 1 || waits[0].Account != r.made() || waits[0].Variable != "OPENAI_API_KEY") {
					t.Errorf("status shows %+v (%v)", waits, err)
				}
			}
			r.env["OPENAI_API_KEY"] = "sim"
			r.clear()
			r.pass("3h")
			r.start(rigOptions{})
			b = r.until(anna, b.text("id"), "completed", "expired", "cancelled")
			if rows := r.rows(anna, b.text("output_file_id")); b.text("status") != "completed" || len(rows) != 1 ||
				len(r.sim.Ledger().Jobs) != 1 || len(r.orders(run)) > 0 {
				t.Errorf("the batch came to %v, its answers to %v, with %d jobs and the orders %v", b, rows, len(r.sim.Ledger().Jobs),
					r.orders(run))
			}
			if u := r.used("anna"); u.Keyless != 0 {
				t.Errorf("at the end %d batches wait for a key", u.Keyless)
			}
		})
	}
}

// clear takes the simulator's faults away.
func (r *rig) clear() {
	r.t.Helper()
	r.control("DELETE", "/sim/faults", "")
}
