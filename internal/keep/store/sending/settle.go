package sending

import (
	"context"
	"encoding/json"
	"errors"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

var outcomeColumns = []string{"segment_no", "ord", "late", "run_no", "key", "ending", "stands", "surplus", "reused_no", "text", "thoughts",
	"over", "finish", "model", "request_id", "tier", "input_tokens", "cached_tokens", "write5m_tokens", "write1h_tokens", "output_tokens",
	"reasoning_tokens", "tools", "cost_nano", "fault_class", "fault_status", "fault_code", "fault_message", "artifact_no", "line_offset",
	"line_length", "line_sum", "price_nano", "at_ms", "retried", "calls", "likely"}

// errCareful asks for the careful way: a row is there already, or may be.
var errCareful = errors.New("go the careful way")

// Settle writes a block of outcomes and moves the counters, once per attempt however often it is called. Attempts that
// have an outcome keep the one they have.
func (s *Store) Settle(ctx context.Context, l store.Lease, block []store.Settlement) (store.Tally, error) {
	return s.settle(ctx, l, block, db.Relaxed)
}

// SettleLive is Settle for answers that are nowhere else: once written, they survive the power.
func (s *Store) SettleLive(ctx context.Context, l store.Lease, block []store.Settlement) (store.Tally, error) {
	return s.settle(ctx, l, block, db.Durable)
}

func (s *Store) settle(ctx context.Context, l store.Lease, block []store.Settlement, d db.Durability) (store.Tally, error) {
	if len(block) == 0 {
		return store.Tally{}, nil
	}
	err := s.db.Tx(ctx, "settle", d, func(t *db.Txn) error {
		err := settleBlock(ctx, t, l, block, nil)
		if s.db.Violation(err) {
			return errCareful
		}
		return err
	})
	if !errors.Is(err, errCareful) {
		return store.Tally{Written: int64(len(block))}, err
	}
	var tally store.Tally
	err = s.db.Tx(ctx, "settle carefully", d, func(t *db.Txn) error {
		tally = store.Tally{}
		fresh, stands, err := sift(ctx, t, l, block)
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
		return settleBlock(ctx, t, l, fresh, stands)
	})
	return tally, err
}

// sift leaves out what already has an outcome, and returns which keys already have an answer.
func sift(ctx context.Context, t *db.Txn, l store.Lease, block []store.Settlement) ([]store.Settlement, map[assay.Key]bool, error) {
	var run int64
	if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run); err != nil {
		return nil, nil, whyNot(ctx, t, l, err)
	}
	stands, there := map[assay.Key]bool{}, map[int64]bool{}
	var fresh []store.Settlement
	for _, o := range block {
		if there[o.Ord] {
			continue
		}
		there[o.Ord] = true
		var has, answered bool
		err := t.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM outcomes WHERE segment_no = $1 AND ord = $2 AND late = 0),
			EXISTS (SELECT 1 FROM attempts a WHERE a.segment_no = $1 AND a.ord = $2 AND `+db.Answered("a")+`)`,
			l.No, o.Ord).Scan(&has, &answered)
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
func settleBlock(ctx context.Context, t *db.Txn, l store.Lease, block []store.Settlement, stands map[assay.Key]bool) error {
	var d delta
	for i := range block {
		d.count(&block[i], stands[block[i].Key])
	}
	var run, maxTry int64
	err := t.QueryRowContext(ctx, `UPDATE segments SET n_answered = n_answered + $3, n_cut = n_cut + $4, n_empty = n_empty + $5,
		n_refused = n_refused + $6, n_rejected = n_rejected + $7, n_errored = n_errored + $8, n_expired = n_expired + $9,
		n_cancelled = n_cancelled + $10, n_lost = n_lost + $11, n_surplus = n_surplus + $12, cost_nano = cost_nano + $13,
		cost_priced = cost_priced + $14, cost_unknown = cost_unknown + $15, cache_hits = cache_hits + $16,
		input_tokens = input_tokens + $17,
		cached_tokens = cached_tokens + $18, output_tokens = output_tokens + $19, reasoning_tokens = reasoning_tokens + $20,
		usage_unknown = usage_unknown + $21, taken_nano = taken_nano + $22, taken_unpriced = taken_unpriced + $23,
		taken_input = taken_input + $24, taken_cached = taken_cached + $25, taken_output = taken_output + $26,
		taken_mute = taken_mute + $27, written_tokens = written_tokens + $28,
		progress_ms = $29
		WHERE no = $1 AND epoch = $2`+
		db.InStates([]store.State{store.Staged, store.Uploaded, store.Intended, store.Launched, store.Ended, store.Fetched})+`
		RETURNING run_no, max_try, stage, lane`,
		l.No, l.Epoch, d.n[0], d.n[1], d.n[2], d.n[3], d.n[4], d.n[5], d.n[6], d.n[7], d.n[8], d.lane.Surplus, int64(d.cost.Sum),
		d.cost.Priced, d.cost.Unknown, d.hits, d.usage.Input, d.usage.Cached, d.usage.Output, d.usage.Reasoning, d.mute,
		int64(d.taken.Cost), d.taken.Unpriced, d.taken.Input, d.taken.Cached, d.taken.Output, d.taken.Mute, d.usage.Written(), t.Millis()).
		Scan(&run, &maxTry, &d.lane.Stage, &d.lane.Lane)
	if err != nil {
		return whyNot(ctx, t, l, err)
	}
	if maxTry > 1 && stands == nil {
		return errCareful
	}
	d.lane.Run = run
	rows, in := make([][]any, len(block)), entry{segment: l.No, run: run, retried: db.Flag(maxTry > 1), at: t.Millis()}
	for i := range block {
		rows[i] = outcomeRow(in, &block[i], stands[block[i].Key])
	}
	if err := t.Bulk(ctx, "outcomes", outcomeColumns, rows); err != nil {
		return err
	}
	if err := state.AddToLane(ctx, t, d.lane); err != nil {
		return err
	}
	return queueAgain(ctx, t, l.No, block)
}

// queueAgain puts what is to be sent again on the queue, as far as its cap and its answers allow.
func queueAgain(ctx context.Context, t *db.Txn, segment int64, block []store.Settlement) error {
	for i := range block {
		o := &block[i]
		if o.Again == nil {
			continue
		}
		_, err := t.ExecContext(ctx, `INSERT INTO resends (run_no, key, try, segment_no, ord, mode, not_before_ms, cause)
			SELECT a.run_no, a.key, a.try + 1, a.segment_no, a.ord, $3, $4, $5 FROM attempts a
			WHERE a.segment_no = $1 AND a.ord = $2
			AND NOT `+db.Answered("a")+`
			AND $6 >= `+endedAs("$7")+`
			ON CONFLICT DO NOTHING`,
			segment, o.Ord, string(o.Again.Mode), o.Again.After.UnixMilli(), o.Again.Cause, o.Again.Cap, string(o.Outcome.Ending))
		if err != nil {
			return err
		}
	}
	return nil
}

// endedAs counts the tries of the request of attempt a that ended in one way.
func endedAs(ending string) string {
	return `(SELECT COUNT(*) FROM attempts b JOIN outcomes v ON v.segment_no = b.segment_no AND v.ord = b.ord AND v.late = 0
		WHERE ` + db.SameRequest("b", "a") + ` AND v.ending = ` + ending + `)`
}

// entry is where and when an outcome is entered.
type entry struct {
	segment, run int64
	late         int64
	retried      int64 // 1: its request may have another attempt, so that its answer may be a second one
	at           int64
}

// outcomeRow returns an outcome in the order of outcomeColumns.
func outcomeRow(in entry, o *store.Settlement, answered bool) []any {
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
		text, thoughts = db.Clean(out.Reading()), db.Null(db.Clean(out.Thoughts))
	}
	row := append(make([]any, 0, len(outcomeColumns)),
		in.segment, o.Ord, in.late, in.run, o.Key[:], string(out.Ending), stands, surplus, db.Null(o.Reused), text, thoughts, over,
		db.Clean(out.Finish), db.Clean(out.Model), db.Clean(out.RequestID), db.Clean(out.Tier))
	if u := out.Usage; u.Known {
		row = append(row, u.Input, u.Cached, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning)
	} else {
		row = append(row, nil, nil, nil, nil, nil, nil)
	}
	row = append(row, toolCalls(out.Usage.Tools), db.Nanos(o.Cost))
	if f := out.Fault; f != nil {
		row = append(row, string(f.Class), db.Null(int64(f.Status)), db.Clean(f.Code), db.Clean(f.Message))
	} else {
		row = append(row, nil, nil, nil, nil)
	}
	if o.Artifact != 0 {
		row = append(row, o.Artifact, o.Offset, o.Length, db.Null(int64(o.Sum)))
	} else {
		row = append(row, nil, nil, nil, nil)
	}
	return append(row, db.Nanos(o.Price), in.at, in.retried, listed(out.Calls), listed(out.Likely))
}

// listed returns a list as it is kept: the calls that a model wants made, or likely tokens; nil: there are none.
func listed[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil // arguments that are no JSON are kept as broken ones, and logarithms are numbers, so there is none
	}
	return db.Clean(string(text))
}

// toolCalls returns the calls of a provider's tools as they are kept; nil: there were none.
func toolCalls(t assay.ToolCalls) any {
	if t == (assay.ToolCalls{}) {
		return nil
	}
	text, _ := json.Marshal(t) // numbers can be written
	return string(text)
}
