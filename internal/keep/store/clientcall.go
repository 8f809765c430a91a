package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sort"
	"strconv"

	"assay/internal/assay"
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

// BeginClientCall writes a call down before it leaves, durably, and returns its number. *AllowanceError: the budgets do not
// cover the most that it may cost.
func (s *Ledger) BeginClientCall(ctx context.Context, c ClientCall, a Allowance) (no int64, err error) {
	err = s.tx(ctx, "begin client call", durable, func(t *txn) error {
		if c.High == nil && a.Bounded() {
			return fmt.Errorf("a call without a price, %w", ErrBudget)
		}
		if c.High != nil {
			if err := t.allow(ctx, a, *c.High); err != nil {
				return err
			}
		}
		err := t.QueryRowContext(ctx, `INSERT INTO client_calls (owner, provider, model, began_ms, high_nano) VALUES ($1, $2, $3, $4, $5) RETURNING no`,
			c.Owner, c.Provider, c.Model, s.millis(), nanos(c.High)).Scan(&no)
		if err != nil {
			return err
		}
		var most assay.Money
		if c.High != nil {
			most = *c.High
		}
		_, err = t.ExecContext(ctx, `INSERT INTO client_sums (owner, calls, in_flight, taken_nano, no_most) VALUES ($1, 1, 1, $2, $3) ON CONFLICT (owner) DO UPDATE SET
			calls = client_sums.calls + 1, in_flight = client_sums.in_flight + 1, taken_nano = client_sums.taken_nano + excluded.taken_nano, no_most = client_sums.no_most + excluded.no_most`,
			c.Owner, int64(most), flag(c.High == nil))
		return err
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
		var owner string
		var high sql.NullInt64
		err := t.QueryRowContext(ctx, `UPDATE client_calls SET ended_ms = $2, ending = $3, input_tokens = $4, output_tokens = $5, cost_nano = $6
			WHERE no = $1 AND ended_ms IS NULL RETURNING owner, high_nano`, no, s.millis(), string(e.Ending), in, out, nanos(e.Cost)).Scan(&owner, &high)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("client call %d: %w", no, ErrNotFound)
		}
		if err != nil {
			return err
		}
		add := ClientUsage{Open: -1, Unpriced: flag(e.Cost == nil), Unsaid: flag(!e.Usage.Known && (e.Cost == nil || *e.Cost > 0))}
		if e.Usage.Known {
			add.Input, add.Output = e.Usage.Input, e.Usage.Output
		}
		if e.Cost != nil { // it counted with its most until now
			add.Spent, add.Taken, add.NoMost = *e.Cost, *e.Cost-assay.Money(high.Int64), -flag(!high.Valid)
		}
		_, err = t.ExecContext(ctx, `UPDATE client_sums SET in_flight = in_flight + $2, input_tokens = input_tokens + $3, output_tokens = output_tokens + $4, unsaid = unsaid + $5,
			spent_nano = spent_nano + $6, unpriced = unpriced + $7, taken_nano = taken_nano + $8, no_most = no_most + $9 WHERE owner = $1`,
			owner, add.Open, add.Input, add.Output, add.Unsaid, int64(add.Spent), add.Unpriced, int64(add.Taken), add.NoMost)
		return err
	})
}

// ClientUsage is what a user of a gateway has used.
type ClientUsage struct {
	Owner    string
	Batches  int64
	Keyless  int64 // of the open ones: those with a job for which no living gateway or worker has the key
	Requests int64 // of the batches
	Calls    int64 // live ones that were passed on
	Open     int64 // of them: those without an ending
	Input    int64 // tokens, as far as replies said how many
	Output   int64
	Unsaid   int64       // replies that did not
	Spent    assay.Money // as far as prices are known
	Unpriced int64       // requests and calls that ended without a known price
	Taken    assay.Money // spent, and what is open may still cost at most, as far as that is known
	NoMost   int64       // open batches and calls of which it is not known what they may cost at most
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
		{"batches_without_key", "Open batches with a job that waits for the key that made it.", float64(u.Keyless)},
		{"requests", "Requests of these batches.", float64(u.Requests)},
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

// ClientUser is a user of a gateway. An empty name is all of them together.
type ClientUser struct {
	Owner  string
	Budget *assay.Money // nil: none
}

// PutClientUsers notes who the users of a gateway are and what they may spend, in the place of those before.
func (s *Ledger) PutClientUsers(ctx context.Context, users []ClientUser) error {
	return s.tx(ctx, "put client users", relaxed, func(t *txn) error {
		if _, err := t.ExecContext(ctx, `DELETE FROM client_users`); err != nil {
			return err
		}
		for _, u := range users {
			_, err := t.ExecContext(ctx, `INSERT INTO client_users (owner, budget_nano) VALUES ($1, $2) ON CONFLICT (owner) DO UPDATE SET budget_nano = excluded.budget_nano`, u.Owner, nanos(u.Budget))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ClientUsers reads the users of gateways, by name.
func (s *Reader) ClientUsers(ctx context.Context) ([]ClientUser, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT owner, budget_nano FROM client_users ORDER BY owner`)
	if err != nil {
		return nil, fmt.Errorf("read the users of gateways: %w", err)
	}
	defer rows.Close()
	var all []ClientUser
	for rows.Next() {
		var u ClientUser
		var budget sql.NullInt64
		if err := rows.Scan(&u.Owner, &budget); err != nil {
			return nil, fmt.Errorf("read the users of gateways: %w", err)
		}
		if budget.Valid {
			most := assay.Money(budget.Int64)
			u.Budget = &most
		}
		all = append(all, u)
	}
	return all, rows.Err()
}

// clientRuns are the runs that clients of a gateway began; their settings say so.
const clientRuns = `study = 'gateway' AND settings LIKE '%"client":{%' AND state <> 'preparing'`

// ClientUsage reads what the users of gateways have used, by name.
func (s *Reader) ClientUsage(ctx context.Context) ([]ClientUsage, error) {
	all := map[string]*ClientUsage{}
	for _, query := range []string{
		`SELECT started_by, COUNT(*), 0, 0, 0, 0, 0, 0, CAST(SUM(spent_nano) AS BIGINT), CAST(SUM(spent_unknown) AS BIGINT), ` + takenByRuns + `,
			CAST(SUM(CASE WHEN state = 'open' AND budget_nano IS NULL THEN 1 ELSE 0 END) AS BIGINT), 0 FROM runs WHERE ` + clientRuns + ` GROUP BY started_by`,
		`SELECT r.started_by, 0, CAST(SUM(l.planned) AS BIGINT), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
			FROM (SELECT no, started_by FROM runs WHERE ` + clientRuns + `) r JOIN lanes l ON l.run_no = r.no GROUP BY r.started_by`,
		`SELECT r.started_by, 0, 0, 0, 0, CAST(SUM(g.input_tokens) AS BIGINT), CAST(SUM(g.output_tokens) AS BIGINT), CAST(SUM(g.usage_unknown) AS BIGINT), 0, 0, 0, 0, 0
			FROM (SELECT no, started_by FROM runs WHERE ` + clientRuns + `) r JOIN segments g ON g.run_no = r.no GROUP BY r.started_by`,
		`SELECT owner, 0, 0, calls, in_flight, input_tokens, output_tokens, unsaid, spent_nano, unpriced, taken_nano, no_most, 0 FROM client_sums`,
		`SELECT r.started_by, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, COUNT(DISTINCT r.no) FROM (SELECT no, started_by FROM runs WHERE state = 'open' AND ` + clientRuns + `) r JOIN segments g ON g.run_no = r.no
			WHERE g.mode = 'batch' AND g.state IN ('intended', 'launched', 'ended') AND NOT EXISTS (SELECT 1 FROM worker_keys k WHERE k.run_no = g.run_no AND k.provider = g.provider
				AND k.account = g.account AND k.until_ms > ` + s.engine.clockText(strconv.FormatInt(s.millis(), 10)) + `) GROUP BY r.started_by`,
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
		if err := rows.Scan(&u.Owner, &u.Batches, &u.Requests, &u.Calls, &u.Open, &u.Input, &u.Output, &u.Unsaid, &u.Spent, &u.Unpriced, &u.Taken, &u.NoMost, &u.Keyless); err != nil {
			return err
		}
		sum := all[u.Owner]
		if sum == nil {
			sum = &ClientUsage{Owner: u.Owner}
			all[u.Owner] = sum
		}
		sum.Batches, sum.Requests, sum.Calls, sum.Open = sum.Batches+u.Batches, sum.Requests+u.Requests, sum.Calls+u.Calls, sum.Open+u.Open
		sum.Input, sum.Output, sum.Unsaid = sum.Input+u.Input, sum.Output+u.Output, sum.Unsaid+u.Unsaid
		sum.Spent, sum.Unpriced, sum.Taken = sum.Spent+u.Spent, sum.Unpriced+u.Unpriced, sum.Taken+u.Taken
		sum.NoMost, sum.Keyless = sum.NoMost+u.NoMost, sum.Keyless+u.Keyless
	}
	return rows.Err()
}
