package batch

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/batchfile"
	"assay/internal/show/cli/shell"
	"assay/internal/study/catalog"
	"assay/internal/study/inputs"
	"assay/internal/study/prompt"
)

type writeFlags struct {
	provider, model string
	input           string
	prompt, system  string
	id, text        string
	limit           int
	files           outputFiles
	lane            laneFlags
}

func batchWriteCommand(w *shell.World) *cobra.Command {
	var f writeFlags
	c := &cobra.Command{
		Use:   "write",
		Short: "Make a provider's batch file from questions",
		Long: "Makes a batch file in the provider's exact format from a file of questions: lines of text, CSV, TSV, JSONL, JSON " +
			"or parquet.\n" +
			"--prompt names a template whose {{ names }} are columns; without one, the column text, question or prompt is " +
			"asked as it is.\n" +
			"Parameters that the model would refuse are listed before anything is written. Limits cut the output: FILE.jsonl, " +
			"FILE-2.jsonl, …",
		Args: shell.Args(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := shell.SomeItems(c, f.limit); err != nil {
				return err
			}
			return writeBatch(c.Context(), w, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.provider, "provider", "", "the provider")
	fl.StringVar(&f.model, "model", "", "the model, as the provider spells it; PROVIDER/MODEL names both")
	fl.StringVar(&f.input, "input", "", "the file of questions")
	fl.StringVar(&f.prompt, "prompt", "", "a file with the prompt's template")
	fl.StringVar(&f.system, "system", "", "the system text")
	fl.StringVar(&f.id, "id", "", "the column of ids (default: id, else the number of the row)")
	fl.StringVar(&f.text, "text", "", "the column that is the question")
	fl.IntVar(&f.limit, "limit", 0, "only the first N questions")
	f.files.register(c)
	f.lane.register(c)
	return c
}

// laneFlags are the parameters of a lane.
type laneFlags struct {
	api, effort, thinking, tier, schema string
	temperature, topP                   float64
	topK, maxTokens                     int
	seed                                int64
	stop, extra                         []string

	set func(name string) bool
}

func (f *laneFlags) register(c *cobra.Command) {
	fl := c.Flags()
	shell.Choice(c, &f.api, "api", []string{"chat", "responses"}, "chat or responses, where the provider has both")
	fl.Float64Var(&f.temperature, "temperature", 0, "sampling temperature")
	fl.Float64Var(&f.topP, "top-p", 0, "nucleus sampling")
	fl.IntVar(&f.topK, "top-k", 0, "sampling among the k likeliest")
	fl.IntVar(&f.maxTokens, "max-tokens", 0, "most output tokens, thinking included")
	fl.StringVar(&f.effort, "effort", "", "reasoning effort, in the provider's word")
	fl.StringVar(&f.thinking, "thinking", "", "off, on, a number of tokens, or a level")
	fl.Int64Var(&f.seed, "seed", 0, "seed of the sampling")
	fl.StringArrayVar(&f.stop, "stop", nil, "a text that ends the answer (repeatable)")
	fl.StringVar(&f.tier, "service-tier", "", "the provider's service tier")
	fl.StringVar(&f.schema, "schema", "", "a file with the JSON Schema of the answer")
	fl.StringArrayVar(&f.extra, "extra", nil, "a further field of the body, as name=JSON (repeatable)")
	f.set = fl.Changed
}

func (f *laneFlags) params(w *shell.World) (assay.Params, error) {
	p := assay.Params{MaxTokens: f.maxTokens, Effort: f.effort, Stop: f.stop, ServiceTier: f.tier}
	if f.set("temperature") {
		p.Temperature = &f.temperature
	}
	if f.set("top-p") {
		p.TopP = &f.topP
	}
	if f.set("top-k") {
		p.TopK = &f.topK
	}
	if f.set("seed") {
		p.Seed = &f.seed
	}
	switch n, err := strconv.Atoi(f.thinking); {
	case f.thinking == "":
	case f.thinking == "off" || f.thinking == "on":
		p.Thinking.Mode = assay.ThinkingMode(f.thinking)
	case err == nil:
		p.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: n}
	default:
		p.Thinking = assay.Thinking{Mode: assay.ThinkingLevel, Level: f.thinking}
	}
	if f.schema != "" {
		text, err := w.Disk.ReadFile(f.schema)
		if err != nil || !json.Valid(text) {
			return p, shell.Unread(err, "", "--schema: %s is not a JSON file", f.schema)
		}
		p.Schema = text
	}
	for _, e := range f.extra {
		name, value, ok := strings.Cut(e, "=")
		if !ok || !json.Valid([]byte(value)) {
			return p, shell.Usage(`such as --extra 'logprobs=true'`, "--extra %s: want name=JSON", e)
		}
		if p.Extra == nil {
			p.Extra = map[string]json.RawMessage{}
		}
		p.Extra[name] = json.RawMessage(value)
	}
	return p, nil
}

func writeBatch(ctx context.Context, w *shell.World, f writeFlags) error {
	if provider, model, ok := strings.Cut(f.model, "/"); ok && f.provider == "" && provider != "" && model != "" { // as lanes have it
		f.provider, f.model = provider, model
	}
	for _, need := range [][2]string{{f.provider, "--provider"}, {f.model, "--model"}, {f.input, "--input"}, {f.files.name, "--output"}} {
		if need[0] == "" {
			return shell.Usage("assay help batch write", "assay batch write needs %s", need[1])
		}
	}
	lane, vendor, err := f.laneOf(w)
	if err != nil {
		return err
	}
	q := &batchfile.Questions{Input: "questions", System: f.system, Lane: lane, Vendor: vendor,
		Wire: catalog.Default().Wire(lane, vendor.Name, assay.ModeBatch)}
	q.Source = inputs.Open(w.Disk.Folder("."), map[string]inputs.Spec{q.Input: {File: f.input, ID: f.id, Text: f.text, Limit: f.limit}})
	if q.Template, err = f.template(w, q); err != nil {
		return err
	}
	// Nothing is written over before all of it is known to be good.
	n, problems := q.Check(ctx)
	if len(problems) > 0 {
		return problems
	}
	if n == 0 {
		return shell.Usage("", "%s holds no questions", f.input)
	}
	return f.write(ctx, w, q)
}

// laneOf returns the lane that the flags mean; parameters that the vendor would refuse are printed with the reason.
func (f writeFlags) laneOf(w *shell.World) (assay.Lane, catalog.Vendor, error) {
	t, vendor, err := linesFor(w, f.provider)
	if err != nil {
		return assay.Lane{}, catalog.Vendor{}, err
	}
	lane := assay.Lane{Name: f.model, Provider: t.Name, Model: f.model, API: f.lane.api, Mode: t.Mode}
	if lane.Params, err = f.lane.params(w); err != nil {
		return lane, vendor, err
	}
	var problems assay.Problems
	for _, i := range catalog.Default().Check(lane, vendor.Name, catalog.DateOf(w.Now())) {
		problems = append(problems, assay.Problem{What: i.What,
			Hint: strings.Replace(i.Hint, i.Param+": ", "--"+strings.ReplaceAll(i.Param, "_", "-")+" ", 1), Warning: i.Warning})
	}
	for _, q := range problems.Warnings() {
		w.Warn(q.String())
	}
	if bad := problems.Errors(); len(bad) > 0 {
		return lane, vendor, bad
	}
	lane.Params = catalog.Default().Effective(lane, vendor.Name)
	return lane, vendor, nil
}

// template returns what every question is put into.
func (f writeFlags) template(w *shell.World, q *batchfile.Questions) (*prompt.Template, error) {
	text := ""
	if f.prompt != "" {
		raw, err := w.Disk.ReadFile(f.prompt)
		if err != nil {
			return nil, shell.Unread(err, "", "--prompt: %s cannot be read", f.prompt)
		}
		text = string(raw)
	}
	t, err := batchfile.Template(q.Source, q.Input, f.prompt, text)
	if errors.Is(err, batchfile.ErrNoColumn) {
		return nil, shell.Usage("--text names the column, --prompt a template", "%s has %s", f.input, err)
	}
	return t, err
}

func (f writeFlags) write(ctx context.Context, w *shell.World, q *batchfile.Questions) error {
	names, err := f.files.write(w, q.Vendor.Limits, func(out *batchfile.Writer) error { return q.Write(ctx, out) })
	if err != nil {
		return err
	}
	model := ""
	if !q.Wire.ModelInBody {
		model = q.Lane.Model
	}
	sendWith(w, q.Lane.Provider, model, names)
	return nil
}
