package cli

import (
	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/study/inputs"
)

// scopeFlags say, on the command line of a run or a plan, what a study says in its file. They are kept with the run as what --set
// would have said.
type scopeFlags struct {
	workspace.Scope
	mode  string
	asked func(flag string) bool // whether a flag was given
}

// register adds all of them; registerScope those that a plan has, too.
func (f *scopeFlags) register(c *cobra.Command) {
	f.registerScope(c)
	c.Flags().StringArrayVar(&f.Items, "item", nil, "only the item with this id (repeatable)")
}

func (f *scopeFlags) registerScope(c *cobra.Command) {
	flags := c.Flags()
	f.asked = flags.Changed
	flags.StringVar(&f.Rows, "rows", "", "only these rows of each input that is asked, such as 1-100")
	flags.IntVar(&f.Repeats, "repeats", 0, "how often every question is asked")
	flags.StringVar(&f.mode, "mode", "", "how everything travels: batch, live or batch-else-live, over what study, stages and lanes say")
	flags.BoolVar(&f.NoCache, "no-prompt-cache", false, "no cache marks on shared contexts")
}

// travel is how everything is to travel; empty: as the study says.
func (f *scopeFlags) travel() (assay.Mode, error) {
	switch m := assay.Mode(f.mode); m {
	case "", assay.ModeBatch, assay.ModeLive, assay.ModeBatchElseLive:
		return m, nil
	}
	return "", usage(assay.DidYouMean(f.mode, []string{string(assay.ModeBatch), string(assay.ModeLive), string(assay.ModeBatchElseLive)}),
		"--mode: want batch, live or batch-else-live, got %q", f.mode)
}

// apply has a study read as the flags say.
func (f *scopeFlags) apply(w *World, name string, study *studyFlags) error {
	sets, err := f.sets(w, name, *study)
	if err != nil {
		return err
	}
	study.Set = append(study.Set, sets...)
	study.Mode, err = f.travel()
	return err
}

// sets are the flags as paths of the study.
func (f *scopeFlags) sets(w *World, name string, have studyFlags) ([]string, error) {
	if f.Repeats < 0 || f.Repeats == 0 && f.asked("repeats") {
		return nil, usage("", "--repeats: want 1 or more, got %d", f.Repeats)
	}
	if f.Rows != "" {
		if _, err := inputs.ParseRows(f.Rows); err != nil {
			return nil, usage("such as 1-100 or 1-10,20", "--rows: %s", err)
		}
	}
	return w.workspace().Sets(name, have.StudyOptions, f.Scope)
}
