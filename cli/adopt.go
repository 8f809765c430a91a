package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/engine"
	"assay/plan"
	"assay/provider"
	"assay/store"
	"assay/study"
)

type adoptFlags struct {
	home  homeFlags
	study studyFlags
	file  string
	run   string
	out   string
}

func adoptCommand(w *World) *cobra.Command {
	var f adoptFlags
	c := &cobra.Command{
		Use:     "adopt PROVIDER [JOB…]",
		GroupID: groupRun,
		Short:   "Take over jobs that the ledger does not know",
		Long: "Looks at the jobs of an account. A job that one of our segments made, and that the ledger has not seen, is taken for that segment;\n" +
			"`assay resume` collects it.\n\n" +
			"With --study it recovers what a lost ledger had paid for: answers that the provider still holds are joined to the questions of the\n" +
			"study by their ids, into its open run or a new one. Nothing is sent; `assay resume` asks for the rest. An id says which question it\n" +
			"answers and nothing of its wording: recover with the study as it was. Where the jobs are those of several runs of a\n" +
			"study with several waves, --run or JOB… names those of one: later turns and verdicts follow the answers of their own run.\n\n" +
			"The answers of a JOB that is not ours go into a file, one JSON object a line.",
		Args: func(c *cobra.Command, got []string) error {
			if len(got) == 0 {
				return usage("assay keys lists providers", "%s wants PROVIDER", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return adopt(c, w, args[0], args[1:], f) },
	}
	f.home.register(c)
	f.study.register(c)
	c.Flags().StringVar(&f.file, "study", "", "the study whose answers are to be recovered")
	c.Flags().StringVar(&f.run, "run", "", "only jobs stamped with this id of a lost run")
	c.Flags().StringVar(&f.out, "out", "", "file for the answers of a foreign job (default: PROVIDER-JOB.jsonl)")
	return c
}

// adopter is one command at work.
type adopter struct {
	*World
	f        adoptFlags
	home     *home
	name     string
	accounts *accounts
	access   engine.Access
	explicit bool // jobs were named
}

func adopt(c *cobra.Command, w *World, name string, jobs []string, f adoptFlags) error {
	ctx := c.Context()
	a := &adopter{World: w, f: f, name: name, explicit: len(jobs) > 0, accounts: &accounts{world: w, study: &study.Study{}}}
	var d *plan.Input
	var p *plan.Plan
	if f.file != "" {
		f.file = studyFile(w, f.file)
		var err error
		if d, p, err = planned(c, w, f.file, f.study, plan.Options{}); err != nil {
			return err
		}
		a.accounts.study = d.Study
	}
	var err error
	if a.access, err = a.accounts.access(name); err != nil {
		return usage("assay keys lists providers and their variables", "%s: %s", name, err)
	}
	if a.access.Batch == nil {
		return usage("", "%s has no batches", name)
	}
	found, err := a.jobs(ctx, jobs)
	if err != nil {
		return err
	}
	if a.home, err = f.home.open(ctx, w, false); err != nil {
		return err
	}
	defer a.home.Close()
	if err := a.home.share(ctx); err != nil {
		return err
	}
	if d == nil {
		return a.takeUp(ctx, found)
	}
	return a.recover(ctx, d, p, found)
}

// jobs are those that were named, or all that the account shows.
func (a *adopter) jobs(ctx context.Context, names []string) ([]provider.Status, error) {
	var all []provider.Status
	if len(names) > 0 {
		for _, id := range names {
			st, err := a.access.Batch.Check(ctx, provider.Job{ID: id})
			if err != nil {
				return nil, fmt.Errorf("look at job %s: %w", id, err)
			}
			st.Job = id
			if len(all) > 0 && a.f.out != "" {
				return nil, usage("leave --out away, or name one job", "--out is one file")
			}
			all = append(all, st)
		}
		return all, nil
	}
	lister, ok := a.access.Batch.(provider.Lister)
	if !ok {
		return nil, usage("name the jobs", "%s cannot list its jobs", a.name)
	}
	for st, err := range lister.List(ctx) {
		if err != nil {
			return nil, fmt.Errorf("list the jobs of %s: %w", a.name, err)
		}
		if a.f.run == "" || st.Stamp.Run == a.f.run {
			all = append(all, st)
		}
	}
	return all, nil
}

// unknown are the jobs that the ledger has no segment for.
func (a *adopter) unknown(ctx context.Context, all []provider.Status) ([]provider.Status, error) {
	jobs, err := a.home.ledger.Jobs(ctx, 0)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(st provider.Status) bool {
		return slices.ContainsFunc(jobs, func(j store.Job) bool { return j.Provider == a.name && j.ID == st.Job })
	}), nil
}

// recover joins the answers of jobs to the questions of a study.
func (a *adopter) recover(ctx context.Context, d *plan.Input, p *plan.Plan, found []provider.Status) error {
	rf := runFlags{study: a.f.study, home: a.f.home, note: "recovered from " + a.name}
	run, claim, err := currentRun(ctx, a.World, a.home, d, a.f.file, rf)
	if err != nil {
		return err
	}
	if found, err = a.unknown(ctx, found); err != nil {
		return err
	}
	if !a.explicit && stamped(a.access) {
		found = slices.DeleteFunc(found, func(st provider.Status) bool { return st.Stamp == (provider.Stamp{}) })
	}
	if len(found) == 0 {
		return usage("assay adopt "+a.name+" JOB names one", "%s holds no job that this ledger does not know", a.name)
	}
	if run.No == 0 {
		if run, err = beginRun(ctx, a.World, a.home, d, p, a.f.file, rf, claim); err != nil {
			return err
		}
	}
	e, stop, err := newEngine(ctx, a.World, a.home, d.Study)
	if err != nil {
		return err
	}
	defer stop()
	words, err := newNarrator(ctx, a.World, a.home, run)
	if err != nil {
		return err
	}
	all, err := e.Adopt(ctx, run.No, a.name, found, p.Waves)
	if err := errors.Join(err, words.tell(ctx)); err != nil {
		return err
	}
	t := table{head: []string{"JOB", "STATE", "LINES", "OURS", "JOINED", "NOTE"}, right: map[int]bool{2: true, 3: true, 4: true}}
	var answers, joined int64
	mixed := false
	for i, r := range all {
		answers, joined, mixed = answers+r.Answers, joined+r.Joined, mixed || r.Mixed
		note := recoveryNote(r)
		if r.Lines > 0 && r.Foreign == r.Lines && a.explicit {
			if note, err = a.keepForeign(ctx, found[i]); err != nil {
				return err
			}
		}
		t.add(r.Job, r.Word, r.Lines, r.Answers, r.Joined, note)
	}
	if err := t.write(a.Stdout); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "%s joined to run %s; %s found belong to questions that it does not ask, or has an answer for\n",
		assay.Count(joined, "answer"), run.ID, assay.Count(answers-joined, "answer"))
	if mixed {
		return usage("--run ID takes those of one, JOB… those that are named",
			"the jobs are those of several runs%s, and later turns and verdicts follow the answers of their own: nothing was taken", lostRuns(found))
	}
	fmt.Fprintf(a.Stderr, "nothing was sent; `assay resume %s` asks for the rest\n", run.ID)
	return nil
}

// lostRuns names the runs in the stamps of jobs, newest first.
func lostRuns(jobs []provider.Status) string {
	var ids []string
	for _, st := range jobs {
		if id := st.Stamp.Run; id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return " (" + assay.Clean(strings.Join(ids, ", "), 200) + ")"
}

// stamped tells whether jobs at a provider show whose they are.
func stamped(access engine.Access) bool {
	f, ok := access.Batch.(provider.Finder)
	return ok && f.Stamped()
}

func recoveryNote(r engine.Recovery) string {
	switch {
	case r.Why != "":
		return "could not be read: " + r.Why
	case r.Open:
		return "still at work: adopt it again when it has ended"
	case r.Lines == 0:
		return "the provider hands out nothing"
	case r.Foreign == r.Lines:
		return "not ours"
	case r.Mixed:
		return "not taken: one of several runs"
	case r.Joined < r.Answers:
		return fmt.Sprintf("%d answers fit no open question", r.Answers-r.Joined)
	}
	return ""
}

// takeUp takes jobs with our stamp for their segments, and the answers of foreign jobs that were named into files.
func (a *adopter) takeUp(ctx context.Context, found []provider.Status) error {
	found, err := a.unknown(ctx, found)
	if err != nil {
		return err
	}
	t := table{head: []string{"JOB", "STATE", "RUN", "NOTE"}}
	for _, st := range found {
		var note string
		switch {
		case st.Stamp != (provider.Stamp{}):
			note, err = a.takeStamped(ctx, st)
		case a.explicit:
			note, err = a.keepForeign(ctx, st)
		default:
			continue
		}
		if err != nil {
			return err
		}
		t.add(st.Job, st.Word, st.Stamp.Run, note)
	}
	if len(t.rows) == 0 {
		fmt.Fprintf(a.Stderr, "%s shows no job of ours that this ledger does not know\n", a.name)
		if !stamped(a.access) {
			fmt.Fprintf(a.Stderr, "its jobs carry no stamp: --study FILE looks into all of them, JOB into one\n")
		}
		return nil
	}
	return t.write(a.Stdout)
}

// takeStamped takes a job for the segment in its stamp.
func (a *adopter) takeStamped(ctx context.Context, st provider.Status) (string, error) {
	run, err := a.home.ledger.FindRun(ctx, st.Stamp.Run, "")
	if errors.Is(err, store.ErrNotFound) {
		return "its run is not in this ledger: --study FILE recovers its answers", nil
	}
	if err != nil {
		return "", err
	}
	no, err := strconv.ParseInt(strings.TrimPrefix(st.Stamp.Segment, "s"), 10, 64)
	if err != nil {
		return "its stamp names no segment", nil
	}
	g, err := a.home.ledger.Segment(ctx, no)
	if errors.Is(err, store.ErrNotFound) || err == nil && (g.Run != run.No || g.Provider != a.name) {
		return "its segment is not in this ledger: --study FILE recovers its answers", nil
	}
	if err != nil {
		return "", err
	}
	s, err := a.home.planner.Study(ctx, run)
	if err != nil {
		return "", err
	}
	e, stop, err := newEngine(ctx, a.World, a.home, s)
	if err != nil {
		return "", err
	}
	defer stop()
	if err := succeed(ctx, a.World, a.home, run); err != nil {
		return "", err
	}
	words, err := newNarrator(ctx, a.World, a.home, run)
	if err != nil {
		return "", err
	}
	taken, err := e.AdoptJob(ctx, no, st.Job)
	err = errors.Join(err, words.tell(ctx))
	switch {
	case err != nil:
		return "", err
	case !taken:
		return fmt.Sprintf("a second job of segment %d, which is %s: it may be billed twice", no, g.State), nil
	}
	return fmt.Sprintf("taken for segment %d: `assay resume %s` collects it", no, run.ID), nil
}
