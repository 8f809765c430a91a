package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"assay/report"
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
			"a bundle's file, or latest (the default). The same ledger always gives the same bytes. --out - writes to standard output.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runReport(c.Context(), w, firstOf(args), f) },
	}
	f.home.register(c)
	c.Flags().StringVar(&f.out, "out", "", "the file to write (default: report.html or report.md)")
	c.Flags().StringVar(&f.format, "format", "html", "html or md")
	c.Flags().IntVar(&f.examples, "examples", 6, "how many conversations with their verdicts; 0: none")
	return c
}

func runReport(ctx context.Context, w *World, ref string, f reportFlags) error {
	write := (*report.Document).WriteHTML
	switch f.format {
	case "html":
	case "md":
		write = (*report.Document).WriteMarkdown
	default:
		return usage("there is html, md", "--format: no format is called %q", f.format)
	}
	if f.examples < 0 || f.examples > maxExamples {
		return usage("", "--examples wants a number from 0 to %d", maxExamples)
	}
	h, run, err := f.home.look(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	doc, err := h.document(ctx, run, f)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := write(doc, &b); err != nil {
		return err
	}
	if f.out == "-" {
		_, err := w.Stdout.Write(b.Bytes())
		return err
	}
	if f.out == "" {
		f.out = "report." + f.format
	}
	if err := w.Disk.Replace(f.out, b.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	fmt.Fprintf(w.Stderr, "%swrote %s\n", watermark(h), f.out)
	return nil
}

// Replace writes a file as a whole or not at all, readable by its owner alone.
func (d Disk) Replace(name string, text []byte) error {
	full := d.Path(name)
	dir := filepath.Dir(full)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".assay-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), full)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
