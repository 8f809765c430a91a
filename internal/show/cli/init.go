package cli

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/examples"
	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/show/cli/shell"
)

func initCommand(w *shell.World) *cobra.Command {
	var name string
	var t tableFlags
	c := &cobra.Command{
		Use:     "init [DIR]",
		GroupID: shell.GroupStart,
		Short:   "Write a study: an example, or one made from a table or a folder of texts",
		Long: "Writes an example study into DIR (this folder when omitted). Files that exist are never overwritten.\n\n" +
			"--example is one of:\n" + exampleList() +
			"\n--from makes a study from a file:\n" +
			"  a table of questions (CSV, TSV, JSONL, JSON, parquet, or text with one a line): models answer them. A judge holds the\n" +
			"  answers against the column of right answers; without one it says which model answers better\n" +
			"  a folder of texts: a judge compares them\n" +
			"  a configuration of another program: the lanes of Apex Audition (YAML), or a judge of SpecEval (YAML). What could not be\n" +
			"  carried over stands in the study as a comment, lanes that no provider takes with the reason\n" +
			"Columns that are not named are guessed; on a terminal you are asked.\n",
		Args: shell.UpTo("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			switch {
			case t.from != "" && c.Flags().Changed("example"):
				return shell.Usage("one of the two", "--example and --from both name what to write")
			case t.from == "" && t.named():
				return shell.Usage("assay init DIR --from questions.csv", "--question, --answer, --models and --judge belong to a table")
			case t.from == "":
				return writeExample(w, dir, name)
			case isTable(w, t.from):
				return writeFromTable(c.Context(), w, dir, t)
			}
			return writeConverted(c.Context(), w, dir, t.from)
		},
	}
	name = examples.All()[0].Name
	shell.Choice(c, &name, "example", named(examples.All(), func(e examples.Example) string { return e.Name }), "which example")
	t.register(c)
	return c
}

func exampleList() string {
	var b strings.Builder
	for _, e := range examples.All() {
		fmt.Fprintf(&b, "  %-16s %s\n", e.Name, e.What)
	}
	return b.String()
}

func writeExample(w *shell.World, dir, name string) error {
	all := examples.All()
	return copyExample(w, dir, all[slices.IndexFunc(all, func(e examples.Example) bool { return e.Name == name })].FS)
}

func copyExample(w *shell.World, dir string, from fs.FS) error {
	var files []string
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read the example: %w", err)
	}
	if w.Disk.Exists(dir) && !w.Disk.IsFolder(dir) {
		return shell.Usage("name a folder; it is made where it is missing", "%s is a file", dir)
	}
	for _, f := range files {
		if target := filepath.Join(dir, f); w.Disk.Exists(target) {
			return shell.Usage("choose another folder", "%s exists already; nothing was written", target)
		}
	}
	for _, f := range files {
		text, err := fs.ReadFile(from, f)
		if err != nil {
			return fmt.Errorf("read the example: %w", err)
		}
		if err := w.Disk.WriteNew(filepath.Join(dir, f), text); err != nil {
			return fmt.Errorf("write the example: %w", err)
		}
	}
	study := filepath.Join(dir, "study.yaml")
	return w.Say(fmt.Sprintf("wrote %s and %s\n%s", study, assay.Count(len(files)-1, "more file"), nextSteps(study)))
}

// called returns how a study that was written is typed: its folder names it.
func called(study string) string {
	if dir, name := filepath.Split(study); dir != "" && name == "study.yaml" {
		study = filepath.Clean(dir)
	}
	return results.ShellWord(study)
}

// nextSteps returns what to type when a study was written.
func nextSteps(study string) string {
	study = called(study)
	return fmt.Sprintf("\nNext:\n  assay run %s --rehearse   plays it against the simulator, free of charge\n"+
		"  assay plan %s             shows what would be sent, and its price\n", study, study)
}
