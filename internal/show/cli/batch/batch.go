// Package batch has the commands for plain batch files.
package batch

import (
	"github.com/spf13/cobra"

	"assay/internal/show/cli/shell"
)

// Batch makes the command `assay batch`.
func Batch(w *shell.World) *cobra.Command {
	c := &cobra.Command{
		Use:     "batch",
		GroupID: shell.GroupTools,
		Short:   "Send plain batch files to any provider, and bring the results back in order",
		Long: "Takes a provider's batch file as it is, without a study. A file becomes a run in the ledger: it is recorded before it is " +
			"sent, cut under\n" +
			"the provider's limits, and a stop at any moment loses nothing and pays nothing twice. The ids in the file come back " +
			"unchanged.\n\n" +
			"  assay batch write --provider openai --model gpt-4.1-mini --input questions.txt --output batch.jsonl\n" +
			"  assay batch submit batch.jsonl --wait\n" +
			"  assay batch collect batch.jsonl --output results.jsonl\n\n" +
			"A batch is a run, and the commands for runs are for it, too: status, resume, errors, retry, cancel, spend, runs, " +
			"jobs. BATCH, or RUN there,\n" +
			"is the id of a batch, the beginning of one, the name of its file, or a provider's own job id.",
	}
	shell.Group(c, batchWriteCommand(w), batchConvertCommand(w), batchSubmitCommand(w), batchCollectCommand(w))
	for verb, now := range map[string]string{
		"status": "assay status [RUN]", "watch": "assay status --watch [RUN…]", "resume": "assay resume [RUN…]",
		"errors": "assay errors [RUN]",
		"retry":  "assay retry [RUN]", "cancel": "assay cancel [RUN…]",
		"cost": "assay spend [RUN], and of a file that was not sent: assay batch submit FILE --estimate",
		"list": "assay runs, and assay jobs --elsewhere",
	} {
		c.AddCommand(movedCommand(verb, now))
	}
	return c
}

// movedCommand returns a verb that is one of the commands for every run.
func movedCommand(verb, now string) *cobra.Command {
	return &cobra.Command{
		Use: verb, Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return shell.Usage("type "+now, "a batch is a run: there is no `assay batch %s`", verb)
		},
	}
}
