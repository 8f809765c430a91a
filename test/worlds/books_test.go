package worlds

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/simulator"
)

// bill is what the providers charged.
type bill struct {
	batch map[string][]simulator.Charge // by key
	live  []simulator.Charge
	sum   int64 // nano-dollars

	called int64 // for answers through the gateway
	calls  int64 // so many; half of a price may be rounded
}

func (h *history) billed(ctx context.Context) (bill, error) {
	b := bill{batch: map[string][]simulator.Charge{}}
	called, _, _, err := h.called(ctx)
	if err != nil {
		return b, err
	}
	err = h.sim.EachCharge(func(c simulator.Charge) error {
		nonce, key, err := assay.ParseCustomID(c.ID)
		if err != nil {
			return fmt.Errorf("billed for %q: %w", c.ID, err)
		}
		b.batch[key.String()] = append(b.batch[key.String()], c)
		if called[string(nonce)] {
			b.calls++
			b.called += listCost(c)
		} else {
			b.sum += costOf(c)
		}
		return nil
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.live {
		b.live = append(b.live, c)
		b.sum += costOf(c)
	}
	for _, c := range h.calls {
		b.calls++
		b.called += listCost(c)
	}
	return b, err
}

// costOf prices an answer by the world's own table.
func costOf(c simulator.Charge) int64 {
	p, ok := priceOf(c.Provider, c.Model)
	if !ok {
		panic(fmt.Sprintf("worlds: %s/%s has no price", c.Provider, c.Model))
	}
	u := c.Usage
	written := int64(u.Write5m + u.Write1h)
	fresh := int64(u.Input) - int64(u.Cached) - written
	cached, sum := int64(u.Cached)*p.cached, fresh*p.input+written*p.write+int64(u.Output)*p.output
	switch {
	case c.Job == "":
		return sum + cached
	case c.Provider == "openai" || c.Provider == "anthropic":
		return (sum + cached) / 2
	}
	return sum/2 + cached // elsewhere a batch makes no cached token cheaper
}

// checkBooks holds what was billed against what is said to be spent: exactly, but for live calls in doubt, which the program
// counts at their most.
func (h *history) checkBooks(ctx context.Context, all []runState, b bill) error {
	_, spent, perhaps, err := h.called(ctx)
	if err != nil {
		return err
	}
	perhaps -= spent
	unsure := h.severed // or a run was cancelled
	for _, r := range all {
		if r.Spent == nil && !h.unread() {
			return breaks(L2, h.assay(ctx, ending{}, "spend", r.Run, "--json").String(), "every answer has a known price",
				"run %s has answers without one", r.Run)
		}
		spent += nano(r.AtLeast)
		perhaps += nano(r.Perhaps + r.Unpriced)
		unsure = unsure || r.State == "cancelled"
	}
	switch billed := b.sum + b.called; {
	case spent > billed+b.calls:
		return breaks(L2, h.statuses(ctx, all), "nothing is counted that was not billed", "spent %d, billed %d nano-dollars", spent, billed)
	case billed-b.calls-h.lostLive(b) > spent+perhaps && !unsure && !h.lostLogs():
		return breaks(L2, h.statuses(ctx, all), "what was billed is spent, or perhaps spent",
			"billed %d, spent %d, perhaps %d nano-dollars; %d short", billed, spent, perhaps, billed-spent-perhaps)
	}
	if err := h.checkSums(ctx, all); err != nil {
		return err
	}
	return h.checkAside(ctx, all)
}

// checkSums holds the sum that the budget of a run goes by against what is shown as spent, which is added up from its jobs.
func (h *history) checkSums(ctx context.Context, all []runState) error {
	sums := map[string]int64{}
	err := h.rows(ctx, `SELECT id, spent_nano FROM runs`, func(row *sql.Rows) error {
		var run string
		var sum int64
		err := row.Scan(&run, &sum)
		sums[run] = sum
		return err
	})
	for _, r := range all {
		if err == nil && sums[r.Run] != nano(r.AtLeast) {
			promised := fmt.Sprintf("the budget of run %s goes by what is shown as spent, %d", r.Run, nano(r.AtLeast))
			return breaks(L2, h.statuses(ctx, all), promised, "by %d nano-dollars", sums[r.Run])
		}
	}
	return err
}

// checkAside looks for money that stays set aside although every answer came, with its price.
func (h *history) checkAside(ctx context.Context, all []runState) error {
	left := map[string]bool{}
	err := h.rows(ctx, `SELECT DISTINCT r.id FROM outcomes o JOIN runs r ON r.no = o.run_no WHERE (o.ending = 'lost' OR o.cost_nano IS NULL)
		AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.segment_no = o.segment_no AND u.ord = o.ord AND u.late > o.late)`,
		func(row *sql.Rows) error {
			var run string
			err := row.Scan(&run)
			left[run] = true
			return err
		})
	if err != nil || h.back || h.lostLogs() { // what a lost log held is not known either
		return err
	}
	for _, r := range all {
		if r.Unpriced > 0 && !left[r.Run] {
			return breaks(L2, h.statuses(ctx, all), "what came, with its price, is no longer set aside", "run %s: $%.9f", r.Run, r.Unpriced)
		}
	}
	return nil
}

// unread reports whether a provider hands out lines that cannot be read: what they cost is not known.
func (h *history) unread() bool {
	return slices.ContainsFunc(h.Faults, func(f string) bool { return strings.Contains(f, "malformed") })
}

// lostLive returns the most that live answers cost which a backup cannot know.
func (h *history) lostLive(b bill) (sum int64) {
	if h.back {
		for _, c := range b.live {
			sum += costOf(c)
		}
	}
	return sum
}
