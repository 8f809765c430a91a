package store

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"assay/internal/assay"
)

// textLimit is how much answer text a row keeps; a longer one is read from its artifact.
const textLimit = 64 << 10

// Settlement is the outcome of one attempt, ready to be written.
type Settlement struct {
	Ord      int64
	Key      assay.Key
	Outcome  assay.Outcome
	Cost     *assay.Money // nil: not known
	Artifact int64        // where the raw line lies; 0: nowhere
	Offset   int64
	Length   int64
	Sum      uint32 // checksum of the raw line; 0: not kept
	Again    *Again // the request is to be sent again; nil: not by itself
	Reused   int64  // number of the run whose answer this is; 0: our own
}

// Long reports whether the text is too long for a row, and is read from the raw line.
func (o *Settlement) Long() bool {
	return len(o.Outcome.Text)+len(o.Outcome.Thoughts) > textLimit && o.Artifact != 0
}

// Again says how a request is to be sent again.
type Again struct {
	Mode  SegmentMode
	After time.Time
	Cause string
	Cap   int64 // not if more attempts of the request than this have ended in the same way
}

// Tally is what a settled block did.
type Tally struct {
	Written int64 // outcomes that are new
	Surplus int64 // of them: second answers
}

var outcomeColumns = []string{"segment_no", "ord", "late", "run_no", "key", "ending", "stands", "surplus", "reused_no", "text", "thoughts", "over",
	"finish", "model", "request_id", "tier", "input_tokens", "cached_tokens", "write5m_tokens", "write1h_tokens", "output_tokens", "reasoning_tokens",
	"cost_nano", "fault_class", "fault_status", "fault_code", "fault_message", "artifact_no", "line_offset", "line_length", "line_sum", "at_ms"}

// errCareful asks for the careful way: a row is there already, or may be.
var errCareful = errors.New("go the careful way")

// Settle writes a block of outcomes and moves the counters, once per attempt however often it is called. Attempts that
// have an outcome keep the one they have.
func (s *Ledger) Settle(ctx context.Context, l Lease, block []Settlement) (Tally, error) {
	return s.settle(ctx, l, block, relaxed)
}

// SettleLive is Settle for answers that are nowhere else: once written, they survive the power.
func (s *Ledger) SettleLive(ctx context.Context, l Lease, block []Settlement) (Tally, error) {
	return s.settle(ctx, l, block, durable)
}

func (s *Ledger) settle(ctx context.Context, l Lease, block []Settlement, d durability) (Tally, error) {
	if len(block) == 0 {
		return Tally{}, nil
	}
	err := s.tx(ctx, "settle", d, func(t *txn) error {
		err := t.settle(ctx, l, block, nil)
		if s.engine.violation(err) {
			return errCareful
		}
		return err
	})
	if !errors.Is(err, errCareful) {
		return Tally{Written: int64(len(block))}, err
	}
	var tally Tally
	err = s.tx(ctx, "settle carefully", d, func(t *txn) error {
		tally = Tally{}
		fresh, stands, err := t.sift(ctx, l, block)
		if err != nil {
			return err
		}
		for _, o := range fresh {
			if stands[o.Key] && o.Outcome.Ending.Stands() {
				tally.Surplus++
			}
		}
		if tally.Written = int64(len(fresh)); len(fresh) == 0 {
			return nil
		}
		return t.settle(ctx, l, fresh, stands)
	})
	return tally, err
}

// sift leaves out what already has an outcome, and returns which keys already have an answer.
func (t *txn) sift(ctx context.Context, l Lease, block []Settlement) ([]Settlement, map[assay.Key]bool, error) {
	var run int64
	if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run); err != nil {
		return nil, nil, t.whyNot(ctx, l, err)
	}
	stands, there := map[assay.Key]bool{}, map[int64]bool{}
	var fresh []Settlement
	for _, o := range block {
		if there[o.Ord] {
			continue
		}
		there[o.Ord] = true
		var has, answered bool
		err := t.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM outcomes WHERE segment_no = $1 AND ord = $2 AND late = 0),
			EXISTS (SELECT 1 FROM outcomes WHERE run_no = $3 AND key = $4 AND stands = 1)`, l.No, o.Ord, run, o.Key[:]).Scan(&has, &answered)
		if err != nil {
			return nil, nil, err
		}
		if !has {
			stands[o.Key] = answered
			fresh = append(fresh, o)
		}
	}
	return fresh, stands, nil
}

// settle writes a block that is new as a whole. With a nil map nothing in it may have an answer from elsewhere; a
// segment for which that is not certain by its making asks for the careful way.
func (t *txn) settle(ctx context.Context, l Lease, block []Settlement, stands map[assay.Key]bool) error {
	var d delta
	for i := range block {
		d.count(&block[i], stands[block[i].Key])
	}
	var run, maxTry int64
	err := t.QueryRowContext(ctx, `UPDATE segments SET n_answered = n_answered + $3, n_cut = n_cut + $4, n_empty = n_empty + $5,
		n_refused = n_refused + $6, n_rejected = n_rejected + $7, n_errored = n_errored + $8, n_expired = n_expired + $9,
		n_cancelled = n_cancelled + $10, n_lost = n_lost + $11, n_surplus = n_surplus + $12, cost_nano = cost_nano + $13,
		cost_priced = cost_priced + $14, cost_unknown = cost_unknown + $15, cache_hits = cache_hits + $16, input_tokens = input_tokens + $17,
		cached_tokens = cached_tokens + $18, output_tokens = output_tokens + $19, reasoning_tokens = reasoning_tokens + $20,
		usage_unknown = usage_unknown + $21
		WHERE no = $1 AND epoch = $2`+inStates([]State{Staged, Uploaded, Intended, Launched, Ended, Fetched})+`
		RETURNING run_no, max_try, stage, lane`,
		l.No, l.Epoch, d.n[0], d.n[1], d.n[2], d.n[3], d.n[4], d.n[5], d.n[6], d.n[7], d.n[8], d.lane.surplus, int64(d.cost.Sum),
		d.cost.Priced, d.cost.Unknown, d.hits, d.usage.Input, d.usage.Cached, d.usage.Output, d.usage.Reasoning, d.mute).
		Scan(&run, &maxTry, &d.lane.stage, &d.lane.lane)
	if err != nil {
		return t.whyNot(ctx, l, err)
	}
	if maxTry > 1 && stands == nil {
		return errCareful
	}
	d.lane.run = run
	rows := make([][]any, len(block))
	for i := range block {
		rows[i] = outcomeRow(l.No, run, &block[i], 0, stands[block[i].Key], t.s.millis())
	}
	if err := t.s.engine.bulk(ctx, t, "outcomes", outcomeColumns, rows); err != nil {
		return err
	}
	if err := t.addToLane(ctx, d.lane); err != nil {
		return err
	}
	return t.queueAgain(ctx, l.No, block)
}

// queueAgain puts what is to be sent again on the queue, as far as its cap and its answers allow.
func (t *txn) queueAgain(ctx context.Context, segment int64, block []Settlement) error {
	for i := range block {
		o := &block[i]
		if o.Again == nil {
			continue
		}
		_, err := t.ExecContext(ctx, `INSERT INTO resends (run_no, key, try, segment_no, ord, mode, not_before_ms, cause)
			SELECT a.run_no, a.key, a.try + 1, a.segment_no, a.ord, $3, $4, $5 FROM attempts a
			WHERE a.segment_no = $1 AND a.ord = $2
			AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.run_no = a.run_no AND u.key = a.key AND u.stands = 1)
			AND $6 >= (SELECT COUNT(*) FROM attempts b JOIN outcomes v ON v.segment_no = b.segment_no AND v.ord = b.ord AND v.late = 0
				WHERE b.run_no = a.run_no AND b.key = a.key AND b.superseded = 0 AND v.ending = $7)
			ON CONFLICT DO NOTHING`,
			segment, o.Ord, string(o.Again.Mode), o.Again.After.UnixMilli(), o.Again.Cause, o.Again.Cap, string(o.Outcome.Ending))
		if err != nil {
			return err
		}
	}
	return nil
}

// outcomeRow is an outcome in the order of outcomeColumns.
func outcomeRow(segment, run int64, o *Settlement, late int64, answered bool, at int64) []any {
	out := &o.Outcome
	stands, surplus := int64(0), int64(0)
	if out.Ending.Stands() {
		if answered {
			surplus = 1
		} else {
			stands = 1
		}
	}
	var text, thoughts any
	over := int64(0)
	if o.Long() {
		over = 1
	} else if out.Ending.Stands() || out.Text != "" || out.Thoughts != "" {
		text, thoughts = clean(out.Text), null(clean(out.Thoughts))
	}
	row := []any{segment, o.Ord, late, run, o.Key[:], string(out.Ending), stands, surplus, null(o.Reused), text, thoughts, over,
		clean(out.Finish), clean(out.Model), clean(out.RequestID), clean(out.Tier)}
	if u := out.Usage; u.Known {
		row = append(row, u.Input, u.Cached, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning)
	} else {
		row = append(row, nil, nil, nil, nil, nil, nil)
	}
	row = append(row, nanos(o.Cost))
	if f := out.Fault; f != nil {
		row = append(row, string(f.Class), null(int64(f.Status)), clean(f.Code), clean(f.Message))
	} else {
		row = append(row, nil, nil, nil, nil)
	}
	if o.Artifact != 0 {
		row = append(row, o.Artifact, o.Offset, o.Length, null(int64(o.Sum)))
	} else {
		row = append(row, nil, nil, nil, nil)
	}
	return append(row, at)
}

// clean makes foreign text storable in both databases: valid UTF-8 without NUL. The raw bytes are in the artifact.
func clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// EndOpen ends all attempts of a segment that have no outcome, in the same way.
type EndOpen struct {
	Ending  assay.Ending
	Message string
	Again   *Again // nil: not by itself
}

// EndOpen gives every attempt without an outcome this one, at no cost.
func (s *Ledger) EndOpen(ctx context.Context, l Lease, e EndOpen) error {
	return s.tx(ctx, "end open", relaxed, func(t *txn) error {
		_, err := t.endOpen(ctx, l, e)
		return err
	})
}

func (t *txn) endOpen(ctx context.Context, l Lease, e EndOpen) (int64, error) {
	var d laneDelta
	err := t.QueryRowContext(ctx, `SELECT run_no, stage, lane FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&d.run, &d.stage, &d.lane)
	if err != nil {
		return 0, t.whyNot(ctx, l, err)
	}
	const open = `FROM attempts a WHERE a.segment_no = $1 AND NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord)`
	const unanswered = ` AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.run_no = a.run_no AND u.key = a.key AND u.stands = 1)`
	var n, moves int64
	if err := t.QueryRowContext(ctx, `SELECT COUNT(*) `+open, l.No).Scan(&n); err != nil || n == 0 {
		return d.run, err
	}
	if err := t.QueryRowContext(ctx, `SELECT COUNT(*) `+open+unanswered, l.No).Scan(&moves); err != nil {
		return 0, err
	}
	if e.Again != nil {
		_, err := t.ExecContext(ctx, `INSERT INTO resends (run_no, key, try, segment_no, ord, mode, not_before_ms, cause)
			SELECT a.run_no, a.key, a.try + 1, a.segment_no, a.ord, $2, $3, $4 `+open+unanswered+`
			AND $5 > (SELECT COUNT(*) FROM attempts b JOIN outcomes v ON v.segment_no = b.segment_no AND v.ord = b.ord AND v.late = 0
				WHERE b.run_no = a.run_no AND b.key = a.key AND b.superseded = 0 AND v.ending = $6)
			ON CONFLICT DO NOTHING`,
			l.No, string(e.Again.Mode), e.Again.After.UnixMilli(), e.Again.Cause, e.Again.Cap, string(e.Ending))
		if err != nil {
			return 0, err
		}
	}
	_, err = t.ExecContext(ctx, `INSERT INTO outcomes (segment_no, ord, late, run_no, key, ending, stands, surplus, over, finish, model,
		request_id, tier, cost_nano, fault_class, fault_message, at_ms)
		SELECT a.segment_no, a.ord, 0, a.run_no, a.key, $2, 0, 0, 0, '', '', '', '', 0, 'unknown', $3, $4 `+open,
		l.No, string(e.Ending), clean(e.Message), t.s.millis())
	if err != nil {
		return 0, err
	}
	err = t.one(ctx, ErrLeaseLost, `UPDATE segments SET n_`+string(e.Ending)+` = n_`+string(e.Ending)+` + $3, cost_priced = cost_priced + $3
		WHERE no = $1 AND epoch = $2`+inStates([]State{Staged, Uploaded, Intended, Launched, Ended, Fetched, Held}), l.No, l.Epoch, n)
	if err != nil {
		return 0, err
	}
	d.open = -moves
	d.add(e.Ending, moves)
	return d.run, t.addToLane(ctx, d)
}
