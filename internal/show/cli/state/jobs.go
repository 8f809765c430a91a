package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/study/catalog"
)

type jobsFlags struct {
	listFlags
	filter  store.JobFilter
	run     string
	refresh bool
	reach   shell.ReachFlags
	others  bool // made elsewhere
}

// Jobs makes the command `assay jobs`.
func Jobs(w *shell.World) *cobra.Command {
	var f jobsFlags
	c := &cobra.Command{
		Use:     "jobs [PATH…]",
		GroupID: shell.GroupLook,
		Short:   "List the batch jobs of all runs, open and ended, newest first",
		Long: "Lists every job that a provider made for a run of a study or a batch file, the failed ones and the doubles too, from the " +
			"ledger alone;\n" +
			"--refresh asks the providers about the open ones first. PATH is a home, or a folder to look for homes in; without one, it " +
			"is the home of\n" +
			"this folder.\n\n" +
			"DONE counts what the provider has reported, of its own counts, and what is here once the results are; ? means that it has " +
			"said nothing yet.\n" +
			"COLLECT BEFORE is when it deletes results that are not here. --elsewhere also lists jobs that were not made here: `assay " +
			"status JOB --provider P`\n" +
			"looks at one, `assay batch collect JOB` fetches it, `assay cancel JOB --provider P` stops it.",
		RunE: func(c *cobra.Command, paths []string) error {
			f.filter.Provider = f.reach.Wish.Provider
			return listJobs(c.Context(), w, f, paths)
		},
	}
	f.register(c, "jobs")
	c.Flags().StringVar(&f.run, "run", "", "only jobs of this run")
	c.Flags().StringVar(&f.filter.Study, "study", "", "only jobs of this study, or batch file")
	c.Flags().BoolVar(&f.others, "elsewhere", false,
		"also list jobs that other programs or ledgers made")
	f.reach.RegisterPlace(c, "only jobs at this provider")
	c.Flags().BoolVar(&f.filter.Open, "open", false, "only jobs whose results are still to come")
	c.Flags().BoolVar(&f.filter.Ended, "ended", false, "only jobs whose results are here, or will not come")
	c.Flags().BoolVar(&f.refresh, "refresh", false, "ask the providers first where open jobs stand; nothing is sent or fetched")
	c.MarkFlagsMutuallyExclusive("open", "ended")
	return c
}

// leastRefresh is how often providers may be asked about jobs again and again.
const leastRefresh = 15 * time.Second

func listJobs(ctx context.Context, w *shell.World, f jobsFlags, paths []string) error {
	if f.refresh && f.watch && f.interval < leastRefresh {
		return shell.Usage("add --interval 30s", "--watch with --refresh asks the providers at every look: want --interval of %s or more",
			leastRefresh)
	}
	homes, err := f.jobHomes(ctx, w, paths)
	if err != nil {
		return err
	}
	defer closeAll(homes)
	if err := cmp.Or(knownStudy(ctx, homes, f.filter.Study), f.knownProvider(ctx, homes)); err != nil {
		return err
	}
	filters, err := f.filters(ctx, homes)
	if err != nil {
		return err
	}
	noted := false
	return f.list(ctx, w, func(out io.Writer) (open bool, err error) {
		if f.refresh {
			if err := refreshJobs(ctx, w, homes, filters); err != nil {
				return false, err
			}
		}
		rows, more, err := jobRows(ctx, homes, filters, f.limit)
		if err != nil {
			return false, err
		}
		if f.others {
			found, err := listElsewhere(ctx, w, homes[0].at, f.reach)
			if err != nil {
				return false, err
			}
			rows = append(rows, found...)
		}
		if !noted {
			f.notAll(w, more)
			noted = true
		}
		open = slices.ContainsFunc(rows, func(r runs.JobRow) bool { return r.Open })
		if f.json {
			return open, term.WriteJSON(out, map[string]any{"jobs": rows})
		}
		return open, jobTable(rows, len(homes) > 1).Write(out)
	})
}

// jobHomes returns the homes whose jobs are listed. Jobs made elsewhere are listed though there is no ledger yet.
func (f *jobsFlags) jobHomes(ctx context.Context, w *shell.World, paths []string) ([]listedHome, error) {
	if !f.others || len(paths) > 0 || f.all {
		return f.homes(ctx, w, paths)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	h, err := f.home.OpenHome(ctx, w, f.rehearsal)
	return []listedHome{{at: h}}, err
}

// knownProvider wants a provider that has made a job here, or that everybody knows. A study may have its own.
func (f *jobsFlags) knownProvider(ctx context.Context, homes []listedHome) error {
	name := f.filter.Provider
	if _, known := catalog.Default().Vendor(name); name == "" || known || f.others {
		return nil
	}
	var have []string
	for _, h := range homes {
		jobs, err := h.at.Ledger.Pages.JobsPage(ctx, store.JobFilter{}, 0)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if j.Provider == name {
				return nil
			}
			if !slices.Contains(have, j.Provider) {
				have = append(have, j.Provider)
			}
		}
	}
	hint := assay.Choices(name, have)
	if len(have) == 0 {
		hint = "there are no jobs yet"
	}
	return shell.Usage(hint, "--provider: no job is at a provider %q", name)
}

// filters returns what is listed of each home. A run is in one of them.
func (f *jobsFlags) filters(ctx context.Context, homes []listedHome) ([]*store.JobFilter, error) {
	out := make([]*store.JobFilter, len(homes))
	found := f.run == ""
	for i, h := range homes {
		own := f.filter
		if f.run != "" {
			run, err := h.at.Ledger.Reader.FindRun(ctx, f.run, "")
			switch {
			case errors.Is(err, store.ErrNotFound):
				continue
			case errors.Is(err, store.ErrAmbiguous):
				return nil, shell.Usage("assay runs lists them", "--run: %v", err)
			case err != nil:
				return nil, err
			}
			own.Run, found = run.No, true
		}
		out[i] = &own
	}
	if !found {
		return nil, shell.Usage("assay runs lists them", "--run: no run is called %q", f.run)
	}
	return out, nil
}

func jobRows(ctx context.Context, homes []listedHome, filters []*store.JobFilter, limit int) (rows []runs.JobRow, more bool, err error) {
	rows = []runs.JobRow{}
	for i, h := range homes {
		if filters[i] == nil {
			continue
		}
		own, cut, err := runs.Jobs(ctx, h.at.Results(), *filters[i], limit)
		if err != nil {
			return nil, false, err
		}
		for k := range own {
			own[k].Home = h.name
		}
		rows, more = append(rows, own...), more || cut
	}
	if len(homes) == 1 {
		return rows, more, nil
	}
	sort.SliceStable(rows, func(i, k int) bool { return rows[i].Created.After(rows[k].Created) })
	if limit > 0 && len(rows) > limit {
		rows, more = rows[:limit], true
	}
	return rows, more, nil
}

// refreshJobs asks the providers about the open jobs that are listed.
func refreshJobs(ctx context.Context, w *shell.World, homes []listedHome, filters []*store.JobFilter) error {
	for i, h := range homes {
		if filters[i] == nil || filters[i].Ended || h.at.Rehearsal { // no provider knows the jobs of a rehearsal
			continue
		}
		open := *filters[i]
		open.Open = true
		jobs, err := h.at.Ledger.Pages.JobsPage(ctx, open, 0)
		if err != nil {
			return err
		}
		asked := map[int64]bool{}
		for _, j := range jobs {
			if asked[j.Run.No] {
				continue
			}
			asked[j.Run.No] = true
			if err := refreshed(ctx, w, h.at, j.Run); err != nil {
				return err
			}
		}
	}
	return nil
}

func jobTable(rows []runs.JobRow, homes bool) *term.Table {
	t := &term.Table{
		Head: []string{"STATE", "REQUESTS", "DONE", "FAILED", "STUDY", "STAGE", "LANE", "PROVIDER", "JOB", "RUN", "CREATED",
			"COLLECT BEFORE", "NOTE"},
		Right: map[int]bool{1: true, 2: true, 3: true},
	}
	if homes {
		t.Head = append(t.Head, "HOME")
	}
	for _, r := range rows {
		done, failed := jobDone(r)
		before := ""
		if r.Open {
			before = shell.ShortMoment(r.Before)
		}
		cells := []any{r.State, assay.Thousands(r.Requests), done, failed, r.Study, r.Stage, r.Lane, r.Provider, r.Job, r.Run,
			shell.ShortMoment(&r.Created), before, cmp.Or(r.Reason, r.Note)}
		if homes {
			cells = append(cells, cmp.Or(r.Home, "."))
		}
		t.Add(cells...)
	}
	return t
}

// jobDone returns the counts of a job: of the results that are here, else the provider's own; a question mark where there are none.
func jobDone(r runs.JobRow) (done, failed string) {
	switch c := r.Counts; {
	case r.Answered+r.Failed > 0:
		return assay.Thousands(r.Answered + r.Failed), assay.Thousands(r.Failed)
	case c != nil:
		return assay.Thousands(c.Done()), assay.Thousands(c.Failed + c.Expired + c.Cancelled)
	}
	return "?", "?"
}

// listElsewhere lists the jobs at the providers that this ledger did not make.
func listElsewhere(ctx context.Context, w *shell.World, h *shell.Home, reach shell.ReachFlags) ([]runs.JobRow, error) {
	ours, err := h.Ledger.Reader.Jobs(ctx, 0)
	if err != nil {
		return nil, err
	}
	targets, err := w.Workspace().Resolver().Keyed(reach.Asked())
	if err != nil {
		return nil, err
	}
	var rows []runs.JobRow
	for _, t := range targets {
		found, err := batchrun.List(ctx, t, w.Workspace().Dial, ours)
		if err != nil {
			fmt.Fprintf(w.Stderr, "%s: its jobs cannot be listed: %s\n", t.Name, err)
		}
		if found.More {
			fmt.Fprintf(w.Stderr, "%s: the newest %d jobs are shown\n", t.Name, batchrun.MaxListed)
		}
		for _, j := range found.Jobs {
			rows = append(rows, runs.JobRow{Provider: j.Provider, Job: j.ID, Study: j.File, Model: j.Model, State: j.Status,
				Role: "elsewhere", Reason: j.Note, Requests: j.Requests, Answered: j.Done - j.Failed, Failed: j.Failed, Created: j.Created})
		}
	}
	return rows, nil
}
