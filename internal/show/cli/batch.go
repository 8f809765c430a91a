package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/batchrun"
	"assay/internal/study/catalog"
)

func batchCommand(w *World) *cobra.Command {
	c := &cobra.Command{
		Use:     "batch",
		GroupID: groupTools,
		Short:   "Send plain batch files to any provider, and bring the results back in order",
		Long: "Takes a provider's batch file as it is, without a study. A file becomes a run in the ledger: it is recorded before it is sent, cut under\n" +
			"the provider's limits, and a stop at any moment loses nothing and pays nothing twice. The ids in the file come back unchanged.\n\n" +
			"  assay batch write --provider openai --model gpt-4.1-mini --input questions.txt --output batch.jsonl\n" +
			"  assay batch submit batch.jsonl --wait\n" +
			"  assay batch collect batch.jsonl --output results.jsonl\n\n" +
			"A batch is a run, and the commands for runs are for it, too: status, watch, resume, errors, retry, cancel, spend, runs, jobs. BATCH, or RUN there,\n" +
			"is the id of a batch, the beginning of one, the name of its file, or a provider's own job id.",
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
	c.AddCommand(batchWriteCommand(w), batchConvertCommand(w), batchSubmitCommand(w), batchCollectCommand(w))
	for verb, now := range map[string]string{
		"status": "assay status [RUN]", "watch": "assay watch [RUN…]", "resume": "assay resume [RUN…]", "errors": "assay errors [RUN]", "retry": "assay retry [RUN]",
		"cancel": "assay cancel [RUN…]", "cost": "assay spend [RUN], and of a file that was not sent: assay batch submit FILE --estimate", "list": "assay runs, and assay jobs --elsewhere",
	} {
		c.AddCommand(movedCommand(verb, now))
	}
	return c
}

// movedCommand is a verb that is one of the commands for every run.
func movedCommand(verb, now string) *cobra.Command {
	return &cobra.Command{
		Use: verb, Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return usage("type "+now, "a batch is a run: there is no `assay batch %s`", verb)
		},
	}
}

// reachFlags say which provider is meant and how it is reached.
type reachFlags struct {
	wish  batchrun.Wish
	model string

	settings map[string]*string
}

func (f *reachFlags) register(c *cobra.Command) {
	f.registerPlace(c, "the provider (default: recognised from the lines)")
	c.Flags().StringVar(&f.model, "model", "", "the model, where the lines name none")
	c.Flags().BoolVar(&f.wish.Live, "live", false, "ask live instead of as a batch")
}

// registerPlace adds the flags of a provider; words are the help of its name.
func (f *reachFlags) registerPlace(c *cobra.Command, words string) {
	c.Flags().StringVar(&f.wish.Provider, "provider", "", words)
	c.Flags().StringVar(&f.wish.BaseURL, "base-url", "", "where the provider is; a server of your own that speaks "+titleOf(catalog.Copied)+"'s API is asked live")
	c.Flags().BoolVar(&f.wish.BatchAPI, "batch-api", false, "the server at --base-url has a batch API of its own")
	c.Flags().StringVar(&f.wish.KeyEnv, "key-env", "", "the variable that holds the key (default: the vendor's own)")
	f.settings = map[string]*string{}
	for _, name := range catalog.SettingNames() {
		if words := settingWords(name); words != "" {
			f.settings[name] = c.Flags().String(name, "", words)
		}
	}
}

// settingWords is what a setting is at the vendors that need it.
func settingWords(name string) string {
	var words []string
	for _, v := range catalog.Default().Vendors() {
		for _, s := range v.Settings {
			if s.Name == name {
				words = append(words, fmt.Sprintf("%s: %s (default: %s)", v.Title, s.What, strings.Join(s.Env, " or ")))
			}
		}
	}
	return strings.Join(words, "; ")
}

func titleOf(vendor string) string {
	v, _ := catalog.Default().Vendor(vendor)
	return v.Title
}

// asked is the wish with all that the flags say.
func (f reachFlags) asked() batchrun.Wish {
	wish := f.wish
	wish.Settings = map[string]string{}
	for name, value := range f.settings {
		wish.Settings[name] = *value
	}
	return wish
}

// money is a span of costs for people.
func money(expected, high assay.Cost) string {
	if expected.Priced == 0 && expected.Unknown > 0 {
		return "price unknown"
	}
	return fmt.Sprintf("%s, at most %s", expected, high)
}
