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
// score, the segment of those that a model gave, whether it was a further try and whose, and the subjects if asked for. Everything else is
// left empty. Stale ones are left out.
func (s *Reader) VerdictRows(ctx context.Context, run int64, stage string, subjects store.Subjects) iter.Seq2[store.Verdict, error] {
	scan := func(rows *sql.Rows) (store.Verdict, error) {
		return scanVerdictRow(ctx, s.db, rows, run, stage, subjects)
	}
	text := verdictRowColumns
	if subjects == store.WithSubjects {
		text += `, subject_key, against_key`
	}
	return db.Walk(ctx, s.db, "read verdicts", scan, text+` FROM verdicts WHERE run_no = $1 AND stage = $2 AND stale = 0 ORDER BY no`,
		run, stage, packMark)
}

// verdictRowColumns are few: with a million rows, what a column takes to leave the database is most of what reading takes. All but a
// number that is not whole comes as one text, numbers first, with a mark between any two.
var verdictRowColumns = `SELECT ` + packedColumns + `, score`

// packedAt are the coordinates that come in the one text: the caller knows the stage.
var (
	packedAt      = verdictAt.But("stage")
	packedColumns = `concat_ws($3, no, COALESCE(segment_no, 0), second_try, state, fallback, COALESCE(label, ''), ` + packedAt.Columns("") + `)`
)

const (
	packMark    = "\x1f"
	packedFirst = 6 // parts before the coordinates
)

func scanVerdictRow(ctx context.Context, d *db.DB, rows *sql.Rows, run int64, stage string,
	subjects store.Subjects) (store.Verdict, error) {
	v := store.Verdict{Run: run, At: assay.Coordinates{Stage: stage}}
	var packed string
	var score sql.NullFloat64
	var subject, against []byte
	into := []any{&packed, &score}
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
	err := unpackVerdict(ctx, d, &v, packed)
	return v, err
}

// unpackVerdict fills in what came as one text. Where a name has the mark in it, the whole verdict is read instead.
func unpackVerdict(ctx context.Context, d *db.DB, v *store.Verdict, packed string) error {
	number, rest, _ := strings.Cut(packed, packMark)
	no, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return fmt.Errorf("its number: %w", err)
	}
	if strings.Count(packed, packMark) != packedFirst+len(packedAt)-1 {
		*v, err = verdict(ctx, d, no)
		return err
	}
	v.No = no
	return unpacked(v, rest)
}

// unpacked fills in what follows the number.
func unpacked(v *store.Verdict, rest string) error {
	next := func() (part string) {
		part, rest, _ = strings.Cut(rest, packMark)
		return part
	}
	var err error
	if v.Segment, err = strconv.ParseInt(next(), 10, 64); err != nil {
		return fmt.Errorf("verdict %d: its segment: %w", v.No, err)
	}
	if v.Again, err = strconv.Atoi(next()); err != nil {
		return fmt.Errorf("verdict %d: its try: %w", v.No, err)
	}
	v.State, v.By, v.Label = assay.VerdictState(next()), next(), next()
	for i := range packedAt {
		if err := packedAt[i].Set(&v.At, next()); err != nil {
			return fmt.Errorf("verdict %d: its place: %w", v.No, err)
		}
	}
	return nil
}

// verdict reads one by its number.
func verdict(ctx context.Context, d *db.DB, no int64) (store.Verdict, error) {
	for v, err := range db.Walk(ctx, d, "read a verdict", scanVerdict, verdictColumns+`WHERE no = $1`, no) {
		return v, err
	}
	return store.Verdict{}, fmt.Errorf("verdict %d: %w", no, store.ErrNotFound)
}
