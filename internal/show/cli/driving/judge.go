package driving

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/progress"
	"assay/internal/show/cli/shell"
	"assay/internal/study/plan"
)

type judgeFlags struct {
	home     shell.HomeFlags
	judges   []string
	trait    string
	order    string
	mode     assay.Mode
	yes      bool
	rehearse bool
	anew     bool
	json     bool
}

// bothOrders shows each text first once.
const bothOrders = "both"

// Judge makes the command `assay judge`.
func Judge(w *shell.World) *cobra.Command {
	var f judgeFlags
	c := &cobra.Command{
		Use:     "judge A B",
		GroupID: shell.GroupRun,
		Short:   "Ask judges which of two texts is better, without a study",
		Long: "Asks one judge or several which of two texts is better in one respect: live, and in both orders, because judges tend to " +
			"prefer what they are\n" +
			"shown first. A and B are files of text; one of them may be -, which is the standard input. The price is shown first, with a " +
			"question.\n\n" +
			"The comparison is a small study in the home, with a run like any other: the same command again pays nothing and prints what " +
			"was said, and a\n" +
			"further judge is asked alone. `assay show KEY` shows a request with all that was sent.",
		Args: shell.Args("A", "B"),
		RunE: func(c *cobra.Command, args []string) error { return f.compare(c.Context(), w, args[0], args[1]) },
	}
	f.home.Register(c)
	c.Flags().StringSliceVar(&f.judges, "judge", nil, "the model that judges, as PROVIDER/MODEL (repeatable)")
	c.Flags().StringVar(&f.trait, "trait", "overall_quality",
		"the respect in which they are compared; assay list prompts lists them")
	f.order, f.mode = bothOrders, assay.ModeLive
	shell.Choice(c, &f.order, "order", []string{bothOrders, "as-given"}, "both, or as-given: A is shown first, and the judge is asked once")
	shell.Choice(c, &f.mode, "mode", []assay.Mode{assay.ModeLive, assay.ModeBatch}, "live, or batch: cheaper, and hours later")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "send without asking")
	c.Flags().BoolVar(&f.rehearse, "rehearse", false, "ask the built-in simulator: no key, no cost, and no real verdict")
	c.Flags().BoolVar(&f.anew, "new", false, "ask everything again")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// side is one of the two texts.
type side struct {
	name string // as it was typed
	id   string // made from the text: the same text is the same item, whatever its file is called
	text string
}

// namedApart returns two texts under names that mean one thing each: no name is that of the other, and none is the word for a draw.
func namedApart(two [2]side) [2]side {
	for i := range two {
		if two[i].name == tied {
			two[i].name = "./" + tied
		}
	}
	if two[0].name == two[1].name {
		two[0].name, two[1].name = two[0].name+" (A)", two[1].name+" (B)"
	}
	return two
}

func (f judgeFlags) compare(ctx context.Context, w *shell.World, a, b string) error {
	if err := f.check(); err != nil {
		return err
	}
	if a == "-" && b == "-" {
		return shell.Usage("name a file for one of them", "both texts cannot come from the standard input")
	}
	var two [2]side
	for i, name := range []string{a, b} {
		var err error
		if two[i], err = readSide(w, name); err != nil {
			return err
		}
	}
	if two[0].text == two[1].text {
		return shell.Usage("", "%s and %s are the same text: there is nothing to compare", two[0].name, two[1].name)
	}
	two = namedApart(two)
	name, err := f.write(w, two)
	if err != nil {
		return err
	}
	want, err := f.planned(ctx, w, name)
	if err != nil {
		return err
	}
	f.home.Waits(w)
	h, err := f.home.OpenHome(ctx, w, f.rehearse)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Ready(ctx); err != nil {
		return err
	}
	run, paid, err := f.asked(ctx, w, h, want)
	if err != nil {
		return err
	}
	return f.print(ctx, w, h, run, two, paid)
}

// check wants flags that mean something.
func (f judgeFlags) check() error {
	var traits []string
	for _, t := range judge.Traits() {
		traits = append(traits, t.ID)
	}
	switch {
	case len(f.judges) == 0:
		return shell.Usage("--judge PROVIDER/MODEL; `assay list models` lists models", "judge needs --judge")
	case !slices.Contains(traits, f.trait):
		return shell.Usage(shell.NearOrAll(f.trait, traits)+"; a trait of your own needs a study: docs/compare-texts.md",
			"--trait: there is no trait %q", f.trait)
	}
	for i, name := range f.judges {
		if provider, model, ok := strings.Cut(name, "/"); !ok || provider == "" || model == "" {
			return shell.Usage("write PROVIDER/MODEL; `assay list models` lists models", "--judge: %q names no model of a provider", name)
		}
		if slices.Contains(f.judges[:i], name) {
			return shell.Usage("name it once", "--judge: %s is named twice", name)
		}
	}
	return nil
}

// maxCompared bounds a text that is compared, in bytes.
const maxCompared = 4 << 20

// readSide reads one of the texts.
func readSide(w *shell.World, name string) (side, error) {
	s := side{name: name}
	in := io.Reader(w.Stdin)
	if name == "-" {
		s.name = "standard input"
	} else {
		file, err := w.Disk.Open(name)
		if err != nil {
			why := err.Error()
			if errors.Is(err, os.ErrNotExist) {
				why = "no such file"
			}
			return s, shell.Unread(err, "A and B are files of text", "read %s: %s", name, why)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxCompared+1))
	switch {
	case err != nil:
		return s, shell.Usage("A and B are files of text", "read %s: %s", s.name, err)
	case len(text) > maxCompared:
		return s, shell.Usage("", "%s is larger than %d MB", s.name, maxCompared>>20)
	case !utf8.Valid(text):
		return s, shell.Usage("save it as UTF-8", "%s is not UTF-8 text", s.name)
	}
	s.text = strings.TrimRight(strings.TrimPrefix(string(text), "\ufeff"), "\r\n")
	if strings.TrimSpace(s.text) == "" {
		return s, shell.Usage("", "%s is empty: there is nothing to compare", s.name)
	}
	sum := sha256.Sum256([]byte(s.text))
	s.id = hex.EncodeToString(sum[:6])
	return s, nil
}

// write writes the study of a comparison into the home, and returns its name. Two texts and a trait have one folder, so that a run of
// them is found again. Files are named after what is in them: of two commands at once, neither reads what the other wrote.
func (f judgeFlags) write(w *shell.World, two [2]side) (string, error) {
	sorted := two
	if sorted[0].id > sorted[1].id {
		sorted[0], sorted[1] = sorted[1], sorted[0]
	}
	sum := sha256.Sum256([]byte(f.trait + "\x00" + sorted[0].text + "\x00" + sorted[1].text))
	id := hex.EncodeToString(sum[:5])
	dir := filepath.Join(f.home.Dir(w.Workspace()), "comparisons", id)
	var items bytes.Buffer
	for _, s := range sorted {
		line, err := json.Marshal(map[string]string{"id": s.id, "text": s.text})
		if err != nil {
			return "", err
		}
		items.Write(append(line, '\n'))
	}
	first, second, order := sorted[0].id, sorted[1].id, bothOrders
	if f.order != order {
		first, second, order = two[0].id, two[1].id, "as-listed"
	}
	pairs := "pairs-" + first + ".csv"
	var lanes, judges []string
	for _, model := range f.judges {
		lane := laneOf(model)
		lanes, judges = append(lanes, fmt.Sprintf("  %s: {model: %s}\n", quoted(lane), quoted(model))), append(judges, quoted(lane))
	}
	study := fmt.Sprintf("# Written by `assay judge`.\nstudy: compare-%s\ndescription: %s\nmode: %s\n"+
		"inputs: {texts: {file: texts.jsonl}}\nlanes:\n%sstages:\n"+
		"  - {name: better, compare: texts, trait: %s, rubric: better, judges: [%s], pairs: {file: %s, order: %s}}\n",
		id, quoted(two[0].name+" against "+two[1].name), f.mode, strings.Join(lanes, ""), f.trait, strings.Join(judges, ", "), pairs, order)
	sum = sha256.Sum256([]byte(study))
	name := filepath.Join(dir, "study-"+hex.EncodeToString(sum[:5])+".yaml")
	for _, file := range [][2]string{{filepath.Join(dir, "texts.jsonl"), items.String()},
		{filepath.Join(dir, pairs), "first,second\n" + first + "," + second + "\n"}, {name, study}} {
		if err := w.Disk.Replace(file[0], []byte(file[1])); err != nil {
			return "", fmt.Errorf("write the study of the comparison: %w", err)
		}
	}
	return name, nil
}

// laneOf returns the lane of a model, by a name that a lane may have. No two models have one lane.
func laneOf(model string) string {
	provider, rest, _ := strings.Cut(model, "/")
	plain := !strings.ContainsAny(provider, "-") && !strings.Contains(rest, "/")
	name := strings.Map(func(c rune) rune {
		if c < 128 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_') {
			return c
		}
		plain = plain && (c == '/' || c == '-')
		return '-'
	}, model)
	if plain {
		return name
	}
	sum := sha256.Sum256([]byte(model))
	return name + "-" + hex.EncodeToString(sum[:3])
}

// quoted returns a text as YAML takes any: in JSON's quotes.
func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		return `""` // a text can always be written
	}
	return string(out)
}

// planned reads and plans the study of a comparison. Its problems are those of the flags.
func (f judgeFlags) planned(ctx context.Context, w *shell.World, name string) (workspace.Wanted, error) {
	space := w.Workspace()
	want := workspace.Wanted{File: name, Study: workspace.StudyOptions{Running: true}, New: f.anew}
	d, problems, err := space.ReadStudy(ctx, name, want.Study)
	if err != nil || d == nil {
		return want, errors.Join(err, plain(problems))
	}
	p, more, err := workspace.MakePlan(ctx, d, plan.Options{}, filepath.Dir(name))
	if err != nil {
		if found, ok := errors.AsType[assay.Problems](err); ok {
			err = plain(found)
		}
		return want, err
	}
	for _, q := range append(problems.Warnings(), more.Warnings()...) {
		fmt.Fprintf(w.Stderr, "warning: %s\n", q.What)
	}
	want.Input, want.Plan = d, p
	for _, k := range space.Keys(d, p) {
		if what, _ := space.KeyProblem(k, name); what != "" && !f.rehearse {
			return want, shell.Usage("needed to ask a judge; --rehearse tries the command without", "%s", what)
		}
	}
	for _, q := range space.Missing(d, p, name, workspace.Rehearsal(f.rehearse)).Errors() {
		return want, shell.Usage("", "%s", q.What)
	}
	return want, nil
}

// plain are problems of a study that the user did not write: without their places.
func plain(problems assay.Problems) error {
	var out assay.Problems
	for _, q := range problems.Errors() {
		out = append(out, assay.Problem{What: q.What, Hint: q.Hint})
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// asked returns the run of a comparison, done. It reports what was paid for it now.
func (f judgeFlags) asked(ctx context.Context, w *shell.World, h *shell.Home,
	want workspace.Wanted) (run store.Run, paid payment, err error) {
	goes := runFlags{yes: f.yes, rehearse: f.rehearse}
	run, err = h.Run(ctx, want, workspace.Doorkeeper{
		Waiting: func() { fmt.Fprintln(w.Stderr, workspace.ErrBeginning) },
		Resumed: func(now workspace.Current) error {
			_, err := TryAgain(ctx, w, h, now.Run)
			return err
		},
		Confirm: func(donors []store.Run, _ *workspace.Edit) error {
			over, err := h.TakesOver(ctx, want, donors)
			if err != nil {
				return err
			}
			return confirm(w, want, question{pay: OverWords(over), parts: over.Parts}, goes)
		},
		Extend: func(_ workspace.Current, over workspace.TakeOver) error {
			return confirm(w, want, question{grows: true, pay: LeftToAsk(over), parts: over.Parts}, goes)
		},
	})
	if err != nil {
		return run, paid, err
	}
	if run, err = h.Ledger.Reader.Run(ctx, run.No); err != nil {
		return run, paid, err
	}
	if paid.before, err = runs.Spent(ctx, h.Results(), run); err != nil || run.State == store.RunClosed {
		paid.now = paid.before
		return run, paid, err
	}
	e, err := h.Engine(ctx, run, want.Input.Study)
	if err != nil {
		return run, paid, err
	}
	defer e.Close()
	progress, err := progress.NewProgress(ctx, w, h, run)
	if err != nil {
		return run, paid, err
	}
	st, err := h.Drive(ctx, run, e,
		workspace.Drive{Moved: progress.Show, Held: progress.Held, Gone: w.TakenOver, Away: progress.Away, Stopping: progress.Stopping})
	err = errors.Join(err, progress.Close())
	if err != nil || ctx.Err() != nil {
		fmt.Fprintf(w.Stderr, "nothing is lost; the same command, or `assay resume %s`, goes on\n", h.Named(run))
		return run, paid, errors.Join(err, ctx.Err())
	}
	c, err := h.Conclude(ctx, run, st)
	if err != nil {
		return run, paid, err
	}
	if paid.now, err = runs.Spent(ctx, h.Results(), c.Run); err != nil {
		return c.Run, paid, err
	}
	if c.Run.State != store.RunClosed || c.Cause == runs.CauseAudit {
		return c.Run, paid, resultOf(h, c)
	}
	return c.Run, paid, nil
}
