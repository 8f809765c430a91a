package state

import (
	"github.com/spf13/cobra"

	"assay/internal/show/cli/shell"
)

// Sql makes the command `assay sql`.
func Sql(w *shell.World) *cobra.Command {
	var f shell.SqlFlags
	c := &cobra.Command{
		Use:     "sql QUERY",
		GroupID: shell.GroupLook,
		Short:   "Query the ledger in SQL, read-only",
		Long: "Queries the ledger in SQL; nothing can be written. Views for people: answers, verdicts_named, jobs_named,\n" +
			"lane_status, lane_coverage, run_errors, run_spend.\n\n" +
			"  assay sql 'SELECT lane, status, count, cache_hits FROM lane_status'",
		Args: shell.Args("QUERY"),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := f.Open(c.Context(), w)
			if err != nil {
				return err
			}
			defer h.Close()
			return shell.PrintQuery(c.Context(), w, h, args[0], f)
		},
	}
	f.Register(c)
	c.Flags().BoolVar(&f.Rehearsal, "rehearsal", false, "ask the ledger of the rehearsals")
	return c
}
