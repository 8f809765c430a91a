package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/find/results/document"
	"assay/internal/show/export/folder"
	"assay/internal/show/report/pages"
)

type reportFlags struct {
	home     homeFlags
	out      string
	format   string
	examples int
}

// maxExamples is as many as a reader of a report looks at.
const maxExamples = 200

func reportCommand(w *World) *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:     "report [RUN]",
		GroupID: groupDecide,
		Short:   "Write what a run found as one self-contained file: words, tables, plots, cost, how to make it again",
		Long: "Writes one file that works from disk, prints well, and asks nothing of the network. RUN is an id, the beginning of one, a study's name,\n" +
			"a bundle's file, or latest (the default): the newest open run, else the newest run, and a rehearsal only where there is no real run.\n" +
			"The same ledger always gives the same bytes. --out - writes to standard output.",
		Args: upTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error { return runReport(c.Context(), w, firstOf(args), f) },
	}
	f.home.register(c)
	c.Flags().StringVar(&f.out, "out", "", "the file to write (default: report.html or report.md)")
	c.Flags().StringVar(&f.format, "format", "html", "html or md")
	c.Flags().IntVar(&f.examples, "examples", 6, "how many conversations with their verdicts; 0: none")
	return c
}

func runReport(ctx context.Context, w *World, ref string, f reportFlags) error {
	write := pages.HTML
	switch f.format {
	case "html":
	case "md":
		write = pages.Markdown
	default:
		return usage("choose html or md", "--format: no format is called %q", f.format)
	}
	if f.examples < 0 || f.examples > maxExamples {
		return usage("", "--examples needs a number from 0 to %d", maxExamples)
	}
	h, run, err := f.home.look(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	out := cmp.Or(f.out, "report."+f.format)
	doc, err := document.Of(ctx, h.results(), run, document.Options{Version: version(), Out: out, Format: f.format, Examples: f.examples})
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
	fmt.Fprintf(w.Stderr, "%swrote %s\n", watermark(h), out)
	return nil
}
