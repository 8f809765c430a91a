package read

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// VerdictsAt returns the current verdicts at these coordinates' keys. A key without one is not in the map.
func (s *Reader) VerdictsAt(ctx context.Context, run int64, keys []assay.Key) (map[assay.Key]store.Verdict, error) {
	all := make(map[assay.Key]store.Verdict, len(keys))
	for len(keys) > 0 {
		n := min(500, len(keys))
		list, args := db.KeyList(keys[:n], run)
		for v, err := range db.Walk(ctx, s.db, "read verdicts", scanVerdict, verdictColumns+`WHERE run_no = $1 AND stale = 0
			AND key IN (`+list+`)`, args...) {
			if err != nil {
				return nil, err
			}
			all[v.At.Key()] = v
		}
		keys = keys[n:]
	}
	return all, nil
}

// Judged reports whether a judge gave a verdict of use in a stage, or another judge did in its place.
func (s *Reader) Judged(ctx context.Context, run int64, stage, judge string) (judged bool, err error) {
	err = s.db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM verdicts WHERE run_no = $1 AND stage = $2 AND stale = 0
		AND (judge = $3 OR fallback = $3) AND state IN ('valid', 'abstained'))`, run, stage, judge).Scan(&judged)
	if err != nil {
		err = fmt.Errorf("read verdicts: %w", err)
	}
	return judged, err
}

// CountVerdicts returns how many valid verdicts a run has.
func CountVerdicts(ctx context.Context, s *Reader, run int64) (int64, error) {
	var n int64
	err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM verdicts WHERE run_no = $1 AND stale = 0 AND state = 'valid'`, run).Scan(&n)
	return n, err
}

// CountSilent returns how many verdicts of a run judge nothing, by their states.
func CountSilent(ctx context.Context, s *Reader, run int64) (map[assay.VerdictState]int64, error) {
	type count struct {
		state assay.VerdictState
		n     int64
	}
	scan := func(rows *sql.Rows) (c count, err error) { return c, rows.Scan(&c.state, &c.n) }
	out := map[assay.VerdictState]int64{}
	for c, err := range db.Walk(ctx, s.db, "count verdicts", scan, `SELECT state, COUNT(*) FROM verdicts
		WHERE run_no = $1 AND stale = 0 AND state IN ('abstained', 'malformed', 'failed') GROUP BY state`, run) {
		if err != nil {
			return nil, err
		}
		out[c.state] = c.n
	}
	return out, nil
}

// People lists the people who have given verdicts in a stage, by name.
func (s *Reader) People(ctx context.Context, run int64, stage string) ([]string, error) {
	var out []string
	scan := func(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) }
	for name, err := range db.Walk(ctx, s.db, "read who labelled", scan, `SELECT DISTINCT judge FROM verdicts
		WHERE run_no = $1 AND stage = $2 AND stale = 0 AND judge LIKE 'human:%' ORDER BY judge`, run, stage) {
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// StageJudged reports whether a stage of a run has verdicts that can be used, and, where it has none, whether it was tried in vain.
func (s *Pages) StageJudged(ctx context.Context, run int64, stage string) (usable, failed bool, err error) {
	any := func(states string) (found bool, err error) {
		err = s.db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM verdicts WHERE run_no = $1 AND stage = $2 AND stale = 0
			AND state IN (`+states+`))`, run, stage).Scan(&found)
		return found, err
	}
	if usable, err = any(`'valid', 'abstained'`); err == nil && !usable {
		failed, err = any(`'failed', 'malformed'`)
	}
	if err != nil {
		return false, false, fmt.Errorf("look for verdicts: %w", err)
	}
	return usable, failed, nil
}

// PeopleVerdicts walks over the verdicts that people gave in a stage.
func (s *Reader) PeopleVerdicts(ctx context.Context, run int64, stage string) iter.Seq2[store.Verdict, error] {
	return func(yield func(store.Verdict, error) bool) {
		if who, err := s.People(ctx, run, stage); err != nil {
			yield(store.Verdict{}, err)
			return
		} else if len(who) == 0 {
			return // found out by an index; their order is that of another, which holds all verdicts
		}
		db.Walk(ctx, s.db, "read what people said", scanVerdict, verdictColumns+`
			WHERE run_no = $1 AND stage = $2 AND stale = 0 AND judge LIKE 'human:%' ORDER BY no`, run, stage)(yield)
	}
}

// Verdicts walks over the verdicts of a run in the order they were given: of one stage, or of all where it is empty.
// Stale ones are left out.
func (s *Reader) Verdicts(ctx context.Context, run int64, stage string) iter.Seq2[store.Verdict, error] {
	of := `$2 = ''`
	if stage != "" {
		of = `stage = $2` // so that the index of stages gives the order too
	}
	return db.Walk(ctx, s.db, "read verdicts", scanVerdict, verdictColumns+`WHERE run_no = $1 AND stale = 0 AND `+of+` ORDER BY no`,
		run, stage)
}

var (
	verdictAt      = assay.AllCoordinates()
	verdictColumns = `SELECT no, run_no, direction, subject_key, against_key, state, COALESCE(label, ''), score, reason, fields,
	COALESCE(segment_no, 0), COALESCE(ord, 0), second_try, fallback, stale, at_ms, ` + verdictAt.Columns("") + ` FROM verdicts `
)

// VerdictsOn reads the verdicts that these requests gave, or that are about their answers, in the order they were given.
// Stale ones are left out.
func (s *Reader) VerdictsOn(ctx context.Context, run int64, keys []assay.Key) (map[assay.Key][]store.Verdict, error) {
	all := map[assay.Key][]store.Verdict{}
	wanted := map[assay.Key]bool{}
	for _, k := range keys {
		wanted[k] = true
	}
	for len(keys) > 0 {
		n := min(500, len(keys))
		list, args := db.KeyList(keys[:n], run)
		keys = keys[n:]
		// each by its own index: all at once walks over the whole run
		for _, column := range []string{"key", "subject_key", "against_key"} {
			text := verdictColumns + `WHERE run_no = $1 AND stale = 0 AND ` + column + ` IN (` + list + `)`
			for v, err := range db.Walk(ctx, s.db, "read verdicts", scanVerdict, text, args...) {
				if err != nil {
					return nil, err
				}
				for _, k := range []assay.Key{v.At.Key(), v.Subject, v.Against} {
					if wanted[k] && !slices.ContainsFunc(all[k], func(have store.Verdict) bool { return have.No == v.No }) {
						all[k] = append(all[k], v)
					}
				}
			}
		}
	}
	for _, some := range all {
		sort.Slice(some, func(i, j int) bool { return some[i].No < some[j].No })
	}
	return all, nil
}

// verdictValues is how many columns verdictColumns has at most.
const verdictValues = 32

func scanVerdict(rows *sql.Rows) (store.Verdict, error) {
	var v store.Verdict
	var subject, against []byte
	var score sql.NullFloat64
	var at int64
	into := append(make([]any, 0, verdictValues), &v.No, &v.Run, &v.Direction, &subject, &against, &v.State, &v.Label, &score, &v.Reason,
		&v.Fields, &v.Segment, &v.Ord, &v.Again, &v.By, &v.Stale, &at)
	err := rows.Scan(verdictAt.Into(into, &v.At)...)
	copy(v.Subject[:], subject)
	copy(v.Against[:], against)
	if score.Valid {
		v.Score = &score.Float64
	}
	v.Given = time.UnixMilli(at).UTC()
	return v, err
}
