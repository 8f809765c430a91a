package runs_test

import (
	"flag"
	"os"
	"testing"

	"assay/internal/keep/store"
	"assay/internal/keep/store/storetest/pgtest"
)

var server *pgtest.Server // set once by TestMain

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(pgtest.Main(m, &server))
}

func TestARunIsAskedAnsweredAndClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished(store.ResultDone)
	w.answers(6)
	w.billedOnce(6)
}

func TestLaterTurnsFollowTheRealAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.plan.turns = 3 })
	w.finished(store.ResultDone)
	w.answers(18)
	w.billedOnce(18)
	for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "red") {
		w.ok(err)
		if a.At.Turn == 3 && a.Outcome.Text != "answer to q "+a.At.Item+" turn 3" {
			t.Errorf("turn 3 of %s: %q", a.At.Item, a.Outcome.Text)
		}
	}
}
