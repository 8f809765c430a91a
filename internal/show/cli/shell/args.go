package shell

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
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

// StudyArg is one study, which may be left out where study.yaml is in the folder that one works in.
func StudyArg(w *World) cobra.PositionalArgs {
	named := UpTo("STUDY")
	return func(c *cobra.Command, got []string) error {
		if len(got) == 0 && !w.Disk.IsFile(defaultStudy) {
			return Usage("name a study; `assay init` writes one", "%s needs STUDY: there is no %s here", c.CommandPath(), defaultStudy)
		}
		return named(c, got)
	}
}

// defaultStudy is the study of a folder.
const defaultStudy = "study.yaml"

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

// Group puts commands under one that does nothing itself but list them.
func Group(c *cobra.Command, under ...*cobra.Command) {
	c.AddCommand(under...)
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		var names []string
		for _, sub := range under {
			names = append(names, sub.Name())
		}
		return Usage(cmp.Or(assay.DidYouMean(args[0], names), HelpOf(c)), "%s has no command %q", c.CommandPath(), args[0])
	}
}
