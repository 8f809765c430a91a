package cli

import (
	"github.com/spf13/cobra"

	"assay/internal/study"
)

func schemaCommand(w *World) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		GroupID: groupStart,
		Short:   "Print the JSON Schema of a study file, for editors",
		Long: "Prints the JSON Schema of a study file. An editor with a YAML language server checks and completes a study that starts with\n\n" +
			"  # yaml-language-server: $schema=study.schema.json",
		Args: args(),
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
