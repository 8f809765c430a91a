package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestALostLedgerIsRecoveredFromTheProviders throws the ledger away and joins what the providers still hold to the study:
// the end is that of the first run, and nothing is paid for again.
func TestALostLedgerIsRecoveredFromTheProviders(t *testing.T) {
	t.Parallel()
	for _, study := range []string{"single", "turns", "judged"} {
		t.Run(study, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, study)
			s.exits(0, []string{"run", "study.yaml", "--yes", "--no-canary"})
			want, err := s.state(t.Context())
			s.ok(err)
			before, err := s.billed()
			s.ok(err)
			s.ok(os.RemoveAll(filepath.Join(s.dir, "assay-data")))
			for range 3 { // a later turn of one provider may follow another's
				for _, name := range []string{"openai", "anthropic", "gemini"} {
					s.here(t.Context(), "adopt", name, "--study", "study.yaml")
				}
			}
			s.exits(0, []string{"resume"})
			got, err := s.state(t.Context())
			s.ok(err)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the run before and after its ledger was lost (-before +after):\n%s", d)
			}
			after, err := s.billed()
			s.ok(err)
			if d := cmp.Diff(before.Jobs, after.Jobs); d != "" {
				t.Errorf("something was paid for again:\n%s", d)
			}
			s.ok(s.sound(t.Context()))
		})
	}
}

// TestAnAdoptThatWasKilledIsTakenOver kills adopt at moments of its work on a lost ledger. The next one goes on without a wait, and the end
// is that of the run that was lost.
func TestAnAdoptThatWasKilledIsTakenOver(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single")
	s.exits(0, []string{"run", "study.yaml", "--yes", "--no-canary"})
	want, err := s.state(t.Context())
	s.ok(err)
	before, err := s.billed()
	s.ok(err)
	adopt := []string{"adopt", "openai", "--study", "study.yaml"}
	lose := func() { s.ok(errors.Join(s.lookAway(), os.RemoveAll(filepath.Join(s.dir, "assay-data")))) }
	lose()
	calm, err := s.assay(t.Context(), nil, adopt...)
	s.ok(err)
	s.said(0, calm, "answers joined")
	moments := map[string]bool{}
	for _, at := range calm.passed {
		if moments[at.Class()] || at.Moment != After && at.Moment != Download {
			continue
		}
		if strings.HasPrefix(at.Call, "ledger renew") { // by the clock: another time it may have ended before
			continue
		}
		moments[at.Class()] = true
		t.Run(at.String(), func(t *testing.T) {
			s := scene{t, s.session}
			lose()
			e, err := s.assay(t.Context(), &at, adopt...)
			s.ok(err)
			if !e.reached {
				t.Errorf("it did not come so far: %s", e)
			}
			for _, name := range []string{"openai", "anthropic", "gemini"} {
				e := s.here(t.Context(), "adopt", name, "--study", "study.yaml")
				if all := strings.Contains(e.err, "holds no job that this ledger does not know"); e.code != 0 && !all {
					t.Error(e)
				}
			}
			s.exits(0, []string{"resume"})
			got, err := s.state(t.Context())
			s.ok(err)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the run before and after (-before +after):\n%s", d)
			}
			s.ok(s.sound(t.Context()))
		})
	}
	if len(moments) < 6 {
		t.Errorf("adopt was killed at no more than %d sorts of moments: %v", len(moments), moments)
	}
	after, err := s.billed()
	s.ok(err)
	if d := cmp.Diff(before.Jobs, after.Jobs); d != "" {
		t.Errorf("something was paid for again:\n%s", d)
	}
}

// TestAnswersOfSeveralLostRunsAreNotMixed loses the ledger of two runs of one study: a later turn of one of them does not
// follow the answers of the other.
func TestAnswersOfSeveralLostRunsAreNotMixed(t *testing.T) {
	t.Parallel()
	s := newScene(t, "turns")
	runs := make([]string, 2)
	for i := range runs {
		s.exits(0, []string{"run", "study.yaml", "--yes", "--no-canary", "--new"})
		all, err := s.rows(t.Context(), "SELECT id FROM runs ORDER BY no DESC LIMIT 1")
		s.ok(err)
		runs[i] = all[0]
	}
	bill, err := s.billed()
	s.ok(err)
	var jobs []string // of the first run, at the provider that knows no stamps
	for _, j := range bill.Jobs[:len(bill.Jobs)/2] {
		if j.Provider == "anthropic" {
			jobs = append(jobs, j.ID)
		}
	}
	s.ok(os.RemoveAll(filepath.Join(s.dir, "assay-data")))
	s.exits(2, []string{"adopt", "openai", "--study", "study.yaml"}, "those of several runs ("+runs[1]+", "+runs[0]+")",
		"nothing was taken")
	if got, err := s.rows(t.Context(), "SELECT COUNT(*) FROM runs"); err != nil || got[0] != "0" {
		t.Errorf("%v runs were begun, %v", got, err)
	}
	s.exits(2, []string{"adopt", "anthropic", "--study", "study.yaml"}, "those of several runs, ")
	if got, err := s.rows(t.Context(), "SELECT COUNT(*) FROM attempts"); err != nil || got[0] != "0" {
		t.Errorf("%v answers were taken, %v", got, err)
	}
	s.exits(0, []string{"adopt", "openai", "--study", "study.yaml", "--run", runs[0]}, "8 answers joined")
	s.exits(0, append([]string{"adopt", "anthropic", "--study", "study.yaml"}, jobs...), "8 answers joined")
	s.exits(0, []string{"resume"}, "16 of 16 requests have an answer")
	after, err := s.billed()
	s.ok(err)
	if d := cmp.Diff(bill.Jobs, after.Jobs); d != "" {
		t.Errorf("something was paid for again:\n%s", d)
	}
}

// TestAJobThatTheLedgerDoesNotKnowIsTakenForItsSegment gives back a ledger as it was before a job was made.
func TestAJobThatTheLedgerDoesNotKnowIsTakenForItsSegment(t *testing.T) {
	t.Parallel()
	for _, at := range []Point{{"ledger stage", 1, After}, {"ledger upload", 1, After}, {"ledger intend", 1, After}} {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "single")
			s.killedAt(at, "--lane", "gpt")
			home, backup := filepath.Join(s.dir, "assay-data"), filepath.Join(s.dir, "backup")
			s.ok(os.CopyFS(backup, os.DirFS(home)))
			s.exits(0, []string{"resume"})
			s.ok(os.RemoveAll(home))
			s.ok(os.Rename(backup, home))
			s.exits(0, []string{"adopt", "openai"}, "taken for segment")
			s.exits(0, []string{"resume"}, "3 of 3 requests have an answer")
			s.whole()
		})
	}
}

// TestAJobWhoseKeyIsRefusedIsCollectedByTheCommandThatIsPrinted types what status prints once the key works again.
func TestAJobWhoseKeyIsRefusedIsCollectedByTheCommandThatIsPrinted(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single", "openai check revoke")
	s.exits(5, []string{"run", "study.yaml", "--yes", "--no-canary", "--lane", "gpt"}, "set a key that works, then assay resolve ")
	e := s.here(t.Context(), "status")
	_, next, _ := strings.Cut(e.out, "set a key that works, then assay ")
	next, _, _ = strings.Cut(next, ".\n")
	s.control("DELETE", "/sim/faults", "")
	s.exits(0, strings.Fields(next))
	s.exits(0, []string{"resume"}, "3 of 3 requests have an answer")
	s.whole()
}

func TestTheAnswersOfAForeignJobGoIntoAFile(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single")
	job := s.foreignJob(2)
	s.control("POST", "/sim/clock", `{"advance":"1m"}`)
	s.exits(0, []string{"adopt", "anthropic"}, "carry no stamp")
	s.exits(0, []string{"adopt", "anthropic", job, "--out", "theirs.jsonl"}, "not ours: 2 lines in theirs.jsonl")
	text, err := os.ReadFile(filepath.Join(s.dir, "theirs.jsonl"))
	s.ok(err)
	lines := 0
	for _, b := range text {
		if b == '\n' {
			lines++
		}
	}
	if lines != 2 {
		t.Errorf("want 2 lines:\n%s", text)
	}
	if got, err := s.rows(t.Context(), "SELECT COUNT(*) FROM runs"); err != nil || got[0] != "0" {
		t.Errorf("%v runs were begun, %v", got, err)
	}
	s.exits(2, []string{"adopt", "anthropic", job, "--out", "theirs.jsonl"}, "--out names another")
	s.exits(1, []string{"adopt", "anthropic", "msgbatch_none"}, "look at job msgbatch_none")
	s.exits(2, []string{"adopt", "nosuch"}, "assay list keys")
}

// TestAForeignJobOfTheNewerOpenAIAPIIsRead makes a job of responses with another client: its answers have their text.
func TestAForeignJobOfTheNewerOpenAIAPIIsRead(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	s.ok(form.WriteField("purpose", "batch"))
	file, err := form.CreateFormFile("file", "theirs.jsonl")
	s.ok(err)
	_, err = io.WriteString(file, `{"custom_id":"theirs","method":"POST","url":"/v1/responses","body":{"model":"gpt-4.1-mini","input":"Hello?","max_output_tokens":50}}`+"\n")
	s.ok(err)
	s.ok(form.Close())
	uploaded := s.made("/openai/v1/files", form.FormDataContentType(), &body)
	job := s.made("/openai/v1/batches", "application/json",
		strings.NewReader(`{"input_file_id":"`+uploaded+`","endpoint":"/v1/responses","completion_window":"24h"}`))
	s.control("POST", "/sim/clock", `{"advance":"1m"}`)
	s.exits(0, []string{"adopt", "openai", job, "--out", "theirs.jsonl"}, "not ours: 1 line")
	text, err := os.ReadFile(filepath.Join(s.dir, "theirs.jsonl"))
	s.ok(err)
	var answer struct{ Text string }
	s.ok(json.Unmarshal(text, &answer))
	if answer.Text == "" {
		t.Errorf("the answer has no text: %s", text)
	}
}

// made posts to a provider under the same key and returns the id of what it made.
func (s scene) made(path, kind string, body io.Reader) string {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), "POST", s.http.URL+path, body)
	s.ok(err)
	req.Header.Set("Authorization", "Bearer proof-key")
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	s.ok(err)
	defer resp.Body.Close()
	var thing struct{ ID string }
	s.ok(json.NewDecoder(resp.Body).Decode(&thing))
	return thing.ID
}
