package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// settleBlock is how many outcomes are written in one transaction.
const settleBlock = 1000

// settle reads what was fetched and gives every attempt its outcome.
func (w *work) settle(ctx context.Context) error {
	done, err := w.place(ctx)
	if err != nil {
		return err
	}
	defer done()
	r := &reading{work: w}
	if r.seats, err = w.Ledger.AttemptPlaces(ctx, w.g.No, w.g.Requests); err != nil {
		return err
	}
	files, err := w.Ledger.Artifacts(ctx, w.g.No)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(a store.Artifact) bool {
		return !strings.HasPrefix(a.Name, w.roundName(fmt.Sprint(w.g.Refetches)))
	})
	if err := r.readAll(ctx, files); err != nil {
		return err
	}
	missing := r.missing()
	end := w.endMissing(missing)
	if missing > 0 && w.mayCome(missing, end) {
		due := w.Clock.Now().Add(w.Timing.Refetch[w.g.Refetches])
		return w.Ledger.Refetch(ctx, w.l, fmt.Sprintf("results that are missing: %d", missing), due)
	}
	if err := r.readRest(ctx, files); err != nil {
		return err
	}
	if missing > 0 {
		if err := w.Ledger.EndOpen(ctx, w.l, end); err != nil {
			return err
		}
	}
	if err := w.Ledger.OpenGate(ctx, w.g.Account, w.g.Model); err != nil {
		return err
	}
	if err := w.finish(ctx); err != nil || r.halt == nil {
		return err
	}
	return w.Ledger.SetLane(ctx, w.run.No, w.g.Stage, w.g.Lane, stoppedBy(r.halt))
}

// settlingAtOnce is how many segments are read at a time: the keys of each are in memory, up to a hundred thousand of them.
const settlingAtOnce = 2

// place waits for a place among those that settle.
func (w *work) place(ctx context.Context) (done func(), err error) {
	w.mu.Lock()
	if w.settling == nil {
		w.settling = make(chan struct{}, settlingAtOnce)
	}
	places := w.settling
	w.mu.Unlock()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// finish settles the segment. Where something was given up, it is looked at again as long as the provider keeps results.
func (w *work) finish(ctx context.Context) error {
	late, err := w.Ledger.LateKeys(ctx, w.g.No)
	if err != nil {
		return err
	}
	var due time.Time
	now := w.Clock.Now()
	if len(late) > 0 && w.g.CollectBefore.After(now) {
		due = now.Add(w.Timing.Late)
	}
	if len(late) == 0 && w.tidies() {
		due = now
	}
	if w.owesAudit() {
		due = now.Add(w.Timing.Audit)
	}
	return w.Ledger.Finish(ctx, w.l, due)
}

// reading is a walk over the result lines of a segment: over the answers first, then over what is none. An answer beats a
// line of the same id that is none, wherever the two stand.
type reading struct {
	*work
	seats  map[assay.Key]store.AttemptPlace
	block  []store.Settlement
	strays []store.Stray
	got    int64               // settled on this walk
	rest   bool                // the walk is over what is no answer
	poor   map[assay.Key]bool  // requests that a line speaks of which is no answer
	late   map[assay.Key]int64 // set: only these attempts, and what is read is late
	halt   *assay.Fault        // the first that every further request would meet: no money, or no right
}

// readAll walks over the answers.
func (r *reading) readAll(ctx context.Context, files []store.Artifact) error {
	for _, a := range files {
		if err := r.read(ctx, a); err != nil {
			return fmt.Errorf("read artifact %s: %w", a.Name, err)
		}
	}
	return nil
}

// readRest walks over what is no answer, where there is any.
func (r *reading) readRest(ctx context.Context, files []store.Artifact) error {
	if len(r.poor) == 0 {
		return nil
	}
	r.rest = true
	return r.readAll(ctx, files)
}

// missing counts the requests that no line speaks of.
func (r *reading) missing() int64 {
	n := int64(0)
	for key, seat := range r.seats {
		if !seat.Done && !r.poor[key] {
			n++
		}
	}
	return n
}

// skips reports whether a line is for the other walk. What is no answer is remembered.
func (r *reading) skips(key assay.Key, line provider.Line) bool {
	if line.Outcome.Ending.Stands() {
		return r.rest
	}
	if r.poor == nil {
		r.poor = map[assay.Key]bool{}
	}
	r.poor[key] = true
	return !r.rest
}

func (r *reading) read(ctx context.Context, a store.Artifact) error {
	var part provider.Part
	if err := json.Unmarshal([]byte(a.Part), &part); err != nil {
		return err
	}
	file, err := r.Files.Open(ctx, r.run.ID, a.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	for line, err := range r.access.Batch.Decode(r.job(), part, file) {
		if err != nil {
			return err
		}
		if r.late != nil {
			r.takeLate(a, line)
		} else {
			r.take(a, line)
		}
		if len(r.block) >= settleBlock || len(r.strays) >= settleBlock {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
	return r.flush(ctx)
}

// take seats one line: it becomes an outcome, or a stray.
func (r *reading) take(a store.Artifact, line provider.Line) {
	stray := store.Stray{Artifact: a.No, Offset: line.Offset, Length: line.Length, CustomID: line.CustomID}
	nonce, key, err := assay.ParseCustomID(line.CustomID)
	seat, known := r.seats[key]
	switch {
	case err != nil:
		stray.Kind = store.StrayUnknown
	case nonce != r.g.Nonce || !known:
		stray.Kind = store.StrayForeign
	case line.Malformed && int(r.g.Refetches) < len(r.Timing.Refetch):
		return // paid for: what cannot be read is fetched again, never asked again
	case r.skips(key, line):
		return
	case seat.Seen:
		stray.Kind, stray.Ord = store.StrayDuplicate, seat.Ord
	case seat.Done:
		return // from an earlier walk over the same results
	default:
		s := r.settlement(a, line, key, seat.Ord)
		if line.Malformed {
			s.Again = nil
		}
		if f := line.Outcome.Fault; r.halt == nil && f != nil && (f.Class == assay.FaultQuota || f.Class == assay.FaultDenied) {
			r.halt = f
		}
		r.block = append(r.block, s)
		seat.Done, seat.Seen = true, true
		r.seats[key] = seat
		r.got++
		return
	}
	r.strays = append(r.strays, stray)
}

// takeLate takes a line for an attempt that was given up.
func (r *reading) takeLate(a store.Artifact, line provider.Line) {
	nonce, key, err := assay.ParseCustomID(line.CustomID)
	ord, waits := r.late[key]
	if err != nil || nonce != r.g.Nonce || !waits || givenUp(line.Outcome.Ending) || r.skips(key, line) {
		return
	}
	delete(r.late, key)
	s := r.settlement(a, line, key, ord)
	s.Again = nil
	r.block = append(r.block, s)
}

func givenUp(e assay.Ending) bool {
	return e == assay.Lost || e == assay.Expired || e == assay.Cancelled
}

func (r *reading) settlement(a store.Artifact, line provider.Line, key assay.Key, ord int64) store.Settlement {
	return store.Settlement{Ord: ord, Key: key, Outcome: line.Outcome, Cost: r.bill(line.Outcome), Artifact: a.No, Offset: line.Offset, Length: line.Length, Sum: line.Sum,
		Again: r.again(line.Outcome)}
}

func (r *reading) flush(ctx context.Context) error {
	var err error
	if r.late != nil {
		if len(r.block) > 0 {
			_, err = r.Ledger.SettleLate(ctx, r.l, r.block)
		}
	} else {
		_, err = r.Ledger.Settle(ctx, r.l, r.block)
		err = errors.Join(err, r.Ledger.AddStrays(ctx, r.l, r.strays))
	}
	r.block, r.strays = r.block[:0], r.strays[:0]
	return err
}

// bill is what an outcome cost; nil: unknown. What no model worked on costs nothing.
func (w *work) bill(o assay.Outcome) *assay.Money { return bill(w.route.Price, w.g.Mode, o) }

func bill(price catalog.Price, mode store.SegmentMode, o assay.Outcome) *assay.Money {
	zero := assay.Money(0)
	billed := o.Ending.Stands() || o.Ending == assay.Empty || o.Usage.Known
	if !billed {
		return &zero
	}
	how := catalog.Billing{Mode: assay.ModeBatch}
	if mode == store.Live {
		how = catalog.Billing{Mode: assay.ModeLive, Tier: o.Tier}
	}
	c := price.Bill(o.Usage, how)
	if !c.Known() {
		return nil
	}
	return &c.Sum
}

// again says whether a request that ended like this goes out again by itself. Billed non-answers are data: never.
func (w *work) again(o assay.Outcome) *store.Again {
	a := store.Again{Mode: w.g.Mode, After: w.Clock.Now().Add(w.backoff(w.g.MaxTry, 0)), Cause: string(o.Ending)}
	switch o.Ending {
	case assay.Errored:
		a.Cap = 3
		if f := o.Fault; f != nil {
			switch f.Class {
			case assay.FaultInvalid, assay.FaultLarge, assay.FaultDenied, assay.FaultQuota:
				return nil
			case assay.FaultBusy:
				a.Cap = 8
			}
		}
	case assay.Expired:
		a.Cap = 2
	case assay.Cancelled:
		return w.cancelledAgain(a)
	default:
		return nil
	}
	return &a
}

// cancelledAgain decides about a request that a cancelled job did not get to: by its cause.
func (w *work) cancelledAgain(a store.Again) *store.Again {
	switch w.g.CancelCause {
	case store.ByUser, store.ByRule:
		return nil
	case store.ByDeadline:
		if w.policy.Then != ThenLive || w.access.Live == nil {
			return nil
		}
		a.Mode, a.Cause, a.Cap, a.After = store.Live, "deadline", noCap, w.Clock.Now()
		return &a
	}
	a.Cap = 2 // cancelled by another party
	return &a
}

// mayCome reports whether results that are missing may be there at the next fetch: the provider counts more than there are,
// or says nothing of how many there are and they would be asked again.
func (w *work) mayCome(missing int64, end store.EndOpen) bool {
	counts := w.counts()
	have := w.g.Requests - missing
	short := have < counts.Succeeded+counts.Failed || provider.State(w.g.JobState) == provider.StateEnded || !counts.Known && end.Again != nil
	return short && int(w.g.Refetches) < len(w.Timing.Refetch)
}

// endMissing is what becomes of attempts that no line speaks of: they are given up in the way the job ended.
func (w *work) endMissing(missing int64) store.EndOpen {
	counts, have := w.counts(), w.g.Requests-missing
	switch provider.State(w.g.JobState) {
	case provider.StateExpired:
		return store.EndOpen{Ending: assay.Expired, Message: "the job ran out of time before it", Again: w.again(assay.Outcome{Ending: assay.Expired})}
	case provider.StateCancelled:
		return store.EndOpen{Ending: assay.Cancelled, Message: "the job was cancelled before it", Again: w.again(assay.Outcome{Ending: assay.Cancelled})}
	}
	end := store.EndOpen{Ending: assay.Lost, Message: "the provider never said what became of it"}
	// Sent again by itself only where the provider's own numbers say that it was not done.
	if counts.Known && counts.Succeeded <= have && counts.Done() < w.g.Requests {
		end.Again = &store.Again{Mode: store.Batch, After: w.Clock.Now(), Cause: "lost", Cap: 1}
	}
	return end
}
