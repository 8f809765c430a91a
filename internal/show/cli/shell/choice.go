package shell

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assay/internal/assay"
)

// Choice adds a flag that takes one of some words, which shells complete. Its default is what it has; empty: it may be left out.
func Choice[T ~string](c *cobra.Command, has *T, flag string, words []T, usage string) {
	v := &choice{set: func(word string) { *has = T(word) }, is: string(*has), unset: string(*has)}
	for _, w := range words {
		v.words = append(v.words, string(w))
	}
	c.Flags().Var(v, flag, usage)
	const names = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(v.words, names)) // the flag is there, and has none yet
}

// choice is the value of such a flag.
type choice struct {
	words     []string
	is, unset string
	set       func(string)
}

func (c *choice) String() string { return c.is }

// Type is what help calls the value.
func (c *choice) Type() string { return "string" }

func (c *choice) Set(word string) error {
	if word != c.unset && !slices.Contains(c.words, word) {
		last := len(c.words) - 1
		return errors.New("want " + strings.Join(c.words[:last], ", ") + " or " + c.words[last])
	}
	c.is = word
	c.set(word)
	return nil
}

// Nearest returns a hint that names the word of a flag of choices that is nearest to another; empty: none is, or it is no such flag.
func Nearest(v pflag.Value, word string) string {
	c, ok := v.(*choice)
	if !ok {
		return ""
	}
	return assay.DidYouMean(word, c.words)
}
