package read

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Lanes reads the lanes of a run in the order of stage and name.
func (s *Reader) Lanes(ctx context.Context, run int64) ([]store.Lane, error) {
	return s.lanes(ctx, `run_no = $1 ORDER BY stage, lane`, run)
}

// LanesOf reads the lanes of several runs in the order of run, stage and name.
func (s *Reader) LanesOf(ctx context.Context, runs []int64) ([]store.Lane, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	return s.lanes(ctx, `run_no IN (`+db.Numbers(runs)+`) ORDER BY run_no, stage, lane`)
}

// Lane reads one lane of a stage.
func (s *Reader) Lane(ctx context.Context, run int64, stage, name string) (store.Lane, error) {
	all, err := s.lanes(ctx, `run_no = $1 AND stage = $2 AND lane = $3`, run, stage, name)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("lane %s of stage %s: %w", name, stage, store.ErrNotFound)
	}
	if err != nil {
		return store.Lane{}, err
	}
	return all[0], nil
}

func (s *Reader) lanes(ctx context.Context, where string, args ...any) ([]store.Lane, error) {
	rows, err := s.db.Query(ctx, `SELECT run_no, stage, lane, provider, model, label, params, planned, state, cause, reason, canary,
		n_open, n_answered, n_cut, n_empty, n_refused, n_rejected, n_errored, n_expired, n_cancelled, n_lost,
		hits_answered + hits_cut + hits_empty + hits_refused, reused, imported, spared, surplus, n_unread FROM lanes WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read lanes: %w", err)
	}
	defer rows.Close()
	var all []store.Lane
	for rows.Next() {
		var l store.Lane
		n := make([]int64, len(assay.Endings()))
		err := rows.Scan(&l.Run, &l.Stage, &l.Name, &l.Provider, &l.Model, &l.Label, &l.Params, &l.Planned, &l.State, &l.Cause, &l.Reason,
			&l.Canary, &l.Open, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &l.CacheHits, &l.Reused, &l.Imported,
			&l.Spared, &l.Surplus, &l.Unread)
		if err != nil {
			return nil, fmt.Errorf("read lanes: %w", err)
		}
		l.Endings = byEnding(n)
		all = append(all, l)
	}
	return all, rows.Err()
}

// Served counts the answers of a run by the model that gave them, as replies name it, in the order of stage, lane and model. Answers that
// name none are left out.
func (s *Reader) Served(ctx context.Context, run int64) ([]store.Served, error) {
	scan := func(rows *sql.Rows) (m store.Served, err error) {
		err = rows.Scan(&m.Stage, &m.Lane, &m.Model, &m.Answers)
		return m, err
	}
	return db.Collect(db.Walk(ctx, s.db, "count answers by model", scan, `SELECT g.stage, g.lane, o.model, COUNT(*) FROM segments g
		JOIN outcomes o ON o.segment_no = g.no AND o.stands = 1 WHERE g.run_no = $1 AND o.model <> ''
		GROUP BY g.stage, g.lane, o.model ORDER BY g.stage, g.lane, o.model`, run))
}

// byEnding names counters that are in the order of assay.Endings.
func byEnding(n []int64) map[assay.Ending]int64 {
	m := map[assay.Ending]int64{}
	for i, e := range assay.Endings() {
		if n[i] != 0 {
			m[e] = n[i]
		}
	}
	return m
}

// Groups reads the groups of a run that anything is known about.
func (s *Reader) Groups(ctx context.Context, run int64) ([]store.Group, error) {
	rows, err := s.db.Query(ctx, `SELECT run_no, stage, lane, turn, second_try, COALESCE(first_ms, 0), complete FROM groups
		WHERE run_no = $1 ORDER BY stage, lane, turn, second_try`, run)
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	defer rows.Close()
	var all []store.Group
	for rows.Next() {
		var g store.Group
		var first int64
		if err := rows.Scan(&g.Run, &g.Stage, &g.Lane, &g.Turn, &g.Again, &first, &g.Complete); err != nil {
			return nil, fmt.Errorf("read groups: %w", err)
		}
		if first != 0 {
			g.First = time.UnixMilli(first).UTC()
		}
		all = append(all, g)
	}
	return all, rows.Err()
}
