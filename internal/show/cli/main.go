// Package cli is the command line: the list of commands, help, and what belongs to no run. The commands for runs lie in packages below.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assay/internal/assay"
	"assay/internal/send/engine/live"
	"assay/internal/send/traffic"
	"assay/internal/show/cli/batch"
	"assay/internal/show/cli/driving"
	"assay/internal/show/cli/planning"
	"assay/internal/show/cli/ratings"
	"assay/internal/show/cli/reading"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/state"
	"assay/internal/show/cli/term"
)

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, w shell.World) int {
	w.Contact = traffic.NewContact(w.Now)
	w.Datasets(ctx)
	w.Typed = &term.Typed{Context: ctx, From: w.Stdin}
	if w.Terminal.Out {
		w.Stdout = term.Glass{Writer: w.Stdout, Columns: w.OutWidth, Colour: w.Colours()}
	}
	if w.Terminal.Err {
		w.Stderr = &term.Prose{To: w.Stderr, Columns: w.ErrWidth}
	}
	root := newRoot(&w)
	root.SetArgs(w.Args)
	err := strange(&w, root)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if lost := w.Debug.Close(); lost != nil {
		fmt.Fprintln(w.Stderr, "assay: the file of --debug is not whole:", lost)
	}
	if err == nil {
		return shell.ExitDone
	}
	if ctx.Err() != nil {
		if _, lost := errors.AsType[*live.LostAnswersError](err); lost {
			shell.Complain(&w, err)
		} else {
			fmt.Fprintln(w.Stderr, "assay: interrupted; nothing is lost")
		}
		return shell.ExitInterrupted
	}
	shell.Complain(&w, err)
	return shell.ExitCode(err)
}

// strange returns an error where the first word is no command, whatever comes after it: with --help, too.
func strange(w *shell.World, root *cobra.Command) error {
	if len(w.Args) == 0 || strings.HasPrefix(w.Args[0], "-") || strings.HasPrefix(w.Args[0], cobra.ShellCompRequestCmd) {
		return nil
	}
	root.InitDefaultHelpCmd()
	if c, _, err := root.Find(w.Args[:1]); err == nil && c != root {
		return nil
	}
	return unknownCommand(w, w.Args[0])
}

// listCommand makes the command `assay list`.
func listCommand(w *shell.World) *cobra.Command {
	c := &cobra.Command{Use: "list", GroupID: shell.GroupStart, Short: "List keys, models, prices, prompts, or print the schema of a study"}
	shell.Group(c, keysCommand(w), modelsCommand(w), pricesCommand(w), planning.Prompts(w), schemaCommand(w))
	return c
}

func newRoot(w *shell.World) *cobra.Command {
	var showVersion bool
	var root *cobra.Command
	root = &cobra.Command{
		Use:           "assay",
		Short:         "Compare language models with many questions, at batch prices, losing nothing",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case showVersion:
				return printVersion(w)
			case len(args) == 0:
				return firstScreen(w, root)
			}
			return unknownCommand(w, args[0]) // after a flag
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	var debug string
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.PersistentFlags().BoolVarP(&w.Verbose, "verbose", "v", false,
		"print every move of every segment, one line each, while a run is driven or watched")
	root.PersistentFlags().StringVar(&debug, "debug", "", "add every HTTP exchange with providers to `FILE`, without keys")
	root.PersistentFlags().BoolVar(&w.Wide, "wide", false, "do not cut tables to the width of the terminal")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := c.ValidateFlagGroups(); err != nil {
			return shell.Usage("leave one out", "%s", excluding(err))
		}
		if home := c.Flags().Lookup("home"); home != nil {
			w.KeepDatasets(home.Value.String())
		}
		if debug != "" {
			f, err := w.Disk.Create(debug, os.O_APPEND)
			if err == nil {
				w.Debug, err = traffic.NewExchanges(f, w.Now)
			}
			if err != nil {
				return shell.Usage("", "--debug: %s", err)
			}
		}
		return nil
	}
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	root.AddGroup(
		&cobra.Group{ID: shell.GroupStart, Title: "Start:"}, &cobra.Group{ID: shell.GroupRun, Title: "Run:"},
		&cobra.Group{ID: shell.GroupLook, Title: "Look:"}, &cobra.Group{ID: shell.GroupDecide, Title: "Decide:"},
		&cobra.Group{ID: shell.GroupTools, Title: "Tools:"},
	)
	root.SetFlagErrorFunc(flagError)
	for _, c := range commands(w) {
		root.AddCommand(c)
	}
	addSamples(root)
	complete(w, root.Commands())
	root.SetHelpCommand(helpCommand(w, root))
	usual := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c == root {
			_ = firstScreen(w, root) // whoever reads it has gone
			return
		}
		var b strings.Builder
		c.SetOut(&b)
		usual(c, args)
		fmt.Fprint(w.Stdout, term.Folded(b.String(), w.OutWidth()))
	})
	root.AddCommand(&cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: "Exit codes:\n\n" + shell.ExitCodeHelp})
	return root
}

// excluding says which flags exclude each other.
func excluding(err error) string {
	_, set, _ := strings.Cut(err.Error(), "; [")
	names, _, _ := strings.Cut(set, "]")
	return "--" + strings.Join(strings.Fields(names), " and --") + " do not go together"
}

// flagError explains a flag that there is not, or whose value is wrong.
func flagError(c *cobra.Command, err error) error {
	var strange *pflag.NotExistError
	if errors.As(err, &strange) {
		name := strange.GetSpecifiedName()
		if hint := cmp.Or(otherFlag[name], map[bool]string{true: otherLook[name]}[c.Name() == "status"]); hint != "" {
			return shell.Usage(hint, "%s", err)
		}
	}
	hint := shell.HelpOf(c)
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		hint = cmp.Or(shell.Nearest(bad.GetFlag().Value, bad.GetValue()), hint)
	}
	return shell.Usage(hint, "%s", flagTrouble(c, err))
}

// otherLook names the commands for what people ask `assay status` for.
var otherLook = map[string]string{
	"cost": "assay spend [RUN] prints what was paid", "spend": "assay spend [RUN] prints what was paid",
	"jobs": "assay jobs --run RUN lists them", "errors": "assay errors [RUN] lists what failed",
}

const planShows = "assay plan STUDY shows what would be sent, and for how much"

// otherFlag has what people type for flags that there are.
var otherFlag = map[string]string{
	"dry-run": planShows, "dryrun": planShows, "n": planShows,
	"live": "--mode live", "batch": "--mode batch", "port": "--listen 127.0.0.1:PORT", "out-dir": "--out DIR", "output-dir": "--out DIR",
	"model": "--set lanes.LANE.model=PROVIDER/MODEL changes that of a lane",
}

// flagTrouble returns what is wrong with a flag, in the words of the command line.
func flagTrouble(c *cobra.Command, err error) string {
	var strange *pflag.NotExistError
	if errors.As(err, &strange) && strange.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near, ok := nearestFlag(strange.GetSpecifiedName(), names); ok {
			return err.Error() + ", did you mean --" + near + "?"
		}
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	want := map[string]string{
		"int": "a whole number", "uint": "a whole number", "uint64": "a whole number", "float64": "a number", "bool": "true or false",
		"duration": "a length of time, such as 30s or 10m",
	}[bad.GetFlag().Value.Type()]
	if cause := bad.Unwrap(); cause != nil { // a flag of ours knows what it takes
		if own, ok := strings.CutPrefix(cause.Error(), "want "); ok {
			want = own
		}
	}
	if want == "" {
		return err.Error()
	}
	return fmt.Sprintf("--%s: want %s, got %q", bad.GetFlag().Name, want, bad.GetValue())
}

// nearestFlag returns the flag whose name a word of an unknown one is, as --by of --created-by, else the one nearest by letters.
func nearestFlag(unknown string, names []string) (string, bool) {
	for _, word := range slices.Backward(strings.Split(unknown, "-")) {
		if slices.Contains(names, word) {
			return word, true
		}
	}
	return assay.Closest(unknown, names)
}

// commands lists every command; adding one is one file and one line here.
func commands(w *shell.World) []*cobra.Command {
	return []*cobra.Command{
		initCommand(w),
		planning.Check(w),
		planning.Plan(w),
		driving.Lock(w),
		listCommand(w),
		completionCommand(w),
		versionCommand(w),
		driving.Run(w),
		driving.Judge(w),
		driving.Resume(w),
		driving.Tune(w),
		driving.Notify(w),
		driving.Worker(w),
		driving.Cancel(w),
		driving.Retry(w),
		driving.Redo(w),
		driving.Adopt(w),
		driving.Resolve(w),
		state.Runs(w),
		state.Jobs(w),
		state.Status(w),
		reading.Show(w),
		reading.Results(w),
		state.Errors(w),
		state.Spend(w),
		state.Sql(w),
		batch.Batch(w),
		cleanCommand(w),
		backupCommand(w),
		restoreCommand(w),
		gatewayCommand(w),
		dashboardCommand(w),
		simCommand(w),
		reading.Analyse(w),
		reading.Export(w),
		reading.Report(w),
		reading.Bundle(w),
		reading.Compare(w),
		reading.Trend(w),
		driving.Import(w),
		ratings.Table(w),
		reading.Label(w),
	}
}
