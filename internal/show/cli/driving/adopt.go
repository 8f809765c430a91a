package driving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/runs"
	"assay/internal/send/provider"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/progress"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/show/export/folder"
	"assay/internal/study"
	"assay/internal/study/plan"
)

type adoptFlags struct {
	home  shell.HomeFlags
	study shell.StudyFlags
	file  string
	run   string
	out   string
}

// Adopt makes the command `assay adopt`.
func Adopt(w *shell.World) *cobra.Command {
	var f adoptFlags
	c := &cobra.Command{
		Use:     "adopt PROVIDER [JOB…]",
		GroupID: shell.GroupRun,
		Short:   "Take over jobs that the ledger does not know",
		Long: "Looks at the jobs of an account. A job that one of our segments made, and that the ledger has not seen, is taken for " +
			"that segment;\n" +
			"`assay resume` collects it. Where a job of a run has no segment in the ledger, the ledger is older than the job: then " +
			"`assay resume` takes over\n" +
			"its answers before it sends anything. Where jobs carry no stamp, `assay resume` looks into all that " +
			"the ledger does not know.\n\n" +
			"With --study it recovers what a lost ledger had paid for: answers that the provider still holds are joined to the " +
			"questions of the\n" +
			"study by their ids, into its open run or a new one. Nothing is sent; `assay resume` asks for the rest. An id says which " +
			"question it\n" +
			"answers and nothing of its wording: recover with the study as it was. Where the jobs are those of several runs of a\n" +
			"study with several waves, --run or JOB… names those of one: later turns and verdicts follow the answers of " +
			"their own run.\n\n" +
			"The answers of a JOB that is not ours go into a file, one JSON object per line.",
		Args: func(c *cobra.Command, got []string) error {
			if len(got) == 0 {
				return shell.Usage("assay list keys lists providers", "%s needs PROVIDER", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return adopt(c, w, args[0], args[1:], f) },
	}
	f.home.Register(c)
	f.study.Register(c)
	c.Flags().StringVar(&f.file, "study", "", "the study whose answers are to be recovered")
	c.Flags().StringVar(&f.run, "run", "", "only jobs stamped with this id of a lost run")
	c.Flags().StringVar(&f.out, "out", "", "file for the answers of a foreign job (default: PROVIDER-JOB.jsonl)")
	return c
}

// adopter is one command at work.
type adopter struct {
	*shell.World
	workspace.Adoption
	f    adoptFlags
	home *shell.Home
}

func adopt(c *cobra.Command, w *shell.World, name string, jobs []string, f adoptFlags) error {
	ctx := c.Context()
	a := &adopter{World: w, f: f, Adoption: workspace.Adoption{Provider: name, Named: len(jobs) > 0, Gone: w.TakenOver}}
	s := &study.Study{}
	var d *plan.Input
	var p *plan.Plan
	if f.file != "" {
		a.f.file = shell.StudyFile(w, []string{f.file})
		var err error
		if d, p, err = shell.Planned(c, w, a.f.file, f.study, plan.Options{}, nil); err != nil {
			return err
		}
		s = d.Study
	}
	var err error
	if a.Access, err = w.Workspace().Accounts(s).Access(name); err != nil {
		return shell.Usage("assay list keys lists providers and their variables", "%s: %s", name, err)
	}
	if a.Access.Batch == nil {
		return shell.Usage("", "%s has no batches", name)
	}
	found, err := a.jobs(ctx, jobs)
	if err != nil {
		return err
	}
	if a.home, err = f.home.OpenHome(ctx, w, false); err != nil {
		return err
	}
	defer a.home.Close()
	a.Home = a.home.Home
	if err := a.home.Ready(ctx); err != nil {
		return err
	}
	if d == nil {
		return a.takeUp(ctx, found)
	}
	return a.recover(ctx, d, p, found)
}

// jobs returns those that were named, or all that the account shows.
func (a *adopter) jobs(ctx context.Context, names []string) ([]provider.Status, error) {
	if len(names) == 0 {
		all, err := a.Jobs(ctx, a.f.run)
		if errors.Is(err, workspace.ErrCannotList) {
			return nil, shell.Usage("name the jobs", "%s cannot list its jobs", a.Provider)
		}
		return all, err
	}
	var all []provider.Status
	for _, id := range names {
		st, err := a.Job(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && a.f.out != "" {
			return nil, shell.Usage("leave --out out, or name one job", "--out is one file")
		}
		all = append(all, st)
	}
	return all, nil
}

// recover joins the answers of jobs to the questions of a study.
func (a *adopter) recover(ctx context.Context, d *plan.Input, p *plan.Plan, found []provider.Status) error {
	want := workspace.Wanted{
		File: a.f.file, Input: d, Plan: p, Study: a.f.study.StudyOptions, Note: "recovered from " + a.Provider,
		Budget: workspace.BudgetOf(d.Study, nil),
	}
	now, err := a.home.Current(ctx, want)
	if err != nil {
		return err
	}
	if now.Run.No != 0 {
		now.Edit = nil // `assay run` goes on with the study as it is now
		if _, err := resumed(ctx, a.World, a.home, now, ""); err != nil {
			return err
		}
	}
	printMoves := a.follow()
	run, all, err := a.Recover(ctx, want, now, found)
	if errors.Is(err, workspace.ErrNoJobs) {
		return shell.Usage("assay adopt "+a.Provider+" JOB names one", "%s holds no job that this ledger does not know", a.Provider)
	}
	if several, ok := errors.AsType[*workspace.SeveralRunsError](err); ok {
		return shell.Usage("--run ID takes those of one, JOB… those that are named", "%s", several)
	}
	if err := errors.Join(err, printMoves(ctx)); err != nil {
		return err
	}
	t := term.Table{Head: []string{"JOB", "STATE", "LINES", "OURS", "JOINED", "NOTE"}, Right: map[int]bool{2: true, 3: true, 4: true}}
	var answers, joined int64
	mixed := false
	for _, r := range all {
		answers, joined, mixed = answers+r.Answers, joined+r.Joined, mixed || r.Mixed
		note := recoveryNote(r)
		if r.AllForeign() && a.Named {
			if note, err = a.keepForeign(ctx, r.Status); err != nil {
				return err
			}
		}
		t.Add(r.Job, r.Word, r.Lines, r.Answers, r.Joined, note)
	}
	if err := t.Write(a.Stdout); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "%s joined to run %s; %s found belong to questions that it does not ask, or has an answer for\n",
		assay.Count(joined, "answer"), run.ID, assay.Count(answers-joined, "answer"))
	if mixed {
		return shell.Usage("name the JOB…s of one run first: `assay resume` would ask for all of it again",
			"%s, and run %s has none of these answers", &workspace.SeveralRunsError{Runs: lostRuns(all)}, run.ID)
	}
	if joined < answers && p.Waves > 1 {
		fmt.Fprintln(a.Stderr, "some may follow answers that other providers hold: once those are joined, type it again")
	}
	fmt.Fprintf(a.Stderr, "nothing was sent; `assay resume %s` asks for the rest\n", a.home.Named(run))
	return nil
}

// follow prints the moves of the runs that jobs are taken into. What it returns prints those since.
func (a *adopter) follow() func(context.Context) error {
	var words *progress.Narrator
	a.Follow = func(ctx context.Context, run store.Run) (err error) {
		words, err = progress.NewNarrator(ctx, a.World, a.home, run)
		return err
	}
	return func(ctx context.Context) error {
		if words == nil {
			return nil
		}
		return words.Print(ctx)
	}
}

// lostRuns returns the runs in the stamps of jobs.
func lostRuns(all []workspace.Recovered) []string {
	var jobs []provider.Status
	for _, r := range all {
		jobs = append(jobs, r.Status)
	}
	return runs.LostRuns(jobs)
}

func recoveryNote(r workspace.Recovered) string {
	switch {
	case r.Why != "":
		return "could not be read: " + r.Why
	case r.Open:
		return stillAtWork
	case r.Lines == 0:
		return "the provider hands out nothing"
	case r.AllForeign():
		return "not ours"
	case r.Segment != 0:
		return fmt.Sprintf("taken for segment %d, which had no job: `assay resume` collects it", r.Segment)
	case r.Mixed:
		return "not taken: one of several runs"
	case r.Joined < r.Answers:
		return fmt.Sprintf("%s %s no open question", assay.Count(r.Answers-r.Joined, "answer"),
			assay.Verb(r.Answers-r.Joined, "fits", "fit"))
	}
	return ""
}

// takeUp takes jobs with our stamp for their segments, and the answers of foreign jobs that were named into files.
func (a *adopter) takeUp(ctx context.Context, found []provider.Status) error {
	found, err := a.Unknown(ctx, found)
	if err != nil {
		return err
	}
	t := term.Table{Head: []string{"JOB", "STATE", "RUN", "NOTE"}}
	for _, st := range found {
		var note string
		switch {
		case st.Stamp != (provider.Stamp{}):
			note, err = a.takeStamped(ctx, st)
		case a.Named:
			note, err = a.keepForeign(ctx, st)
		default:
			continue
		}
		if err != nil {
			return err
		}
		t.Add(st.Job, st.Word, st.Stamp.Run, note)
	}
	if !a.Stamped() && !a.Named {
		return a.unstamped(ctx, found)
	}
	if t.Len() == 0 {
		fmt.Fprintf(a.Stderr, "%s shows no job of ours that this ledger does not know\n", a.Provider)
		return nil
	}
	return t.Write(a.Stdout)
}

// unstamped has the open runs look into jobs that do not show whose they are.
func (a *adopter) unstamped(ctx context.Context, found []provider.Status) error {
	open, err := a.OpenRuns(ctx, a.f.run)
	if err != nil {
		return err
	}
	t := term.Table{Head: []string{"JOB", "STATE", "MADE", "REQUESTS"}, Right: map[int]bool{3: true}}
	for _, st := range found {
		t.Add(st.Job, st.Word, st.Created.Local().Format("2006-01-02 15:04:05"), st.Counts.Total)
	}
	if err := t.Write(a.Stdout); err != nil || len(found) == 0 {
		fmt.Fprintf(a.Stderr, "%s shows no job that this ledger does not know\n", a.Provider)
		return err
	}
	fmt.Fprintf(a.Stderr, "jobs of %s carry no stamp; the ids in their results show whose they are\n", a.Provider)
	for _, r := range open {
		if err := a.Owe(ctx, r, "jobs of "+a.Provider+" carry no stamp and are not in this ledger"); err != nil {
			return err
		}
		fmt.Fprintf(a.Stderr, "run %s of %s: `assay resume %s` looks into them, and takes over what they answer, before it "+
			"sends anything\n", r.ID, r.Study, a.home.Named(r))
	}
	if len(open) == 0 {
		fmt.Fprintf(a.Stderr, "no open run asks it: --study FILE looks into all of them, JOB into one\n")
	}
	return nil
}

// takeStamped takes a job for the segment in its stamp.
func (a *adopter) takeStamped(ctx context.Context, st provider.Status) (string, error) {
	printMoves := a.follow()
	got, err := a.Take(ctx, st)
	if err := errors.Join(err, printMoves(ctx)); err != nil {
		return "", err
	}
	switch got.Result {
	case workspace.RunUnknown:
		return "its run is not in this ledger: --study FILE recovers its answers", nil
	case workspace.StampUnclear:
		return "its stamp names no segment", nil
	case workspace.SegmentUnknown:
		return fmt.Sprintf("its segment is not in this ledger: `assay resume %s` takes over its answers before it sends anything",
			a.home.Named(got.Run)), nil
	case workspace.Failed:
		return "it failed, and nothing came of it", nil
	case workspace.Second:
		return fmt.Sprintf("a second job of segment %d, which is %s: it may be billed twice", got.Segment.No, got.Segment.State), nil
	}
	return fmt.Sprintf("taken for segment %d: `assay resume %s` collects it", got.Segment.No, a.home.Named(got.Run)), nil
}

// stillAtWork is the note on a job that has not ended.
const stillAtWork = "still at work: adopt it again when it has ended"

// keepForeign writes the answers of a job that is not ours into a file.
func (a *adopter) keepForeign(ctx context.Context, st provider.Status) (string, error) {
	name := cmp.Or(a.f.out, a.ForeignFile(st.Job))
	var out *folder.File
	defer func() {
		if out != nil {
			out.Abort()
		}
	}()
	lines, err := a.WriteForeign(ctx, st, func() (w io.Writer, err error) {
		if out, err = folder.NewFile(a.Disk.Path(name), folder.Keep); err != nil {
			return nil, shell.Usage("--out names another", "write the answers of job %s: %s", st.Job, err)
		}
		return out, nil
	})
	if errors.Is(err, workspace.ErrAtWork) {
		return stillAtWork, nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("not ours: %s in %s", assay.Count(lines, "line"), name), out.Commit()
}
