package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/reconcile"
	"assay/internal/send/provider"
)

// A ledger may be older than its artifacts or than the jobs at its providers: it was put back from a backup, or a copy of it was driven
// elsewhere. Then nothing is sent before every provider was asked for jobs of the run, and their answers were taken over.

// younger compares the numbers of segments in the names of a run's artifacts with the ledger, once in a process. Where artifacts are
// younger, their numbers are used no more, and a reconciliation is owed.
func (x *extension) younger(ctx context.Context) error {
	if _, done := x.engine.compared.Load(x.Run.No); done {
		return nil
	}
	known, err := x.Ledger.Reader.Segments(ctx, x.Run.No)
	if err != nil {
		return err
	}
	newest, highest := int64(0), int64(0)
	for _, g := range known {
		newest = max(newest, g.No)
	}
	for k, err := range x.Files.List(ctx, x.Run.ID, "s") {
		if err != nil {
			return err
		}
		highest = max(highest, segmentIn(k.Name))
	}
	if highest > newest {
		lanes, err := x.Ledger.Reader.Lanes(ctx, x.Run.No)
		if err != nil || len(lanes) == 0 {
			return err
		}
		why := fmt.Sprintf("the ledger is older than its artifacts: segment %d is among those of this run, the ledger knows %d", highest,
			newest)
		like := store.NewSegment{Run: x.Run.No, GroupKey: store.GroupKey{Stage: lanes[0].Stage, Lane: lanes[0].Name, Turn: 1},
			Mode: store.Batch, Purpose: store.ForWave, Provider: lanes[0].Provider, Model: lanes[0].Model}
		if err := errors.Join(x.Ledger.Work.SkipSegments(ctx, like, highest, why),
			x.Ledger.Work.OweReconcile(ctx, x.Run.No, why)); err != nil {
			return err
		}
		if x.Run, err = x.Ledger.Reader.Run(ctx, x.Run.No); err != nil {
			return err
		}
	}
	x.engine.compared.Store(x.Run.No, true)
	return nil
}

// segmentIn returns the number of the segment that an artifact belongs to by its name; 0: none.
func segmentIn(name string) int64 {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "s"), "-")
	no, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !strings.HasPrefix(name, "s") {
		return 0
	}
	return no
}

// reconcile takes over what other copies of the ledger have sent, where that is owed. It reports whether the run may go on.
func (x *extension) reconcile(ctx context.Context) (bool, error) {
	if x.Run.Reconcile == "" {
		return true, nil
	}
	if err := x.Reload(ctx); err != nil {
		return false, err
	}
	found, err := x.compareAll(ctx)
	if errors.Is(err, errNotOver) {
		now := x.Clock.Now()
		since, _ := x.engine.compares.LoadOrStore(x.Run.No, now)
		x.Next, x.Waiting = now.Add(x.Poll(now.Sub(since.(time.Time)))), true
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := x.Ledger.Work.Reconciled(ctx, x.Run.No, "the lists of all providers were compared with the ledger: "+
		assay.Count(found, "answer")+" taken over"); err != nil {
		return false, err
	}
	x.Run, err = x.Ledger.Reader.Run(ctx, x.Run.No)
	return true, err
}

// errNotOver is the error of a reconciliation that has to wait.
var errNotOver = errors.New("jobs that may be those of the run are not over")

// compareAll compares the run with all of its providers, and returns how many answers were taken over: those of one may make questions
// possible that another's answer.
func (x *extension) compareAll(ctx context.Context) (joined int64, err error) {
	var names []string
	for _, l := range x.Lanes {
		if !slices.Contains(names, l.Provider) {
			names = append(names, l.Provider)
		}
	}
	for _, name := range names {
		if err := x.giveJobs(ctx, name); err != nil {
			return 0, err
		}
	}
	for more := true; more; {
		n, err := takeLogs(ctx, x)
		if err != nil {
			return joined, err
		}
		joined, more = joined+n, n > 0
		found := map[string][]Recovery{}
		for _, name := range names {
			all, err := x.takeOver(ctx, name)
			if err != nil {
				return joined, err
			}
			found[name] = all
			for _, r := range all {
				joined, more = joined+r.Joined, more || r.Joined > 0
			}
		}
		for name, all := range found {
			if more {
				break
			}
			if err := x.record(ctx, name, all); err != nil {
				return joined, err
			}
		}
	}
	return joined, nil
}

// candidates lists jobs at a provider that may be those of the run, less those that became jobs of segments. errNotOver: it cannot be
// listed now.
func (x *extension) candidates(ctx context.Context, name string) (jobs []provider.Status, stamped bool, err error) {
	access, err := x.Usable(name)
	if errors.Is(err, engine.ErrNoKey) {
		return nil, false, x.await(ctx, name+" cannot be asked without its key")
	}
	if err != nil || access.Batch == nil {
		return nil, false, err
	}
	jobs, err = reconcile.Candidates(ctx, &x.engine.Config, x.Run, access)
	var unread *reconcile.UnreadError
	if errors.As(err, &unread) && !errors.Is(err, provider.ErrPartial) { // a partial one never shows more
		return nil, false, x.await(ctx, err.Error())
	}
	if err != nil && unread == nil {
		return nil, false, err
	}
	finder, ok := access.Batch.(provider.Finder)
	jobs, err = x.takeStamped(ctx, name, jobs)
	return jobs, ok && finder.Stamped(), err
}

// giveJobs gives jobs at a provider to segments that made them and have none. errNotOver: something of the run is in flight, and what it
// answers may make questions possible that others have answered.
func (x *extension) giveJobs(ctx context.Context, name string) error {
	if _, _, err := x.candidates(ctx, name); err != nil {
		return err
	}
	away, err := x.Ledger.Reader.Segments(ctx, x.Run.No, store.Intended, store.Launched, store.Ended, store.Fetched)
	if err == nil && slices.ContainsFunc(away, func(g store.Segment) bool { return g.Mode == store.Batch || !g.Due.IsZero() }) {
		err = errNotOver // a live one that sleeps waits for this
	}
	return err
}

// takeOver takes over what jobs of the run at one provider have answered. errNotOver: one of them is still at work.
func (x *extension) takeOver(ctx context.Context, name string) ([]Recovery, error) {
	jobs, stamped, err := x.candidates(ctx, name)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	for _, st := range jobs {
		if !st.State.Terminal() {
			return nil, x.await(ctx, fmt.Sprintf("job %s at %s is still at work, and may be one of this run", st.Job, name))
		}
	}
	waves := 1
	if !stamped {
		waves = 2 // jobs of other runs may be among them
	}
	all, err := x.adopt(ctx, name, jobs, waves)
	if err != nil {
		return all, err
	}
	for _, r := range all {
		switch {
		case r.Mixed:
			return all, x.await(ctx, fmt.Sprintf("jobs at %s answer the same questions twice: `assay adopt %s JOB… --study FILE` names "+
				"those of this run, `assay resume --reconciled` goes on without them", name, name))
		case r.Gone:
			err = errors.Join(err, x.Ledger.Work.Note(ctx, x.Run.No, 0, store.DoubleEvent,
				fmt.Sprintf("job %s at %s was made by another copy of this ledger, and its results are gone: what it did may be billed",
					r.Job, name)))
		case r.Open || r.Why != "":
			return all, x.await(ctx, fmt.Sprintf("job %s at %s could not be read: %s", r.Job, name, cmp.Or(r.Why, "it has not ended")))
		}
	}
	return all, err
}

// takeStamped gives jobs to segments that made them and have none, and returns the other jobs.
func (x *extension) takeStamped(ctx context.Context, name string, jobs []provider.Status) ([]provider.Status, error) {
	segments, err := x.Ledger.Reader.Segments(ctx, x.Run.No)
	if err != nil {
		return nil, err
	}
	var rest []provider.Status
next:
	for _, st := range jobs {
		for _, g := range segments {
			if g.Provider != name || !reconcile.MadeBy(x.Run, g, st.Stamp) {
				continue
			}
			_, err := x.engine.AdoptJob(ctx, g.No, st.Job) // one that has a job has this one too many: the audit reports it
			if err != nil && !errors.Is(err, store.ErrDuplicate) {
				return nil, err
			}
			continue next
		}
		rest = append(rest, st)
	}
	return rest, nil
}

// await returns errNotOver, and writes what is waited for into the history, where that is new.
func (x *extension) await(ctx context.Context, why string) error {
	if _, told := x.engine.awaited.LoadOrStore(why, true); !told {
		if err := x.Ledger.Work.Note(ctx, x.Run.No, 0, "reconcile", why); err != nil {
			return err
		}
	}
	return errNotOver
}
