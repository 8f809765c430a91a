package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(w *World) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupStart,
		Short:   "Print the version",
		Args:    args(),
		RunE:    func(*cobra.Command, []string) error { return printVersion(w) },
	}
}

func printVersion(w *World) error {
	_, err := fmt.Fprintf(w.Stdout, "assay %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is the module's version, with commit and day of it where the build knows them.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	var commit, date string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.time" && len(s.Value) >= 10:
			date = s.Value[:10]
		}
	}
	if commit == "" {
		return info.Main.Version
	}
	return fmt.Sprintf("%s (commit %s, %s)", info.Main.Version, commit, date)
}
