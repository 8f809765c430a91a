package shell

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/study/inputs"
	"assay/internal/study/plan"
)

// StudyFlags change a study while it is read.
type StudyFlags struct{ workspace.StudyOptions }

// Register adds the flags to a command.
func (f *StudyFlags) Register(c *cobra.Command) {
	c.Flags().StringVar(&f.Profile, "profile", "", "apply a profile of the study")
	c.Flags().StringArrayVar(&f.Set, "set", nil, "set path=value in the study, such as inputs.questions.limit=5 (repeatable)")
	c.Flags().StringVar(&f.Prices, "prices", "", "a file of prices over the built-in table")
}

// StudyFile returns the study that a command line means: the file, study.yaml in the folder that it names, or the one of this folder.
func StudyFile(w *World, args []string) string {
	return w.Workspace().StudyFile(cmp.Or(FirstOf(args), defaultStudy))
}

// Planned opens and plans a study; warnings go to standard error. It is priced by what answers took in a home; with nil, by the
// catalogue alone.
func Planned(c *cobra.Command, w *World, name string, f StudyFlags, o plan.Options, from *Seen) (*plan.Input, *plan.Plan, error) {
	d, problems, err := w.Workspace().ReadStudy(c.Context(), name, f.StudyOptions)
	if err != nil {
		return nil, nil, err
	}
	if d == nil {
		return nil, nil, problems
	}
	if err := SomeItems(c, o.Limit); err != nil {
		return nil, nil, err
	}
	if err := KnownNames(d, o); err != nil {
		return nil, nil, err
	}
	from.learn(c.Context(), w, d)
	o.Workers = runtime.GOMAXPROCS(0)
	p, more, err := workspace.MakePlan(c.Context(), d, o, filepath.Dir(name))
	if err != nil {
		if rows, ok := err.(assay.Problems); ok {
			return nil, nil, append(problems, rows...).Sort()
		}
		return nil, nil, err
	}
	problems = append(problems, more...)
	if p.Empty() && len(o.Lanes)+len(o.Stages) == 0 {
		var nothing assay.Problems
		nothing.Add(d.Study.At, "does a `where` leave any item?",
			"the study asks nothing: no stage has a question for a lane, or answers to import")
		return nil, nil, append(problems, workspace.InFolder(nothing, filepath.Dir(name))...).Sort()
	}
	asked := func(lane string) bool {
		return slices.ContainsFunc(p.Parts, func(q plan.Part) bool { return q.Lane.Name == lane })
	}
	for _, q := range problems.Sort() {
		if q.Lane == "" || len(o.Lanes)+len(o.Stages) == 0 || asked(q.Lane) { // one that was left out has no say
			w.Warn(q.String())
		}
	}
	return d, p, nil
}

// Seen is the home whose answers a plan is priced by.
type Seen struct {
	HomeFlags
	Rehearsal bool
}

// learn has a study priced by what answers took. A ledger that cannot be read is reported where it is needed.
func (f *Seen) learn(ctx context.Context, w *World, d *plan.Input) {
	if f == nil || !f.HasHome(w, f.Rehearsal) {
		return
	}
	h, err := f.OpenHome(ctx, w, f.Rehearsal)
	if err != nil {
		return
	}
	defer h.Close()
	_ = h.Learn(ctx, d, store.Run{}) // as above
}

// SomeItems refuses a limit that leaves nothing.
func SomeItems(c *cobra.Command, limit int) error {
	if f := c.Flags().Lookup("limit"); f != nil && f.Changed && limit < 1 {
		return Usage("leave it out for all items", "--limit: want at least 1, got %d", limit)
	}
	return nil
}

// KnownNames refuses a lane or stage that the study does not have.
func KnownNames(d *plan.Input, o plan.Options) error {
	var lanes, stages []string
	for _, l := range d.Study.Lanes {
		lanes = append(lanes, l.Name)
	}
	for _, s := range d.Study.Stages {
		stages = append(stages, s.Name)
	}
	for _, name := range o.Lanes {
		if len(d.Study.LanesNamed([]string{name})) == 0 {
			return Usage(NearOrAll(name, lanes), "--lane: the study has no lane %q", name)
		}
	}
	for _, name := range o.Stages {
		if !slices.Contains(stages, name) {
			return Usage(NearOrAll(name, stages), "--stage: the study has no stage %q", name)
		}
	}
	return nil
}

// NearOrAll returns a hint for a name that is not there: the nearest one, else what there is.
func NearOrAll(name string, have []string) string {
	const most = 20
	if hint := assay.DidYouMean(name, have); hint != "" || len(have) == 0 {
		return hint
	}
	if len(have) > most {
		return "there are " + strings.Join(have[:most], ", ") + " …"
	}
	return assay.ThereAre(have)
}

// ScopeFlags say, on the command line of a run or a plan, what a study says in its file. They are kept with the run as what --set
// would have said.
type ScopeFlags struct {
	workspace.Scope
	mode  string
	asked func(flag string) bool // whether a flag was given
}

// Register adds all of them; registerScope those that a plan has, too.
func (f *ScopeFlags) Register(c *cobra.Command) {
	f.RegisterScope(c)
	c.Flags().StringArrayVar(&f.Items, "item", nil, "only the item with this id (repeatable)")
}

// RegisterScope adds the flags that a plan has, too.
func (f *ScopeFlags) RegisterScope(c *cobra.Command) {
	flags := c.Flags()
	f.asked = flags.Changed
	flags.StringVar(&f.Rows, "rows", "", "only these rows of each input that is asked, such as 1-100")
	flags.IntVar(&f.Repeats, "repeats", 0, "how often every question is asked")
	Choice(c, &f.mode, "mode", assay.Modes(), "batch, live, batch-else-live or flex, over what the study says")
	flags.BoolVar(&f.NoCache, "no-prompt-cache", false, "no cache marks on shared contexts")
}

// Apply has a study read as the flags ask.
func (f *ScopeFlags) Apply(w *World, name string, study *StudyFlags) error {
	sets, err := f.sets(w, name, *study)
	if err != nil {
		return err
	}
	study.Set = append(study.Set, sets...)
	study.Mode = assay.Mode(f.mode)
	return nil
}

// sets returns the flags as paths of the study.
func (f *ScopeFlags) sets(w *World, name string, have StudyFlags) ([]string, error) {
	if f.Repeats < 0 || f.Repeats == 0 && f.asked("repeats") {
		return nil, Usage("", "--repeats: want 1 or more, got %d", f.Repeats)
	}
	if f.Rows != "" {
		if _, err := inputs.ParseRows(f.Rows); err != nil {
			return nil, Usage("such as 1-100 or 1-10,20", "--rows: %s", err)
		}
	}
	return w.Workspace().Sets(name, have.StudyOptions, f.Scope)
}
