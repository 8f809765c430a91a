package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/show/cli/shell"
)

func completionCommand(w *shell.World) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion SHELL",
		GroupID:   shell.GroupStart,
		Short:     "Print a completion script for " + strings.Join(shells, ", "),
		Long:      "Prints a completion script. For bash:\n\n  source <(assay completion bash)",
		Args:      shell.Args("SHELL"),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(w.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(w.Stdout)
			case "fish":
				return root.GenFishCompletion(w.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(w.Stdout)
			}
			return shell.Usage(assay.Choices(args[0], shells), "no completion for shell %q", args[0])
		},
	}
}
