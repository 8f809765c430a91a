package script_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/study/plan"
)

// TestFewItemsAreReadOnce closes the ledger: what is walked over then was kept.
func TestFewItemsAreReadOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, `{"id": "m%d", "nested": {"texts": [%q]}}`+"\n", i, strings.Repeat("long ", 10_000))
	}
	run := r.begin(ctx, fstest.MapFS{
		"s.yaml": {Data: []byte(strings.Replace(lanes, "inputs:\n", "inputs:\n  many: {file: many.jsonl}\n", 1) +
			"  - {name: few, ask: q, prompt: \"{{ text }}\"}\n  - {name: most, ask: many, prompt: \"{{ nested.texts[0] }}\"}\n")},
		"many.jsonl": {Data: []byte(many.String())},
	})
	open := func() plan.Rows {
		in, _, err := r.planner.Store.Open(ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		return in.Rows
	}
	walk := func(rows plan.Rows, input string) (ids []string, failed error) {
		for it, err := range rows.Items(ctx, input) {
			if err != nil {
				return ids, err
			}
			ids = append(ids, it.ID)
		}
		return ids, nil
	}
	rows, after := open(), open()
	for _, input := range []string{"q", "many"} {
		if ids, err := walk(rows, input); err != nil || len(ids) != map[string]int{"q": 3, "many": 30}[input] {
			t.Fatalf("%s: %q, %v", input, ids, err)
		}
	}
	for range rows.Items(ctx, "many") {
		break // of a walk that ends early nothing is kept
	}
	if err := r.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	if ids, err := walk(rows, "q"); err != nil || strings.Join(ids, " ") != `a b c/ "d" 🙂` {
		t.Errorf("a second walk over few items: %q, %v", ids, err)
	}
	if ids, err := walk(rows, "many"); err == nil {
		t.Errorf("%d items of 1.5 MB were kept", len(ids))
	}
	if ids, err := walk(after, "q"); err == nil {
		t.Errorf("a study that was loaded anew, as after an edit, has items of before: %q", ids)
	}
}
