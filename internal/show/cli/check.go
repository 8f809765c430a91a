package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/study/plan"
)

func checkCommand(w *World) *cobra.Command {
	var f studyFlags
	var online bool
	c := &cobra.Command{
		Use:     "check STUDY",
		GroupID: groupStart,
		Short:   "List everything that is wrong with a study",
		Long: "Reads a study, its texts and all its rows, renders every first request, and lists all problems at once as file:line:col: what (hint).\n" +
			"Nothing is sent. Exit code 2 when there is a problem; warnings alone are exit code 0.\n\n" +
			"--online also asks the providers, by calls that cost nothing, whether keys, models and permissions are there.",
		Args: args("STUDY"),
		RunE: func(c *cobra.Command, args []string) error {
			name := studyFile(w, args[0])
			d, p, err := planned(c, w, name, f, plan.Options{})
			if err != nil {
				return err
			}
			if online {
				problems := workspace.InFolder(checkOnline(c.Context(), w, d), filepath.Dir(name))
				if len(problems.Errors()) > 0 {
					return problems
				}
				for _, q := range problems {
					fmt.Fprintln(w.Stderr, q)
				}
			}
			total := p.Sum(func(plan.Part) bool { return true })
			fmt.Fprintf(w.Stdout, "%s: no problems; %s in %s\n", name, assay.Count(total.Requests, "request"), assay.Count(p.Waves, "wave"))
			for i := range d.Study.Stages {
				st := &d.Study.Stages[i]
				if left := d.NotAsked(st); len(left) > 0 {
					fmt.Fprintf(w.Stdout, "stage %s does not ask lanes that judge: %s (`lanes: \"*\"` asks all)\n", st.Name, strings.Join(left, ", "))
				}
			}
			return nil
		},
	}
	f.register(c)
	c.Flags().BoolVar(&online, "online", false, "also ask the providers, free calls only")
	return c
}

// checkOnline asks the providers of a study, and names those whose keys work.
func checkOnline(ctx context.Context, w *World, d *plan.Input) assay.Problems {
	return w.workspace().CheckOnline(ctx, d, func(k plan.Key) {
		fmt.Fprintf(w.Stderr, "%s: the key works for %s %s\n", k.Provider, assay.Verb(len(k.Lanes), "lane", "lanes"), strings.Join(k.Lanes, ", "))
	})
}

// planned opens and plans a study; warnings go to standard error.
func planned(c *cobra.Command, w *World, name string, f studyFlags, o plan.Options) (*plan.Input, *plan.Plan, error) {
	d, problems, err := w.workspace().ReadStudy(c.Context(), name, f.StudyOptions)
	if err != nil {
		return nil, nil, err
	}
	if d == nil {
		return nil, nil, problems
	}
	if err := someItems(c, o.Limit); err != nil {
		return nil, nil, err
	}
	if err := knownNames(d, o); err != nil {
		return nil, nil, err
	}
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
		problems.Add(d.Study.At, "does a `where` leave any item?", "the study asks nothing: no stage has a question for a lane, or answers to import")
		return nil, nil, workspace.InFolder(problems, filepath.Dir(name))
	}
	for _, q := range problems.Sort() {
		fmt.Fprintln(w.Stderr, q)
	}
	return d, p, nil
}

// someItems refuses a limit that leaves nothing.
func someItems(c *cobra.Command, limit int) error {
	if f := c.Flags().Lookup("limit"); f != nil && f.Changed && limit < 1 {
		return usage("leave it out for all items", "--limit: want at least 1, got %d", limit)
	}
	return nil
}

// knownNames refuses a lane or stage that the study does not have.
func knownNames(d *plan.Input, o plan.Options) error {
	var lanes, stages []string
	for _, l := range d.Study.Lanes {
		lanes = append(lanes, l.Name)
	}
	for _, s := range d.Study.Stages {
		stages = append(stages, s.Name)
	}
	for _, name := range o.Lanes {
		if len(d.Study.LanesNamed([]string{name})) == 0 {
			return usage(nearOrAll(name, lanes), "--lane: the study has no lane %q", name)
		}
	}
	for _, name := range o.Stages {
		if !slices.Contains(stages, name) {
			return usage(nearOrAll(name, stages), "--stage: the study has no stage %q", name)
		}
	}
	return nil
}

// nearOrAll is a hint for a name that is not there: the nearest one, else what there is.
func nearOrAll(name string, have []string) string {
	const most = 20
	if hint := assay.DidYouMean(name, have); hint != "" || len(have) == 0 {
		return hint
	}
	if len(have) > most {
		return "there are " + strings.Join(have[:most], ", ") + " …"
	}
	return assay.ThereAre(have)
}
