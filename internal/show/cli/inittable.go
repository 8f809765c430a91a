package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/examples"
	"assay/internal/assay"
	"assay/internal/show/cli/shell"
	"assay/internal/study/catalog"
	"assay/internal/study/convert"
	"assay/internal/study/inputs"
)

// tableFlags name the parts of a table that a study is made from.
type tableFlags struct {
	from             string
	question, answer string // columns
	models           []string
	judge            string
	sample           int // rows that are drawn; 0: all
}

func (t *tableFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&t.from, "from", "", "make the study from a table, a folder of texts or another program's configuration")
	c.Flags().StringVar(&t.question, "question", "", "the column that holds the questions")
	c.Flags().StringVar(&t.answer, "answer", "", "the column that holds the right answers; 'none': there is none")
	c.Flags().StringSliceVar(&t.models, "models", nil, "the models to ask, as PROVIDER/MODEL (default: two whose keys are set)")
	c.Flags().StringVar(&t.judge, "judge", "", "the model that judges (default: "+examples.Judge+" if its key is set)")
	c.Flags().IntVar(&t.sample, "sample", usualSample, "ask so many rows of a larger table, drawn at random; 0: all")
	for _, word := range []string{"csv", "jsonl", "table"} { // what people type for it
		c.Flags().StringVar(&t.from, word, "", "")
		_ = c.Flags().MarkHidden(word) // it is there
	}
}

// usualSample is how many rows are asked of a large table: enough to tell 10 points apart, for a few dollars.
const usualSample = 500

// named reports whether anything is said about a table.
func (t *tableFlags) named() bool {
	return t.question != "" || t.answer != "" || t.judge != "" || len(t.models) > 0
}

// isTable reports whether a study is made from the rows of a file or the files of a folder, and not from a configuration.
func isTable(w *shell.World, from string) bool {
	suffix := strings.ToLower(filepath.Ext(from))
	return w.Disk.IsFolder(from) || suffix != ".yaml" && suffix != ".yml"
}

// firstRows is how many rows columns are guessed from.
const firstRows = 100

// writeFromTable writes the smallest study of a table or a folder of texts.
func writeFromTable(ctx context.Context, w *shell.World, dir string, f tableFlags) error {
	study := filepath.Join(dir, "study.yaml")
	if err := maybeWritten(w, dir, study); err != nil {
		return err
	}
	if f.sample < 0 {
		return shell.Usage("0 asks all rows", "--sample: want 0 or more, got %d", f.sample)
	}
	t, err := readTable(ctx, w, dir, f.from)
	if err != nil {
		return err
	}
	if err := f.choose(w, t); err != nil {
		return err
	}
	d, err := t.Draft(convert.World{Catalog: catalog.Default(), Today: catalog.DateOf(w.Now())})
	if err != nil {
		return shell.Usage("assay list models lists those that are known", "no study was written: %s", err)
	}
	if err := w.Disk.WriteNew(study, d.YAML); err != nil {
		return fmt.Errorf("write the study: %w", err)
	}
	if len(d.Left) > 0 {
		return w.Say(fmt.Sprintf("wrote %s: %s\nIt lacks %s.\n\nNext: correct the model in it, or say `unpriced: allow`, then type:\n"+
			"  assay check %s\n", study, aboutTable(t), strings.Join(d.Left, "; "), called(study)))
	}
	return w.Say(fmt.Sprintf("wrote %s: %s\n%s", study, aboutTable(t), nextSteps(study)))
}

// maybeWritten refuses a folder that is none, and a study that is there.
func maybeWritten(w *shell.World, dir, study string) error {
	switch {
	case w.Disk.Exists(dir) && !w.Disk.IsFolder(dir):
		return shell.Usage("name a folder; it is made where it is missing", "%s is a file", dir)
	case w.Disk.Exists(study):
		return shell.Usage("choose another folder", "%s exists already; nothing was written", study)
	}
	return nil
}

// readTable reads the first rows of a table, and counts all.
func readTable(ctx context.Context, w *shell.World, dir, from string) (*convert.Table, error) {
	if _, err := w.Disk.Stat(from); err != nil {
		return nil, shell.Unread(err, "", "there is no %s here", from)
	}
	pinned, err := w.Disk.Pinned(from)
	if err != nil {
		return nil, err
	}
	t := &convert.Table{Texts: w.Disk.IsFolder(from), Study: strings.TrimSuffix(filepath.Base(from), filepath.Ext(from))}
	if t.Texts && !strings.HasSuffix(from, "/") {
		from, pinned = from+"/", pinned+"/"
	}
	if dir != "." {
		t.Study = filepath.Base(w.Disk.Path(dir))
	}
	t.File = fromStudy(w, dir, pinned)
	source := inputs.Open(w.Disk.Folder("."), map[string]inputs.Spec{"rows": {File: from}})
	columns, _, problems := source.Fields("rows")
	if len(problems) > 0 {
		return nil, problems
	}
	t.Columns = columns
	for it, err := range source.Items(ctx, "rows") {
		if err != nil {
			return nil, err
		}
		if t.Rows++; t.Rows <= firstRows {
			t.First = append(t.First, it)
		}
	}
	switch {
	case t.Rows == 0 && t.Texts:
		return nil, shell.Usage("name a file in it: a table, or the YAML of another program", "folder %s has no texts", from)
	case t.Rows == 0:
		return nil, shell.Usage("", "%s has no rows", from)
	}
	return t, nil
}

// choose fills what a study needs to know: from flags, on a terminal from answers, else by guessing.
func (f *tableFlags) choose(w *shell.World, t *convert.Table) error {
	if t.Texts {
		t.Models, t.Judge = f.models, cmp.Or(f.judge, judgeAtHand(w, nil))
		return nil
	}
	ask := asking(w)
	if w.Terminal.In && (f.question == "" || f.answer == "") {
		fmt.Fprintf(w.Stderr, "%s has %s in the columns %s. Press Enter to take what stands in brackets.\n", f.from,
			assay.Count(t.Rows, "row"), assay.Clean(strings.Join(t.Columns, ", "), maxColumns))
	}
	t.Use = t.Guess()
	for _, c := range []struct {
		given, what string
		use         *string
	}{
		{f.question, "Which column holds the questions?", &t.Use.Question},
		{f.answer, "Which column holds the right answers?", &t.Use.Answer},
	} {
		if err := f.column(t, c.use, c.given, c.what, ask); err != nil {
			return err
		}
	}
	if t.Use.Question == "" {
		return shell.Usage("--question names it", "%s has no column of texts", f.from)
	}
	if f.sample > 0 && t.Rows > f.sample {
		t.Sample = f.sample
	}
	if t.Models = f.models; len(f.models) == 0 {
		named, err := ask("Which models?", strings.Join(modelsAtHand(w), ", "))
		if err != nil {
			return err
		}
		t.Models = strings.FieldsFunc(named, func(c rune) bool { return c == ',' || c == ' ' })
	}
	t.Judge = cmp.Or(f.judge, judgeAtHand(w, t.Models))
	return nil
}

// maxColumns is how long the list of a table's columns gets.
const maxColumns = 500

// asker returns what is answered to a question, the guess where nothing is.
type asker func(what, guess string) (string, error)

// asking returns what asks at the terminal; without one the guess is the answer.
func asking(w *shell.World) asker {
	lines := bufio.NewReader(w.Typed)
	return func(what, guess string) (string, error) {
		if !w.Terminal.In {
			return guess, nil
		}
		fmt.Fprintf(w.Stderr, "%s [%s]: ", what, cmp.Or(guess, none))
		line, err := lines.ReadString('\n')
		switch line = strings.TrimSpace(line); {
		case err != nil && !errors.Is(err, io.EOF):
			return "", err
		case line == "":
			return guess, nil
		}
		return line, nil
	}
}

// column fills in a column of a table: what a flag names, else what is answered. What is no column is asked for once more.
func (f *tableFlags) column(t *convert.Table, use *string, flag, what string, ask asker) error {
	name := flag
	if flag == "" {
		var err error
		if name, err = ask(what, *use); err == nil && name != none && name != "" && !slices.Contains(t.Columns, name) {
			name, err = ask(fmt.Sprintf("There is no column %q (%s).\n%s", name, assay.Choices(name, t.Columns), what), *use)
		}
		if err != nil {
			return err
		}
	}
	if name == none {
		name = ""
	}
	if name != "" && !slices.Contains(t.Columns, name) {
		return shell.Usage(assay.Choices(name, t.Columns), "%s has no column %q", f.from, name)
	}
	*use = name
	return nil
}

// none is the answer where there is no such column.
const none = "none"

// modelsAtHand returns two models to begin with, those whose keys are set before others.
func modelsAtHand(w *shell.World) []string {
	models := examples.Models()
	if keyed := slices.DeleteFunc(slices.Clone(models), func(id string) bool { return !hasKey(w, id) }); len(keyed) > 0 {
		models = keyed
	}
	return models[:min(2, len(models))]
}

// judgeAtHand returns a model that can judge: one of a maker whose models are not judged, as judges may favour their own, and of those
// whose keys are set. Where there is none it is the usual one, unless only others have keys.
func judgeAtHand(w *shell.World, judged []string) string {
	all := slices.Concat([]string{examples.Judge}, examples.Models())
	keyed := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return !hasKey(w, id) })
	if len(keyed) > 0 {
		all = keyed
	}
	if i := slices.IndexFunc(all, func(id string) bool { return kin(id, judged) == "" }); i >= 0 {
		return all[i]
	}
	return all[0]
}

// kin returns the first of some models that is of the maker of a model; empty: none is.
func kin(id string, models []string) string {
	maker := func(id string) string {
		vendor, model, _ := strings.Cut(id, "/")
		return catalog.Default().Maker(vendor, model)
	}
	i := slices.IndexFunc(models, func(m string) bool { return maker(m) == maker(id) })
	if i < 0 {
		return ""
	}
	return models[i]
}

// hasKey reports whether a key is set for the provider of a model.
func hasKey(w *shell.World, id string) bool {
	provider, _, _ := strings.Cut(id, "/")
	v, ok := catalog.Default().Vendor(provider)
	return ok && slices.ContainsFunc(v.KeyEnv, w.IsSet)
}

// aboutTable returns what a study does, in a line.
func aboutTable(t *convert.Table) string {
	if t.Texts {
		return fmt.Sprintf("%s, compared by the judge %s.", assay.Count(t.Rows, "text"), t.Judge)
	}
	text := assay.Count(t.Rows, "question")
	if t.Sample > 0 {
		text = fmt.Sprintf("%s of %s, drawn at random", assay.Thousands(t.Sample), text)
	}
	text += fmt.Sprintf(" (column %q) for %s", t.Use.Question, strings.Join(t.Models, ", "))
	switch {
	case t.Use.Answer != "":
		text += fmt.Sprintf(", held against column %q by the judge %s.", t.Use.Answer, t.Judge)
	case len(t.Models) > 1:
		text += fmt.Sprintf(", compared by the judge %s: no column holds right answers (--answer names one).", t.Judge)
	default:
		text += fmt.Sprintf(", rated from 1 to 5 by the judge %s.", t.Judge)
	}
	if own := kin(t.Judge, t.Models); own != "" {
		text += fmt.Sprintf(" The judge has the maker of %s, which it may favour: --judge takes a model of another.", own)
	}
	if strings.HasSuffix(t.Use.Question, "?") {
		text += " The first line was taken for the names of the columns: put names above it if it is a question."
	}
	if t.Use.ID == "" {
		return text + " No column is an id: rows are known by their numbers, and answers by the wording where rows move."
	}
	return text + fmt.Sprintf(" Rows are known by column %q.", t.Use.ID)
}
