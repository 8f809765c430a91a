package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"assay/internal/show/cli/shell"
)

func versionCommand(w *shell.World) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: shell.GroupStart,
		Short:   "Print the version",
		Args:    shell.Args(),
		RunE:    func(*cobra.Command, []string) error { return printVersion(w) },
	}
}

func printVersion(w *shell.World) error {
	_, err := fmt.Fprintf(w.Stdout, "assay %s %s %s/%s\n", shell.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
