package driving

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/script/again"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/quote"
	"assay/internal/show/cli/shell"
)

// Retry makes the command `assay retry`.
func Retry(w *shell.World) *cobra.Command {
	var only, verdicts []string
	var f orderFlags
	c := orderCommand(w, &f, "retry [RUN]", "Send again what ended without an answer", func([]string) (store.Order, error) {
		r, err := retryOf(only, verdicts)
		if err != nil {
			return store.Order{}, err
		}
		text, err := json.Marshal(r)
		return store.Order{Kind: store.OrderRetry, Args: string(text)}, err
	})
	c.Long = "Sends again what ended without an answer. The run is open again, so that what was never sent goes too, whatever --only " +
		"names: the question\n" +
		"tells how many of each before anything is sent. With --verdicts it asks judges again, in a run that is closed: what could " +
		"not be read\n" +
		"(malformed) or what the judge declined (refused). Verdicts that are there stay, and are not paid for again; a new one takes " +
		"the place of the " +
		"one before, which stays in\n" +
		"the ledger. The question says what is kept, what is new and what it costs."
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "retry without asking")
	c.Flags().StringSliceVar(&only, "only", nil, "only these endings: empty, rejected, errored, expired, cancelled, lost")
	c.Flags().StringSliceVar(&verdicts, "verdicts", nil, "ask judges again for these verdicts: "+strings.Join(again.Retriable(), ", "))
	return c
}

func retryOf(only, verdicts []string) (engine.Retry, error) {
	r := engine.Retry{Verdicts: verdicts}
	if len(only) > 0 && len(verdicts) > 0 {
		return r, shell.Usage("give the two orders one after the other", "--only and --verdicts do not go together")
	}
	for _, name := range verdicts {
		if !slices.Contains(again.Retriable(), name) {
			return r, shell.Usage(assay.ThereAre(again.Retriable()), "--verdicts: %q is nothing that judges are asked again for", name)
		}
	}
	for _, name := range only {
		e, err := endingOf(name)
		if err != nil {
			return r, err
		}
		r.Only = append(r.Only, e)
	}
	return r, nil
}

// nothingToJudge reports whether an order to ask judges again has nothing to ask. A run that is open asks by itself what its study
// says: only one that is closed can be asked for more.
func nothingToJudge(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o store.Order) (bool, error) {
	var r engine.Retry
	if o.Kind != store.OrderRetry || json.Unmarshal([]byte(o.Args), &r) != nil || len(r.Verdicts) == 0 {
		return false, nil
	}
	if run.State != store.RunClosed {
		return true, shell.Usage("assay resume "+run.ID+" drives it to its end",
			"run %s is open: judges are asked again when it is closed", run.ID)
	}
	a, err := h.Rejudge(ctx, run, r.Verdicts)
	if err == nil && a.Requests() == 0 {
		fmt.Fprintf(w.Stderr, "run %s: no verdict is %s, and nothing is asked\n", run.ID, strings.Join(r.Verdicts, " or "))
		return true, nil
	}
	return false, err
}

// confirmRejudge prints what judges are asked again and for how much, and asks.
func confirmRejudge(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, what []string, yes bool) error {
	a, err := h.Rejudge(ctx, run, what)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "%s.\n", quote.PayNow(a.Cost, a.Requests(), true))
	for _, s := range a.Asked {
		fmt.Fprintf(w.Stderr, "  stage %s, judge %s: %s\n", s.Stage, s.Lane, assay.Count(s.Requests, "request"))
	}
	fmt.Fprintf(w.Stderr, "run %s: %s kept; the price goes by what has been paid or was expected\n", run.ID,
		assay.Count(a.Kept, "verdict"))
	if run.Budget != nil {
		fmt.Fprintln(w.Stderr, leftWords(run, *run.Budget, a.Cost.Expected))
	}
	return shell.Ask(w, yes, "Send?")
}

func endingOf(name string) (assay.Ending, error) {
	var names []string
	for _, e := range assay.Endings() {
		if e.Stands() {
			continue
		}
		if string(e) == name {
			return e, nil
		}
		names = append(names, string(e))
	}
	return "", shell.Usage(assay.ThereAre(names), "--only: no ending is called %q", name)
}

// confirmRetry prints what a retry sends and for how much, and asks.
func confirmRetry(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o store.Order, yes bool) error {
	var r engine.Retry
	if err := json.Unmarshal([]byte(o.Args), &r); err != nil {
		return err
	}
	if len(r.Verdicts) > 0 {
		return confirmRejudge(ctx, w, h, run, r.Verdicts, yes)
	}
	a, err := h.Again(ctx, run, r.Endings())
	if err != nil {
		return err
	}
	for _, e := range []assay.Ending{assay.Empty, assay.Rejected} {
		if n := a.Left[e]; n > 0 {
			fmt.Fprintf(w.Stderr, "%s left alone: --only %s sends %s again\n", assay.Count(n, string(e)+" request"), e,
				assay.Verb(n, "it", "them"))
		}
	}
	if a.Ended+a.Unsent == 0 {
		return nil
	}
	if err := warnOfEdit(ctx, w, h, run); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "%s.\nrun %s: %s kept, %s to be sent again, %s not sent yet and to be sent; the price goes by what has been "+
		"paid or was expected\n", quote.PayNow(a.Cost, a.Ended+a.Unsent+a.Follow, a.Follow == 0), run.ID, assay.Count(a.Kept, "answer"),
		assay.Count(a.Ended, "request"), assay.Thousands(a.Unsent+a.Follow))
	if run.Budget != nil {
		fmt.Fprintln(w.Stderr, leftWords(run, *run.Budget, a.Cost.Expected))
	}
	return shell.Ask(w, yes, "Send?")
}

// warnOfEdit prints what was changed in the study of a run since it began: what is sent again goes as it was.
func warnOfEdit(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	since, file, err := workspace.ChangedSince(ctx, h.Home, run)
	if err != nil || len(since) == 0 {
		return err
	}
	if short, err := filepath.Rel(w.Disk.Path("."), file); err == nil && filepath.IsLocal(short) {
		file = short
	}
	fmt.Fprintf(w.Stderr, "since run %s began the study changed: %s; a retry sends requests as they were, `assay run %s%s` as "+
		"they are now\n", run.ID, since, results.ShellWord(file), h.Typed)
	return nil
}
