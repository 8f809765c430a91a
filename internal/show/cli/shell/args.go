package shell

import (
	"strings"

	"github.com/spf13/cobra"
)

// The groups of commands, in the order help shows them.
const (
	GroupStart  = "start"
	GroupRun    = "run"
	GroupLook   = "look"
	GroupDecide = "decide"
	GroupTools  = "tools"
)

// Args checks the number of arguments and names what is missing.
func Args(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// UpTo are arguments that may be left out.
func UpTo(names ...string) cobra.PositionalArgs { return between(0, names...) }

// between wants the first so many of these arguments, and takes the others.
func between(least int, names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, got []string) error {
		if len(got) < least {
			return Usage(HelpOf(c), "%s needs %s", c.CommandPath(), strings.Join(names[len(got):least], " and "))
		}
		if len(got) > len(names) {
			return Usage(HelpOf(c), "%s does not take %q", c.CommandPath(), got[len(names)])
		}
		return nil
	}
}

// HelpOf returns the command that explains another.
func HelpOf(c *cobra.Command) string {
	return "assay help " + strings.TrimPrefix(c.CommandPath(), "assay ")
}

// FirstOf returns the first argument, or nothing.
func FirstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
