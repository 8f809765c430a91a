package driving

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// payment holds what a run cost before a command, and after it.
type payment struct{ before, now assay.Cost }

// compared holds what `assay judge --json` prints.
type compared struct {
	A         string            `json:"a"`
	B         string            `json:"b"`
	Trait     string            `json:"trait"`
	Run       string            `json:"run"`
	Rehearsal bool              `json:"rehearsal"`
	Verdicts  []comparedVerdict `json:"comparisons"`
	WinsA     int               `json:"wins_a"`
	WinsB     int               `json:"wins_b"`
	Ties      int               `json:"ties"`
	Abstained int               `json:"abstained"`       // the judge could not say
	Without   int               `json:"without_verdict"` // refused, malformed or failed
	Cost      *float64          `json:"cost_usd"`        // of all that the run asked; null: not known
	PaidNow   *float64          `json:"paid_now_usd"`    // by this command; null: not known
	Swayed    []string          `json:"swayed_judges"`   // whose choice changes with the order
}

// comparedVerdict is the verdict of one judge on the two in one order.
type comparedVerdict struct {
	Judge  string   `json:"judge"`
	First  string   `json:"first"` // shown first
	Second string   `json:"second"`
	State  string   `json:"state"`  // valid, or why there is no verdict
	Winner *string  `json:"winner"` // "tie": neither; null: no verdict
	Reason string   `json:"reason"`
	Cost   *float64 `json:"cost_usd"`
	Key    string   `json:"key"`
}

const tied = "tie"

// print prints the verdicts, and what they cost.
func (f judgeFlags) print(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, two [2]side, paid payment) error {
	doc := compared{A: two[0].name, B: two[1].name, Trait: f.trait, Run: run.ID, Rehearsal: h.Rehearsal, Swayed: []string{},
		Verdicts: []comparedVerdict{}}
	if err := f.read(ctx, h, run, two, &doc); err != nil {
		return err
	}
	if paid.now.Known() {
		doc.Cost = new(paid.now.Sum.Float())
		if paid.before.Known() {
			doc.PaidNow = new((paid.now.Sum - paid.before.Sum).Float())
		}
	}
	doc.count()
	wanted := len(f.judges)
	if f.order == bothOrders {
		wanted *= 2
	}
	doc.Without += max(0, wanted-len(doc.Verdicts)) // what was never sent has no row
	if f.json {
		if err := term.WriteJSON(w.Stdout, doc); err != nil {
			return err
		}
	} else if _, err := fmt.Fprint(w.Stdout, doc.words(f.judges)); err != nil {
		return err
	}
	if doc.Without > 0 {
		return &shell.ExitError{
			Code: shell.ExitIncomplete, Err: fmt.Errorf("%d of %s %s no verdict", doc.Without, assay.Count(wanted, "comparison"),
				assay.Verb(wanted, "has", "have")),
			Hint: "`assay errors " + h.Named(run) + "` says why; `assay retry " + h.Named(run) +
				"` sends again, and with --verdicts malformed,refused asks judges again",
		}
	}
	return nil
}

// read collects the verdicts of the judges, in the order in which they were named, A shown first before B.
func (f judgeFlags) read(ctx context.Context, h *shell.Home, run store.Run, two [2]side, doc *compared) error {
	names := map[string]string{two[0].id: two[0].name, two[1].id: two[1].name}
	var all []comparedVerdict
	table, err := rows.Of(ctx, h.Results(), run)
	if err != nil {
		return err
	}
	for r, err := range table.Of(ctx, rows.Answers(ctx, h.Results(), run, rows.Pick{})) {
		if err != nil {
			return err
		}
		i := slices.IndexFunc(f.judges, func(model string) bool { return laneOf(model) == r.Judge })
		if i < 0 {
			continue
		}
		v := comparedVerdict{Judge: f.judges[i], First: names[r.First], Second: names[r.Second], State: r.Ending, Cost: r.Cost, Key: r.Key}
		for _, given := range r.Verdicts {
			if v.State, v.Reason = string(given.State), given.Reason; given.State == assay.VerdictValid {
				v.Winner = v.winner(given.Label)
			}
		}
		again := slices.IndexFunc(all, func(w comparedVerdict) bool { return w.Judge == v.Judge && w.First == v.First })
		if again < 0 {
			all = append(all, v)
		} else if all[again].Winner == nil { // it was asked again
			all[again] = v
		}
	}
	for _, model := range f.judges {
		for _, first := range []string{doc.A, doc.B} {
			for _, v := range all {
				if v.Judge == model && v.First == first {
					doc.Verdicts = append(doc.Verdicts, v)
				}
			}
		}
	}
	return nil
}

// winner is who is better by a judge's label; nil: the label says neither.
func (v *comparedVerdict) winner(label string) *string {
	who := ""
	switch label {
	case assay.LabelA:
		who = v.First
	case assay.LabelB:
		who = v.Second
	case assay.LabelTie:
		who = tied
	default:
		return nil
	}
	return &who
}

// count counts who won, and finds judges whose choice changes with the order.
func (d *compared) count() {
	won := map[string]string{}
	for _, v := range d.Verdicts {
		switch {
		case v.State == string(assay.VerdictAbstained):
			d.Abstained++
			continue
		case v.Winner == nil:
			d.Without++
			continue
		case *v.Winner == d.A:
			d.WinsA++
		case *v.Winner == d.B:
			d.WinsB++
		default:
			d.Ties++
		}
		if before, ok := won[v.Judge]; ok && before != *v.Winner {
			d.Swayed = append(d.Swayed, v.Judge)
		}
		won[v.Judge] = *v.Winner
	}
}

// words returns the comparison for a person.
func (d *compared) words(judges []string) string {
	var b strings.Builder
	mark := ""
	if d.Rehearsal {
		mark = "REHEARSAL: "
	}
	for _, name := range judges {
		fmt.Fprintf(&b, "%s%s\n", mark, name)
		for _, v := range d.Verdicts {
			if v.Judge == name {
				fmt.Fprintf(&b, "  %s shown first: %s\n", v.First, v.words())
			}
		}
		if slices.Contains(d.Swayed, name) {
			b.WriteString("  Its choice changes with the order.\n")
		}
	}
	fmt.Fprintf(&b, "%s%s\n", mark, d.result())
	fmt.Fprintf(&b, "Cost: %s. Run %s; `assay show KEY` shows a request.\n", d.cost(), d.Run)
	return b.String()
}

// cost returns what was paid, in words.
func (d *compared) cost() string {
	switch {
	case d.PaidNow == nil || d.Cost == nil:
		return "not known"
	case *d.PaidNow == 0 && *d.Cost > 0:
		return "nothing now, " + assay.Dollars(*d.Cost).String() + " before"
	case *d.PaidNow == 0:
		return "nothing"
	case *d.PaidNow < *d.Cost:
		return assay.Dollars(*d.PaidNow).String() + " now, " + assay.Dollars(*d.Cost-*d.PaidNow).String() + " before"
	}
	return assay.Dollars(*d.PaidNow).String()
}

func (v *comparedVerdict) words() string {
	text := ""
	switch {
	case v.State == string(assay.VerdictAbstained):
		text = "the judge cannot say"
	case v.Winner == nil:
		text = "no verdict (" + v.State + ")"
	case *v.Winner == tied:
		text = "a tie"
	default:
		text = *v.Winner + " is better"
	}
	if v.Reason != "" {
		text += ": " + assay.Clean(v.Reason, 2000)
	}
	return text + " [" + shell.Shortened(v.Key) + "]"
}

// result is who won in all.
func (d *compared) result() string {
	n := d.WinsA + d.WinsB + d.Ties
	switch {
	case n == 0:
		return "There is no verdict."
	case d.Ties == n:
		return fmt.Sprintf("Neither is better in %s.", allOf(n))
	case d.WinsA == n:
		return fmt.Sprintf("%s is better in %s.", d.A, allOf(n))
	case d.WinsB == n:
		return fmt.Sprintf("%s is better in %s.", d.B, allOf(n))
	case d.WinsA == d.WinsB:
		return fmt.Sprintf("No winner: %s and %s are each better in %d of %s, %s.", d.A, d.B, d.WinsA, assay.Count(n, "comparison"),
			assay.Count(d.Ties, "tie"))
	}
	return fmt.Sprintf("%s is better in %d, %s in %d of %s, %s.", d.A, d.WinsA, d.B, d.WinsB, assay.Count(n, "comparison"),
		assay.Count(d.Ties, "tie"))
}

func allOf(n int) string {
	if n == 1 {
		return "the one comparison"
	}
	return fmt.Sprintf("all %d comparisons", n)
}
