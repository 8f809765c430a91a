package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/study/catalog"
)

func keysCommand(w *shell.World) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "keys",
		Short: "List which API keys are set; never prints one",
		Args:  shell.Args(),
		RunE: func(*cobra.Command, []string) error {
			keys := keyStates(w, catalog.Default())
			if asJSON {
				return term.WriteJSON(w.Stdout, keys)
			}
			t := term.Table{Head: []string{"PROVIDER", "VARIABLE", "STATE", "GOES TO"}}
			for _, k := range keys {
				t.Add(k.Provider, strings.Join(k.Variables, " or "), k.State, k.Host)
			}
			return t.Write(w.Stdout)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

type keyState struct {
	Provider  string   `json:"provider"`
	Variables []string `json:"variables"`
	State     string   `json:"state"` // "set (NAME)", "not set", "not needed", or what is wrong with it
	Host      string   `json:"host"`  // where the key would go
}

func keyStates(w *shell.World, cat *catalog.Catalog) []keyState {
	var keys []keyState
	for _, v := range cat.Vendors() {
		k := keyState{Provider: v.Name, Variables: slices.Concat(v.KeyEnv, v.KeyElse), State: "not set", Host: v.BaseURL}
		switch {
		case len(k.Variables) == 0 && len(v.KeyForms) > 0: // it is called with tokens that Google's own tools hand out
			k.State = "Google's (gcloud auth application-default login)"
		case len(k.Variables) == 0, v.KeyOptional && len(v.KeyElse) == 0:
			k.State = "not needed"
		}
		for _, name := range k.Variables {
			if w.IsSet(name) {
				k.State = fmt.Sprintf("set (%s)", name)
				if _, trouble := w.Workspace().KeyTrouble([]string{name}); trouble != "" {
					k.State = fmt.Sprintf("%s %s", name, trouble)
				}
				break
			}
		}
		if base, ok := w.Env(v.BaseURLEnv); ok && base != "" && v.BaseURLEnv != "" {
			k.Host = base
		}
		k.Host = cmp.Or(workspace.HostOf(k.Host), "named by the study")
		keys = append(keys, k)
	}
	return keys
}
