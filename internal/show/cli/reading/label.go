package reading

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/results/labels"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type labelFlags struct {
	home  shell.HomeFlags
	as    string
	count int
	want  string // half the width of an interval: of a rate in points
	apart string // a difference that is to be shown, likewise
	seed  uint64

	choose     string
	raters     int
	adjudicate bool
}

// The ways to choose pairs.
const (
	chooseDrawn     = "drawn"
	chooseBalanced  = "balanced"
	chooseUncertain = "uncertain"
)

// Label makes the command `assay label`.
func Label(w *shell.World) *cobra.Command {
	var f labelFlags
	c := &cobra.Command{
		Use:     "label RUN STAGE",
		GroupID: shell.GroupDecide,
		Short:   "Judge answers yourself, one after the other, without seeing whose they are",
		Long: "Shows one answer after the other, or two side by side, and keeps what you say as the verdict of human:NAME. No lane and " +
			"no model is\n" +
			"shown. Answers come from items that are drawn at random, the same for everybody, with all lanes of an item, or all pairs\n" +
			"of them: `assay analyse` corrects the judge's numbers by them at 20, 30 and 60 labelled items. Of pairs that no model\n" +
			"judges, that are bought in rounds or of which not all meet, and with --choose balanced, the least compared lanes come\n" +
			"first; with --choose uncertain, those of which it is not clear yet which is better. Which one is shown first is\n" +
			"balanced. With --raters N each answer is asked of N people; their mean is the label.\n" +
			"--adjudicate shows the answers on which others differ, and what you say of them replaces their labels. Every label is " +
			"written at once: quit (q) when\n" +
			"you like, and go on later; u takes the last one back, s puts one aside, n says that you cannot decide,\n" +
			"? shows again what the judge is told. What an item expects is shown where the judge is told it, too.",
		Args: shell.Args("RUN", "STAGE"),
		RunE: func(c *cobra.Command, args []string) error { return runLabel(c.Context(), w, args[0], args[1], f) },
	}
	f.home.Register(c)
	c.Flags().StringVar(&f.as, "as", "", "your name (default: your user name)")
	c.Flags().IntVar(&f.count, "count", 0, "stop after N labels")
	c.Flags().StringVar(&f.want, "for", "", "label until rates are known within so many points")
	c.Flags().StringVar(&f.apart, "apart", "", "label until lanes that differ by so many points can be told apart")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "another seed, another order")
	f.choose = chooseDrawn
	shell.Choice(c, &f.choose, "choose", []string{chooseDrawn, chooseBalanced, chooseUncertain},
		"of pairs: drawn (at random), balanced (least compared lanes first) or uncertain (not clear yet)")
	c.Flags().IntVar(&f.raters, "raters", 0, "so many people are asked about each single answer")
	c.Flags().BoolVar(&f.adjudicate, "adjudicate", false, "decide where other people differ")
	return c
}

func runLabel(ctx context.Context, w *shell.World, ref, stage string, f labelFlags) error {
	if f.as == "" {
		f.as = w.Workspace().User()
	}
	if f.as == "" {
		return shell.Usage("--as NAME, of letters, digits, . _ and -", "the name of the person who labels is missing")
	}
	person, err := labels.Person(f.as)
	if err != nil {
		return err
	}
	h, run, err := f.home.FindRun(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	panel, err := labels.Open(ctx, h.Results(), run, stage)
	if err != nil {
		return shell.Usage("assay status "+run.ID+" lists the stages", "%s", err)
	}
	q := &labelling{world: w, home: h, run: run, stage: stage, panel: panel, person: person,
		keys: w.Terminal.NewKeyboard(w.Stdin, w.Stdout), aside: map[assay.Key]bool{}, left: f.count}
	if panel.Choices() == nil {
		return shell.Usage("assay import --format labels reads labels from a file",
			"the rubric of stage %s has no labels or whole numbers to choose from", stage)
	}
	if err := q.byDoubt(ctx, h, run, stage, f.choose); err != nil {
		return err
	}
	if err := q.several(ctx, f); err != nil {
		return err
	}
	if f.want != "" || f.apart != "" {
		if err := q.plan(ctx, f); err != nil {
			return err
		}
	}
	err = q.work(ctx, f.seed)
	if err == nil && q.keys.Silent() {
		return shell.Usage("run it in a terminal, give keys on standard input, or read labels from a file: assay import --format labels",
			"standard input ended before the first key")
	}
	fmt.Fprintf(w.Stdout, "%s by %s in this session\n", assay.Count(len(q.given), "label"), person)
	if err != nil {
		return err
	}
	votes, err := labels.VotesOf(ctx, h.Results(), run, panel, stage, person)
	if err == nil {
		votes.Planned, err = panel.Count(ctx)
	}
	if err == nil {
		fmt.Fprintln(w.Stdout, term.Wrapped(strings.Join(votes.Words(), "; "), w.OutWidth(), ""))
	}
	if err == nil && votes.Open > 0 {
		fmt.Fprintf(w.Stdout, "who has not labelled them decides %s on which people differ:\n", assay.Count(votes.Open, "answer"))
		fmt.Fprintf(w.Stdout, "  assay label %s %s --adjudicate --as NAME%s\n", run.ID, results.ShellWord(stage), h.Typed)
	}
	return err
}

// several has several people asked about each answer, or the answers come on which they differ, if that was asked for.
func (q *labelling) several(ctx context.Context, f labelFlags) error {
	switch {
	case f.raters < 0:
		return shell.Usage("", "--raters %d: want 1 or more", f.raters)
	case (f.raters > 0 || f.adjudicate) && q.panel.Pairs():
		return shell.Usage("", "--raters and --adjudicate are for single answers: stage %s compares", q.stage)
	case f.adjudicate && (f.raters > 0 || f.want+f.apart != ""):
		return shell.Usage("", "--adjudicate asks about what has its labels: leave out --raters, --for and --apart")
	}
	if q.adjudicate = f.adjudicate; f.raters == 0 {
		return nil
	}
	if _, err := q.panel.People.Next(ctx, analysis.Queue{Person: q.person, Seed: f.seed}); err != nil {
		return err
	}
	d, err := q.panel.People.Draw(ctx)
	if err != nil || d == nil {
		return err
	}
	return q.panel.People.AskRaters(ctx, d, f.raters)
}

// byDoubt has the pairs of lanes come first of which it is not clear yet which is better, if that was asked for. Why a
// pair was chosen is kept with its label.
func (q *labelling) byDoubt(ctx context.Context, h *shell.Home, run store.Run, stage, choose string) error {
	switch {
	case choose == chooseDrawn:
		return nil
	case choose == chooseBalanced:
		q.balanced = true
		return nil
	case !q.panel.Pairs():
		return shell.Usage("", "--choose uncertain is for pairs: stage %s judges single answers", stage)
	}
	q.clear = func() (func(group string, pairs int) bool, error) {
		return labels.Clear(ctx, h.Results(), run, stage)
	}
	return nil
}

// labelling is one session of one person.
type labelling struct {
	world  *shell.World
	home   *shell.Home
	run    store.Run
	stage  string
	panel  *labels.Panel
	person string
	keys   *term.Keyboard
	aside  map[assay.Key]bool // put aside, or nothing to show
	given  []analysis.Task
	told   string // what the judge is told, as it was shown last
	left   int    // labels until it stops; 0: no end
	clear  func() (func(group string, pairs int) bool, error)

	adjudicate bool // answers on which others differ
	balanced   bool // of pairs, those of lanes that were compared least
}

// queueLength is how many tasks are chosen at a time: what others label meanwhile changes what is due.
const queueLength = 20

func (q *labelling) work(ctx context.Context, seed uint64) error {
	for {
		queue := analysis.Queue{Person: q.person, Seed: seed, N: queueLength, Balanced: q.balanced,
			Skip: func(k assay.Key) bool { return q.aside[k] }}
		if q.clear != nil {
			var err error
			if queue.Clear, err = q.clear(); err != nil {
				return err
			}
		}
		next := q.panel.People.Next
		if q.adjudicate {
			next = q.panel.People.Differing
		}
		tasks, err := next(ctx, queue)
		if err != nil {
			return err
		}
		if len(tasks) == 0 {
			fmt.Fprintln(q.world.Stderr, "nothing is left to label")
			return nil
		}
		for len(tasks) > 0 {
			next, err := q.one(ctx, tasks[0])
			switch {
			case err != nil:
				return err
			case next == nextQuit:
				return nil
			case next == nextUndone:
				last := q.given[len(q.given)-1]
				q.given = q.given[:len(q.given)-1]
				tasks = slices.Insert(tasks, 0, last)
			default:
				tasks = tasks[1:]
			}
		}
	}
}

// next is the state after a key was typed.
type next int

const (
	nextTask next = iota
	nextUndone
	nextQuit
)

// one shows a task and follows keys until it is done with.
func (q *labelling) one(ctx context.Context, t analysis.Task) (next, error) {
	if q.left > 0 && len(q.given) >= q.left {
		return nextQuit, nil
	}
	if err := q.reopen(ctx); err != nil {
		return 0, err
	}
	sheet, ok, err := q.panel.Sheet(ctx, t)
	if err != nil {
		return 0, err
	}
	if !ok {
		q.aside[t.ID] = true
		return nextTask, nil
	}
	shown, err := q.shown(ctx, t)
	if err != nil {
		return 0, err
	}
	if prompt := sheet.Prompt(); prompt != q.told { // once, and where it has changed; else on demand
		q.told = prompt
		printTold(q.world, sheet)
	}
	printSheet(q.world, sheet, shown)
	for {
		fmt.Fprint(q.world.Stdout, q.prompt())
		key, err := q.keys.Read()
		if err != nil {
			return 0, err
		}
		switch key {
		case "", "q":
			return nextQuit, nil
		case "?":
			printTold(q.world, sheet)
			continue
		case "s":
			q.aside[t.ID] = true
			return nextTask, nil
		case "u":
			if done, err := q.undo(ctx); done || err != nil {
				return nextUndone, err
			}
			continue
		}
		if !slices.ContainsFunc(q.panel.Choices(), func(c labels.Choice) bool { return c.Key == key }) {
			fmt.Fprintf(q.world.Stdout, "no key %q\n", key)
			continue
		}
		if err := q.panel.Say(ctx, t, q.person, key); err != nil {
			return nextTask, err
		}
		q.given = append(q.given, t)
		return nextTask, q.progress(ctx)
	}
}

// progressEvery is after how many labels of a session it is told how far people are.
const progressEvery = 10

// progress tells now and then how far people are, and what the next labels will show.
func (q *labelling) progress(ctx context.Context) error {
	if len(q.given)%progressEvery != 0 || len(q.given) == q.left {
		return nil
	}
	votes, err := labels.VotesOf(ctx, q.home.Results(), q.run, q.panel, q.stage, q.person)
	if err == nil {
		fmt.Fprintln(q.world.Stdout, term.Wrapped(strings.Join(votes.Words(), "; "), q.world.OutWidth(), ""))
	}
	return err
}

// reopen goes on with the study as it is now, where it was changed meanwhile.
func (q *labelling) reopen(ctx context.Context) error {
	run, err := q.home.Ledger.Reader.Run(ctx, q.run.No)
	if err != nil || run.Digest == q.run.Digest {
		return err
	}
	panel, err := labels.Open(ctx, q.home.Results(), run, q.stage)
	if err == nil {
		q.run, q.panel = run, panel
	}
	return err
}

func (q *labelling) prompt() string {
	var b strings.Builder
	for _, c := range q.panel.Choices() {
		b.WriteString("[" + c.Key + "]")
		if c.Text != "" {
			b.WriteString(" " + c.Text)
		}
		b.WriteString("  ")
	}
	b.WriteString("[?] what the judge is told  [s] put aside  [u] undo  [q] quit: ")
	return term.Wrapped(b.String(), q.world.OutWidth(), "")
}

// undo takes the last label of this session back.
func (q *labelling) undo(ctx context.Context) (bool, error) {
	if len(q.given) == 0 {
		fmt.Fprintln(q.world.Stdout, "there is nothing to take back in this session")
		return false, nil
	}
	return true, q.panel.Withdraw(ctx, q.given[len(q.given)-1], q.person)
}
