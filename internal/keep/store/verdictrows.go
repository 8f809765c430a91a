package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// Subjects says whether a walk over verdicts shows which answers they are about.
type Subjects uint8

// The two.
const (
	WithoutSubjects Subjects = iota
	WithSubjects
)

// VerdictRows walks over the verdicts of a stage in the order they were given, as far as numbers need them: coordinates, state, label,
// score, the segment of those that a model gave, whether it was a further try and whose, and the subjects if asked for. Everything else is left
// empty. Stale ones are left out.
func (s *Reader) VerdictRows(ctx context.Context, run int64, stage string, subjects Subjects) iter.Seq2[Verdict, error] {
	scan := func(rows *sql.Rows) (Verdict, error) { return s.scanVerdictRow(ctx, rows, run, stage, subjects) }
	text := verdictRowColumns
	if subjects == WithSubjects {
		text += `, subject_key, against_key`
	}
	return walk(ctx, s, "read verdicts", scan, text+` FROM verdicts WHERE run_no = $1 AND stage = $2 AND stale = 0 ORDER BY no`, run, stage, saidMark)
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

func (s *Reader) scanVerdictRow(ctx context.Context, rows *sql.Rows, run int64, stage string, subjects Subjects) (Verdict, error) {
	v := Verdict{Run: run, At: assay.Coordinates{Stage: stage}}
	var packed, label string
	var score sql.NullFloat64
	var subject, against []byte
	into := []any{&packed, &v.At.Item, &label, &score}
	if subjects == WithSubjects {
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
	return s.unpackVerdict(ctx, v, packed, label)
}

// unpackVerdict fills in what came as one text. Where a name has the mark in it, the whole verdict is read instead.
func (s *Reader) unpackVerdict(ctx context.Context, v Verdict, packed, label string) (Verdict, error) {
	parts, n := unpack(packed)
	no, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return v, fmt.Errorf("its number: %w", err)
	}
	if n != saidParts {
		return s.verdict(ctx, no)
	}
	v.No = no
	return v, v.unpacked(parts, label)
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
func (v *Verdict) unpacked(parts [saidParts]string, label string) error {
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
	v.State, v.By = VerdictState(parts[6]), parts[15]
	c.Source, c.Lane, c.Against, c.Template, c.Branch, c.Judge, c.Prompt, c.Trait = parts[7], parts[8], parts[9], parts[10], parts[11], parts[12], parts[13], parts[14]
	v.Label = label
	return nil
}

// verdict reads one by its number.
func (s *Reader) verdict(ctx context.Context, no int64) (Verdict, error) {
	for v, err := range walk(ctx, s, "read a verdict", scanVerdict, verdictColumns+`WHERE no = $1`, no) {
		return v, err
	}
	return Verdict{}, fmt.Errorf("verdict %d: %w", no, ErrNotFound)
}
