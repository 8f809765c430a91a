package reading

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/find/results/document"
	"assay/internal/show/cli/shell"
	"assay/internal/show/export/folder"
	"assay/internal/show/report/pages"
)

type reportFlags struct {
	home     shell.HomeFlags
	out      string
	format   string
	examples int
}

// maxExamples is as many as a reader of a report looks at.
const maxExamples = 200

// Report makes the command `assay report`.
func Report(w *shell.World) *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:     "report [RUN]",
		GroupID: shell.GroupDecide,
		Short:   "Write what a run found as one self-contained file",
		Long: "Writes one file that works from disk, prints well, and asks nothing of the network. RUN is an id, the beginning of one, a " +
			"study's name,\n" +
			"a bundle's file, or latest (the default): the newest open run, else the newest run, and a rehearsal only where there is " +
			"no real run.\n" +
			"The same ledger always gives the same bytes. --out - writes to standard output.",
		Args: shell.UpTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.EqualFold(filepath.Ext(f.out), ".md") && !c.Flags().Changed("format") {
				f.format = "md"
			}
			return runReport(c.Context(), w, shell.FirstOf(args), f)
		},
	}
	f.home.Register(c)
	c.Flags().StringVar(&f.out, "out", "", "the file to write (default: report.html or report.md)")
	f.format = "html"
	shell.Choice(c, &f.format, "format", []string{"html", "md"}, "html or md")
	c.Flags().IntVar(&f.examples, "examples", 6, "how many conversations with their verdicts; 0: none")
	return c
}

func runReport(ctx context.Context, w *shell.World, ref string, f reportFlags) error {
	write := pages.HTML
	if f.format == "md" {
		write = pages.Markdown
	}
	if f.examples < 0 || f.examples > maxExamples {
		return shell.Usage("", "--examples needs a number from 0 to %d", maxExamples)
	}
	h, run, err := f.home.Look(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	out := cmp.Or(f.out, "report."+f.format)
	doc, err := document.Of(ctx, h.Results(), run,
		document.Options{Version: shell.Version(), Out: out, Format: f.format, Examples: f.examples})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := write(&b, doc); err != nil {
		return err
	}
	if f.out == "-" {
		_, err := w.Stdout.Write(b.Bytes())
		return err
	}
	if w.Disk.IsFolder(out) {
		return shell.Usage("--out "+filepath.Join(out, "report.html"), "%s is a folder", out)
	}
	file, err := folder.NewFile(w.Disk.Path(out), folder.Overwrite)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	defer file.Abort()
	if _, err := file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := file.Commit(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	fmt.Fprintf(w.Stderr, "%swrote %s\n", shell.Watermark(h), out)
	return nil
}
