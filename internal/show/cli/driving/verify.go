package driving

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Drive works on a run until it is closed or waits for a decision, and prints how it ended. First answers that wait for a yes are
// shown; at a terminal the yes can be given at once, and it goes on.
func Drive(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, s *study.Study, o DriveOptions) error {
	for {
		c, err := driveOnce(ctx, w, h, run, s, o)
		if yes, err := goesOn(ctx, w, h, c, o, err); !yes {
			return err
		}
	}
}

// goesOn reports whether a run whose first answers wait for a yes was given it; else it returns what the drive came to.
func goesOn(ctx context.Context, w *shell.World, h *shell.Home, c runs.Standing, o DriveOptions, came error) (bool, error) {
	if c.Cause != runs.CauseYes || ctx.Err() != nil {
		return false, came
	}
	yes, err := verified(ctx, w, h, c.Run, o)
	if err != nil || !yes {
		return false, cmp.Or(err, came)
	}
	err = WriteOrder(ctx, h, c.Run, store.Order{Kind: store.OrderProceed})
	return err == nil, err
}

// printUnverified names the lanes whose first answers --verify-first does not wait for: those that go live.
func printUnverified(w *shell.World, p *plan.Plan) {
	var names []string
	for _, q := range p.Parts {
		if q.Mode == assay.ModeLive && !slices.Contains(names, q.Lane.Name) {
			names = append(names, q.Lane.Name)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(w.Stderr, "--verify-first is about batches: %s go live, and nothing of them waits\n", strings.Join(names, ", "))
	}
}

// verified shows the first answers of a run, and asks whether it goes on. Without a terminal no one can say yes here.
func verified(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o DriveOptions) (bool, error) {
	all, err := rows.FirstAnswers(ctx, h.Results(), run)
	if err != nil {
		return false, err
	}
	for _, f := range all {
		printFirst(w.Stderr, f)
	}
	if !w.Terminal.In || o.Once {
		return false, nil
	}
	return shell.Doubt{Question: "Send the rest?"}.Yes(w)
}

// Of a text that is shown, so many lines and so many bytes of a line are printed.
const (
	shownLines = 40
	shownBytes = 500
)

// printFirst prints what a lane was asked first and what it answered.
func printFirst(w io.Writer, f rows.FirstAnswer) {
	at := f.Answer.At
	fmt.Fprintf(w, "\nstage %s, lane %s (%s/%s), item %q%s\n", f.Lane.Stage, f.Lane.Name, f.Lane.Provider, f.Lane.Model,
		assay.Clean(at.Item, 100), shell.Named(at))
	for i, t := range f.Turns {
		head := t.Role
		if i == len(f.Turns)-1 {
			head = fmt.Sprintf("%s (%s, %s)", t.Role, f.Answer.Outcome.Ending, answerCost(f.Answer))
		}
		fmt.Fprintf(w, "  %s:\n", head)
		lines := strings.Split(t.Text, "\n")
		for n, line := range lines {
			if n == shownLines {
				fmt.Fprintf(w, "    … %s more\n", assay.Count(len(lines)-n, "line"))
				break
			}
			fmt.Fprintf(w, "    %s\n", assay.Clean(line, shownBytes))
		}
	}
}

// answerCost returns what one answer has cost.
func answerCost(a store.Answer) string {
	if a.Cost == nil {
		return "price unknown"
	}
	return a.Cost.String()
}
