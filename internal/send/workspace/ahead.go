package workspace

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study/edit"
	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

// Ahead holds what a run of a study would do now.
type Ahead struct {
	Run     store.Run // the one it goes on with; its number is 0 where a new one is begun
	Edit    *Edit     // how the study was changed since that run, or since the newest closed one; nil: it was not
	Refused error     // why it would not be run
	Donors  []store.Run
	Over    TakeOver // what is taken over, or has its answer in the run already, and what is new
}

// Ahead looks at what a run of a study would do now. Nothing is begun.
func (h *Home) Ahead(ctx context.Context, want Wanted) (Ahead, error) {
	var a Ahead
	now, err := h.Current(ctx, want)
	if refused(err) {
		a.Refused = err
		return a, nil
	}
	if err != nil {
		return a, err
	}
	a.Run, a.Edit = now.Run, now.Edit
	if now.Run.No != 0 {
		p, err := h.runPlan(ctx, want, now)
		if err == nil {
			a.Over, err = h.Has(ctx, want, p, now.Run)
		}
		return a, err
	}
	if a.Donors, err = h.Donors(ctx, want); err != nil {
		return a, err
	}
	a.Over, err = h.TakesOver(ctx, want, a.Donors)
	return a, err
}

// runPlan returns the plan of a run that goes on, with the pairs that were drawn for it.
func (h *Home) runPlan(ctx context.Context, want Wanted, now Current) (*plan.Plan, error) {
	if now.Edit != nil {
		return cmp.Or(now.Edit.Plan, want.Plan), nil
	}
	p, err := h.grownPlan(ctx, now.Run, want.Input, want.Settings)
	return cmp.Or(p, want.Plan), err
}

// refused reports whether a study would not be run because of a run that is open.
func refused(err error) bool {
	_, changed := errors.AsType[*ChangedError](err)
	_, mode := errors.AsType[*ModeError](err)
	_, scope := errors.AsType[*ScopeError](err)
	return changed || mode || scope || errors.Is(err, ErrBeginning)
}

// Rest holds what is left to do in a run.
type Rest struct {
	Answered int64 // requests with an answer
	Away     int64 // at the providers, without one yet
	Left     int64 // that are still to be sent, at most
	Cost     plan.Price
}

// Rest estimates what a run still sends. The study in its folder is planned again where it is the one of the run; else the price
// goes by what each lane has cost so far, and is unknown where it has not cost anything.
func (h *Home) Rest(ctx context.Context, run store.Run) (Rest, error) {
	var out Rest
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return out, err
	}
	away, err := h.away(ctx, run)
	if err != nil {
		return out, err
	}
	prices := h.prices(ctx, run)
	for _, l := range lanes {
		var ended int64
		for e, n := range l.Endings {
			ended += n
			if e.Stands() {
				out.Answered += n
			}
		}
		at := store.Share{Stage: l.Stage, Lane: l.Name}
		left := max(0, l.Planned-l.Spared-ended-away[at])
		out.Away, out.Left = out.Away+away[at], out.Left+left
		if left == 0 {
			continue
		}
		if part, ok := prices[at]; ok && part.Requests > 0 {
			out.Cost = out.Cost.Plus(part.Cost.Share(left, part.Requests))
			continue
		}
		at.Requests = left
		cost, err := h.spreadCost(ctx, run, at)
		if err != nil {
			return out, err
		}
		out.Cost = out.Cost.Plus(cost)
	}
	return out, nil
}

// away counts the requests that are at the providers, by lane. Those of a live slice are not: most of them are still to be sent.
func (h *Home) away(ctx context.Context, run store.Run) (map[store.Share]int64, error) {
	flows, err := h.Ledger.Pages.Flows(ctx, []int64{run.No})
	out := map[store.Share]int64{}
	for _, f := range flows {
		out[store.Share{Stage: f.Stage, Lane: f.Lane}] += f.Away
	}
	return out, err
}

// prices returns what the lanes of a run cost by the plan of its study; nil where it cannot be planned again.
func (h *Home) prices(ctx context.Context, run store.Run) map[store.Share]plan.Part {
	_, s, err := h.Planner.Kept(ctx, run)
	if err != nil {
		return nil
	}
	name := filepath.Join(run.Folder, s.File)
	d, _, err := h.World.ReadStudy(ctx, name, StudyOptions{Profile: s.Profile, Set: s.Set, Mode: s.Mode, Running: true})
	if err != nil || d == nil {
		return nil
	}
	if digest, err := h.World.StudyDigest(ctx, d, name); err != nil || digest != run.Digest {
		return nil
	}
	if h.Learn(ctx, d, run) != nil {
		return nil
	}
	p, problems := estimate.Make(ctx, d, plan.Options{Lanes: s.Lanes, Stages: s.Stages, Limit: s.Limit, NoCanary: s.NoCanary})
	if p == nil || len(problems.Errors()) > 0 {
		return nil
	}
	out := map[store.Share]plan.Part{}
	for _, part := range p.Parts {
		at := store.Share{Stage: part.Stage, Lane: part.Lane.Name}
		sum := out[at]
		sum.Requests, sum.Cost, sum.Live = sum.Requests+part.Requests, sum.Cost.Plus(part.Cost), sum.Live.Plus(part.Live)
		out[at] = sum
	}
	return out
}

// spreadCost returns what so many more requests of a lane cost: by what its requests have cost, each the least, the mean and the most.
func (h *Home) spreadCost(ctx context.Context, run store.Run, s store.Share) (plan.Price, error) {
	paid, err := h.Ledger.Reader.Paid(ctx, run.No, s.Stage, s.Lane)
	if err != nil || paid.N == 0 {
		unknown := assay.Cost{Unknown: s.Requests}
		return plan.Price{Low: unknown, Expected: unknown, High: unknown}, err
	}
	cost := func(m assay.Money, of int64) assay.Cost {
		return assay.Cost{Sum: m.Share(s.Requests, of), Priced: s.Requests}
	}
	return plan.Price{Low: cost(paid.Least, 1), Expected: cost(paid.Sum, paid.N), High: cost(paid.Most, 1)}, nil
}

// Donors returns the runs of the study in its folder that are closed or halted, newest first, whose answers a changed study takes over: a
// user who adds or changes a judge does not pay for the answers again. The study's own setting of reuse takes
// precedence, and a rehearsal is never reused.
func (h *Home) Donors(ctx context.Context, want Wanted) ([]store.Run, error) {
	if want.New || h.Rehearsal || want.Input.Study.Reuse != nil {
		return nil, nil
	}
	runs, err := h.Ledger.Reader.Runs(ctx, want.Input.Study.Study, store.RunClosed, store.RunOpen)
	if err != nil {
		return nil, err
	}
	var donors []store.Run
	for _, r := range runs {
		if r.Folder != want.folder(h.World) || r.Rehearsal {
			continue
		}
		over, err := overOrHalted(ctx, h, r)
		if err != nil {
			return nil, err
		}
		if over {
			donors = append(donors, r)
		}
	}
	return donors, nil
}

func overOrHalted(ctx context.Context, h *Home, r store.Run) (bool, error) {
	if r.State == store.RunClosed {
		return true, nil
	}
	return halted(ctx, h, r)
}

// halted reports whether all that is left of an open run waits in lanes that are stopped or held. Nothing of it is at a provider or goes
// out by itself: a run of the edited study may take its place.
func halted(ctx context.Context, h *Home, run store.Run) (bool, error) {
	if run.State != store.RunOpen || !run.Due.IsZero() {
		return false, nil
	}
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return false, err
	}
	shut := map[store.Share]bool{}
	for _, l := range lanes {
		if l.Shut() {
			shut[store.Share{Stage: l.Stage, Lane: l.Name}] = true
		}
	}
	open, err := h.Ledger.Reader.Segments(ctx, run.No, store.Planned, store.Staged, store.Uploaded, store.Intended, store.Launched,
		store.Ended, store.Fetched, store.Held)
	for _, g := range open {
		unsent := g.State == store.Staged || g.State == store.Uploaded || g.State == store.Launched && g.Mode == store.Live
		if !unsent || !g.Due.IsZero() || g.Lease.Holder != "" || !shut[store.Share{Stage: g.Stage, Lane: g.Lane}] {
			return false, err
		}
	}
	return len(shut) > 0 && err == nil, err
}

// endHalted closes a run that is halted: what it has not sent is not sent.
func endHalted(ctx context.Context, h *Home, run store.Run) error {
	if _, err := h.PutOrder(ctx, run, store.Order{Kind: store.OrderCancel}); err != nil {
		return err
	}
	_, err := h.DriveAlone(ctx, run, 0)
	return err
}

// ChangedSince compares the study in the folder of a run with the one the run works from. It returns what changes requests, and the file;
// nothing where the file, or one that it names, is gone or cannot be read.
func ChangedSince(ctx context.Context, h *Home, run store.Run) (edit.Difference, string, error) {
	since, file, err := changedSince(ctx, h, run)
	if _, unreadable := errors.AsType[assay.Problems](err); unreadable {
		return nil, "", nil
	}
	return since, file, err
}

func changedSince(ctx context.Context, h *Home, run store.Run) (edit.Difference, string, error) {
	was, s, err := h.Planner.Kept(ctx, run)
	if err != nil {
		return nil, "", nil // a run of a batch file, or of a study that this program does not read, has nothing to compare
	}
	name := filepath.Join(run.Folder, s.File)
	d, _, err := h.World.ReadStudy(ctx, name, StudyOptions{Profile: s.Profile, Set: s.Set, Mode: s.Mode, Running: true})
	if err != nil || d == nil {
		return nil, "", nil // the study was moved or is being edited
	}
	if digest, err := h.World.StudyDigest(ctx, d, name); err != nil || digest == run.Digest {
		return nil, "", err
	}
	since := edit.Compare(was, d.Study)
	for _, in := range was.Inputs {
		if _, there := d.Study.Inputs.Find(in.Name); !there {
			continue
		}
		c, err := h.itemsEdited(ctx, run, in.Name, d.FirstItems(ctx, in.Name, s.Limit))
		if err != nil {
			return nil, "", err
		}
		if c != nil {
			since = append(since, *c)
		}
	}
	return since.Asks(), name, nil
}
