package store

import (
	"context"
	"fmt"
	"sort"

	"assay"
)

// ClientCall is a live call that a gateway is about to pass on.
type ClientCall struct {
	Owner, Provider, Model string
	High                   *assay.Money // the most it may cost; nil: unknown
}

// ClientCallEnd is how such a call ended.
type ClientCallEnd struct {
	Ending assay.Ending
	Usage  assay.Usage
	Cost   *assay.Money // nil: unknown
}

// BeginClientCall writes a call down before it leaves, durably, and returns its number.
func (s *Ledger) BeginClientCall(ctx context.Context, c ClientCall) (no int64, err error) {
	err = s.tx(ctx, "begin client call", durable, func(t *txn) error {
		return t.QueryRowContext(ctx, `INSERT INTO client_calls (owner, provider, model, began_ms, high_nano) VALUES ($1, $2, $3, $4, $5) RETURNING no`,
			c.Owner, c.Provider, c.Model, s.millis(), nanos(c.High)).Scan(&no)
	})
	return no, err
}

// EndClientCall writes how a call ended; once.
func (s *Ledger) EndClientCall(ctx context.Context, no int64, e ClientCallEnd) error {
	return s.tx(ctx, "end client call", durable, func(t *txn) error {
		var in, out any
		if e.Usage.Known {
			in, out = e.Usage.Input, e.Usage.Output
		}
		return t.one(ctx, fmt.Errorf("client call %d: %w", no, ErrNotFound), `UPDATE client_calls SET ended_ms = $2, ending = $3, input_tokens = $4, output_tokens = $5, cost_nano = $6
			WHERE no = $1 AND ended_ms IS NULL`, no, s.millis(), string(e.Ending), in, out, nanos(e.Cost))
	})
}

// ClientUsage is what a user of a gateway has used.
type ClientUsage struct {
	Owner    string
	Batches  int64
	Calls    int64 // live ones that were passed on
	Open     int64 // of them: those without an ending
	Input    int64 // tokens, as far as replies said how many
	Output   int64
	Unsaid   int64       // replies that did not
	Spent    assay.Money // as far as prices are known
	Unpriced int64       // requests and calls that ended without a known price
	Taken    assay.Money // spent, and what is open may still cost at most
}

// UsageNumber is one of the numbers of a user, for a monitor.
type UsageNumber struct {
	Name, Help string
	Value      float64
}

// Numbers are what a monitor is shown of a user.
func (u ClientUsage) Numbers() []UsageNumber {
	return []UsageNumber{
		{"batches", "Batches that a user of the gateway made.", float64(u.Batches)},
		{"calls", "Live calls of a user that the gateway passed on.", float64(u.Calls)},
		{"calls_open", "Of them, those without an ending: in flight, or cut off when a gateway stopped.", float64(u.Open)},
		{"input_tokens", "Tokens of prompts, as far as replies said how many.", float64(u.Input)},
		{"output_tokens", "Tokens of answers, as far as replies said how many.", float64(u.Output)},
		{"unsaid", "Replies that did not say how many tokens they took.", float64(u.Unsaid)},
		{"spent_dollars", "What a user has spent, as far as prices are known.", u.Spent.Float()},
		{"unpriced", "Requests and calls without a known price.", float64(u.Unpriced)},
		{"taken_dollars", "What a user has spent, and what is open may still cost at most.", u.Taken.Float()},
	}
}

// clientRuns are the runs that clients of a gateway began; their settings say so.
const clientRuns = `study = 'gateway' AND settings LIKE '%"client":{%' AND state <> 'preparing'`

// ClientUsage reads what the users of gateways have used, by name.
func (s *Reader) ClientUsage(ctx context.Context) ([]ClientUsage, error) {
	all := map[string]*ClientUsage{}
	for _, query := range []string{
		`SELECT started_by, COUNT(*), 0, 0, 0, 0, 0, CAST(SUM(spent_nano) AS BIGINT), CAST(SUM(spent_unknown) AS BIGINT),
			CAST(SUM(CASE WHEN state = 'open' AND COALESCE(budget_nano, 0) > spent_nano + perhaps_nano + reserved_nano THEN budget_nano
				WHEN state = 'open' THEN spent_nano + perhaps_nano + reserved_nano ELSE spent_nano + perhaps_nano END) AS BIGINT)
			FROM runs WHERE ` + clientRuns + ` GROUP BY started_by`,
		`SELECT r.started_by, 0, 0, 0, CAST(SUM(g.input_tokens) AS BIGINT), CAST(SUM(g.output_tokens) AS BIGINT), CAST(SUM(g.usage_unknown) AS BIGINT), 0, 0, 0
			FROM (SELECT no, started_by FROM runs WHERE ` + clientRuns + `) r JOIN segments g ON g.run_no = r.no GROUP BY r.started_by`,
		`SELECT owner, 0, COUNT(*), CAST(SUM(CASE WHEN ended_ms IS NULL THEN 1 ELSE 0 END) AS BIGINT), CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT), CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT),
			CAST(SUM(CASE WHEN ended_ms IS NOT NULL AND input_tokens IS NULL AND COALESCE(cost_nano, 1) > 0 THEN 1 ELSE 0 END) AS BIGINT), CAST(COALESCE(SUM(cost_nano), 0) AS BIGINT),
			CAST(SUM(CASE WHEN ended_ms IS NOT NULL AND cost_nano IS NULL THEN 1 ELSE 0 END) AS BIGINT),
			CAST(COALESCE(SUM(CASE WHEN ended_ms IS NULL THEN high_nano ELSE COALESCE(cost_nano, high_nano) END), 0) AS BIGINT)
			FROM client_calls GROUP BY owner`,
	} {
		if err := s.addUsage(ctx, all, query); err != nil {
			return nil, fmt.Errorf("read the usage of clients: %w", err)
		}
	}
	out := make([]ClientUsage, 0, len(all))
	for _, u := range all {
		out = append(out, *u)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Owner < out[j].Owner })
	return out, nil
}

func (s *Reader) addUsage(ctx context.Context, all map[string]*ClientUsage, query string) error {
	rows, err := s.read.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var u ClientUsage
		if err := rows.Scan(&u.Owner, &u.Batches, &u.Calls, &u.Open, &u.Input, &u.Output, &u.Unsaid, &u.Spent, &u.Unpriced, &u.Taken); err != nil {
			return err
		}
		sum := all[u.Owner]
		if sum == nil {
			sum = &ClientUsage{Owner: u.Owner}
			all[u.Owner] = sum
		}
		sum.Batches, sum.Calls, sum.Open = sum.Batches+u.Batches, sum.Calls+u.Calls, sum.Open+u.Open
		sum.Input, sum.Output, sum.Unsaid = sum.Input+u.Input, sum.Output+u.Output, sum.Unsaid+u.Unsaid
		sum.Spent, sum.Unpriced, sum.Taken = sum.Spent+u.Spent, sum.Unpriced+u.Unpriced, sum.Taken+u.Taken
	}
	return rows.Err()
}
