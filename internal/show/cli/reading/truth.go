package reading

import (
	"context"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/findings"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// maxTruths is how many lines of truth a person reads.
const maxTruths = 60

// printTruth ends a rehearsal: how many intervals hold what is true of the simulator's models, which no real run can know; the table
// where it is wanted.
func printTruth(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o End) error {
	claims, err := findings.Truth(ctx, h.Results(), run)
	if err != nil || len(claims) == 0 {
		return err
	}
	t := term.Table{Head: []string{"STAGE", "WHAT", "ABOUT", "TRUE", "FOUND", "LOW", "HIGH", "HOLDS"},
		Right: map[int]bool{3: true, 4: true, 5: true, 6: true}}
	held := 0
	for _, c := range claims {
		if c.Holds() {
			held++
		}
		if t.Len() < maxTruths {
			t.Add(claimRow(c)...)
		}
	}
	if o.Truth {
		fmt.Fprintf(w.Stdout, "\nREHEARSAL: found against true\n")
		if err := t.Write(w.Stdout); err != nil {
			return err
		}
		if len(claims) > maxTruths {
			fmt.Fprintf(w.Stderr, "the first %d lines of %d\n", maxTruths, len(claims))
		}
	}
	verb, hint := "hold", "; --truth lists them"
	if held == 1 {
		verb = "holds"
	}
	if o.Truth {
		hint = "; --luck N is another rehearsal"
	}
	return w.Say(fmt.Sprintf("\nREHEARSAL: %d of %s %s what is true of the simulated models (95%% do on average%s).\n", held,
		assay.Count(len(claims), "interval"), verb, hint))
}

func claimRow(c findings.Claim) []any {
	f := c.Finding
	var about []string
	for _, v := range f.By {
		about = append(about, v.Value)
	}
	low, high, holds := noNumber, noNumber, "no"
	if f.Interval.OK {
		low, high = f.Shown().Show(f.Interval.Low), f.Shown().Show(f.Interval.High)
	}
	if c.Holds() {
		holds = "yes"
	}
	return []any{f.Stage, f.What, strings.Join(about, " "), f.Shown().Show(c.True), shownIn(f.Shown(), f.Value), low, high, holds}
}
