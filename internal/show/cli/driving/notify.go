package driving

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/find/results/runs"
	"assay/internal/show/cli/shell"
	"assay/internal/study/plan"
)

// Notify makes the command `assay notify`.
func Notify(w *shell.World) *cobra.Command {
	var f shell.StudyFlags
	var test bool
	c := &cobra.Command{
		Use:     "notify [STUDY]",
		GroupID: shell.GroupRun,
		Short:   "List where a study sends its news; --test sends a message",
		Long: "Lists where a study sends its news: the variables under `notify`, and whether each holds a notification URL. Nothing is " +
			"sent without --test.\n\n" +
			"News is sent when a run has ended, or stops because a lane or a segment is held, the budget is spent, or first answers wait " +
			"for a yes; and when\n" +
			"a drive leaves results behind that a provider deletes within a day. A message has the counts, the cost, and what " +
			"to type next.",
		Args: shell.StudyArg(w),
		RunE: func(c *cobra.Command, args []string) error {
			d, _, err := shell.Planned(c, w, shell.StudyFile(w, args), f, plan.Options{}, nil)
			if err != nil {
				return err
			}
			if len(d.Study.Notify.List) == 0 {
				return shell.Usage(`notify: ["${SLACK_URL}"] sends its news there`, "study %s sends no news", d.Study.Study)
			}
			for _, name := range d.Study.Notify.List {
				fmt.Fprintf(w.Stdout, "%s is set, and is a notification URL\n", strings.Trim(name, "${}"))
			}
			if !test {
				return nil
			}
			if err := w.Workspace().SendNews(c.Context(), d.Study.Notify.List,
				"a test message of study "+d.Study.Study+". Its news will come here."); err != nil {
				return &shell.ExitError{Code: shell.ExitFailed, Err: err}
			}
			_, err = fmt.Fprintln(w.Stdout, "a test message was sent to each")
			return err
		},
	}
	f.Register(c)
	c.Flags().BoolVar(&test, "test", false, "send a test message to each")
	return c
}

// deletedSoon is how long before a provider deletes results it is news that they were not collected.
const deletedSoon = 24 * time.Hour

// sendNews sends the state of a run after a drive to where its study wants it, and to notification URLs or variables: that it goes on is
// no news.
func sendNews(ctx context.Context, w *shell.World, h *shell.Home, s runs.Standing, also ...string) error {
	if h.Rehearsal {
		return nil
	}
	st, err := h.Planner.Study(ctx, s.Run)
	if err != nil {
		return err
	}
	before := s.Needs.CollectBefore
	soon := !before.IsZero() && before.Sub(w.Now()) < deletedSoon
	if goesOnLater(s) && !soon {
		return nil
	}
	news := s.Sentence()
	if advice := s.Advice(s.Run.ID); advice != "" && !goesOnLater(s) {
		news += " Next: " + advice + "."
	}
	if soon {
		news += fmt.Sprintf(" Collect before %s: then a provider deletes results (assay resume %s).",
			before.UTC().Format("2006-01-02 15:04 UTC"), s.Run.ID)
	}
	return h.Notify(ctx, append(slices.Clone(st.Notify.List), also...), news)
}
