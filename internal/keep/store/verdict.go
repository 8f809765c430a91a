package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"

	"assay/internal/assay"
)

// VerdictState is how well a judge's reading could be read. The states are never merged.
type VerdictState string

// The states of a verdict.
const (
	VerdictValid     VerdictState = "valid"     // a label (a tie is one) or a score
	VerdictAbstained VerdictState = "abstained" // the judge declined to judge
	VerdictMalformed VerdictState = "malformed" // the judge answered, and nothing could be read from it
	VerdictFailed    VerdictState = "failed"    // the judge did not answer
	VerdictMissing   VerdictState = "missing"   // there was nothing to judge
	VerdictExcluded  VerdictState = "excluded"  // the stage's rule for refused and cut answers leaves it out
)

// Verdict is a judge's reading of an answer or a pair.
type Verdict struct {
	No        int64
	Run       int64
	At        assay.Coordinates // of the judge's request, or of the person's label
	Direction string            // which of a pair stood first
	Subject   assay.Key
	Against   assay.Key // the other answer of a pair; zero: none
	State     VerdictState
	Label     string // with a valid verdict: a label, a score, or both
	Score     *float64
	Reason    string
	Fields    string // JSON: what else the rubric asked for
	Segment   int64  // of the attempt the verdict was read from; 0: no model gave it
	Ord       int64
	Again     int    // how often the same was asked before: the verdict took the place of those
	By        string // the lane that gave it in the judge's place; empty: the judge
	Stale     bool   // the answer was replaced since

	Superseded int64 // the edit of the study since which it does not count, where those are asked for; 0: none
	Given      time.Time
}

// AddVerdicts writes verdicts. One with the same coordinates that is not stale is kept as it is, unless it only notes that there was no
// answer; the result is how many are new.
func (s *Ledger) AddVerdicts(ctx context.Context, verdicts []Verdict) (int64, error) {
	var n int64
	err := s.tx(ctx, "add verdicts", relaxed, func(t *txn) error {
		n = 0
		for i := range verdicts {
			m, err := t.addVerdict(ctx, &verdicts[i])
			if err == nil && m == 0 {
				m, err = t.comeAfterAll(ctx, &verdicts[i])
			}
			if err != nil {
				return fmt.Errorf("verdict of %s on %s: %w", verdicts[i].At.Judge, verdicts[i].At.Item, err)
			}
			n += m
		}
		return nil
	})
	return n, err
}

// comeAfterAll writes a verdict in the place of one that was noted when no answer was there: the answer has come since. The note stays
// in the ledger as stale.
func (t *txn) comeAfterAll(ctx context.Context, v *Verdict) (int64, error) {
	if v.State == VerdictFailed || v.State == VerdictMissing {
		return 0, nil
	}
	key := v.At.Key()
	n, err := t.change(ctx, `UPDATE verdicts SET stale = 1 WHERE run_no = $1 AND key = $2 AND stale = 0 AND state IN ('failed', 'missing')`, v.Run, key[:])
	if err != nil || n == 0 {
		return 0, err
	}
	return t.addVerdict(ctx, v)
}

func (t *txn) addVerdict(ctx context.Context, v *Verdict) (int64, error) {
	key, fields := v.At.Key(), v.Fields
	if fields == "" {
		fields = "{}"
	}
	var ord any
	if v.Segment != 0 {
		ord = v.Ord
	}
	var score any
	if v.Score != nil {
		score = *v.Score
	}
	c := v.At
	return t.change(ctx, `INSERT INTO verdicts (run_no, key, stage, source, item, lane, against, direction, template, turn, branch, draw, judge, prompt, trait, vote,
		subject_key, against_key, state, label, score, reason, fields, segment_no, ord, second_try, fallback, at_ms)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
		ON CONFLICT DO NOTHING`,
		v.Run, key[:], c.Stage, c.Source, c.Item, c.Lane, c.Against, v.Direction, c.Template, c.Turn, c.Branch, c.Draw, c.Judge, c.Prompt, c.Trait, c.Vote,
		nullKey(v.Subject), nullKey(v.Against), string(v.State), null(clean(v.Label)), score, clean(v.Reason), clean(fields),
		null(v.Segment), ord, v.Again, v.By, t.s.millis())
}

func nullKey(k assay.Key) any {
	if k == (assay.Key{}) {
		return nil
	}
	return k[:]
}

// Stale marks the verdicts on these answers as stale: the answers were replaced. It returns how many it marked.
func (s *Ledger) Stale(ctx context.Context, run int64, answers []assay.Key) (int64, error) {
	var n int64
	err := s.tx(ctx, "mark stale", relaxed, func(t *txn) error {
		n = 0
		for _, k := range answers {
			m, err := t.change(ctx, `UPDATE verdicts SET stale = 1 WHERE run_no = $1 AND stale = 0 AND (subject_key = $2 OR against_key = $2)`, run, k[:])
			if err != nil {
				return err
			}
			n += m
		}
		return nil
	})
	return n, err
}

// People lists the judges of a stage who are people, by name: those who have said something.
func (s *Reader) People(ctx context.Context, run int64, stage string) ([]string, error) {
	var out []string
	scan := func(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) }
	for name, err := range walk(ctx, s, "read who labelled", scan, `SELECT DISTINCT judge FROM verdicts
		WHERE run_no = $1 AND stage = $2 AND stale = 0 AND judge LIKE 'human:%' ORDER BY judge`, run, stage) {
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// Withdraw takes back verdicts that people gave, by the keys of their coordinates: they stay in the ledger, marked stale. It
// returns how many it took back. What models and rules say is never withdrawn.
func (s *Ledger) Withdraw(ctx context.Context, run int64, keys []assay.Key) (int64, error) {
	var n int64
	err := s.tx(ctx, "withdraw verdicts", relaxed, func(t *txn) error {
		n = 0
		for _, k := range keys {
			m, err := t.withdraw(ctx, run, k)
			if err != nil {
				return err
			}
			n += m
		}
		return nil
	})
	return n, err
}

// PeopleVerdicts walks over the verdicts that people gave in a stage.
func (s *Reader) PeopleVerdicts(ctx context.Context, run int64, stage string) iter.Seq2[Verdict, error] {
	return func(yield func(Verdict, error) bool) {
		if who, err := s.People(ctx, run, stage); err != nil {
			yield(Verdict{}, err)
			return
		} else if len(who) == 0 {
			return // found out by an index; their order is that of another, which holds all verdicts
		}
		walk(ctx, s, "read what people said", scanVerdict, verdictColumns+`
			WHERE run_no = $1 AND stage = $2 AND stale = 0 AND judge LIKE 'human:%' ORDER BY no`, run, stage)(yield)
	}
}

// Verdicts walks over the verdicts of a run in the order they were given: of one stage, or of all where it is empty.
// Stale ones are left out.
func (s *Reader) Verdicts(ctx context.Context, run int64, stage string) iter.Seq2[Verdict, error] {
	of := `$2 = ''`
	if stage != "" {
		of = `stage = $2` // so that the index of stages gives the order too
	}
	return walk(ctx, s, "read verdicts", scanVerdict, verdictColumns+`WHERE run_no = $1 AND stale = 0 AND `+of+` ORDER BY no`, run, stage)
}

const verdictColumns = `SELECT no, run_no, stage, source, item, lane, against, direction, template, turn, branch, draw, judge, prompt, trait, vote,
	subject_key, against_key, state, COALESCE(label, ''), score, reason, fields, COALESCE(segment_no, 0), COALESCE(ord, 0), second_try, fallback, stale, at_ms
	FROM verdicts `

// VerdictsOn reads the verdicts that these requests gave, or that are about their answers, in the order they were given.
// Stale ones are left out.
func (s *Reader) VerdictsOn(ctx context.Context, run int64, keys []assay.Key) (map[assay.Key][]Verdict, error) {
	all := map[assay.Key][]Verdict{}
	wanted := map[assay.Key]bool{}
	for _, k := range keys {
		wanted[k] = true
	}
	for len(keys) > 0 {
		n := min(500, len(keys))
		list, args := keyList(keys[:n], run)
		keys = keys[n:]
		for _, column := range []string{"key", "subject_key", "against_key"} { // each by its own index: all at once walks over the whole run
			text := verdictColumns + `WHERE run_no = $1 AND stale = 0 AND ` + column + ` IN (` + list + `)`
			for v, err := range walk(ctx, s, "read verdicts", scanVerdict, text, args...) {
				if err != nil {
					return nil, err
				}
				for _, k := range []assay.Key{v.At.Key(), v.Subject, v.Against} {
					if wanted[k] && !slices.ContainsFunc(all[k], func(have Verdict) bool { return have.No == v.No }) {
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

func scanVerdict(rows *sql.Rows) (Verdict, error) {
	var v Verdict
	var subject, against []byte
	var score sql.NullFloat64
	var at int64
	c := &v.At
	err := rows.Scan(&v.No, &v.Run, &c.Stage, &c.Source, &c.Item, &c.Lane, &c.Against, &v.Direction, &c.Template, &c.Turn, &c.Branch, &c.Draw, &c.Judge, &c.Prompt, &c.Trait, &c.Vote,
		&subject, &against, &v.State, &v.Label, &score, &v.Reason, &v.Fields, &v.Segment, &v.Ord, &v.Again, &v.By, &v.Stale, &at)
	copy(v.Subject[:], subject)
	copy(v.Against[:], against)
	if score.Valid {
		v.Score = &score.Float64
	}
	v.Given = time.UnixMilli(at).UTC()
	return v, err
}
