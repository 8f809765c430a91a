package batch

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
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// settleBlock is how many outcomes are written in one transaction.
const settleBlock = 1000

// settle reads what was fetched and gives every attempt its outcome.
func (w *work) settle(ctx context.Context) error {
	done, err := w.jobs.place(ctx)
	if err != nil {
		return err
	}
	defer done()
	r := &reading{w: w}
	if r.places, err = w.Ledger.Work.AttemptPlaces(ctx, w.Seg.No, w.Seg.Requests); err != nil {
		return err
	}
	files, err := w.Ledger.Reader.Artifacts(ctx, w.Seg.No)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(a store.Artifact) bool {
		return !strings.HasPrefix(a.Name, w.roundName(fmt.Sprint(w.Seg.Refetches)))
	})
	if whole, err := resultsWhole(ctx, w.Work, files); !whole || err != nil {
		return err
	}
	if err := r.readAll(ctx, files); err != nil {
		return err
	}
	missing := r.missing()
	end := r.endMissing(missing)
	if missing > 0 && r.mayCome(missing, end) {
		due := w.Clock.Now().Add(w.Timing.Refetch[w.Seg.Refetches])
		return w.Ledger.Work.Refetch(ctx, w.Lease, fmt.Sprintf("results that are missing: %d", missing), due)
	}
	if err := r.readRest(ctx, files); err != nil {
		return err
	}
	if missing > 0 {
		if err := w.Ledger.Work.EndOpen(ctx, w.Lease, end); err != nil {
			return err
		}
	}
	if err := w.Ledger.Limits.OpenGate(ctx, w.Seg.Account, w.Seg.Model); err != nil {
		return err
	}
	if err := w.finish(ctx); err != nil || r.halt == nil {
		return err
	}
	return w.Ledger.Work.SetLane(ctx, w.Run.No, w.Seg.Stage, w.Seg.Lane, hold.StoppedBy(r.halt))
}

// place waits for a place among those that settle.
func (s *Jobs) place(ctx context.Context) (done func(), err error) {
	select {
	case s.settling <- struct{}{}:
		return func() { <-s.settling }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// finish settles the segment. Where something was given up, it is looked at again as long as the provider keeps results.
func (w *work) finish(ctx context.Context) error {
	late, err := w.Ledger.Work.LateKeys(ctx, w.Seg.No)
	if err != nil {
		return err
	}
	var due time.Time
	now := w.Clock.Now()
	if len(late) > 0 && w.Seg.CollectBefore.After(now) {
		due = now.Add(w.Timing.Late)
	}
	if len(late) == 0 && w.tidies() {
		due = now
	}
	if owesAudit(w.Seg) {
		due = now.Add(w.Timing.Audit)
	}
	return hold.Finish(ctx, w.Work, due)
}

// reading is a walk over the result lines of a segment: over the answers first, then over what is none. An answer beats
// a line of the same id that is none, whatever their order.
type reading struct {
	w      *work
	places map[assay.Key]store.AttemptPlace
	block  []store.Settlement
	strays []store.Stray
	got    int64                     // settled on this walk
	rest   bool                      // the walk is over what is no answer
	poor   map[assay.Key]bool        // requests with a line that is no answer
	late   map[assay.Key]int64       // set: only these attempts, and what is read is late
	aside  map[assay.Key]assay.Money // what was set aside for these
	served map[string]bool           // other models than was asked that were named
	halt   *assay.Fault              // the first that every further request would meet: no money, or no right

	lostFiles *bool // files that its lines name are gone; nil: not looked at
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

// readRest walks over what is no answer, if there is any.
func (r *reading) readRest(ctx context.Context, files []store.Artifact) error {
	if len(r.poor) == 0 {
		return nil
	}
	r.rest = true
	return r.readAll(ctx, files)
}

// missing counts the requests without a line.
func (r *reading) missing() int64 {
	n := int64(0)
	for key, place := range r.places {
		if !place.Done && !r.poor[key] {
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
	file, err := r.w.Files.Open(ctx, r.w.Run.ID, a.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	for line, err := range r.w.Access.Batch.Decode(r.w.Job(), part, file) {
		if err != nil {
			return err
		}
		if r.late != nil {
			r.takeLate(a, line)
		} else {
			gone, err := r.gone(ctx, line)
			if err != nil {
				return err
			}
			r.take(a, line, gone)
		}
		if len(r.block) >= settleBlock || len(r.strays) >= settleBlock {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
	return r.flush(ctx)
}

// gone reports whether a line is no answer because files that its segment names are not at the provider any more.
func (r *reading) gone(ctx context.Context, line provider.Line) (bool, error) {
	if line.Outcome.Ending.Stands() || !hold.AboutFile(line.Outcome.Fault) {
		return false, nil
	}
	if r.lostFiles == nil {
		files, err := namedFiles(ctx, r.w)
		if err != nil {
			return false, err
		}
		gone := false
		if len(files) > 0 {
			if gone, err = hold.Gone(ctx, r.w.Work, files); err != nil {
				return false, err
			}
		}
		r.lostFiles = &gone
	}
	return *r.lostFiles, nil
}

// take places one line: it becomes an outcome, or a stray. gone: it is none because of a file that its provider lost.
func (r *reading) take(a store.Artifact, line provider.Line, gone bool) {
	stray := store.Stray{Artifact: a.No, Offset: line.Offset, Length: line.Length, CustomID: line.CustomID}
	nonce, key, err := assay.ParseCustomID(line.CustomID)
	place, known := r.places[key]
	switch {
	case err != nil:
		stray.Kind = store.StrayUnknown
	case nonce != r.w.Seg.Nonce || !known:
		stray.Kind = store.StrayForeign
	case line.Malformed && int(r.w.Seg.Refetches) < len(r.w.Timing.Refetch):
		return // paid for: what cannot be read is fetched again, never asked again
	case r.skips(key, line):
		return
	case place.Seen:
		stray.Kind, stray.Ord = store.StrayDuplicate, place.Ord
	case place.Done:
		return // from an earlier walk over the same results
	default:
		s := r.settlement(a, line, key, place.Ord)
		if line.Malformed {
			s.Again = nil
		}
		if gone { // asked again with the file in its new place
			s.Again = &store.Again{Mode: r.w.Seg.Mode, After: r.w.Clock.Now(), Cause: "a file was gone", Cap: 3}
		}
		if f := line.Outcome.Fault; r.halt == nil && !gone && f != nil && (f.Class == assay.FaultQuota || f.Class == assay.FaultDenied) {
			r.halt = f
		}
		r.block = append(r.block, s)
		place.Done, place.Seen = true, true
		r.places[key] = place
		r.got++
		return
	}
	r.strays = append(r.strays, stray)
}

// takeLate takes a line for an attempt that was given up.
func (r *reading) takeLate(a store.Artifact, line provider.Line) {
	nonce, key, err := assay.ParseCustomID(line.CustomID)
	ord, waits := r.late[key]
	if err != nil || nonce != r.w.Seg.Nonce || !waits || givenUp(line.Outcome.Ending) || r.skips(key, line) {
		return
	}
	delete(r.late, key)
	s := r.settlement(a, line, key, ord)
	s.Again, s.Aside = nil, r.aside[key]
	r.block = append(r.block, s)
}

func givenUp(e assay.Ending) bool {
	return e == assay.Lost || e == assay.Expired || e == assay.Cancelled
}

func (r *reading) settlement(a store.Artifact, line provider.Line, key assay.Key, ord int64) store.Settlement {
	cost := r.w.Bill(line.Outcome)
	if line.Malformed && !line.Outcome.Usage.Known {
		cost = nil // an answer that was paid for may stand in it
	}
	return store.Settlement{Ord: ord, Key: key, Outcome: line.Outcome, Cost: cost, Artifact: a.No,
		Offset: line.Offset, Length: line.Length, Sum: line.Sum,
		Again: r.again(line.Outcome), Unread: r.w.Route.Unread(line.Outcome)}
}

func (r *reading) flush(ctx context.Context) error {
	var err error
	if r.late != nil {
		if len(r.block) > 0 {
			_, err = r.w.Ledger.Work.SettleLate(ctx, r.w.Lease, r.block)
		}
	} else {
		_, err = r.w.Ledger.Work.Settle(ctx, r.w.Lease, r.block)
		if r.served == nil {
			r.served = map[string]bool{}
		}
		err = errors.Join(err, hold.NoteServed(ctx, r.w.Work, r.served, r.block), r.w.Ledger.Work.AddStrays(ctx, r.w.Lease, r.strays))
	}
	r.block, r.strays = r.block[:0], r.strays[:0]
	return err
}
