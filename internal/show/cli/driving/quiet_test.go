package driving

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestALogSaysTheSameOnceAMinute(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	q := listenFlags{log: "json"}.logger(&out).Handler()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for i := range 70 {
		for _, run := range []string{"a", "b"} {
			r := slog.NewRecord(at.Add(time.Duration(i)*time.Second), slog.LevelError, "away", 0)
			r.Add("run", run, "error", errors.New("refused"))
			if err := q.Handle(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 4 || strings.Count(out.String(), `"run":"a"`) != 2 ||
		strings.Count(out.String(), `"repeated":59`) != 2 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

func TestALogSaysHowLongInWords(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{"json": `"run":"a","wait":"1m30s"`, "text": "run=a wait=1m30s"} {
		var out bytes.Buffer
		listenFlags{log: form}.logger(&out).Error("again", "run", "a", "wait", 90*time.Second)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s", form, out.String())
		}
	}
}

func TestALogForgetsMessagesThatDoNotComeAgain(t *testing.T) {
	t.Parallel()
	q := newQuiet(slog.DiscardHandler)
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for i := range 10_000 {
		for range 2 {
			r := slog.NewRecord(at.Add(time.Duration(i)*time.Second), slog.LevelError, "away", 0)
			r.Add("segment", i)
			if err := q.Handle(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(q.written.all); n > int(forgottenAfter/time.Second)+60 {
		t.Errorf("%d messages are kept", n)
	}
}
