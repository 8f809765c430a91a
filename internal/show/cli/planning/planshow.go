package planning

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay/internal/judge"
	"assay/internal/send/script"
	"assay/internal/show/cli/shell"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// showRequests prints the first requests of every stage and lane that is asked for, each with its coordinates.
func showRequests(c *cobra.Command, w *shell.World, d *plan.Input, p *plan.Plan, f planFlags) error {
	o := plan.Options{Lanes: f.lanes, Stages: f.stages, Limit: f.limit}
	if err := shell.KnownNames(d, o); err != nil {
		return err
	}
	preview, shown, wrapped := script.NewPreview(d), 0, map[string]bool{}
	for _, q := range p.Parts {
		if !f.shows(q) {
			continue
		}
		if words := wrapping(d, q.Stage); words != "" && !wrapped[q.Stage] {
			fmt.Fprintf(w.Stderr, "# stage %s: %s\n", q.Stage, words)
			wrapped[q.Stage] = true
		}
		n, err := f.showPart(c, w, preview, q)
		if err != nil {
			return err
		}
		if shown += n; n == 0 {
			fmt.Fprintf(w.Stderr, "# stage %s, lane %s, turn %d: no such request\n", q.Stage, q.Lane.Name, q.Turn)
		}
	}
	for _, st := range d.Study.Stages {
		if len(o.Stages) > 0 && !slices.Contains(o.Stages, st.Name) ||
			slices.ContainsFunc(p.Parts, func(q plan.Part) bool { return q.Stage == st.Name }) {
			continue
		}
		fmt.Fprintf(w.Stderr, "# stage %s sends nothing: no model is asked in it\n", st.Name)
	}
	if shown == 0 {
		return shell.Usage("leave --stage, --lane or --item out", "no request matches")
	}
	return nil
}

// shows reports whether a part is asked for.
func (f planFlags) shows(q plan.Part) bool {
	return (len(f.stages) == 0 || slices.Contains(f.stages, q.Stage)) &&
		(len(f.lanes) == 0 || slices.ContainsFunc(f.lanes, func(n string) bool { return study.Picks(n, q.Lane) }))
}

// showPart prints the first requests of one part, and counts them.
func (f planFlags) showPart(c *cobra.Command, w *shell.World, preview *script.Preview, q plan.Part) (int, error) {
	n := 0
	for r, err := range preview.Requests(c.Context(), q.Stage, q.Lane.Name, q.Turn, plan.Options{Limit: f.limit}) {
		if err != nil {
			return n, err
		}
		at := r.Coordinates
		if len(f.items) > 0 && !slices.Contains(f.items, at.Item) && (at.Lane != "" || !slices.Contains(f.items, at.Against)) {
			continue
		}
		text, err := r.Line()
		if err != nil {
			return n, err
		}
		fmt.Fprintf(w.Stderr, "# stage %s, lane %s, item %q%s%s\n", q.Stage, q.Lane.Name, at.Item, shell.Named(at), mark(r.StandIn))
		if _, err := fmt.Fprintf(w.Stdout, "%s\n", text); err != nil {
			return n, err
		}
		if n++; n == f.show {
			break
		}
	}
	return n, nil
}

// wrapping returns what is sent around a judge's prompt, and how the reply is read; nothing of a stage that does not judge.
func wrapping(d *plan.Input, stage string) string {
	st, _ := d.Study.Stage(stage)
	if v := st.Verb(); v != study.VerbJudge && v != study.VerbCompare {
		return ""
	}
	r, err := d.Rubric(st)
	if err != nil || len(r.Prompts) == 0 {
		return ""
	}
	form := map[judge.Form]string{judge.FormJSON: "JSON", judge.FormTag: "a tag", judge.FormLine: "its last line"}[r.Form]
	if r.Weighed {
		form = "how likely each one was as the first token"
	}
	if r.Bare {
		return "the prompt is sent as it is written (wrap: off); the label is read from " + form
	}
	added := "texts that others wrote stand between [[DATA and [[END lines"
	if r.Answer() != nil {
		added += ", and a schema asks for the reply where the model takes one"
	}
	return added + " (wrap: off sends the prompt alone); the label is read from " + form
}

// mark returns a note that a request is not the one that is sent.
func mark(standIn bool) string {
	if standIn {
		return " (PREVIEW: with stand-ins for answers that are not there yet)"
	}
	return ""
}
