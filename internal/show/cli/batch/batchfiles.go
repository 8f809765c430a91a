package batch

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/shell"
	"assay/internal/study/catalog"
)

// outputFiles are the batch files that a command writes: as many as the provider's limits demand.
type outputFiles struct {
	name  string
	force bool
}

func (f *outputFiles) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.name, "output", "o", "", "the file to write")
	c.Flags().BoolVar(&f.force, "force", false, "write over a file that is there")
}

// write fills the files and prints what is in them. They are given their names only when all of them are whole.
func (f outputFiles) write(w *shell.World, limits catalog.Limits, fill func(*batchfile.Writer) error) ([]string, error) {
	var files []*shell.Output
	defer func() {
		for _, f := range files { // those that did not become whole
			f.Discard()
		}
	}()
	out := &batchfile.Writer{Limits: limits, Create: func(n int) (io.WriteCloser, error) {
		name := numberedName(f.name, n)
		if !f.force && w.Disk.Exists(name) {
			return nil, shell.Usage("--force writes over it", "%s is there already", name)
		}
		file, err := shell.NewOutput(w, name)
		if err == nil {
			files = append(files, file)
		}
		return unclosed{file}, err
	}}
	if err := fill(out); err != nil {
		return nil, err
	}
	var names []string
	for i, file := range files {
		if err := file.Commit(); err != nil {
			return nil, err
		}
		names = append(names, numberedName(f.name, i+1))
		fmt.Fprintf(w.Stdout, "%s: %s, %s\n", names[i], assay.Count(int64(out.Files[i].Requests), "request"),
			assay.Count(out.Files[i].Bytes, "byte"))
	}
	return names, nil
}

// linesFor returns the provider that files are written for, and the vendor whose lines they have.
func linesFor(w *shell.World, provider string) (batchrun.Target, catalog.Vendor, error) {
	t, err := w.Workspace().Resolver().Target(batchrun.Wish{Provider: provider})
	if err != nil {
		return t, catalog.Vendor{}, err
	}
	vendor, _ := catalog.Default().Vendor(t.Kind)
	if !vendor.Batch { // its lines are those of a compatible server, and go out through live lanes
		vendor, _ = catalog.Default().Vendor(catalog.Compatible)
		t.Mode = assay.ModeBatch
	}
	return t, vendor, nil
}

// sendWith prints how files are sent; model: where the job names it, and not the lines.
func sendWith(w *shell.World, provider, model string, names []string) {
	if model != "" {
		model = " --model " + model
	}
	fmt.Fprintf(w.Stderr, "send with: assay batch submit --provider %s%s %s\n", provider, model, strings.Join(names, " "))
}

// unclosed is an output that is given its name only when all of them are whole.
type unclosed struct{ io.Writer }

// Close leaves it open.
func (unclosed) Close() error { return nil }

// numberedName returns the n-th file of an output: FILE.jsonl, FILE-2.jsonl, …
func numberedName(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
}
