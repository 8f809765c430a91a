package read

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Meta reads a named value of the ledger as a whole; empty: not set.
func (s *Reader) Meta(ctx context.Context, name string) (string, error) {
	var v string
	err := s.db.QueryRow(ctx, `SELECT value FROM meta WHERE name = $1`, name).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return v, err
}

// Run reads a run by its number.
func (s *Reader) Run(ctx context.Context, no int64) (store.Run, error) {
	return s.oneRun(ctx, fmt.Sprint(no), `WHERE no = $1`, no)
}

// FindRun reads the run that a reference means: an id, a unique beginning of one, a study's name (its newest run) or
// "latest". A folder narrows study names and "latest" to runs of that folder; empty: all.
func (s *Reader) FindRun(ctx context.Context, ref, folder string) (store.Run, error) {
	if ref == "latest" || ref == "" {
		return s.oneRun(ctx, "latest", `WHERE $1 = '' OR folder = $1 ORDER BY no DESC LIMIT 1`, folder)
	}
	// A name that was given in full goes before the beginning of an id: a user who names a study never means another one's run.
	all, err := runs(ctx, s.db, `WHERE id = $1 OR id LIKE $2 ESCAPE '\' OR study = $1 AND ($3 = '' OR folder = $3)
		ORDER BY (id = $1) DESC, (study = $1) DESC, no DESC LIMIT 2`, ref, likePrefix(ref), folder)
	switch {
	case err != nil:
		return store.Run{}, fmt.Errorf("find run %s: %w", ref, err)
	case len(all) == 0:
		return store.Run{}, fmt.Errorf("find run %s: %w", ref, store.ErrNotFound)
	case all[0].ID == ref || all[0].Study == ref || len(all) == 1:
		return all[0], nil
	}
	return store.Run{}, fmt.Errorf("%w %q: %s, %s", store.ErrAmbiguous, ref, all[0].ID, all[1].ID)
}

func likePrefix(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) + "%"
}

// Runs reads runs, newest first: those of a study, or of all studies where it is empty.
func (s *Reader) Runs(ctx context.Context, study string, states ...store.RunState) ([]store.Run, error) {
	all, err := runs(ctx, s.db, `WHERE ($1 = '' OR study = $1) ORDER BY no DESC`, study)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	if len(states) == 0 {
		return all, nil
	}
	var some []store.Run
	for _, r := range all {
		for _, st := range states {
			if r.State == st {
				some = append(some, r)
			}
		}
	}
	return some, nil
}

func (s *Reader) oneRun(ctx context.Context, name, where string, args ...any) (store.Run, error) {
	all, err := runs(ctx, s.db, where, args...)
	if err == nil && len(all) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Run{}, fmt.Errorf("run %s: %w", name, err)
	}
	return all[0], nil
}

func runs(ctx context.Context, d *db.DB, where string, args ...any) ([]store.Run, error) {
	rows, err := d.Query(ctx, `SELECT no, id, study, folder, digest, settings, tuned, note, started_by, rehearsal, state,
		result, budget_nano, reserved_nano, spent_nano, spent_unknown, perhaps_nano, created_ms, due_ms, closed_ms, idle_ms, unseen_ms,
		driven_ms, holder, epoch, lease_until_ms, reconcile
		FROM runs `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []store.Run
	for rows.Next() {
		var r store.Run
		var idle, unseen int64
		var budget, created, due, closed, driven, until sql.NullInt64
		var holder sql.NullString
		err := rows.Scan(&r.No, &r.ID, &r.Study, &r.Folder, &r.Digest, &r.Settings, &r.Tuned, &r.Note, &r.By, &r.Rehearsal, &r.State,
			&r.Result, &budget, &r.Reserved, &r.Spent, &r.Unpriced, &r.Perhaps, &created, &due, &closed, &idle, &unseen, &driven, &holder,
			&r.Lease.Epoch, &until, &r.Reconcile)
		if err != nil {
			return nil, err
		}
		if budget.Valid {
			r.Budget = new(assay.Money(budget.Int64))
		}
		r.Created, r.Due, r.Closed = db.FromMillis(created), db.FromMillis(due), db.FromMillis(closed)
		r.Idle, r.Unseen, r.Driven = time.Duration(idle)*time.Millisecond, time.Duration(unseen)*time.Millisecond, db.FromMillis(driven)
		r.Lease.No, r.Lease.Holder, r.Lease.Until, r.Lease.Run = r.No, holder.String, db.FromMillis(until), true
		all = append(all, r)
	}
	return all, rows.Err()
}

// NextDue returns when the next thing of a run is due, held or not; zero: nothing is. With run = 0 of all runs.
func (s *Reader) NextDue(ctx context.Context, run int64) (time.Time, error) {
	var due sql.NullInt64
	err := s.db.QueryRow(ctx, `SELECT MIN(due_ms) FROM (
		SELECT due_ms FROM (SELECT due_ms FROM segments WHERE due_ms IS NOT NULL AND ($1 = 0 OR run_no = $1)
		ORDER BY due_ms LIMIT 1) AS first
		UNION ALL SELECT due_ms FROM runs WHERE due_ms IS NOT NULL AND ($1 = 0 OR no = $1)) AS d`, run).Scan(&due)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the next due time: %w", err)
	}
	return db.FromMillis(due), nil
}
