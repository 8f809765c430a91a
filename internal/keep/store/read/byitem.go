package read

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// ItemFacts walks over what is known about the items of a run, item by item: ids in the order of their bytes, and of each item its place
// first. The database sorts, in files if there is much of it: nothing is held here.
func (s *Pages) ItemFacts(ctx context.Context, run int64, f store.FactsAsked) iter.Seq2[store.ItemFact, error] {
	args := []any{run, f.Input, packMark}
	list := func(names []string) string {
		if len(names) == 0 {
			return `NULL`
		}
		for _, n := range names {
			args = append(args, n)
		}
		return db.Placeholders(len(args)-len(names)+1, len(args))
	}
	rare := ` AND o.ending <> 'answered' AND o.ending IN ('cut', 'refused')`
	if f.Whole {
		rare = ``
	}
	text := `SELECT item, kind, name, packed, score FROM (
		SELECT id AS item, 0 AS kind, '' AS name, CAST(ord AS TEXT) AS packed, CAST(NULL AS DOUBLE PRECISION) AS score
			FROM items WHERE run_no = $1 AND input = $2
		UNION ALL SELECT item, 1, stage, ` + packedColumns + `, score
			FROM verdicts WHERE run_no = $1 AND stage IN (` + list(f.Judging) + `) AND stale = 0
		UNION ALL SELECT a.item, 2, g.lane, o.ending, NULL FROM segments g JOIN outcomes o ON o.segment_no = g.no
			JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord
			WHERE g.run_no = $1 AND g.stage IN (` + list(f.Asking) + `) AND o.stands = 1` + rare + `
		) AS facts ORDER BY ` + s.db.Bytewise(`item`) + `, kind`
	scan := func(rows *sql.Rows) (store.ItemFact, error) { return scanItemFact(ctx, s.db, rows, run) }
	return db.Walk(ctx, s.db, "read what is known about items", scan, text, args...)
}

func scanItemFact(ctx context.Context, d *db.DB, rows *sql.Rows, run int64) (store.ItemFact, error) {
	f := store.ItemFact{Ord: -1}
	var kind int
	var name, packed string
	var score sql.NullFloat64
	err := rows.Scan(&f.Item, &kind, &name, &packed, &score)
	switch {
	case err != nil:
	case kind == 0:
		f.Ord, err = strconv.ParseInt(packed, 10, 64)
	case kind == 1:
		v := store.Verdict{Run: run, At: assay.Coordinates{Stage: name, Item: f.Item}}
		if score.Valid {
			v.Score = &score.Float64
		}
		err = unpackVerdict(ctx, d, &v, packed)
		f.Verdict = &v
	default:
		f.Lane, f.Ending = name, assay.Ending(packed)
	}
	return f, err
}

// ItemsSaying returns those of some items whose fields, or whose answers in the stages, contain words. ASCII letters
// match in any case.
func (s *Pages) ItemsSaying(ctx context.Context, run int64, input string, stages, items []string, words string) (map[string]bool, error) {
	out := map[string]bool{}
	like := `%` + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(string(assay.LowerASCII(words))) + `%`
	one := func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		out[id] = true
		return err
	}
	args := []any{run, like}
	for _, id := range items {
		args = append(args, id)
	}
	ids := db.Placeholders(3, len(args))
	if len(items) == 0 {
		return out, nil
	}
	err := s.db.Each(ctx, one, fmt.Sprintf(`SELECT id FROM items
		WHERE run_no = $1 AND id IN (`+ids+`) AND (LOWER(id) LIKE $2 ESCAPE '\' OR LOWER(fields) LIKE $2 ESCAPE '\') AND input = $%d`,
		len(args)+1), append(args, input)...)
	if err != nil {
		return nil, fmt.Errorf("search items: %w", err)
	}
	for _, stage := range stages {
		err := s.db.Each(ctx, one, fmt.Sprintf(`SELECT DISTINCT a.item FROM attempts a JOIN segments g ON g.no = a.segment_no
			JOIN outcomes o ON o.segment_no = a.segment_no AND o.ord = a.ord
			WHERE a.run_no = $1 AND a.item IN (`+ids+`) AND g.stage = $%d AND o.stands = 1 AND LOWER(o.text) LIKE $2 ESCAPE '\'`,
			len(args)+1), append(args[:len(args):len(args)], stage)...)
		if err != nil {
			return nil, fmt.Errorf("search answers: %w", err)
		}
	}
	return out, nil
}

// FirstAnswers returns the answers of a stage's first turn to some items, one of each lane, with so many letters of their texts. Of
// several prompts, branches or draws it is the first one.
func (s *Pages) FirstAnswers(ctx context.Context, run int64, stage string, items []string, letters int) ([]store.FirstAnswer, error) {
	scan := func(rows *sql.Rows) (a store.FirstAnswer, err error) {
		var key []byte
		err = rows.Scan(&key, &a.Item, &a.Lane, &a.Text, &a.Ending)
		copy(a.Key[:], key)
		return a, err
	}
	var out []store.FirstAnswer
	for part := range slices.Chunk(items, 500) {
		args := []any{run, stage, letters}
		for _, id := range part {
			args = append(args, id)
		}
		for a, err := range db.Walk(ctx, s.db, "read first answers", scan, `SELECT a.key, a.item, g.lane,
			COALESCE(SUBSTR(o.text, 1, CAST($3 AS INTEGER)), ''), o.ending
			FROM attempts a JOIN segments g ON g.no = a.segment_no JOIN outcomes o ON o.segment_no = a.segment_no AND o.ord = a.ord
			WHERE a.run_no = $1 AND a.item IN (`+db.Placeholders(4, len(args))+`) AND g.stage = $2 AND o.stands = 1
			AND g.turn = (SELECT MIN(turn) FROM segments WHERE run_no = $1 AND stage = $2)
			ORDER BY a.item, g.lane, a.template, a.branch, a.draw`, args...) {
			if err != nil {
				return nil, err
			}
			if n := len(out); n == 0 || out[n-1].Item != a.Item || out[n-1].Lane != a.Lane {
				out = append(out, a)
			}
		}
	}
	return out, nil
}
