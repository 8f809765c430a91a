package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
)

// obey carries out the orders of the run, each once.
func (x *extension) obey(ctx context.Context) error {
	orders, err := x.Ledger.Reader.Orders(ctx, x.Run.No)
	if err != nil {
		return err
	}
	for _, o := range orders {
		answer, err := x.order(ctx, o)
		if err != nil {
			return fmt.Errorf("order %d (%s): %w", o.No, o.Kind, err)
		}
		if err := x.Ledger.Work.FinishOrder(ctx, o.No, answer); err != nil {
			return err
		}
	}
	if len(orders) > 0 {
		x.Run, err = x.Ledger.Reader.Run(ctx, x.Run.No)
	}
	return err
}

func (x *extension) order(ctx context.Context, o store.Order) (string, error) {
	switch o.Kind {
	case store.OrderCancel:
		return x.cancel(ctx, o)
	case store.OrderRetry:
		return x.retry(ctx, o)
	case store.OrderResolve:
		return x.resolve(ctx, o)
	case store.OrderProceed:
		return x.proceed(ctx)
	case store.OrderCollect:
		return x.collect(ctx)
	case store.OrderRedo:
		return x.redo(ctx, o)
	}
	return "not understood", nil
}

// cancel stops lanes and jobs. What a provider still hands out is kept.
func (x *extension) cancel(ctx context.Context, o store.Order) (string, error) {
	if o.Segment == 0 {
		lanes, err := x.Ledger.Reader.Lanes(ctx, x.Run.No)
		if err != nil {
			return "", err
		}
		for _, l := range lanes {
			if err := x.Ledger.Work.SetLane(ctx, x.Run.No, l.Stage, l.Name,
				store.LaneStop{State: store.LaneStopped, Cause: store.CauseUser, Reason: hold.Cancelled}); err != nil {
				return "", err
			}
		}
	}
	all, err := x.Ledger.Reader.Segments(ctx, x.Run.No, store.Staged, store.Uploaded, store.Intended, store.Launched)
	if err != nil {
		return "", err
	}
	dropped, asked, busy := 0, 0, 0
	for _, g := range all {
		if o.Segment != 0 && o.Segment != g.No {
			continue
		}
		err := x.engine.leases.Segment(ctx, g.No, func(ctx context.Context, h *hold.LeaseHolder) error {
			g, err := x.Ledger.Reader.Segment(ctx, g.No) // it may have moved until we held it
			switch {
			case err != nil:
			case g.State == store.Launched:
				asked++
				err = x.Ledger.Work.AskCancel(ctx, h.Lease, store.ByUser, x.Clock.Now())
			case g.State == store.Staged || g.State == store.Uploaded:
				dropped++
				err = x.Ledger.Work.Drop(ctx, h.Lease, hold.Cancelled)
			case g.State == store.Intended: // it may have a job, which is found first and cancelled then
				busy++
				err = x.Ledger.Work.WishCancel(ctx, g.No)
			} // ended: what it did is kept
			return err
		})
		var held *store.HeldError
		if errors.As(err, &held) { // what is in flight comes back first, and is kept
			busy++
			err = x.Ledger.Work.WishCancel(ctx, g.No)
		}
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s dropped, %s asked to stop, %d in the middle of a step to stop after it", assay.Count(dropped, "segment"),
		assay.Count(asked, "job"), busy), nil
}

// retry sends again what ended without an answer, and opens lanes that were stopped.
func (x *extension) retry(ctx context.Context, o store.Order) (string, error) {
	var r engine.Retry
	if err := json.Unmarshal([]byte(o.Args), &r); err != nil {
		return "arguments: " + err.Error(), nil
	}
	if len(r.Verdicts) > 0 {
		return x.retryVerdicts(ctx, r.Verdicts)
	}
	r.Only = r.Endings()
	lanes, err := x.Ledger.Reader.Lanes(ctx, x.Run.No)
	if err != nil {
		return "", err
	}
	waited := int64(0) // in lanes that were stopped or held
	for _, l := range lanes {
		if l.State != store.LaneOpen && l.State != store.LanePaused {
			waited += max(0, l.Planned-l.Spared-l.Ended())
			if err := x.Ledger.Work.SetLane(ctx, x.Run.No, l.Stage, l.Name, store.LaneStop{State: store.LaneOpen}); err != nil {
				return "", err
			}
			if _, err := x.Ledger.Work.SetCanary(ctx, x.Run.No, l.Stage, l.Name, store.CanaryFailed, store.CanaryPassed); err != nil {
				return "", err
			}
		}
	}
	n, err := x.Ledger.Work.SendAgain(ctx, x.Run.No, store.Again{Mode: r.Mode, After: x.Clock.Now(), Cause: "asked for"}, r.Only...)
	if err != nil {
		return "", err
	}
	answer := assay.Count(n, "request") + assay.Verb(n, " goes", " go") + " out again"
	if waited > 0 {
		answer += fmt.Sprintf(", and %d that waited in lanes that were stopped or held", waited)
	}
	return answer, x.Ledger.Work.ReopenRun(ctx, x.Run.No, "retry")
}

// retryVerdicts asks judges once more. What is asked follows from the order itself, which stays in the ledger.
func (x *extension) retryVerdicts(ctx context.Context, what []string) (string, error) {
	adds, err := x.Planner.Retries(ctx, x.Run, what)
	if err != nil {
		return "", err
	}
	lanes, err := x.Ledger.Reader.Lanes(ctx, x.Run.No)
	if err != nil {
		return "", err
	}
	n := int64(0)
	for _, a := range adds {
		n += a.Requests
		i := slices.IndexFunc(lanes, func(l store.Lane) bool { return l.Stage == a.Stage && l.Name == a.Lane })
		if i < 0 || lanes[i].State == store.LaneOpen {
			continue
		}
		if err := x.Ledger.Work.SetLane(ctx, x.Run.No, a.Stage, a.Lane, store.LaneStop{State: store.LaneOpen}); err != nil {
			return "", err
		}
	}
	return assay.Count(n, "verdict") + assay.Verb(n, " is", " are") + " asked for again", x.Ledger.Work.AddRetried(ctx, x.Run.No, adds)
}

// redo adds one more draw to what was asked: an answer is never replaced.
func (x *extension) redo(ctx context.Context, o store.Order) (string, error) {
	var r engine.Redo
	if err := json.Unmarshal([]byte(o.Args), &r); err != nil {
		return "arguments: " + err.Error(), nil
	}
	adds, err := x.Planner.Redo(ctx, x.Run, r.Of(x.Run.No))
	if err != nil {
		return "", err
	}
	if len(adds) == 0 {
		return fmt.Sprintf("item %q was not asked like that in lane %s of stage %s", r.Item, r.Lane, r.Stage), nil
	}
	n := int64(0)
	for _, a := range adds {
		n += a.Requests
	}
	return assay.Count(n, "request") + assay.Verb(n, " is asked again, as a further draw", " are asked again, as further draws"),
		x.Ledger.Work.AddRedo(ctx, o.No, r.Of(x.Run.No), adds)
}

// resolve carries out what a person decided about a held segment.
func (x *extension) resolve(ctx context.Context, o store.Order) (string, error) {
	var r engine.Resolve
	if err := json.Unmarshal([]byte(o.Args), &r); err != nil {
		return "arguments: " + err.Error(), nil
	}
	g, err := x.Ledger.Reader.Segment(ctx, o.Segment)
	if err != nil {
		return "", err
	}
	if g.Run != x.Run.No {
		return fmt.Sprintf("segment %d is another run's", g.No), nil
	}
	rekeyed := r.Do == engine.DoAdopt && g.State == store.Launched && r.Job == g.Job // made with a key that is no longer used
	if g.State != store.Held && !rekeyed {
		return fmt.Sprintf("segment %d is %s, not held", g.No, g.State), nil
	}
	answer := "want resend, adopt with a job, or drop"
	err = x.engine.leases.Segment(ctx, g.No, func(ctx context.Context, h *hold.LeaseHolder) error {
		now := x.Clock.Now()
		switch {
		case r.Do == engine.DoResend:
			answer = "it is sent again"
			return x.Ledger.Work.GoBack(ctx, h.Lease, store.Back{To: store.Staged, Reason: "resent by " + o.By, Due: now,
				Capped: x.Policy.ReserveHigh})
		case r.Do == engine.DoAdopt && r.Job != "":
			answer = "it has its job: " + r.Job
			if !rekeyed {
				if err := x.Ledger.Work.Launched(ctx, h.Lease,
					store.Launch{Job: r.Job, At: now, Due: now, Note: "adopted by " + o.By}); err != nil {
					return err
				}
			}
			access, err := x.Usable(g.Provider)
			key := cmp.Or(r.Account, access.Fingerprint)
			if err != nil && r.Account == "" {
				return nil // a process that has the key it was made with looks at it
			}
			return x.Ledger.Work.Rekey(ctx, h.Lease, key, now) // whether this key knows the job is seen at the next look
		case r.Do == engine.DoDrop:
			answer = "it is given up"
			return x.Ledger.Work.Drop(ctx, h.Lease, "dropped by "+o.By)
		}
		return nil
	})
	if errors.Is(err, store.ErrDuplicate) {
		return fmt.Sprintf("job %s is another segment's", r.Job), nil
	}
	return answer, err
}

// proceed returns a yes to the canaries that were shown.
func (x *extension) proceed(ctx context.Context) (string, error) {
	lanes, err := x.Ledger.Reader.Lanes(ctx, x.Run.No)
	if err != nil {
		return "", err
	}
	n := 0
	for _, l := range lanes {
		moved, err := x.Ledger.Work.SetCanary(ctx, x.Run.No, l.Stage, l.Name, store.CanaryShown, store.CanaryPassed)
		if err != nil {
			return "", err
		}
		if moved {
			n++
		}
	}
	return assay.Count(n, "lane") + assay.Verb(n, " goes on", " go on"), nil
}

// collect fetches what running jobs have ready now.
func (x *extension) collect(ctx context.Context) (string, error) {
	all, err := x.Ledger.Reader.Segments(ctx, x.Run.No, store.Launched)
	if err != nil {
		return "", err
	}
	var got int64
	keyless := 0
	for _, g := range all {
		if g.Mode != store.Batch {
			continue
		}
		n, err := x.engine.jobs.Collect(ctx, g.No)
		var held *store.HeldError
		// this process looks at the job right now
		for look := 0; look < collectLooks && errors.As(err, &held) && held.Holder == x.Holder; look++ {
			if err := x.Clock.Sleep(ctx, collectEvery); err != nil {
				return "", err
			}
			n, err = x.engine.jobs.Collect(ctx, g.No)
		}
		if errors.Is(err, engine.ErrNoKey) {
			keyless++
			continue
		}
		if errors.As(err, &held) {
			continue
		}
		if err != nil {
			return "", err
		}
		got += n
	}
	text := assay.Count(got, "outcome") + " collected"
	if keyless > 0 {
		text += fmt.Sprintf("; %s %s a key that %s does not have", assay.Count(keyless, "job"),
			assay.Verb(keyless, "needs", "need"), x.Holder)
	}
	return text, nil
}

// A look at a job that is under way is waited for when its results are to be collected, this often and this long apart.
const (
	collectLooks = 200
	collectEvery = 50 * time.Millisecond
)
