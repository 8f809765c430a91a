package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/engine"
	"assay/store"
)

type redoFlags struct {
	home   homeFlags
	lane   string
	items  []string
	stage  string
	branch string
	draw   int
	yes    bool
	detach bool
}

func redoCommand(w *World) *cobra.Command {
	var f redoFlags
	c := &cobra.Command{
		Use:     "redo [RUN] --lane LANE --item ITEM",
		GroupID: groupRun,
		Short:   "Ask again what has an answer, as one more draw",
		Long: "Asks a lane again about an item. The answer that is there stays: the new one is a further draw of the same question, and every table\n" +
			"counts it as that. A conversation is asked again from its first turn, and the judges of its stage read it too; stages that continue it\n" +
			"or compare it keep to the draws and pairs of the plan. In a judge or compare stage LANE is the judge, and its new answer is one more vote.\n\n" +
			"When somebody drives the run, that process obeys; else this one does.",
		Args: upTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error { return redo(c.Context(), w, firstOf(args), f) },
	}
	f.home.register(c)
	flags := c.Flags()
	flags.StringVar(&f.lane, "lane", "", "the lane that answers")
	flags.StringArrayVar(&f.items, "item", nil, "the item's id (repeatable)")
	flags.StringVar(&f.stage, "stage", "", "the stage; needed where the lane answers in several")
	flags.StringVar(&f.branch, "branch", "", "only this branch")
	flags.IntVar(&f.draw, "draw", 0, "only this draw")
	flags.BoolVarP(&f.yes, "yes", "y", false, "send without asking")
	flags.BoolVar(&f.detach, "detach", false, "stop when it is on its way")
	return c
}

func redo(ctx context.Context, w *World, ref string, f redoFlags) error {
	if f.lane == "" || len(f.items) == 0 {
		return usage("assay results RUN shows lanes and items", "assay redo wants --lane and --item")
	}
	h, run, err := f.home.find(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	if f.stage, err = redoStage(ctx, h, run, f); err != nil {
		return err
	}
	orders, adds, err := redoOrders(ctx, h, run, f)
	if err != nil {
		return err
	}
	if err := confirmRedo(ctx, w, h, run, adds, f); err != nil {
		return err
	}
	for _, o := range orders {
		if err := give(ctx, w, h, run, o); err != nil {
			return err
		}
	}
	return driveRun(ctx, w, h, run, driveOptions{detach: f.detach})
}

// redoStage is the stage in which the lane answers.
func redoStage(ctx context.Context, h *home, run store.Run, f redoFlags) (string, error) {
	lanes, err := h.ledger.Lanes(ctx, run.No)
	if err != nil {
		return "", err
	}
	var stages, names []string
	for _, l := range lanes {
		names = append(names, l.Name)
		if l.Name == f.lane && (f.stage == "" || f.stage == l.Stage) {
			stages = append(stages, l.Stage)
		}
	}
	switch {
	case len(stages) == 1:
		return stages[0], nil
	case len(stages) > 1:
		return "", usage("say which with --stage", "lane %s answers in several stages: %s", f.lane, strings.Join(stages, ", "))
	case f.stage != "":
		return "", usage(assay.DidYouMean(f.lane, names), "no lane %q answers in a stage %q of run %s", f.lane, f.stage, run.ID)
	}
	return "", usage(assay.DidYouMean(f.lane, names), "run %s has no lane %q", run.ID, f.lane)
}

// redoOrders are the orders for every item, and what all of them together add to the run.
func redoOrders(ctx context.Context, h *home, run store.Run, f redoFlags) ([]store.Order, []store.Share, error) {
	var orders []store.Order
	var adds []store.Share
	for _, item := range f.items {
		r := engine.Redo{Stage: f.stage, Lane: f.lane, Item: item, Branch: f.branch, Draw: f.draw}
		some, err := h.planner.Redo(ctx, run, r.Of(run.No))
		if err != nil {
			return nil, nil, err
		}
		if len(some) == 0 {
			return nil, nil, usage("assay results "+run.ID+" --stage "+f.stage+" --lane "+f.lane+" shows what was asked",
				"item %q was not asked like that in lane %s of stage %s", assay.Clean(item, 100), f.lane, f.stage)
		}
		text, err := json.Marshal(r)
		if err != nil {
			return nil, nil, err
		}
		orders = append(orders, store.Order{Kind: store.OrderRedo, Args: string(text)})
		adds = addShares(adds, some)
	}
	return orders, adds, nil
}

func addShares(all, more []store.Share) []store.Share {
next:
	for _, m := range more {
		for i := range all {
			if all[i].Stage == m.Stage && all[i].Lane == m.Lane {
				all[i].Requests += m.Requests
				continue next
			}
		}
		all = append(all, m)
	}
	return all
}

// confirmRedo says what is asked again and what it costs by what the same lanes have cost in this run, and asks.
func confirmRedo(ctx context.Context, w *World, h *home, run store.Run, adds []store.Share, f redoFlags) error {
	if h.rehearsal {
		return nil
	}
	segments, err := h.ledger.Segments(ctx, run.No)
	if err != nil {
		return err
	}
	var total assay.Cost
	fmt.Fprintln(w.Stderr, "Asked again, as further draws; the answers that are there stay:")
	for _, a := range adds {
		cost := meanCost(segments, a)
		total = total.Add(cost)
		fmt.Fprintf(w.Stderr, "  stage %s, lane %s: %s, about %s by what it has cost so far\n", a.Stage, a.Lane, assay.Count(int(a.Requests), "request"), cost)
	}
	fmt.Fprintf(w.Stderr, "About %s in all", total)
	if run.Budget != nil {
		fmt.Fprintf(w.Stderr, "; %s of the budget of %s is spent or reserved", run.Spent+run.Reserved, *run.Budget)
	}
	fmt.Fprintln(w.Stderr, ".")
	return ask(w, f.yes, "Send?")
}

// meanCost is what so many more requests of a lane cost by what its requests have cost; unknown where none has a price.
func meanCost(segments []store.Segment, a store.Share) assay.Cost {
	var had assay.Cost
	for _, g := range segments {
		if g.Stage == a.Stage && g.Lane == a.Lane && g.Mode != store.Reuse {
			had = had.Add(g.Cost)
		}
	}
	if had.Priced == 0 {
		return assay.Cost{Unknown: a.Requests}
	}
	return assay.Cost{Sum: had.Sum * assay.Money(a.Requests) / assay.Money(had.Priced), Priced: a.Requests}
}

// tellRedone says that a run has draws that its plan had not: whoever reads its numbers should know.
func tellRedone(ctx context.Context, w *World, h *home, run store.Run) error {
	redos, err := h.ledger.Redos(ctx, run.No)
	switch {
	case err != nil || len(redos) == 0:
		return err
	case len(redos) == 1:
		fmt.Fprintf(w.Stderr, "run %s: 1 redone draw counts as one more draw of its item\n", run.ID)
	default:
		fmt.Fprintf(w.Stderr, "run %s: %d redone draws count as further draws of their items\n", run.ID, len(redos))
	}
	return nil
}
