package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/show/gateway"
)

// run returns the newest run of the gateway.
func (r *rig) run() store.Run {
	r.t.Helper()
	all, err := r.home.Ledger.Reader.Runs(r.t.Context(), "gateway")
	if err != nil || len(all) == 0 {
		r.t.Fatalf("there is no run: %v", err)
	}
	return all[0]
}

// patience bounds a wait: it takes moments, or minutes where a gateway was stopped at a bad moment and left a lease.
const patience = 10 * time.Minute

// wait waits until something is so.
func (r *rig) wait(what string, so func() (bool, error)) {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		ok, err := so()
		if err != nil {
			r.t.Fatal(err)
		}
		if ok {
			return
		}
	}
	r.t.Fatalf("it never came to this: %s", what)
}

func (r *rig) waitForSegments(n int, state store.State) {
	r.t.Helper()
	no := r.run().No
	r.wait(fmt.Sprint(n, " segments ", state), func() (bool, error) {
		all, err := r.home.Ledger.Reader.Segments(r.t.Context(), no, state)
		return len(all) == n, err
	})
}

func (r *rig) waitForStoppedLane() {
	r.t.Helper()
	no := r.run().No
	r.wait("a lane is stopped", func() (bool, error) {
		lanes, err := r.home.Ledger.Reader.Lanes(r.t.Context(), no)
		for _, l := range lanes {
			if l.State == store.LaneStopped {
				return true, err
			}
		}
		return false, err
	})
}

const sonnet = "anthropic/claude-sonnet-4-5"

func TestABatchWhoseKeyIsRefusedGoesOnWithAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{refused: "ANTHROPIC_API_KEY"})
	_, b := r.create(anna, r.upload(anna, chat("a", sonnet, "")+chat("b", "gpt-4o-mini", "")))
	r.waitForStoppedLane()
	if _, b := r.call(anna, "GET", "/batches/"+b.text("id"), nil); b.text("status") != "in_progress" {
		t.Errorf("while the key is refused: %v", b)
	}
	r.stop()
	r.env["ANTHROPIC_API_KEY"] = "sim"
	r.start(rigOptions{})
	b = r.until(anna, b.text("id"), "completed", "expired", "cancelled")
	if rows := r.rows(anna, b.text("output_file_id")); b.text("status") != "completed" || len(rows) != 2 || b["error_file_id"] != nil {
		t.Errorf("the batch came to %v, its answers to %v", b, rows)
	}
}

func TestAJobWhoseKeyIsRefusedIsFetchedWithAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{queue: time.Hour})
	_, b := r.create(anna, r.upload(anna, chat("a", sonnet, "")))
	r.waitForSegments(1, store.Launched)
	made := r.made()
	r.keys.Store("sim", "bad-key")
	r.waitForSegments(1, store.Held)
	r.stop()
	r.env["ANTHROPIC_API_KEY"] = "another-account" // which looks in vain
	var log logBuffer
	r.start(rigOptions{log: &log})
	r.wait("the key of another account does not know the job", func() (bool, error) {
		return log.has("a job waits for the key that made it"), nil
	})
	r.stop()
	held, err := r.home.Ledger.Reader.Segments(t.Context(), r.run().No, store.Held)
	if err != nil || len(held) != 1 || held[0].Account != made || !strings.Contains(held[0].Reason.String(), "refuses the key") {
		t.Errorf("after it: %+v (%v), want the job held as it was, made by %s", held, err, made)
	}
	r.env["ANTHROPIC_API_KEY"] = "another-name" // a key of the same account
	r.keys.Store("another-name", "sim")
	r.pass("3h")
	r.start(rigOptions{})
	b = r.until(anna, b.text("id"), "completed", "expired", "cancelled")
	if rows := r.rows(anna, b.text("output_file_id")); len(rows) != 1 || len(r.sim.Ledger().Jobs) != 1 || r.made() == made {
		t.Errorf("the batch came to %v, its answers to %v, with %d jobs", b, rows, len(r.sim.Ledger().Jobs))
	}
}

func TestABatchWhoseKeyStaysRefusedExpires(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{queue: time.Hour, refused: "GOOGLE_API_KEY"})
	file := chat("a", sonnet, "") + chat("b", "gpt-4o-mini", "") + chat("c", "gemini/gemini-2.5-flash", "")
	_, b := r.create(anna, r.upload(anna, file))
	r.waitForSegments(2, store.Launched)
	r.waitForStoppedLane()
	r.stop()
	r.keys.Store("sim", "bad-key") // its job is there, and cannot be looked at any more
	r.pass("3h")
	r.start(rigOptions{})
	r.waitForSegments(1, store.Held)
	if _, b := r.call(anna, "GET", "/batches/"+b.text("id"), nil); b.text("status") != "in_progress" || b["errors"] != nil {
		t.Errorf("before its window is over: %v", b)
	}
	r.stop()
	r.later.Store(int64(25 * time.Hour)) // the job's answers may be there: the key is tried for as long again
	r.start(rigOptions{})
	r.waitForSegments(1, store.Held)
	if _, b := r.call(anna, "GET", "/batches/"+b.text("id"), nil); b.text("status") != "in_progress" {
		t.Errorf("while its job may be fetched: %v", b)
	}
	r.stop()
	r.later.Store(int64(49 * time.Hour))
	r.start(rigOptions{})
	b = r.until(anna, b.text("id"), "completed", "expired", "cancelled")
	if b.text("status") != "expired" || b["expired_at"] == nil || b.text("request_counts", "completed") != "1" ||
		b.text("request_counts", "failed") != "2" {
		t.Errorf("the batch came to %v", b)
	}
	if rows := r.rows(anna, b.text("output_file_id")); len(rows) != 1 || rows["b"] == nil {
		t.Errorf("the answers: %v", rows)
	}
	rows := r.rows(anna, b.text("error_file_id"))
	if len(rows) != 2 || rows["c"].text("error", "code") != "batch_expired" ||
		!strings.Contains(rows["c"].text("error", "message"), "401") || rows["a"].text("error", "code") != "batch_expired" {
		t.Errorf("the errors: %v", rows)
	}
	if text := fmt.Sprint(rows); strings.Contains(text, "bad-key") || strings.Contains(text, "assay resolve") {
		t.Errorf("the errors say what is not for clients: %s", text)
	}
}

// unserved answers as a gateway that drives no batches: what it records is as it was recorded.
func (r *rig) unserved(budget *assay.Money) func() {
	r.stop()
	s := gateway.New(gateway.Options{Home: r.home, Log: slog.New(slog.NewTextHandler(r.t.Output(), nil)),
		Users: []gateway.User{gateway.NewUser("bert", bert, budget)}})
	server := httptest.NewServer(s)
	r.url = server.URL + "/v1"
	return server.Close
}

// TestARunThatNeedsMoreGetsItWhileItsUserHasMoney has two batches that need more than was set aside for them: one of a user with
// money left, one of a user without.
func TestARunThatNeedsMoreGetsItWhileItsUserHasMoney(t *testing.T) {
	t.Parallel()
	for _, spent := range []bool{false, true} {
		t.Run(fmt.Sprint("spent ", spent), func(t *testing.T) {
			t.Parallel()
			budget := assay.Dollars(0.01)
			r := newRig(t, rigOptions{budget: &budget})
			end := r.unserved(&budget)
			_, b := r.create(bert, r.upload(bert, chat("a", "gpt-4o-mini", `,"max_completion_tokens":50`)))
			little := assay.Money(1)
			if err := r.home.Ledger.Runs.SetBudget(t.Context(), r.run().No, &little); err != nil {
				t.Fatal(err)
			}
			if spent {
				rest := budget - little
				if _, err := r.home.Ledger.Clients.BeginClientCall(t.Context(), store.ClientCall{Owner: "bert", High: &rest},
					store.Allowance{Owner: "bert", Own: &budget}); err != nil {
					t.Fatal(err)
				}
			}
			end()
			r.start(rigOptions{budget: &budget})
			b = r.until(bert, b.text("id"), "completed", "cancelled")
			answers, errors := r.rows(bert, b.text("output_file_id")), r.rows(bert, b.text("error_file_id"))
			if !spent && (len(answers) != 1 || len(errors) != 0) {
				t.Errorf("with money left: %v", b)
			}
			if spent && (len(answers) != 0 || errors["a"].text("error", "code") != "insufficient_quota" ||
				b.text("status") != "completed") {
				t.Errorf("without money: %v, %v", b, errors)
			}
			if u := r.used("bert"); u.Taken > budget {
				t.Errorf("%s of %s is taken", u.Taken, budget)
			}
		})
	}
}

// TestTwoGatewaysOnOneLedgerShareABudget has calls come to two gateways at once, of which the budget covers a few.
func TestTwoGatewaysOnOneLedgerShareABudget(t *testing.T) {
	t.Parallel()
	budget := assay.Dollars(0.01)
	r := newRig(t, rigOptions{budget: &budget})
	first := r.url
	r.start(rigOptions{budget: &budget})
	var answered, refused atomic.Int64
	var all sync.WaitGroup
	other := &rig{t: t, url: first}
	for i := range 40 {
		at := r
		if i%2 == 0 {
			at = other
		}
		all.Go(func() {
			status, _ := at.raw(bert, "POST", "/chat/completions", strings.NewReader(`{"model":"gpt-4o","max_tokens":200,`+question+`}`))
			switch status {
			case 200:
				answered.Add(1)
			case 429:
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if u := r.used("bert"); answered.Load() == 0 || refused.Load() == 0 || answered.Load()+refused.Load() != 40 || u.Taken > budget {
		t.Errorf("%d answered, %d refused, %s of %s taken", answered.Load(), refused.Load(), u.Taken, budget)
	}
}

func TestAUserKeepsSoManyBytesAtMost(t *testing.T) {
	t.Parallel()
	line := chat("a", "gpt-4o-mini", "")
	r := newRig(t, rigOptions{storage: int64(len(line)*2 + 1)})
	first := r.upload(anna, line)
	r.upload(anna, line)
	refuse := func() {
		t.Helper()
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, _ := w.CreateFormFile("file", "in.jsonl")
		io.WriteString(part, line)
		w.WriteField("purpose", "batch")
		w.Close()
		status, o := r.call(anna, "POST", "/files", &form, "Content-Type", w.FormDataContentType())
		if status != 400 || o.text("error", "code") != "storage_limit_exceeded" || o.text("error", "param") != "file" {
			t.Errorf("a third file: %d %v", status, o)
		}
	}
	refuse()
	r.upload(bert, line) // has room of their own
	r.call(anna, "DELETE", "/files/"+first, nil)
	r.upload(anna, line)
	refuse()
	names, err := artifacts.Names(t.Context(), r.home.Files, "gateway")
	if err != nil || len(names) != 3 {
		t.Errorf("there are %v (%v), want three files", names, err)
	}
}

func TestAnUploadThatWasCutWithItsGatewayIsTakenAway(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	kept := r.upload(anna, chat("a", "gpt-4o-mini", ""))
	r.stop()
	for _, id := range []string{"file-cut", "file-whole"} { // as a kill leaves them: in the middle, and before the last step
		if err := r.home.Ledger.Clients.BeginClientFile(t.Context(), "anna", id); err != nil {
			t.Fatal(err)
		}
		sink, err := artifacts.Create(t.Context(), r.home.Files, "gateway", id+".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(sink, strings.Repeat("x", 1<<20))
		if id == "file-whole" {
			_, err = sink.Commit()
		} else {
			err = sink.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	bytes := func() int64 {
		n, err := artifacts.Bytes(t.Context(), r.home.Files, "gateway")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if bytes() < 2<<20 {
		t.Fatal("nothing is left behind")
	}
	r.later.Store(int64(7 * time.Hour))
	r.start(rigOptions{})
	r.wait("what was cut is gone", func() (bool, error) { return bytes() < 1<<20, nil })
	if status, _ := r.raw(anna, "GET", "/files/"+kept+"/content", nil); status != 200 {
		t.Errorf("a whole file is gone too: %d", status)
	}
}
