package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/reconcile"
	"assay/internal/send/engine/runs"
	"assay/internal/send/provider"
)

// Adoption takes over jobs of one provider's account that a ledger does not know.
type Adoption struct {
	Home     *Home // set once it is needed: jobs are looked at before a ledger is opened
	Provider string
	Access   engine.Access
	Named    bool // the user named the jobs

	Gone   func(holder string)                    // called for each ended process from which a run was taken over
	Follow func(context.Context, store.Run) error // called with a run before anything is taken into it
}

// ErrCannotList is the error of an account that cannot list its jobs.
var ErrCannotList = errors.New("the provider cannot list its jobs")

// Job looks at one job of the account.
func (a *Adoption) Job(ctx context.Context, id string) (provider.Status, error) {
	st, err := a.Access.Batch.Check(ctx, provider.Job{ID: id})
	if err != nil {
		return st, fmt.Errorf("look at job %s: %w", id, err)
	}
	st.Job = id
	return st, nil
}

// Jobs returns all that the account shows, or where jobs are stamped, those with the stamp of a run.
func (a *Adoption) Jobs(ctx context.Context, run string) ([]provider.Status, error) {
	lister, ok := a.Access.Batch.(provider.Lister)
	if !ok {
		return nil, ErrCannotList
	}
	var all []provider.Status
	for st, err := range lister.List(ctx) {
		if err != nil {
			return nil, fmt.Errorf("list the jobs of %s: %w", a.Provider, err)
		}
		if run == "" || st.Stamp.Run == run || !a.Stamped() {
			all = append(all, st)
		}
	}
	return all, nil
}

// Unknown returns the jobs that the ledger has no segment for, and did not take over.
func (a *Adoption) Unknown(ctx context.Context, all []provider.Status) ([]provider.Status, error) {
	jobs, err := a.Home.Ledger.Reader.Jobs(ctx, 0)
	if err != nil {
		return nil, err
	}
	taken, err := a.Home.Ledger.Reader.TakenJobs(ctx, 0)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(st provider.Status) bool {
		return slices.ContainsFunc(taken, func(j store.TakenJob) bool { return j.Provider == a.Provider && j.Job == st.Job }) ||
			slices.ContainsFunc(jobs, func(j store.Job) bool { return j.Provider == a.Provider && j.ID == st.Job })
	}), nil
}

// Stamped reports whether jobs at the provider show whose they are.
func (a *Adoption) Stamped() bool {
	f, ok := a.Access.Batch.(provider.Finder)
	return ok && f.Stamped()
}

// SeveralRunsError reports jobs of several lost runs of a study with several waves, newest first.
type SeveralRunsError struct {
	Runs []string // empty: jobs of the provider carry no stamp
}

func (e *SeveralRunsError) Error() string {
	named := ""
	if len(e.Runs) > 0 {
		named = " (" + assay.Clean(strings.Join(e.Runs, ", "), 200) + ")"
	}
	return "the jobs are those of several runs" + named +
		", and later turns and verdicts follow the answers of their own: nothing was taken"
}

// ErrNoJobs is the error if there is no job to recover answers from.
var ErrNoJobs = errors.New("the provider holds no job that this ledger does not know")

// Recover joins the answers of jobs to the questions of a study, in its current run or a new one. Where jobs show whose they
// are, those without a stamp are left out unless they were named. It returns the run, and the jobs with what was found in each.
func (a *Adoption) Recover(ctx context.Context, want Wanted, now Current, jobs []provider.Status) (store.Run, []Recovered, error) {
	jobs, err := a.Unknown(ctx, jobs)
	if err != nil {
		return now.Run, nil, err
	}
	if !a.Named && a.Stamped() {
		jobs = slices.DeleteFunc(jobs, func(st provider.Status) bool { return st.Stamp == (provider.Stamp{}) })
	}
	if len(jobs) == 0 {
		return now.Run, nil, ErrNoJobs
	}
	run := now.Run
	if run.No == 0 {
		if lost := runs.LostRuns(jobs); len(lost) > 1 && want.Plan.Waves > 1 { // begun, it would ask everything again
			return run, nil, &SeveralRunsError{Runs: lost}
		}
		if run, err = a.Home.Begin(ctx, want, now.Claim); err != nil {
			return run, nil, err
		}
	}
	e, err := a.Home.Engine(ctx, run, want.Input.Study)
	if err != nil {
		return run, nil, err
	}
	defer e.Close()
	if err := a.Follow(ctx, run); err != nil {
		return run, nil, err
	}
	all, err := e.Adopt(ctx, run.No, a.Provider, jobs, want.Plan.Waves)
	if held, ok := errors.AsType[*store.HeldError](err); ok && a.Home.Gone(held.Holder) { // an adoption that was killed
		a.Gone(held.Holder)
		if err := a.Home.Ledger.Leases.ReleaseDead(ctx, held.Holder); err != nil {
			return run, nil, err
		}
		all, err = e.Adopt(ctx, run.No, a.Provider, jobs, want.Plan.Waves)
	}
	out := make([]Recovered, len(all))
	for i, r := range all {
		out[i] = Recovered{Recovery: r, Status: jobs[i]}
	}
	return run, out, err
}

// Recovered is a job with what was found in it.
type Recovered struct {
	runs.Recovery
	Status provider.Status
}

// AllForeign reports whether a job has results, and none of them is ours.
func (r Recovered) AllForeign() bool { return r.Lines > 0 && r.Recovery.Foreign == r.Lines }

// ClaimResult is the state of a job with our stamp.
type ClaimResult int

// What may become of a job.
const (
	Taken          ClaimResult = iota + 1 // the job of its segment
	RunUnknown                            // its run is not in this ledger
	StampUnclear                          // its stamp names no segment
	SegmentUnknown                        // its segment is unknown, or has other bytes: its answers are taken over when the run goes on
	Failed                                // it failed: nothing came of it
	Second                                // its segment has a job already
)

// Claimed is a job with our stamp, and what became of it.
type Claimed struct {
	Result  ClaimResult
	Run     store.Run
	Segment store.Segment // as it was before
}

// Take takes a job for the segment in its stamp.
func (a *Adoption) Take(ctx context.Context, st provider.Status) (Claimed, error) {
	run, err := a.Home.Ledger.Reader.FindRun(ctx, st.Stamp.Run, "")
	if errors.Is(err, store.ErrNotFound) {
		return Claimed{Result: RunUnknown}, nil
	}
	if err != nil {
		return Claimed{}, err
	}
	no, err := strconv.ParseInt(strings.TrimPrefix(st.Stamp.Segment, "s"), 10, 64)
	if err != nil {
		return Claimed{Result: StampUnclear, Run: run}, nil
	}
	if st.State == provider.StateFailed {
		return Claimed{Result: Failed, Run: run}, nil
	}
	g, err := a.Home.Ledger.Reader.Segment(ctx, no)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Claimed{}, err
	}
	if err != nil || g.Run != run.No || g.Provider != a.Provider || !reconcile.MadeBy(run, g, st.Stamp) {
		return Claimed{Result: SegmentUnknown, Run: run}, a.Owe(ctx, run, reconcile.Older(st.Job, a.Provider))
	}
	taken, err := a.take(ctx, run, g, st.Job)
	if taken {
		return Claimed{Result: Taken, Run: run, Segment: g}, err
	}
	return Claimed{Result: Second, Run: run, Segment: g}, err
}

// Owe has a run compare its providers' jobs with the ledger, and take over what they answer, before it sends anything.
func (a *Adoption) Owe(ctx context.Context, run store.Run, why string) error {
	if err := a.Home.Ledger.Work.OweReconcile(ctx, run.No, why); err != nil || run.State != store.RunClosed {
		return err
	}
	return a.Home.Ledger.Work.ReopenRun(ctx, run.No, "jobs of it are not in the ledger")
}

// OpenRuns returns the open runs that ask the provider, or the named one.
func (a *Adoption) OpenRuns(ctx context.Context, ref string) ([]store.Run, error) {
	if ref != "" {
		run, err := a.Home.Ledger.Reader.FindRun(ctx, ref, "")
		return []store.Run{run}, err
	}
	all, err := a.Home.Ledger.Reader.Runs(ctx, "", store.RunOpen)
	if err != nil {
		return nil, err
	}
	var some []store.Run
	for _, r := range all {
		lanes, err := a.Home.Ledger.Reader.Lanes(ctx, r.No)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(lanes, func(l store.Lane) bool { return l.Provider == a.Provider }) {
			some = append(some, r)
		}
	}
	return some, nil
}

func (a *Adoption) take(ctx context.Context, run store.Run, g store.Segment, job string) (bool, error) {
	s, err := a.Home.Planner.Study(ctx, run)
	if err != nil {
		return false, err
	}
	e, err := a.Home.Engine(ctx, run, s)
	if err != nil {
		return false, err
	}
	defer e.Close()
	holders, err := a.Home.ReleaseEnded(ctx, run)
	for _, holder := range holders {
		a.Gone(holder)
	}
	if err != nil {
		return false, err
	}
	if err := a.Follow(ctx, run); err != nil {
		return false, err
	}
	return e.AdoptJob(ctx, g.No, job)
}
