package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/findings"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/locks"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/declare"
	"assay/internal/study/edit"
	"assay/internal/study/inputs"
	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

// Edit is how the study in its folder differs from the one that a run works from.
type Edit struct {
	Run        store.Run
	Difference edit.Difference
	Grows      bool         // it only adds to what is asked, and the run can go on with it
	Why        string       // why a new run is begun for an edit that changes or adds requests; empty: none is, or it was not looked into
	Budget     *assay.Money // what the run may spend with it; nil: anything
	Plan       *plan.Plan   // of the run with it, where its pairs are not those of a new run; nil: it is as the study says
	input      *plan.Input  // the study as it is now, read with the settings of the run
	digest     string
}

// Words returns what changed.
func (e *Edit) Words() string {
	if len(e.Difference) == 0 {
		return "how it is written"
	}
	return e.Difference.String()
}

// OwnBudget reports whether the edit changes the study's budget, and the run keeps another one that was set for it alone.
func (e *Edit) OwnBudget() bool {
	now := BudgetOf(e.input.Study, nil)
	same := now == nil && e.Budget == nil || now != nil && e.Budget != nil && *now == *e.Budget
	return e.Difference.Touches(edit.Budget) && !same
}

// edited compares the study that is wanted with the one that a run works from, both under the settings of the run. Items are
// compared only where nothing else changes requests, unless the whole difference is wanted; and only then it is found out whether the run
// can go on with it.
func (h *Home) edited(ctx context.Context, want Wanted, run store.Run, digest string, whole bool) (*Edit, error) {
	e := &Edit{Run: run, Budget: run.Budget, digest: digest, input: want.Input}
	was, s, err := h.Planner.Kept(ctx, run)
	if _, unreadable := errors.AsType[assay.Problems](err); unreadable { // a later program has stricter rules
		e.Difference = edit.Difference{{Section: edit.Unread, Asks: true}}
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	if s.Profile != want.Study.Profile || s.Mode != want.Study.Mode || !slices.Equal(s.Set, want.Study.Set) {
		o := StudyOptions{Profile: s.Profile, Set: s.Set, Mode: s.Mode, Prices: want.Study.Prices, Running: true}
		if e.input, _, err = h.World.ReadStudy(ctx, want.File, o); err != nil {
			return nil, err
		}
		if e.input == nil { // what the run was begun with cannot be applied to it any more
			e.Difference = edit.Difference{{Section: edit.Unread, Asks: true}}
			return e, nil
		}
	}
	e.Difference, e.Budget = edit.Compare(was, e.input.Study), snapshot.BudgetAfter(run, was, e.input.Study)
	if len(e.Difference.Asks()) > 0 && !whole {
		return e, nil
	}
	for _, in := range was.Inputs {
		if _, there := e.input.Study.Inputs.Find(in.Name); !there {
			continue
		}
		c, err := h.itemsEdited(ctx, run, in.Name, e.input.FirstItems(ctx, in.Name, s.Limit))
		if err != nil {
			return nil, err
		}
		if c != nil {
			e.Difference = append(e.Difference, *c)
		}
	}
	if len(e.Difference.Asks()) == 0 {
		return e, nil
	}
	if e.Why = e.Difference.Why(was, e.input.Study); e.Why != "" {
		return e, nil
	}
	if e.Plan, err = h.grownPlan(ctx, run, e.input, s); err != nil {
		return nil, err
	}
	e.Why, err = h.cannotGrow(ctx, want, e, e.Difference.Apart(was, e.input.Study))
	if e.Why == "" && err == nil && edit.Draws(was) {
		gone, lost := h.Planner.Gone(ctx, run, e.input)
		if err = lost; gone != "" {
			e.Why = "the study does not ask any more what was asked in " + gone
		}
	}
	e.Grows = e.Why == "" && err == nil
	return e, err
}

// cannotGrow returns why a run cannot take up what a study adds; empty: it can. It has to be real, nothing of it was cancelled
// or ordered again, it is about the same part of the study, and the new plan asks every lane at least what the old
// one did. An edit that is apart from all that was decided leaves rounds of pairs as they are.
func (h *Home) cannotGrow(ctx context.Context, want Wanted, e *Edit, apart bool) (string, error) {
	run := e.Run
	switch {
	case h.Rehearsal:
		return "it is a rehearsal", nil
	case run.Result == store.ResultCancelled:
		return "it was cancelled", nil
	case !want.sameScope(run):
		return "it is about another part of the study", nil
	}
	redos, err := h.Ledger.Reader.Redos(ctx, run.No)
	if err != nil || len(redos) > 0 {
		return "answers of it were asked for once more (redo)", err
	}
	for _, err := range h.Ledger.Reader.Looks(ctx, run.No) {
		if apart && err == nil {
			break // none of what was looked at changes
		}
		return "comparisons of it were bought by what was found before", err
	}
	retried, err := h.Planner.Retried(ctx, run)
	if err != nil {
		return "", err
	}
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	planned := snapshot.LanesOf(run.No, snapshot.Beginning{Input: want.Input, Plan: cmp.Or(e.Plan, want.Plan)})
	for _, l := range lanes {
		if engine.CancelledByUser(l) {
			return "lane " + l.Name + " was cancelled", nil
		}
		i := slices.IndexFunc(planned, func(p store.Lane) bool { return p.Stage == l.Stage && p.Name == l.Name })
		n := int64(0)
		if i >= 0 {
			n = planned[i].Planned
		}
		if st, ok := want.Input.Study.Stage(l.Stage); ok && st.Fallback != "" && n == 0 {
			continue // what is asked in a judge's place is not planned
		}
		if n+retried[store.Share{Stage: l.Stage, Lane: l.Name}] < l.Planned {
			return fmt.Sprintf("lane %s of stage %s is asked less than before", l.Name, l.Stage), err
		}
	}
	return "", err
}

// grownPlan returns the plan of a run with its study as it is now, where pairs that were drawn stay and others are
// drawn in addition; nil: the pairs are those of a new run.
func (h *Home) grownPlan(ctx context.Context, run store.Run, in *plan.Input, s snapshot.Settings) (*plan.Plan, error) {
	drawn, err := h.Planner.Drawn(ctx, run, in)
	if err != nil || len(drawn) == 0 {
		return nil, err
	}
	own := *in
	own.Drawn = drawn
	own.Known = script.NewPreview(&own).Known
	p, problems := estimate.Make(ctx, &own, plan.Options{Lanes: s.Lanes, Stages: s.Stages, Limit: s.Limit, NoCanary: s.NoCanary})
	if p == nil {
		return nil, problems
	}
	return p, nil
}

// itemsEdited compares the items of an input with those of a run; nil: they are the same, in the same order.
func (h *Home) itemsEdited(ctx context.Context, run store.Run, input string, items iter.Seq2[assay.Item, error]) (*edit.Change, error) {
	type kept struct {
		place int
		sum   [sha256.Size]byte
	}
	was := map[string]kept{}
	var ids []string
	for it, err := range h.Ledger.Reader.Items(ctx, run.No, input) {
		if err != nil {
			return nil, err
		}
		sum, err := itemSum(it)
		if err != nil {
			return nil, err
		}
		was[it.ID] = kept{len(ids), sum}
		ids = append(ids, it.ID)
	}
	c := &edit.Change{Section: edit.Inputs, Name: input, Key: edit.Items, Asks: true}
	last, moved, ahead := -1, false, false // ahead: something new stands before something old
	for it, err := range items {
		if err != nil {
			return nil, err
		}
		before, there := was[it.ID]
		if !there {
			c.Added = append(c.Added, it.ID)
			continue
		}
		delete(was, it.ID)
		moved, ahead, last = moved || before.place < last, ahead || len(c.Added) > 0, before.place
		sum, err := itemSum(it)
		if err != nil {
			return nil, err
		}
		if sum != before.sum {
			c.Edited = append(c.Edited, it.ID)
		}
	}
	for _, id := range ids {
		if _, gone := was[id]; gone {
			c.Removed = append(c.Removed, id)
		}
	}
	if moved || ahead && len(c.Removed) == 0 { // what is taken out and put in may be one that was renamed
		c.Reordered = true
	}
	if !moved && len(c.Added)+len(c.Removed)+len(c.Edited) == 0 {
		return nil, nil
	}
	return c, nil
}

func itemSum(it assay.Item) ([sha256.Size]byte, error) {
	it.Place = assay.Place{}
	line, err := inputs.Encode(nil, it)
	return sha256.Sum256(line), err
}

// revision returns an edit as the script of its run takes it up.
func (h *Home) revision(want Wanted, e *Edit) snapshot.Revision {
	return snapshot.Revision{
		Run: e.Run, Input: e.input, File: filepath.Base(want.File), Digest: e.digest, Files: h.World.Disk.Folder(filepath.Dir(want.File)),
		Difference: e.Difference, What: e.Words(), Now: h.World.Now().UTC(), Datasets: h.World.datasets(e.input.Study),
	}
}

// revise lets a run go on with the study as it is now. It reports whether the study was still the one that was compared.
func (h *Home) revise(ctx context.Context, want Wanted, e *Edit) (bool, error) {
	r := h.revision(want, e)
	r.Check = h.check(ctx, want)
	var err error
	if r.Lock, err = h.Planner.Locked(ctx, e.Run); err == nil && r.Lock != nil {
		var s locks.Study
		if s, err = lockable(ctx, h, want); err == nil {
			err = s.Compare(ctx, r.Lock)
		}
	}
	if err != nil {
		return false, err
	}
	if !e.Grows {
		return h.Planner.Revise(ctx, r)
	}
	l, err := h.holdRun(ctx, e.Run)
	if err != nil {
		return false, err
	}
	r.More = &snapshot.More{Plan: cmp.Or(e.Plan, want.Plan), BaseURLs: h.baseURLs(want), Lease: l}
	stop := h.Planner.Renewing(ctx, l, claimTime)
	done, err := h.grow(ctx, r)
	stop()
	if errors.Is(err, store.ErrLeaseLost) { // this process was asleep for long: the run is looked at again
		return false, h.released(ctx, l)
	}
	return done, errors.Join(err, h.Ledger.Leases.Release(context.WithoutCancel(ctx), l))
}

// grow adds to a run what its study asks besides.
func (h *Home) grow(ctx context.Context, r snapshot.Revision) (bool, error) {
	var err error
	if r.More.Drawn, err = h.Planner.Drawn(ctx, r.Run, r.Input); err != nil {
		return false, err
	}
	if r.More.Retried, err = h.Planner.Retried(ctx, r.Run); err != nil {
		return false, err
	}
	if r.More.Looked, err = looked(ctx, h, r.Run); err != nil {
		return false, err
	}
	return h.Planner.Revise(ctx, r)
}

// looked returns what was looked at in a run: before it was extended, and what it shows now. Who asks more items then looks again.
func looked(ctx context.Context, h *Home, run store.Run) ([]declare.Look, error) {
	out, err := h.Planner.Library.Looked(ctx, run)
	if err != nil {
		return nil, err
	}
	found, err := findings.Of(ctx, h.Planner.Results, run, findings.Query{})
	if err != nil {
		return nil, fmt.Errorf("look at what run %s shows so far: %w", run.ID, err)
	}
	for i := range found.Report.Leaderboards {
		s := &found.Report.Leaderboards[i]
		items, err := findings.Items(ctx, h.Planner.Results, run, s.Stage)
		if err != nil {
			return nil, err
		}
		if l, ok := s.Looks(items); ok {
			l.At = h.World.Now().UTC()
			out = declare.AddLook(out, l)
		}
	}
	return out, nil
}

// released gives a lease back, which may be lost.
func (h *Home) released(ctx context.Context, l store.Lease) error {
	if err := h.Ledger.Leases.Release(context.WithoutCancel(ctx), l); err != nil && !errors.Is(err, store.ErrLeaseLost) {
		return err
	}
	return nil
}

// holdRun takes a run's lease: while what it asks changes, no process may find out that there is nothing left to ask. A process
// that extends the run holds it for moments.
func (h *Home) holdRun(ctx context.Context, run store.Run) (store.Lease, error) {
	const wait, most = 100 * time.Millisecond, 600
	var held *store.HeldError
	for n := 1; ; n++ {
		l, err := h.Ledger.Leases.HoldRun(ctx, run.No, h.World.self().String(), claimTime)
		if err == nil || !errors.As(err, &held) || n == most {
			return l, err
		}
		if h.Gone(held.Holder) { // a process of this machine that was killed
			if err := h.Ledger.Leases.ReleaseDead(ctx, held.Holder); err != nil {
				return l, err
			}
		}
		if err := engine.WallClock().Sleep(ctx, wait); err != nil {
			return l, err
		}
	}
}
