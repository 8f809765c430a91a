package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/study/catalog"
)

func modelsCommand(w *shell.World) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "models [PROVIDER]",
		Short: "List the models the catalogue knows, their limits and retirement",
		Args:  shell.UpTo("PROVIDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			models, err := modelsOf(catalog.Default(), shell.FirstOf(args))
			if err != nil {
				return err
			}
			if asJSON {
				return term.WriteJSON(w.Stdout, modelDocuments(models))
			}
			sayOfProvider(w, shell.FirstOf(args), len(models))
			if len(models) == 0 {
				return nil
			}
			return printModels(w, models)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// modelsOf lists the models of a vendor, or of all of them.
func modelsOf(cat *catalog.Catalog, vendor string) ([]catalog.Model, error) {
	var models []catalog.Model
	var names []string
	for _, v := range cat.Vendors() {
		names = append(names, v.Name)
		if vendor == "" || vendor == v.Name {
			models = append(models, cat.Models(v.Name)...)
		}
	}
	if vendor != "" && !slices.Contains(names, vendor) {
		return nil, shell.Usage(shell.NearOrAll(vendor, names), "no provider is called %q", vendor)
	}
	return models, nil
}

func printModels(w *shell.World, models []catalog.Model) error {
	t := term.Table{Head: []string{"MODEL", "CONTEXT", "OUTPUT", "RETIRED", "FAMILY", "AS OF"}, Right: map[int]bool{1: true, 2: true},
		Least: map[int]int{0: 34}, Spare: []string{"FAMILY", "AS OF"}}
	today := catalog.DateOf(w.Now())
	for _, m := range models {
		retired := string(m.Retired)
		if retired != "" && !m.Retired.Reached(today) {
			retired = "on " + retired
		}
		t.Add(m.Vendor+"/"+m.Name, orUnknown(m.ContextIn), orUnknown(m.MaxOut), cmp.Or(retired, "–"), m.Family, m.Date)
	}
	return t.Write(w.Stdout)
}

// sayOfProvider prints what a list of a provider's models cannot: that any name is taken.
func sayOfProvider(w *shell.World, name string, models int) {
	v, _ := catalog.Default().Vendor(name)
	if name != "" && v.AnyModel && models == 0 {
		fmt.Fprintf(w.Stdout, "No models of %s are listed: any name is taken, by its own rules and without a price.\n", v.Title)
	}
}

func orUnknown(n int) string {
	if n == 0 {
		return "unknown"
	}
	return assay.Thousands(n)
}

type modelDocument struct {
	Model   string `json:"model"`
	Family  string `json:"family"`
	Context *int   `json:"context_tokens"` // null: unknown
	Output  *int   `json:"output_tokens"`
	Retired string `json:"retired,omitempty"`
	Date    string `json:"as_of"`
	Source  string `json:"source"`
}

func modelDocuments(models []catalog.Model) []modelDocument {
	out := make([]modelDocument, 0, len(models))
	known := func(n int) *int {
		if n == 0 {
			return nil
		}
		return &n
	}
	for _, m := range models {
		out = append(out, modelDocument{
			Model: m.Vendor + "/" + m.Name, Family: m.Family, Context: known(m.ContextIn), Output: known(m.MaxOut),
			Retired: string(m.Retired), Date: string(m.Date), Source: m.Source,
		})
	}
	return out
}

// dollarsPerMillion shows a rate, or that it is not known.
func dollarsPerMillion(r catalog.Rate) string {
	if !r.Known {
		return "unknown"
	}
	return fmt.Sprintf("%g", r.Million.Float())
}
