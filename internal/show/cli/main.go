package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assay/internal/assay"
	"assay/internal/send/engine/live"
	"assay/internal/send/traffic"
	"assay/internal/show/cli/term"
)

const welcome = `assay asks many language models many questions, keeps every answer it paid for, and shows which model is better.
  assay init my-study              write a small study to start from
  assay plan my-study              see what would be sent and what it would cost; nothing is sent
  assay run my-study --rehearse    run all of it against the built-in simulator: no key, no cost, seconds
  assay view                       look at every answer and finding in a browser
assay help lists all commands.
`

// The groups of commands, in the order help shows them.
const (
	groupStart  = "start"
	groupRun    = "run"
	groupLook   = "look"
	groupDecide = "decide"
	groupTools  = "tools"
)

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, w World) int {
	w.contact = traffic.NewContact(w.Now)
	if w.Terminal.Out {
		w.Stdout = term.Glass{Writer: w.Stdout, Columns: w.outWidth, Colour: w.colours()}
	}
	root := newRoot(&w)
	root.SetArgs(w.Args)
	err := root.ExecuteContext(ctx)
	if lost := w.debug.Close(); lost != nil {
		fmt.Fprintln(w.Stderr, "assay: the file of --debug is not whole:", lost)
	}
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil {
		if _, lost := errors.AsType[*live.LostAnswersError](err); lost {
			complain(&w, err)
		} else {
			fmt.Fprintln(w.Stderr, "assay: interrupted; nothing is lost")
		}
		return exitInterrupted
	}
	complain(&w, err)
	return exitCode(err)
}

// complain prints an error: problems one on a line, everything else after the program's name.
func complain(w *World, err error) {
	err = explained(err, w.typed)
	var problems assay.Problems
	if errors.As(err, &problems) {
		fmt.Fprintln(w.Stderr, problems.Error())
		return
	}
	fmt.Fprintln(w.Stderr, "assay:", err)
}

func newRoot(w *World) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
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
				_, err := fmt.Fprint(w.Stdout, welcome)
				return err
			}
			return unknownCommand(w, args[0])
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	var debug string
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.PersistentFlags().BoolVarP(&w.verbose, "verbose", "v", false, "print every move of every segment, one line each, while a run is driven or watched")
	root.PersistentFlags().StringVar(&debug, "debug", "", "add every HTTP exchange with providers to `FILE`, without keys")
	root.PersistentFlags().BoolVar(&w.wide, "wide", false, "do not cut tables to the width of the terminal")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if debug != "" {
			f, err := w.Disk.Create(debug, os.O_APPEND)
			if err == nil {
				w.debug, err = traffic.NewExchanges(f, w.Now)
			}
			if err != nil {
				return usage("", "--debug: %s", err)
			}
		}
		return nil
	}
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start:"}, &cobra.Group{ID: groupRun, Title: "Run:"},
		&cobra.Group{ID: groupLook, Title: "Look:"}, &cobra.Group{ID: groupDecide, Title: "Decide:"},
		&cobra.Group{ID: groupTools, Title: "Tools:"},
	)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(helpOf(c), "%s", flagTrouble(c, err))
	})
	for _, c := range commands(w) {
		root.AddCommand(c)
	}
	addSamples(root)
	root.SetHelpCommand(helpCommand(w, root))
	root.AddCommand(&cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: "Exit codes:\n\n" + exitCodeHelp})
	return root
}

// flagTrouble is what is wrong with a flag, in the words of the command line.
func flagTrouble(c *cobra.Command, err error) string {
	var strange *pflag.NotExistError
	if errors.As(err, &strange) && strange.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near, ok := assay.Closest(strange.GetSpecifiedName(), names); ok {
			return err.Error() + ", did you mean --" + near + "?"
		}
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	want := map[string]string{
		"int": "a whole number", "uint": "a whole number", "uint64": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a length of time, such as 30s or 10m",
	}[bad.GetFlag().Value.Type()]
	if want == "" {
		return err.Error()
	}
	return fmt.Sprintf("--%s: want %s, got %q", bad.GetFlag().Name, want, bad.GetValue())
}

// helpOf is the command that explains another.
func helpOf(c *cobra.Command) string {
	return "assay help " + strings.TrimPrefix(c.CommandPath(), "assay ")
}

// helpCommand explains a command, and says so when there is none.
func helpCommand(w *World, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command; exit-codes are a topic too",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || c == root && len(args) > 0 {
				return unknownCommand(w, args[0])
			}
			if len(rest) > 0 {
				return usage(helpOf(c), "%s has no command %q", c.CommandPath(), rest[0])
			}
			return c.Help()
		},
	}
}

func unknownCommand(w *World, name string) error {
	var names []string
	for _, c := range commands(w) {
		names = append(names, c.Name())
	}
	hint := assay.DidYouMean(name, names)
	if hint == "" {
		hint = "assay help lists the commands"
	}
	return usage(hint, "no command is called %q", name)
}

// commands lists every command; adding one is one file and one line here.
func commands(w *World) []*cobra.Command {
	return []*cobra.Command{
		initCommand(w),
		checkCommand(w),
		planCommand(w),
		promptsCommand(w),
		keysCommand(w),
		modelsCommand(w),
		pricesCommand(w),
		schemaCommand(w),
		completionCommand(w),
		versionCommand(w),
		runCommand(w),
		compareCommand(w),
		resumeCommand(w),
		tuneCommand(w),
		notifyCommand(w),
		workerCommand(w),
		collectCommand(w),
		cancelCommand(w),
		retryCommand(w),
		redoCommand(w),
		adoptCommand(w),
		resolveCommand(w),
		runsCommand(w),
		jobsCommand(w),
		statusCommand(w),
		watchCommand(w),
		showCommand(w),
		resultsCommand(w),
		errorsCommand(w),
		spendCommand(w),
		sqlCommand(w),
		batchCommand(w),
		cleanCommand(w),
		gatewayCommand(w),
		dashboardCommand(w),
		simCommand(w),
		analyseCommand(w),
		exportCommand(w),
		reportCommand(w),
		bundleCommand(w),
		diffCommand(w),
		importCommand(w),
		rankCommand(w),
		agreeCommand(w),
		rateCommand(w),
		labelCommand(w),
		verdictsCommand(w),
	}
}

// args checks the number of arguments and names what is missing.
func args(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// upTo are arguments that may be left out.
func upTo(names ...string) cobra.PositionalArgs { return between(0, names...) }

// between wants the first so many of these arguments, and takes the others.
func between(least int, names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, got []string) error {
		if len(got) < least {
			return usage(helpOf(c), "%s needs %s", c.CommandPath(), strings.Join(names[len(got):least], " and "))
		}
		if len(got) > len(names) {
			return usage(helpOf(c), "%s does not take %q", c.CommandPath(), got[len(names)])
		}
		return nil
	}
}
