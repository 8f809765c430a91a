package read

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// VerdictRows walks over the verdicts of a stage in the order they were given, as far as numbers need them: coordinates, state, label,
// score, the segment of those that a model gave, whether it was a further try and whose, and the subjects if asked for. Everything else is left
// empty. Stale ones are left out.
func (s *Reader) VerdictRows(ctx context.Context, run int64, stage string, subjects store.Subjects) iter.Seq2[store.Verdict, error] {
	scan := func(rows *sql.Rows) (store.Verdict, error) {
		return scanVerdictRow(ctx, s.db, rows, run, stage, subjects)
	}
	text := verdictRowColumns
	if subjects == store.WithSubjects {
		text += `, subject_key, against_key`
	}
	return db.Walk(ctx, s.db, "read verdicts", scan, text+` FROM verdicts WHERE run_no = $1 AND stage = $2 AND stale = 0 ORDER BY no`, run, stage, saidMark)
}

// verdictRowColumns are few: with a million rows, what a column takes to leave the database is most of what reading takes. What is short comes
// as one text, numbers first, with a mark between any two.
const verdictRowColumns = `SELECT ` + packedColumns + `, item,
	COALESCE(label, ''), score`

const packedColumns = `concat_ws($3, no, turn, draw, vote, COALESCE(segment_no, 0), second_try, state, source, lane, against, template, branch,
	judge, prompt, trait, fallback)`

const (
	saidMark  = "\x1f"
	saidParts = 16
)

func scanVerdictRow(ctx context.Context, d *db.DB, rows *sql.Rows, run int64, stage string, subjects store.Subjects) (store.Verdict, error) {
	v := store.Verdict{Run: run, At: assay.Coordinates{Stage: stage}}
	var packed, label string
	var score sql.NullFloat64
	var subject, against []byte
	into := []any{&packed, &v.At.Item, &label, &score}
	if subjects == store.WithSubjects {
		into = append(into, &subject, &against)
	}
	if err := rows.Scan(into...); err != nil {
		return v, err
	}
	copy(v.Subject[:], subject)
	copy(v.Against[:], against)
	if score.Valid {
		v.Score = &score.Float64
	}
	return unpackVerdict(ctx, d, v, packed, label)
}

// unpackVerdict fills in what came as one text. Where a name has the mark in it, the whole verdict is read instead.
func unpackVerdict(ctx context.Context, d *db.DB, v store.Verdict, packed, label string) (store.Verdict, error) {
	parts, n := unpack(packed)
	no, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return v, fmt.Errorf("its number: %w", err)
	}
	if n != saidParts {
		return verdict(ctx, d, no)
	}
	v.No = no
	return v, unpacked(&v, parts, label)
}

// unpack cuts a text at the marks, and returns how many parts there are.
func unpack(text string) (parts [saidParts]string, n int) {
	for more := true; more; n++ {
		var part string
		part, text, more = strings.Cut(text, saidMark)
		if n < saidParts {
			parts[n] = part
		}
	}
	return parts, n
}

// unpacked fills in what came as one text.
func unpacked(v *store.Verdict, parts [saidParts]string, label string) error {
	var err error
	c := &v.At
	for i, number := range []*int{&c.Turn, &c.Draw, &c.Vote} {
		if *number, err = strconv.Atoi(parts[1+i]); err != nil {
			return fmt.Errorf("verdict %d: its place: %w", v.No, err)
		}
	}
	if v.Segment, err = strconv.ParseInt(parts[4], 10, 64); err != nil {
		return fmt.Errorf("verdict %d: its segment: %w", v.No, err)
	}
	if v.Again, err = strconv.Atoi(parts[5]); err != nil {
		return fmt.Errorf("verdict %d: its try: %w", v.No, err)
	}
	v.State, v.By = store.VerdictState(parts[6]), parts[15]
	c.Source, c.Lane, c.Against, c.Template, c.Branch, c.Judge, c.Prompt, c.Trait = parts[7], parts[8], parts[9], parts[10], parts[11], parts[12], parts[13], parts[14]
	v.Label = label
	return nil
}

// verdict reads one by its number.
func verdict(ctx context.Context, d *db.DB, no int64) (store.Verdict, error) {
	for v, err := range db.Walk(ctx, d, "read a verdict", scanVerdict, verdictColumns+`WHERE no = $1`, no) {
		return v, err
	}
	return store.Verdict{}, fmt.Errorf("verdict %d: %w", no, store.ErrNotFound)
}
