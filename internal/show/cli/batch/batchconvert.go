package batch

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/shell"
	"assay/internal/study/catalog"
)

type convertFlags struct {
	from, model string
	to, api     string
	models      []string
	maxTokens   int
	drop        bool
	files       outputFiles
}

func batchConvertCommand(w *shell.World) *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "convert FILE",
		Short: "Turn a batch file into another provider's",
		Long: "Writes the requests of a batch file in another provider's exact format, under the same ids: conversations, system texts " +
			"and parameters\n" +
			"move to the places they have there.\n\n" +
			"  assay batch convert batch.jsonl --to PROVIDER/MODEL --output other.jsonl\n" +
			"  assay batch convert batch.jsonl --to PROVIDER --model OLD=NEW --model OTHER=NEW --output other.jsonl\n\n" +
			"What has no place there is listed by line, and nothing is written; --drop leaves such parameters out and lists them " +
			"as warnings.\n" +
			"Pictures, tools and roles that are no text of a conversation cannot be converted. Nothing leaves this machine.",
		Args: shell.Args("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.convert(c.Context(), w, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.to, "to", "", "the provider that gets the requests: PROVIDER, or PROVIDER/MODEL for all of them")
	fl.StringArrayVar(&f.models, "model", nil, "what a model becomes, as FROM=TO (repeatable)")
	fl.StringVar(&f.from, "from", "", "the provider that the file was made for (default: recognised from the lines)")
	fl.StringVar(&f.model, "from-model", "", "the model it was made for, where the lines name none")
	shell.Choice(c, &f.api, "api", []string{"chat", "responses"}, "chat or responses, where the provider has both")
	fl.IntVar(&f.maxTokens, "max-tokens", 0, "most output tokens of requests that set no limit")
	fl.BoolVar(&f.drop, "drop", false, "leave parameters out that have no place there")
	f.files.register(c)
	return c
}

func (f convertFlags) convert(ctx context.Context, w *shell.World, name string) error {
	for _, need := range [][2]string{{f.to, "--to"}, {f.files.name, "--output"}} {
		if need[0] == "" {
			return shell.Usage("assay help batch convert", "assay batch convert needs %s", need[1])
		}
	}
	file, problems, err := checkFile(ctx, w, name, shell.ReachFlags{Wish: batchrun.Wish{Provider: f.from}, Model: f.model})
	if err != nil {
		return err
	}
	if file == nil {
		return problems.Errors()
	}
	c, err := f.conversion(w, &file.Batch.File)
	if err != nil {
		return err
	}
	in, err := w.Disk.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	found, err := c.Check(ctx, in)
	if err != nil {
		return err
	}
	for _, q := range found.Warnings() {
		w.Warn(q.String())
	}
	if bad := found.Errors(); len(bad) > 0 {
		return bad
	}
	again, err := w.Disk.Open(name)
	if err != nil {
		return err
	}
	defer again.Close()
	names, err := f.files.write(w, c.Vendor.Limits, func(out *batchfile.Writer) error { return c.Write(ctx, again, out) })
	if err != nil {
		return err
	}
	sendWith(w, c.Provider, c.AtJob, names)
	return nil
}

// conversion returns what the flags mean.
func (f convertFlags) conversion(w *shell.World, from *batchfile.File) (*batchfile.Conversion, error) {
	provider, model, _ := strings.Cut(f.to, "/")
	t, vendor, err := linesFor(w, provider)
	if err != nil {
		return nil, err
	}
	if f.maxTokens < 0 {
		return nil, shell.Usage("", "--max-tokens wants a number above 0")
	}
	c := &batchfile.Conversion{Catalog: catalog.Default(), From: from, Provider: t.Name, Vendor: vendor, API: f.api,
		Models: map[string]string{}, MaxTokens: f.maxTokens, Drop: f.drop, Today: catalog.DateOf(w.Now())}
	if model != "" {
		c.Models[""] = model
	}
	for _, m := range f.models {
		old, to, ok := strings.Cut(m, "=")
		if !ok || old == "" || to == "" {
			return nil, shell.Usage("such as --model gpt-4.1=MODEL", "--model %s: want FROM=TO", assay.Clean(m, 80))
		}
		c.Models[old] = to
	}
	return c, nil
}
