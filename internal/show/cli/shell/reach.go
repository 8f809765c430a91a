package shell

import (
	"assay/internal/send/batchrun"
	"assay/internal/study/catalog"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// ReachFlags name a provider and how it is reached.
type ReachFlags struct {
	Wish  batchrun.Wish
	Model string

	settings map[string]*string
}

// Register adds the flags of a provider, a model and a mode to a command.
func (f *ReachFlags) Register(c *cobra.Command) {
	f.RegisterPlace(c, "the provider (default: recognised from the lines)")
	c.Flags().StringVar(&f.Model, "model", "", "the model, where the lines name none")
	c.Flags().BoolVar(&f.Wish.Live, "live", false, "ask live instead of as a batch")
}

// RegisterPlace adds the flags of a provider; words are the help of its name.
func (f *ReachFlags) RegisterPlace(c *cobra.Command, words string) {
	c.Flags().StringVar(&f.Wish.Provider, "provider", "", words)
	c.Flags().StringVar(&f.Wish.BaseURL, "base-url", "",
		"where the provider is; a server of your own that speaks "+titleOf(catalog.Copied)+"'s API is asked live")
	c.Flags().BoolVar(&f.Wish.BatchAPI, "batch-api", false, "the server at --base-url has a batch API of its own")
	c.Flags().StringVar(&f.Wish.KeyEnv, "key-env", "", "the variable that holds the key (default: the vendor's own)")
	f.settings = map[string]*string{}
	for _, name := range catalog.SettingNames() {
		if what := settingWords()[name]; what != "" {
			f.settings[name] = c.Flags().String(name, "", what)
		}
	}
}

// settingWords returns what settings are at the vendors that need them, by name.
var settingWords = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	for _, v := range catalog.Default().Vendors() {
		for _, s := range v.Settings {
			if words[s.Name] != "" {
				words[s.Name] += "; "
			}
			words[s.Name] += fmt.Sprintf("%s: %s (default: %s)", v.Title, s.What, strings.Join(s.Env, " or "))
		}
	}
	return words
})

func titleOf(vendor string) string {
	v, _ := catalog.Default().Vendor(vendor)
	return v.Title
}

// Asked returns the wish with all that the flags say.
func (f ReachFlags) Asked() batchrun.Wish {
	wish := f.Wish
	wish.Settings = map[string]string{}
	for name, value := range f.settings {
		wish.Settings[name] = *value
	}
	return wish
}

// Elsewhere looks for a job that this ledger did not make, at the provider that the flags name.
func Elsewhere(ctx context.Context, w *World, id string, reach ReachFlags) (batchrun.Foreign, error) {
	at, err := w.Workspace().Resolver().Keyed(reach.Asked())
	if err != nil {
		return batchrun.Foreign{}, err
	}
	return batchrun.Search(ctx, id, at, w.Workspace().Dial)
}
