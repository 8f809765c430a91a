package cli

import (
	"context"
	"fmt"
	"strings"

	"assay"
	"assay/store"
)

// strandedOf lists the segments of a shared run that no living worker can work on. What has just come due is nobody's
// fault: a worker needs a sweep to take it.
func strandedOf(ctx context.Context, w *World, h *home, run store.Run) ([]store.Stranded, error) {
	if !h.ledger.Postgres() {
		return nil, nil
	}
	return h.ledger.Stranded(ctx, run.No, h.timing(w).Lease)
}

// printStranded names the segments that wait for a worker with their key.
func printStranded(ctx context.Context, w *World, h *home, run store.Run) error {
	all, err := strandedOf(ctx, w, h, run)
	if err != nil || len(all) == 0 {
		return err
	}
	type key struct{ provider, account string }
	var order []key
	numbers := map[key][]string{}
	for _, g := range all {
		k := key{g.Provider, g.Account}
		if numbers[k] == nil {
			order = append(order, k)
		}
		numbers[k] = append(numbers[k], fmt.Sprint(g.Segment))
	}
	fmt.Fprintln(w.Stdout, "\nNo worker that is alive can go on with:")
	for _, k := range order {
		n := len(numbers[k])
		list := strings.Join(numbers[k][:min(n, 20)], ", ")
		if n > 20 {
			list += ", …"
		}
		fmt.Fprintf(w.Stdout, "  %s of %s (%s): %s\n", assay.Count(n, "segment"), k.provider, list, strandedHint(ctx, w, h, run, k.provider, k.account))
	}
	return nil
}

// strandedHint says what would take a segment up.
func strandedHint(ctx context.Context, w *World, h *home, run store.Run, provider, account string) string {
	which := "a key of " + provider
	if s, err := h.planner.Study(ctx, run); err == nil {
		if name := (&accounts{world: w, study: s}).keyName(provider); name != "" {
			which = name
		}
	}
	if account != "" {
		which += " (the key with the fingerprint " + account + ")"
	}
	return "start `assay worker`, or `assay resume " + run.ID + "`, where " + which + " is set"
}
