package reconcile

import (
	"context"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

// clockSlack is how far a provider's clock and ours may be apart.
const clockSlack = 24 * time.Hour

// UnreadError reports a list of jobs that could not be read to its end: a job that was not seen may exist.
type UnreadError struct {
	Provider string
	Err      error
}

// Error names the provider and the reason.
func (e *UnreadError) Error() string {
	return fmt.Sprintf("the jobs of %s could not be listed: %s", e.Provider, e.Err)
}

// Unwrap is why.
func (e *UnreadError) Unwrap() error { return e.Err }

// Strangers lists the jobs at an account that carry the stamp of a run and that the ledger does not know, in the order of the list.
// Those that failed are left out: nothing came of them, and nothing is billed. *UnreadError: the list broke off after these.
func Strangers(ctx context.Context, c *engine.Config, run store.Run, access engine.Access) ([]provider.Status, error) {
	known, err := knownJobs(ctx, c, run, run.No, access.Name)
	if err != nil {
		return nil, err
	}
	return list(ctx, access, run, known, func(st provider.Status) bool { return st.Stamp.Run == run.ID })
}

// Candidates lists the jobs at an account that another copy of the ledger may have made for a run: those with its stamp, or where jobs
// carry none, all since the run began that no run of this ledger knows.
func Candidates(ctx context.Context, c *engine.Config, run store.Run, access engine.Access) ([]provider.Status, error) {
	finder, ok := access.Batch.(provider.Finder)
	if !ok || finder.Stamped() {
		return Strangers(ctx, c, run, access)
	}
	known, err := knownJobs(ctx, c, run, 0, access.Name)
	if err != nil {
		return nil, err
	}
	return list(ctx, access, run, known, func(provider.Status) bool { return true })
}

// list reads an account's jobs since a run began that are not known and may be its own.
func list(ctx context.Context, access engine.Access, run store.Run, known map[string]bool,
	may func(provider.Status) bool) ([]provider.Status, error) {
	lister, ok := access.Batch.(provider.Lister)
	if !ok {
		return nil, nil
	}
	oldest := run.Created.Add(-clockSlack)
	var all []provider.Status
	for st, err := range lister.List(ctx) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return all, &UnreadError{access.Name, err}
		}
		if !st.Created.IsZero() && st.Created.Before(oldest) {
			break
		}
		if st.State == provider.StateFailed || known[st.Job] || !may(st) {
			continue
		}
		known[st.Job] = true // a list that moves shows some twice
		all = append(all, st)
	}
	return all, nil
}

// knownJobs returns the jobs at a provider that segments of a run made, or with 0 of all runs, and those that a run has taken over.
func knownJobs(ctx context.Context, c *engine.Config, run store.Run, of int64, name string) (map[string]bool, error) {
	jobs, err := c.Ledger.Reader.Jobs(ctx, of)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(jobs))
	for _, j := range jobs {
		if j.Provider == name {
			known[j.ID] = true
		}
	}
	taken, err := c.Ledger.Reader.TakenJobs(ctx, run.No)
	for _, j := range taken {
		if j.Provider == name {
			known[j.Job] = true
		}
	}
	return known, err
}
