package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"assay/internal/keep/artifacts"
)

// passedBy returns the moments that a process has passed so far.
func (c *child) passedBy() (passed []Point, err error) {
	text, err := os.ReadFile(c.journal)
	for line := range strings.Lines(string(text)) {
		if p, err := ParsePoint(strings.TrimSuffix(line, "\n")); err == nil {
			passed = append(passed, p)
		}
	}
	return passed, err
}

// readable wants every answer to have its raw bytes, and all of them to be read.
func (s *session) readable(ctx context.Context) error {
	e := s.here(ctx, "sql", `SELECT COUNT(*) AS n FROM outcomes WHERE artifact_no IS NULL OR line_sum IS NULL`, "--csv")
	if lines := strings.Fields(e.out); e.code != 0 || lines[len(lines)-1] != "0" {
		return fmt.Errorf("answers without raw bytes: %s", e)
	}
	if e := s.here(ctx, "results", "--json"); e.code != 0 {
		return errors.New(e.String())
	}
	return nil
}

// damageLogs changes a letter of every answer in the live logs.
func (s scene) damageLogs() {
	s.Helper()
	files, err := artifacts.Open(filepath.Join(s.dir, "assay-data", "runs"))
	s.ok(err)
	defer files.Close()
	logs, err := filepath.Glob(filepath.Join(files.String(), "*", "s1-live-*"))
	s.ok(err)
	for _, at := range logs {
		at = strings.TrimSuffix(at, ".zst")
		file, err := files.Open(s.Context(), filepath.Base(filepath.Dir(at)), filepath.Base(at))
		s.ok(err)
		text, err := io.ReadAll(file)
		s.ok(errors.Join(err, file.Close()))
		s.ok(os.WriteFile(at, []byte(strings.ReplaceAll(string(text), " the ", " teh ")), 0o600)) // read in place of the packed one
	}
}

// TestADatabaseThatGoesAwayCostsNoLiveAnswer cuts a process off from PostgreSQL while its live requests are in flight: what
// comes back meanwhile is kept, and nothing is asked again.
func TestADatabaseThatGoesAwayCostsNoLiveAnswer(t *testing.T) {
	t.Parallel()
	for _, at := range []Point{{"POST /openai/v1/responses", 5, Before}, {"POST /openai/v1/responses", 30, Accepted},
		{"ledger settle", 1, Before}, {"ledger finish", 1, Before}} {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			db := server.Database(t)
			g, through := newGate(t, db)
			s := newScene(t, "flood")
			s.db = db
			s.env["ASSAY_DB"] = through
			c, err := s.stopAt(t.Context(), at, "run", "study.yaml", "--yes")
			s.ok(err)
			g.set(true)
			s.ok(c.Process.Signal(syscall.SIGCONT))
			g.turnedAway(t, 3)
			g.set(false)
			e, err := c.wait()
			s.ok(err)
			s.said(0, e)
			s.whole()
			if n, err := s.doubts(t.Context()); n != 0 || err != nil {
				t.Errorf("%d live calls are in doubt: %v", n, err)
			}
		})
	}
}

// TestAFullDiskCostsNoLiveAnswerThatTheLedgerTakes fills the disk while live requests are in flight. Where the ledger is
// elsewhere, it takes the answers without their raw bytes; where it is not, they are lost, and that is reported.
func TestAFullDiskCostsNoLiveAnswerThatTheLedgerTakes(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{true, false} {
		t.Run(fmt.Sprint(elsewhere), func(t *testing.T) {
			t.Parallel()
			db := ""
			if elsewhere {
				db = server.Database(t)
			}
			s, err := open(t.TempDir(), "flood", db)
			sc := scene{t, s}
			sc.ok(err)
			t.Cleanup(s.close)
			at := Point{"POST /openai/v1/responses", 10, Accepted}
			c, err := s.start(t.Context(), &at, syscall.SIGXFSZ, "run", "study.yaml", "--yes", "--lane", "gpt")
			sc.ok(err)
			e, err := c.wait()
			sc.ok(err)
			sc.said(1, e, "file too large", "assay resume")
			if lost := strings.Contains(e.err, "could be kept neither"); lost == elsewhere ||
				lost == strings.Contains(e.err, "nothing is lost") {
				t.Errorf("what became of the answers is not what is said: %s", e)
			}
			sc.exits(0, []string{"resume"})
			sc.ok(s.sound(t.Context()))
			doubts, err := s.doubts(t.Context())
			sc.ok(err)
			if elsewhere != (doubts == 0) {
				t.Errorf("%d live calls are in doubt", doubts)
			}
			sc.ok(s.paidOnce(t.Context(), doubts))
		})
	}
}

// TestLongLiveAnswersAreWholeAfterATakeover kills a process before the ledger has its long answers: they are read from its
// log. Bytes that are not those of the answer are an error wherever they are shown, and no empty text.
func TestLongLiveAnswersAreWholeAfterATakeover(t *testing.T) {
	t.Parallel()
	s := newScene(t, "long")
	s.killedAt(Point{"ledger settle", 1, Before})
	s.exits(0, []string{"resume"}, "6 of 6 requests have an answer")
	e := s.here(t.Context(), "results", "--json")
	s.said(0, e)
	n := 0
	for line := range strings.Lines(e.out) {
		var row struct{ Text string }
		s.ok(json.Unmarshal([]byte(line), &row))
		if n++; len(row.Text) < 64<<10 {
			t.Errorf("an answer has %d bytes", len(row.Text))
		}
	}
	if n != 6 {
		t.Errorf("%d answers", n)
	}
	s.exits(0, []string{"export", "--format", "jsonl", "--out", "whole.jsonl"})
	s.damageLogs()
	s.exits(1, []string{"results", "--json"}, "the raw bytes are damaged")
	s.exits(1, []string{"export", "--format", "jsonl", "--out", "damaged.jsonl"}, "the raw bytes are damaged")
}
