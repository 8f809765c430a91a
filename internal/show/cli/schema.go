package cli

import (
	"github.com/spf13/cobra"

	"assay/internal/show/cli/shell"
	"assay/internal/study"
)

func schemaCommand(w *shell.World) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a study file, for editors",
		Long: "Prints the JSON Schema of a study file. An editor with a YAML language server checks and completes a study that " +
			"starts with\n\n" +
			"  # yaml-language-server: $schema=study.schema.json",
		Args: shell.Args(),
		RunE: func(*cobra.Command, []string) error {
			text, err := study.Schema()
			if err != nil {
				return err
			}
			_, err = w.Stdout.Write(text)
			return err
		},
	}
}
