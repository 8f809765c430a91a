package storetest

import (
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// step does one random thing to the ledger and to the model.
func (w *world) step() string {
	steps := []struct {
		name string
		from []store.State
		do   func(g *modelSegment)
	}{
		{"new", nil, nil}, {"new", nil, nil}, {"resend", nil, nil},
		{"upload", []store.State{store.Staged}, w.upload},
		{"intend", []store.State{store.Uploaded}, w.intend},
		{"intend", []store.State{store.Uploaded}, w.intend},
		{"launch", []store.State{store.Intended, store.Held}, w.launch},
		{"end", []store.State{store.Launched}, w.end},
		{"fetch", []store.State{store.Ended}, w.fetch},
		{"refetch", []store.State{store.Fetched}, w.refetch},
		{"settle", []store.State{store.Launched, store.Ended, store.Fetched}, w.settleSome},
		{"settle", []store.State{store.Launched, store.Ended, store.Fetched}, w.settleSome},
		{"end open", []store.State{store.Ended, store.Fetched}, w.endOpen},
		{"finish", []store.State{store.Fetched}, w.finish},
		{"finish", []store.State{store.Fetched}, w.finish},
		{"go back", []store.State{store.Uploaded, store.Intended}, w.goBack},
		{"hold", []store.State{store.Staged, store.Intended}, w.hold},
		{"drop", []store.State{store.Staged, store.Uploaded, store.Held}, w.drop},
		{"late", []store.State{store.Settled, store.Cancelled}, w.lateAnswers},
		{"late", []store.State{store.Settled, store.Cancelled}, w.lateAnswers},
		{"steal", []store.State{store.Staged, store.Launched, store.Fetched}, w.steal},
	}
	for {
		s := steps[w.rand.IntN(len(steps))]
		if s.do == nil {
			if s.name == "new" {
				w.newSegment()
			} else if !w.resendAll() {
				continue
			}
			return s.name
		}
		if g := w.pick(s.from...); g != nil {
			s.do(g)
			return fmt.Sprint(s.name, " of segment ", g.No)
		}
	}
}

func (w *world) newSegment() {
	g := w.staged(store.Batch, 1+w.rand.IntN(4))
	m := &modelSegment{Segment: g, state: store.Staged}
	for i := range g.Requests {
		m.items = append(m.items, &modelAttempt{item: w.n - int(g.Requests) + int(i), try: 1})
	}
	w.segments = append(w.segments, m)
}

func (w *world) resendAll() bool {
	var queued []*modelAttempt
	for r, err := range w.s.Reader.Resends(w.ctx, w.run.No) {
		w.ok(err)
		for _, g := range w.segments {
			for _, a := range g.items {
				if a.queue && fmt.Sprintf("q%d", a.item) == r.At.Item {
					queued = append(queued, a)
				}
			}
		}
	}
	if len(queued) == 0 {
		return false
	}
	m := &modelSegment{Segment: w.resend(), state: store.Staged}
	for _, a := range queued {
		a.queue = false
		m.items = append(m.items, &modelAttempt{item: a.item, try: a.try + 1})
	}
	w.segments = append(w.segments, m)
	return true
}

func (w *world) upload(g *modelSegment) {
	w.ok(w.s.Work.Upload(w.ctx, g.Lease, "{}", w.clock.now()))
	g.state = store.Uploaded
}

func (w *world) intend(g *modelSegment) {
	ask := assay.Dollar * assay.Money(1+w.rand.IntN(3))
	err := w.s.Work.Intend(w.ctx, g.Lease, store.Intent{Account: "k", Stamped: true, Reserve: ask})
	for _, a := range g.items {
		if a.try > 1 && w.hasAnswer(a.item) {
			w.cannot(err, store.ErrAnswered)
			return
		}
	}
	if s := w.want(); s.Spent+s.Reserved+ask > w.budget {
		w.cannot(err, store.ErrBudget)
		return
	}
	w.ok(err)
	g.state, g.reserved = store.Intended, ask
}

func (w *world) launch(g *modelSegment) {
	l := store.Launch{Job: fmt.Sprintf("job%d.%d", g.No, w.rand.Uint32()), At: w.clock.now()}
	if g.state == store.Held && w.segmentNow(g.Segment).HeldFrom != store.Intended {
		if err := w.s.Work.Launched(w.ctx, g.Lease, l); err == nil {
			w.t.Fatal("a segment without an account was launched")
		}
		return
	}
	w.ok(w.s.Work.Launched(w.ctx, g.Lease, l))
	g.state = store.Launched
}

func (w *world) end(g *modelSegment) {
	w.ok(w.s.Work.Ended(w.ctx, g.Lease, store.Sighting{State: "ended", Counts: "{}", Parts: "[]"}))
	g.state = store.Ended
}

func (w *world) fetch(g *modelSegment) {
	w.ok(w.s.Work.Fetched(w.ctx, g.Lease, w.clock.now()))
	g.state = store.Fetched
}

func (w *world) refetch(g *modelSegment) {
	w.ok(w.s.Work.Refetch(w.ctx, g.Lease, "missing", w.clock.now()))
	g.state = store.Ended
}

// settleSome settles random attempts in random ways, those that have an outcome too.
func (w *world) settleSome(g *modelSegment) {
	endings := []assay.Ending{assay.Answered, assay.Answered, assay.Cut, assay.Refused, assay.Errored, assay.Rejected, assay.Empty}
	var block []store.Settlement
	for i, a := range g.items {
		if w.rand.IntN(3) == 0 {
			continue
		}
		e := endings[w.rand.IntN(len(endings))]
		o := w.outcome(g.Segment, int64(i), e)
		if e == assay.Errored {
			o.Again = &store.Again{Mode: store.Batch, After: w.clock.now(), Cap: 100}
		}
		block = append(block, o)
		if a.ending != "" {
			continue
		}
		a.ending, a.cost = e, *o.Cost
		answered := w.hasAnswer(a.item)
		switch {
		case e.Stands() && answered:
			a.surplus = 1
		case e.Stands():
			a.stands = true
		case e == assay.Errored && !answered:
			a.queue = true
		}
	}
	w.settle(g.Segment, block...)
}

func (w *world) endOpen(g *modelSegment) {
	e := []assay.Ending{assay.Expired, assay.Lost, assay.Cancelled}[w.rand.IntN(3)]
	end := store.EndOpen{Ending: e, Message: "x"}
	if w.rand.IntN(2) == 0 {
		end.Again = &store.Again{Mode: store.Batch, After: w.clock.now(), Cap: 100}
	}
	w.ok(w.s.Work.EndOpen(w.ctx, g.Lease, end))
	for _, a := range g.items {
		if a.ending == "" {
			a.ending = e
			a.queue = end.Again != nil && !w.hasAnswer(a.item)
		}
	}
}

func (w *world) finish(g *modelSegment) {
	err := w.s.Work.Finish(w.ctx, g.Lease, time.Time{})
	for _, a := range g.items {
		if a.ending == "" {
			if err == nil {
				w.t.Fatal("settled with an open attempt")
			}
			return
		}
	}
	w.ok(err)
	g.state, g.reserved = store.Settled, 0
}

func (w *world) goBack(g *modelSegment) {
	w.ok(w.s.Work.GoBack(w.ctx, g.Lease, store.Back{To: store.Staged, Reason: "x"}))
	g.state, g.reserved = store.Staged, 0
}

func (w *world) hold(g *modelSegment) {
	w.ok(w.s.Work.Hold(w.ctx, g.Lease, "x"))
	g.state = store.Held
}

func (w *world) drop(g *modelSegment) {
	w.ok(w.s.Work.Drop(w.ctx, g.Lease, "x"))
	g.state, g.reserved = store.Cancelled, 0
	for _, a := range g.items {
		if a.ending == "" {
			a.ending = assay.Cancelled
		}
	}
}

// lateAnswers hands out what had been given up.
func (w *world) lateAnswers(g *modelSegment) {
	var block []store.Settlement
	for i, a := range g.items {
		e := []assay.Ending{assay.Answered, assay.Refused, assay.Errored}[w.rand.IntN(3)]
		o := w.outcome(g.Segment, int64(i), e)
		block = append(block, o)
		if gave := a.ending == assay.Lost || a.ending == assay.Expired || a.ending == assay.Cancelled; !gave || a.late != "" {
			continue
		}
		answered := w.hasAnswer(a.item)
		a.late, a.cost = e, *o.Cost
		if !e.Stands() {
			continue
		}
		if answered {
			a.surplus = 1
			continue
		}
		a.lateStands = true
		for _, h := range w.segments {
			for _, b := range h.items {
				if b.item == a.item {
					b.queue = false
				}
			}
		}
	}
	_, err := w.s.Work.SettleLate(w.ctx, g.Lease, block)
	w.ok(err)
}

// steal takes the lease over: the old one is worth nothing from then on.
func (w *world) steal(g *modelSegment) {
	old := g.Lease
	g.Lease = w.takeOver(old)
	_, err := w.s.Leases.Renew(w.ctx, old, ttl)
	w.cannot(err, store.ErrLeaseLost)
}
