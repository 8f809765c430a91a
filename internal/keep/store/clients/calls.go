package clients

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// BeginClientCall writes a call down before it leaves, durably, and returns its number. *AllowanceError: the budgets do not
// cover the most that it may cost.
func (s *Store) BeginClientCall(ctx context.Context, c store.ClientCall, a store.Allowance) (no int64, err error) {
	err = s.db.Tx(ctx, "begin client call", db.Durable, func(t *db.Txn) error {
		if c.High == nil && a.Bounded() {
			return fmt.Errorf("a call without a price, %w", store.ErrBudget)
		}
		if c.High != nil {
			if err := allow(ctx, t, a, *c.High); err != nil {
				return err
			}
		}
		err := t.QueryRowContext(ctx, `INSERT INTO client_calls (owner, provider, model, began_ms, high_nano) VALUES ($1, $2, $3, $4, $5)
			RETURNING no`,
			c.Owner, c.Provider, c.Model, s.db.Millis(), db.Nanos(c.High)).Scan(&no)
		if err != nil {
			return err
		}
		var most assay.Money
		if c.High != nil {
			most = *c.High
		}
		_, err = t.ExecContext(ctx, `INSERT INTO client_sums (owner, calls, in_flight, taken_nano, no_most) VALUES ($1, 1, 1, $2, $3)
			ON CONFLICT (owner) DO UPDATE SET
			calls = client_sums.calls + 1, in_flight = client_sums.in_flight + 1,
			taken_nano = client_sums.taken_nano + excluded.taken_nano, no_most = client_sums.no_most + excluded.no_most`,
			c.Owner, int64(most), db.Flag(c.High == nil))
		return err
	})
	return no, err
}

// EndClientCall writes how a call ended; once.
func (s *Store) EndClientCall(ctx context.Context, no int64, e store.ClientCallEnd) error {
	return s.db.Tx(ctx, "end client call", db.Durable, func(t *db.Txn) error {
		var in, out any
		if e.Usage.Known {
			in, out = e.Usage.Input, e.Usage.Output
		}
		var owner string
		var high sql.NullInt64
		err := t.QueryRowContext(ctx, `UPDATE client_calls SET ended_ms = $2, ending = $3, input_tokens = $4, output_tokens = $5,
			cost_nano = $6
			WHERE no = $1 AND ended_ms IS NULL RETURNING owner, high_nano`,
			no, s.db.Millis(), string(e.Ending), in, out, db.Nanos(e.Cost)).Scan(&owner, &high)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("client call %d: %w", no, store.ErrNotFound)
		}
		if err != nil {
			return err
		}
		add := store.ClientUsage{Open: -1, Unpriced: db.Flag(e.Cost == nil),
			Unsaid: db.Flag(!e.Usage.Known && (e.Cost == nil || *e.Cost > 0))}
		if e.Usage.Known {
			add.Input, add.Output = e.Usage.Input, e.Usage.Output
		}
		if e.Cost != nil { // it counted with its most until now
			add.Spent, add.Taken, add.NoMost = *e.Cost, *e.Cost-assay.Money(high.Int64), -db.Flag(!high.Valid)
		}
		_, err = t.ExecContext(ctx, `UPDATE client_sums SET in_flight = in_flight + $2, input_tokens = input_tokens + $3,
			output_tokens = output_tokens + $4, unsaid = unsaid + $5,
			spent_nano = spent_nano + $6, unpriced = unpriced + $7, taken_nano = taken_nano + $8, no_most = no_most + $9 WHERE owner = $1`,
			owner, add.Open, add.Input, add.Output, add.Unsaid, int64(add.Spent), add.Unpriced, int64(add.Taken), add.NoMost)
		return err
	})
}

// EndLostCalls ends the calls that began before a moment and have no end: their gateway was killed, and each counts with the most that it
// may cost. It returns how many those are.
func (s *Store) EndLostCalls(ctx context.Context, before time.Time) (int, error) {
	scan := func(rows *sql.Rows) (no int64, err error) { return no, rows.Scan(&no) }
	all, err := db.Collect(db.Walk(ctx, s.db, "read open calls", scan, `SELECT no FROM client_calls
		WHERE ended_ms IS NULL AND began_ms < $1 ORDER BY no`, before.UnixMilli()))
	for i, no := range all {
		// another gateway may be at it, too
		if err := s.EndClientCall(ctx, no, store.ClientCallEnd{Ending: assay.Lost}); err != nil && !errors.Is(err, store.ErrNotFound) {
			return i, err
		}
	}
	return len(all), err
}

// PutClientUsers notes who the users of a gateway are and what they may spend, in the place of those before.
func (s *Store) PutClientUsers(ctx context.Context, users []store.ClientUser) error {
	return s.db.Tx(ctx, "put client users", db.Relaxed, func(t *db.Txn) error {
		if _, err := t.ExecContext(ctx, `DELETE FROM client_users`); err != nil {
			return err
		}
		for _, u := range users {
			_, err := t.ExecContext(ctx, `INSERT INTO client_users (owner, budget_nano) VALUES ($1, $2)
				ON CONFLICT (owner) DO UPDATE SET budget_nano = excluded.budget_nano`, u.Owner, db.Nanos(u.Budget))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ClientUsers reads the users of gateways, by name.
func (s *Store) ClientUsers(ctx context.Context) ([]store.ClientUser, error) {
	rows, err := s.db.Query(ctx, `SELECT owner, budget_nano FROM client_users ORDER BY owner`)
	if err != nil {
		return nil, fmt.Errorf("read the users of gateways: %w", err)
	}
	defer rows.Close()
	var all []store.ClientUser
	for rows.Next() {
		var u store.ClientUser
		var budget sql.NullInt64
		if err := rows.Scan(&u.Owner, &budget); err != nil {
			return nil, fmt.Errorf("read the users of gateways: %w", err)
		}
		if budget.Valid {
			u.Budget = new(assay.Money(budget.Int64))
		}
		all = append(all, u)
	}
	return all, rows.Err()
}

// ClientUsage reads what the users of gateways have used, by name.
func (s *Store) ClientUsage(ctx context.Context) ([]store.ClientUsage, error) {
	all := map[string]*store.ClientUsage{}
	for _, query := range []string{
		`SELECT started_by, COUNT(*), 0, 0, 0, 0, 0, 0, CAST(SUM(spent_nano) AS BIGINT), CAST(SUM(spent_unknown) AS BIGINT),
			` + takenByRuns + `,
			CAST(SUM(CASE WHEN state = 'open' AND budget_nano IS NULL THEN 1 ELSE 0 END) AS BIGINT), 0 FROM runs WHERE ` + clientRuns + `
			GROUP BY started_by`,
		`SELECT r.started_by, 0, CAST(SUM(l.planned) AS BIGINT), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
			FROM (SELECT no, started_by FROM runs WHERE ` + clientRuns + `) r JOIN lanes l ON l.run_no = r.no GROUP BY r.started_by`,
		`SELECT r.started_by, 0, 0, 0, 0, CAST(SUM(g.input_tokens) AS BIGINT), CAST(SUM(g.output_tokens) AS BIGINT),
			CAST(SUM(g.usage_unknown) AS BIGINT), 0, 0, 0, 0, 0
			FROM (SELECT no, started_by FROM runs WHERE ` + clientRuns + `) r JOIN segments g ON g.run_no = r.no GROUP BY r.started_by`,
		`SELECT owner, 0, 0, calls, in_flight, input_tokens, output_tokens, unsaid, spent_nano, unpriced, taken_nano, no_most, 0
			FROM client_sums`,
		`SELECT r.started_by, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, COUNT(DISTINCT r.no) FROM (SELECT no, started_by FROM runs
			WHERE state = 'open' AND ` + clientRuns + `) r JOIN segments g ON g.run_no = r.no
			WHERE g.mode = 'batch' AND g.state IN ('intended', 'launched', 'ended') AND NOT EXISTS (SELECT 1 FROM worker_keys k
			WHERE k.run_no = g.run_no AND k.provider = g.provider
				AND k.account = g.account AND k.until_ms > ` + s.db.ClockText(strconv.FormatInt(s.db.Millis(), 10)) + `)
				GROUP BY r.started_by`,
	} {
		if err := s.addUsage(ctx, all, query); err != nil {
			return nil, fmt.Errorf("read the usage of clients: %w", err)
		}
	}
	out := make([]store.ClientUsage, 0, len(all))
	for _, u := range all {
		out = append(out, *u)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Owner < out[j].Owner })
	return out, nil
}

func (s *Store) addUsage(ctx context.Context, all map[string]*store.ClientUsage, query string) error {
	rows, err := s.db.Query(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var u store.ClientUsage
		if err := rows.Scan(&u.Owner, &u.Batches, &u.Requests, &u.Calls, &u.Open, &u.Input, &u.Output, &u.Unsaid, &u.Spent, &u.Unpriced,
			&u.Taken, &u.NoMost, &u.Keyless); err != nil {
			return err
		}
		sum := all[u.Owner]
		if sum == nil {
			sum = &store.ClientUsage{Owner: u.Owner}
			all[u.Owner] = sum
		}
		sum.Batches, sum.Requests, sum.Calls, sum.Open = sum.Batches+u.Batches, sum.Requests+u.Requests, sum.Calls+u.Calls, sum.Open+u.Open
		sum.Input, sum.Output, sum.Unsaid = sum.Input+u.Input, sum.Output+u.Output, sum.Unsaid+u.Unsaid
		sum.Spent, sum.Unpriced, sum.Taken = sum.Spent+u.Spent, sum.Unpriced+u.Unpriced, sum.Taken+u.Taken
		sum.NoMost, sum.Keyless = sum.NoMost+u.NoMost, sum.Keyless+u.Keyless
	}
	return rows.Err()
}
