package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"assay"
	"assay/catalog"
	"assay/inputs"
	"assay/plan"
	"assay/program"
	"assay/provider"
	"assay/study"
)

// studyFlags change a study while it is read.
type studyFlags struct {
	profile string
	set     []string
	prices  string
	mode    assay.Mode // how everything travels; empty: as the study says
	running bool       // who runs it tells of missing keys and programs as problems, where they are needed: no warnings of them
}

func (f *studyFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.profile, "profile", "", "apply a profile of the study")
	c.Flags().StringArrayVar(&f.set, "set", nil, "set path=value in the study, such as inputs.questions.limit=5 (repeatable)")
	c.Flags().StringVar(&f.prices, "prices", "", "a file of prices over the built-in table")
}

// studyFile is the study that a name on the command line means: the file, or study.yaml in the folder.
func studyFile(w *World, name string) string {
	if w.Disk.isFolder(w.Disk.Path(name)) {
		return filepath.Join(name, "study.yaml")
	}
	return name
}

// openStudy reads a study and everything that can be said without reading its rows. Problems come with file names as the
// user would type them. The desk is nil when the study cannot be used.
func openStudy(w *World, name string, f studyFlags) (*plan.Input, assay.Problems, error) {
	dir, base := filepath.Split(name)
	fsys := w.Disk.Folder(dir)
	s, problems := study.Read(fsys, base, study.Options{Profile: f.profile, Set: f.set, Mode: f.mode})
	if s == nil {
		return nil, shown(problems, dir), nil
	}
	prices, err := openCatalog(w, f.prices)
	if err != nil {
		return nil, nil, err
	}
	prices, more := plan.Prices(prices, s)
	problems = append(problems, more...)
	source := inputs.Open(fsys, s.Specs())
	d := &plan.Input{Study: s, Items: source, Rows: source, Catalog: prices, Today: catalog.DateOf(w.Now())}
	isSet := w.isSet
	if f.running {
		isSet = func(string) bool { return true }
	} else {
		checkPrograms(d, filepath.Dir(w.Disk.Path(name)), problems.Warn)
	}
	problems = append(problems, d.Check(isSet)...)
	if len(problems.Errors()) > 0 {
		// Broken rows are told with the rest, as far as the inputs can be read.
		problems = append(problems, d.Items.Check(context.Background())...)
		return nil, shown(problems, dir), nil
	}
	return d, shown(problems, dir), nil
}

// makePlan plans the whole study; problems of its rows come back as an error.
func makePlan(ctx context.Context, d *plan.Input, o plan.Options, dir string) (*plan.Plan, assay.Problems, error) {
	p, problems := d.Make(ctx, o)
	problems = shown(problems, dir)
	if p == nil {
		return nil, nil, problems
	}
	return p, problems, nil
}

// openCatalog is the built-in catalogue, with the prices of a file over it.
func openCatalog(w *World, prices string) (*catalog.Catalog, error) {
	c := catalog.Default()
	if prices == "" {
		return c, nil
	}
	f, err := w.Disk.Folder(".").Open(prices)
	if err != nil {
		return nil, usage("", "read the prices: %s", err)
	}
	defer f.Close()
	over, err := catalog.ReadOverrides(f)
	if err != nil {
		return nil, usage("assay prices --help shows the form", "read the prices in %s: %s", prices, err)
	}
	if c, err = c.With(over); err != nil {
		return nil, usage("", "read the prices in %s: %s", prices, err)
	}
	return c, nil
}

// keyTrouble tells what is wrong with the first of these variables that is set.
func (w *World) keyTrouble(names []string) (name, trouble string) {
	for _, name := range names {
		if v, ok := w.Env(name); ok && v != "" {
			return name, provider.KeyTrouble(v)
		}
	}
	return "", ""
}

func (w *World) isSet(name string) bool {
	v, ok := w.Env(name)
	return ok && v != ""
}

// shown puts the study's folder in front of file names, so that they are what the user would type.
func shown(problems assay.Problems, dir string) assay.Problems {
	out := make(assay.Problems, len(problems))
	for i, p := range problems {
		if p.File != "" && !filepath.IsAbs(p.File) && p.Line > 0 {
			p.File = filepath.Join(dir, p.File)
		}
		out[i] = p
	}
	return out.Sort()
}

// checkPrograms adds a problem for every program that a rubric names and that is not there.
func checkPrograms(d *plan.Input, folder string, add func(at assay.Place, hint, format string, args ...any)) {
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		r := d.Study.RubricOf(st)
		if r == nil || len(r.Command) == 0 {
			continue
		}
		if _, err := program.Find(folder, r.Command); err != nil {
			add(r.Where.Key("command"), "install it, or name it by its path from the study's folder", "stage %s: %s", st.Name, err)
		}
	}
}
