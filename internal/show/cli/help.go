package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// firstCommands are those that a newcomer needs; `assay help --all` lists the others.
var firstCommands = []struct {
	title string
	names []string
}{
	{"Start", []string{"init", "check", "plan", "run"}},
	{"Look", []string{"status", "results", "view", "report"}},
	{"Decide", []string{"label", "compare"}},
}

// firstScreen prints what the program is for and the commands to begin with.
func firstScreen(w *shell.World, root *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Compare language models: many questions, batch prices, error bars.\n")
	for _, group := range firstCommands {
		fmt.Fprintf(&b, "\n%s:\n", group.title)
		for _, name := range group.names {
			if c, _, err := root.Find([]string{name}); err == nil {
				fmt.Fprintf(&b, "  %-10s%s\n", name, c.Short)
			}
		}
	}
	b.WriteString("\n  assay init my-study              write a study to try; --from questions.csv: of your table\n" +
		"  assay run my-study --rehearse    run it against the built-in simulator: no key, no cost\n" +
		"  assay help COMMAND               explain a command\n" +
		"  assay help --all                 all commands: batch files, gateway, workers, repair\n")
	_, err := fmt.Fprint(w.Stdout, term.Folded(b.String(), w.OutWidth()))
	return err
}

// helpCommand explains a command, and prints that when there is none.
func helpCommand(w *shell.World, root *cobra.Command) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command; exit-codes are a topic too",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || c == root && len(args) > 0 {
				return unknownCommand(w, args[0])
			}
			if len(rest) > 0 {
				return shell.Usage(shell.HelpOf(c), "%s has no command %q", c.CommandPath(), rest[0])
			}
			if c == root && all {
				_, err := fmt.Fprint(w.Stdout, term.Folded(root.Short+"\n\n"+root.UsageString(), w.OutWidth()))
				return err
			}
			return c.Help()
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list all commands")
	return c
}

const deletes = "no command deletes what was paid for: leave a run be, or delete the folder of its home"

const (
	writes      = "assay init writes a study, assay list schema prints every key that it may have"
	examplesAre = "assay init --example NAME writes one, assay help init lists them"
	rehearses   = "assay plan shows what would be sent, assay run --rehearse plays it against the simulator"
)

// otherWords are words that people type for commands with other names.
var otherWords = map[string]string{
	"collect": "assay resume --once fetches what is ready now", "download": "assay resume --once fetches what is ready now",
	"continue": "assay resume", "pause": "assay tune RUN --pause LANE sends nothing new in a lane", "answers": "assay results",
	"ls":    "assay runs lists the runs",
	"cost":  "assay spend shows what was paid, assay plan what a study will cost",
	"price": "assay list prices lists prices, assay plan what a study will cost",
	"watch": "assay status --watch",
	"diff":  "assay compare RUN1 RUN2",
	"drift": "assay trend STUDY", "history": "assay trend STUDY",
	"keys": "assay list keys", "models": "assay list models", "prices": "assay list prices", "prompts": "assay list prompts",
	"schema": "assay list schema",
	"study":  writes, "config": writes, "example": examplesAre, "examples": examplesAre,
	"rubric": "assay list prompts", "rubrics": "assay list prompts", "providers": "assay list keys",
	"login":  "keys come from the environment: assay list keys names the variables",
	"doctor": "assay check STUDY lists what is wrong, assay list keys shows which keys are set",
	"rank":   "assay table rank FILE", "rate": "assay table rate FILE", "agree": "assay table agree FILE",
	"verdicts": "assay import --format labels FILE takes labels in, assay results --judge NAME shows those of a judge",
	"stop":     "assay cancel ends a run",
	"kill":     "assay cancel ends a run",
	"rm":       deletes, "delete": deletes, "remove": deletes, "forget": deletes,
	"verify": "assay clean --check compares the artifacts with the ledger",
	"ui":     "assay view opens the dashboard", "dashboard": "assay view opens the dashboard",
	"open":    "assay view opens the dashboard, assay report RUN writes one file with all of it",
	"logs":    "assay status RUN shows how far a run is, assay errors RUN what failed",
	"serve":   "assay view opens the dashboard, assay gateway serves an API for other programs",
	"dry-run": rehearses, "rehearse": rehearses, "simulate": rehearses,
	"analyze": "assay analyse",
	"eval":    "assay run begins a study",
	"start":   "assay run begins a study",
}

func unknownCommand(w *shell.World, name string) error {
	var names []string
	for _, c := range commands(w) {
		names = append(names, c.Name())
	}
	hint := otherWords[name]
	if hint == "" {
		hint = cmp.Or(assay.DidYouMean(name, names), "assay help --all lists the commands")
	}
	return shell.Usage(hint, "no command is called %q", name)
}
