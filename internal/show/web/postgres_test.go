package web_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"assay/internal/keep/store/storetest/pgtest"
)

var postgres *pgtest.Server // set once by TestMain

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m, &postgres)) }

func TestEveryPageWorksOnPostgreSQL(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, postgres.Database(t), 100<<10)
	for _, path := range append(paths(), "/metrics", "/healthz", "/runs/run1/search?stage=answers&lane=gpt&q=Paris") {
		if a := r.get(path); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := r.get("/api/runs/run1"); !strings.Contains(a.body, `"runner":{"driven":`) {
		t.Errorf("the pulse by the database's clock: %s", a.body)
	}
	lines := r.news(t.Context(), "/runs/run1/news")
	await(t, lines, "event: hello")
	r.ok(r.ledger.Work.Note(t.Context(), r.run.No, 0, "something", "happened"))
	await(t, lines, "event: change")
}
