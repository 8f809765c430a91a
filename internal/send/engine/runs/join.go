package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/engine/stage"
)

// join gives the run the answers that its questions wait for, until nothing more can be joined.
func (a *adoption) join(ctx context.Context) error {
	if _, err := a.scratch.Commit(); err != nil {
		return err
	}
	slices.SortStableFunc(a.index, func(x, y adoptedAnswer) int { return bytes.Compare(x.key[:], y.key[:]) })
	n := len(a.index)
	a.index = slices.CompactFunc(a.index, func(x, y adoptedAnswer) bool { return x.key == y.key })
	a.several = a.several || len(a.index) < n // if nothing is stamped: one run has one answer to a question
	if a.several && a.waves > 1 {
		for i := range a.jobs {
			a.jobs[i].Mixed = a.jobs[i].Answers > 0
		}
		return nil
	}
	outcomes, err := a.Files.Open(ctx, a.Run.ID, adoptScratch)
	if err != nil {
		return err
	}
	defer outcomes.Close()
	if err := a.makeRoom(ctx); err != nil {
		return err
	}
	if err := a.joinResends(ctx, outcomes); err != nil {
		return err
	}
	for joined := true; joined; {
		joined = false
		if err := a.Planner.Absorb(ctx, a.Run); err != nil {
			return err
		}
		groups, err := a.Groups(ctx, stage.MayAsk)
		if err != nil {
			return err
		}
		for _, g := range groups {
			if l, _ := a.LaneOf(g.Stage, g.Lane); !asksAt(a.name, l.Provider) {
				continue
			}
			some, err := a.joinGroup(ctx, g, outcomes)
			if err != nil {
				return err
			}
			joined = joined || some
		}
	}
	return nil
}

func (a *adoption) joinGroup(ctx context.Context, g engine.Group, outcomes io.ReaderAt) (some bool, err error) {
	c, err := a.NewCutter(ctx, g, a.mode, store.ForWave)
	if err != nil {
		return false, err
	}
	for p, err := range a.Fresh(ctx, g) {
		if err != nil {
			return false, err
		}
		if _, found := a.find(p.At.Key()); !found {
			continue
		}
		some = true
		if err := a.keep(ctx, c, p, 1, outcomes); err != nil {
			return false, err
		}
	}
	return some, c.SettleKnown(ctx)
}

// find returns the place of the answer to a question.
func (a *adoption) find(key assay.Key) (int, bool) {
	return slices.BinarySearchFunc(a.index, key, func(e adoptedAnswer, k assay.Key) int { return bytes.Compare(e.key[:], k[:]) })
}

// keep gives a request the answer that was found for it.
func (a *adoption) keep(ctx context.Context, c *stage.Cutter, p engine.Planned, try int64, outcomes io.ReaderAt) error {
	i, _ := a.find(p.At.Key())
	s, err := a.settled(c, a.index[i], p, outcomes)
	if err != nil {
		return err
	}
	s.Attempt.Try = try
	a.jobs[a.parts[a.index[i].part].job].Joined++
	return c.Keep(ctx, s)
}

// makeRoom takes back segments that are not sent yet and ask what was answered: their requests are to be sent again, and wait in the
// queue for their answers.
func (a *adoption) makeRoom(ctx context.Context) error {
	for _, g := range a.unsent {
		places, err := a.Ledger.Work.AttemptPlaces(ctx, g.No, g.Requests)
		if err != nil {
			return err
		}
		known := false
		for key := range places {
			_, found := a.find(key)
			known = known || found
		}
		if !known {
			continue
		}
		err = a.engine.leases.Work(ctx, g.No, func(ctx context.Context, w *hold.Work) error {
			if w.Seg.State != store.Staged && w.Seg.State != store.Uploaded {
				return nil // it may have a job of its own
			}
			return w.TakeBack(ctx, "not sent: answers to it were taken over")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// joinResends gives requests that wait to be sent again the answers that were found for them.
func (a *adoption) joinResends(ctx context.Context, outcomes io.ReaderAt) error {
	var wait []store.Resend
	for r, err := range a.Ledger.Reader.Resends(ctx, a.Run.No) {
		if err != nil {
			return err
		}
		if l, _ := a.LaneOf(r.At.Stage, r.Lane); !asksAt(a.name, l.Provider) {
			continue
		}
		if _, found := a.find(r.Key); found {
			wait = append(wait, r)
		}
	}
	for len(wait) > 0 {
		g := engine.Group{GroupKey: wait[0].Group(), Wave: 2, Mode: a.mode, Final: true}
		n := 0
		for n < len(wait) && wait[n].Group() == g.GroupKey {
			n++
		}
		if err := a.joinAgain(ctx, g, wait[:n], outcomes); err != nil {
			return err
		}
		wait = wait[n:]
	}
	return nil
}

// joinAgain joins answers to requests of one group that wait to be sent again.
func (a *adoption) joinAgain(ctx context.Context, g engine.Group, wait []store.Resend, outcomes io.ReaderAt) error {
	c, err := a.NewCutter(ctx, g, a.mode, store.ForAgain)
	if err != nil {
		return err
	}
	at := make([]assay.Coordinates, len(wait))
	for i, r := range wait {
		at[i] = r.At
	}
	built, err := a.Planner.Build(ctx, a.Run, a.mode, at)
	if err != nil {
		return err
	}
	for i, p := range built {
		if err := a.keep(ctx, c, p, wait[i].Try, outcomes); err != nil {
			return err
		}
	}
	return c.SettleKnown(ctx)
}

// settled returns a request with the answer that was found for it.
func (a *adoption) settled(c *stage.Cutter, e adoptedAnswer, p engine.Planned, outcomes io.ReaderAt) (stage.Known, error) {
	text := make([]byte, e.length)
	if _, err := outcomes.ReadAt(text, e.at); err != nil && !errors.Is(err, io.EOF) {
		return stage.Known{}, err
	}
	var o assay.Outcome
	if err := json.Unmarshal(text, &o); err != nil {
		return stage.Known{}, err
	}
	return stage.Known{
		Attempt: store.Attempt{Key: e.key, Try: 1, At: p.At, Digest: c.Digest(p)},
		Outcome: store.Settlement{Key: e.key, Outcome: o, Cost: c.Route.Bill(a.mode, o), Offset: e.offset, Length: int64(e.size),
			Sum: e.sum, Unread: c.Route.Unread(o)},
		Raw: &a.parts[e.part].file,
	}, nil
}
