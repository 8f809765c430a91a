package driving

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/show/cli/shell"
)

// WriteOrder writes an order for the process that drives the run.
func WriteOrder(ctx context.Context, h *shell.Home, run store.Run, o store.Order) error {
	_, err := h.PutOrder(ctx, run, o)
	return err
}

// printOrder prints what became of an order.
func printOrder(ctx context.Context, w *shell.World, h *shell.Home, no int64) error {
	o, err := h.Ledger.Reader.Order(ctx, no)
	if err != nil {
		return err
	}
	answer := o.Answer
	if o.Obeyed.IsZero() {
		answer = "the order waits for the process that drives the run"
	}
	_, err = fmt.Fprintf(w.Stderr, "%s: %s\n", o.Kind, answer)
	return err
}

// orderFlags are those of a command that gives an order.
type orderFlags struct {
	shell.HomeFlags
	yes bool
}

// orderCommand returns a command that gives an order. When another process drives the run, that process carries it out; else we do.
// What cannot be taken back is asked about first.
func orderCommand(w *shell.World, f *orderFlags, use, short string, order func(args []string) (store.Order, error)) *cobra.Command {
	c := &cobra.Command{
		Use:     use,
		GroupID: shell.GroupRun,
		Short:   short,
		Args:    shell.UpTo(strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(use))[1:]...),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := order(args)
			if err != nil {
				return err
			}
			return carryOutOrder(c.Context(), w, shell.FirstOf(args), o, *f)
		},
	}
	f.Register(c)
	return c
}

func carryOutOrder(ctx context.Context, w *shell.World, ref string, o store.Order, f orderFlags) error {
	h, run, err := f.Ordered(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	if run.State == store.RunClosed && o.Kind == store.OrderCancel {
		fmt.Fprintf(w.Stderr, "run %s has ended already, and nothing was cancelled\n", run.ID)
		return nil
	}
	if done, err := nothingToJudge(ctx, w, h, run, o); done || err != nil {
		return err
	}
	if err := h.Decidable(ctx, run, o); err != nil {
		return err
	}
	if err := confirmOrder(ctx, w, h, run, o, ref, f.yes); err != nil {
		return err
	}
	if o, err = retryLive(run, o); err != nil {
		return err
	}
	no, err := h.PutOrder(ctx, run, o)
	if err != nil {
		return err
	}
	err = driveRun(ctx, w, h, run, driveAfter(run, o))
	if printErr := printOrder(context.WithoutCancel(ctx), w, h, no); err == nil {
		err = printErr
	}
	return err
}

// driveAfter returns how far a run is driven after an order: what can be done now is done. Of a batch file, what is sent
// again goes out, and what is asked live is waited for.
func driveAfter(run store.Run, o store.Order) DriveOptions {
	b, batch := batchrun.Of(run)
	switch {
	case !batch || o.Kind != store.OrderRetry:
		return DriveOptions{Once: true}
	case b.File.Mode == assay.ModeLive:
		return DriveOptions{}
	}
	return DriveOptions{Detach: true}
}

// retryLive has a retry of a batch file that is asked live sent live again.
func retryLive(run store.Run, o store.Order) (store.Order, error) {
	b, batch := batchrun.Of(run)
	if !batch || o.Kind != store.OrderRetry || b.File.Mode != assay.ModeLive {
		return o, nil
	}
	var r engine.Retry
	if err := json.Unmarshal([]byte(o.Args), &r); err != nil {
		return o, err
	}
	r.Mode = store.Live
	text, err := json.Marshal(r)
	o.Args = string(text)
	return o, err
}

// confirmOrder asks before what cannot be taken back: a run that was not named is cancelled, or requests are paid for.
func confirmOrder(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o store.Order, ref string, yes bool) error {
	switch {
	case h.Rehearsal:
		return nil
	case o.Kind == store.OrderCancel && ref == "":
		return shell.Doubt{Question: "Cancel run " + run.ID + "?", Verb: "cancel run " + run.ID + ", or name the run",
			Declined: "nothing was cancelled"}.Ask(w, yes)
	case o.Kind == store.OrderRetry:
		return confirmRetry(ctx, w, h, run, o, yes)
	}
	return nil
}
