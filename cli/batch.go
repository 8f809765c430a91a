package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/batchfile"
	"assay/batchrun"
	"assay/catalog"
)

func batchCommand(w *World) *cobra.Command {
	c := &cobra.Command{
		Use:     "batch",
		GroupID: groupTools,
		Short:   "Send plain batch files to any provider, and bring the results back in order",
		Long: "Takes a provider's batch file as it is, without a study. A file becomes a run in the ledger: it is recorded before it is sent, cut under\n" +
			"the provider's limits, and a stop at any moment loses nothing and pays nothing twice. The ids in the file come back unchanged.\n\n" +
			"  assay batch write --provider openai --model gpt-4.1-mini --input questions.txt --output batch.jsonl\n" +
			"  assay batch submit batch.jsonl --watch\n" +
			"  assay batch collect batch.jsonl --output results.jsonl\n\n" +
			"BATCH is the id of a batch, the beginning of one, the name of its file, or a provider's own job id.",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				var names []string
				for _, sub := range c.Commands() {
					names = append(names, sub.Name())
				}
				return usage(cmp.Or(assay.DidYouMean(args[0], names), "assay help batch"), "no batch command is called %q", args[0])
			}
			return c.Help()
		},
	}
	c.AddCommand(
		batchWriteCommand(w), batchSubmitCommand(w), batchStatusCommand(w), batchWatchCommand(w), batchCollectCommand(w),
		batchRetryCommand(w), batchCancelCommand(w), batchListCommand(w), batchErrorsCommand(w), batchCostCommand(w),
	)
	return c
}

// reachFlags say which provider is meant and how it is reached.
type reachFlags struct {
	provider string
	model    string
	baseURL  string
	keyEnv   string
	project  string
	location string
	bucket   string
	account  string
	live     bool
	batchAPI bool
}

func (f *reachFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.provider, "provider", "", "the provider (default: recognised from the lines)")
	f.registerPlace(c)
	c.Flags().StringVar(&f.model, "model", "", "the model, where the lines name none")
	c.Flags().BoolVar(&f.live, "live", false, "ask live instead of as a batch")
}

func (f *reachFlags) registerPlace(c *cobra.Command) {
	c.Flags().StringVar(&f.baseURL, "base-url", "", "where the provider is; an OpenAI-compatible server (vLLM, Ollama) is asked live")
	c.Flags().BoolVar(&f.batchAPI, "batch-api", false, "the server at --base-url has a batch API of its own")
	c.Flags().StringVar(&f.keyEnv, "key-env", "", "the variable that holds the key (default: the vendor's own)")
	c.Flags().StringVar(&f.project, "project", "", "Vertex: the project (default: GOOGLE_CLOUD_PROJECT or PROJECT_ID)")
	c.Flags().StringVar(&f.location, "location", "", "Vertex: the region (default: GOOGLE_CLOUD_LOCATION or REGION)")
	c.Flags().StringVar(&f.bucket, "bucket", "", "Vertex: the bucket or gs:// folder for files (default: BUCKET_NAME)")
	c.Flags().StringVar(&f.account, "account", "", "Fireworks: the account (default: FIREWORKS_ACCOUNT_ID)")
}

// target is the provider that the flags mean; its name is empty where the lines have to tell it.
type target struct {
	name  string // as its user calls it
	kind  string // whose rules hold
	mode  assay.Mode
	entry batchrun.Reach
}

// target reads the flags. A server that only speaks OpenAI's API, and a vendor without batches, are asked live.
func (f reachFlags) target(w *World) (target, error) {
	t := target{name: batchfile.ProviderName(f.provider), mode: assay.ModeBatch}
	if f.live {
		t.mode = assay.ModeLive
	}
	if f.keyEnv != "" {
		t.entry.Key = "${" + strings.Trim(f.keyEnv, "${}") + "}"
	}
	if f.baseURL != "" {
		if u, err := url.Parse(f.baseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return t, usage("such as http://localhost:8000/v1", "--base-url: not the address of a server")
		}
		t.name, t.entry.BaseURL = cmp.Or(t.name, "openai"), f.baseURL
		if t.name == "openai" || t.name == catalog.Compatible {
			t.kind, t.mode = "vllm", assay.ModeLive
			if f.batchAPI {
				t.kind, t.mode = catalog.Compatible, assay.ModeBatch
			}
		}
	}
	if t.name == "" {
		return t, nil
	}
	return f.complete(w, t)
}

// complete adds what only some vendors need.
func (f reachFlags) complete(w *World, t target) (target, error) {
	t.kind = cmp.Or(t.kind, t.name)
	v, ok := catalog.Default().Vendor(t.kind)
	if !ok {
		var names []string
		for _, v := range catalog.Default().Vendors() {
			names = append(names, v.Name)
		}
		return t, usage(cmp.Or(assay.DidYouMean(t.name, names), "there are "+strings.Join(names, ", ")), "no provider is called %q", t.name)
	}
	if !v.Batch {
		t.mode = assay.ModeLive
	}
	switch t.kind {
	case "vertex":
		t.entry.Project = f.either(w, f.project, "GOOGLE_CLOUD_PROJECT", "PROJECT_ID")
		t.entry.Location = f.either(w, f.location, "GOOGLE_CLOUD_LOCATION", "REGION")
		if bucket := f.either(w, f.bucket, "BUCKET_NAME"); bucket != "" {
			folder := "gs://" + strings.Trim(strings.TrimPrefix(bucket, "gs://"), "/")
			t.entry.Input, t.entry.Output = folder+"/input/", folder+"/output/"
		}
	case "fireworks":
		t.entry.Account = f.either(w, f.account, "FIREWORKS_ACCOUNT_ID")
	}
	return t, nil
}

// either is a flag, or the first variable that is set.
func (f reachFlags) either(w *World, flag string, names ...string) string {
	for _, name := range names {
		if v, ok := w.Env(name); ok && flag == "" {
			flag = v
		}
	}
	return flag
}

// lacks tells what is missing before anything can be sent.
func (t target) lacks() error {
	switch {
	case t.kind == "vertex" && (t.entry.Project == "" || t.entry.Location == ""):
		return usage("say --project and --location, or set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION", "Vertex needs a project and a region")
	case t.kind == "vertex" && t.entry.Input == "" && t.mode == assay.ModeBatch:
		return usage("say --bucket, or set BUCKET_NAME", "Vertex needs a bucket for its files")
	case t.kind == "fireworks" && t.entry.Account == "":
		return usage("say --account, or set FIREWORKS_ACCOUNT_ID", "Fireworks needs the name of the account")
	}
	return nil
}

// keyed lists the batch providers whose keys are set, one target each; only one where a provider is named.
func (f reachFlags) keyed(w *World) ([]target, error) {
	if f.provider != "" || f.baseURL != "" {
		t, err := f.target(w)
		return []target{t}, err
	}
	var out []target
	for _, v := range catalog.Default().Vendors() {
		if !v.Batch || v.Name == catalog.Compatible || v.Name != "vertex" && !slices.ContainsFunc(v.KeyEnv, w.isSet) {
			continue
		}
		t, err := f.complete(w, target{name: v.Name, mode: assay.ModeBatch})
		if err != nil {
			return nil, err
		}
		if t.lacks() == nil {
			out = append(out, t)
		}
	}
	return out, nil
}

// money is a span of costs for people.
func money(expected, high assay.Cost) string {
	if expected.Priced == 0 && expected.Unknown > 0 {
		return "price unknown"
	}
	return fmt.Sprintf("%s, at most %s", expected, high)
}
