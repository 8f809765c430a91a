package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/study/catalog"
)

const priceFileForm = `  - {vendor: openai, model: gpt-5, input: 1.25, cached: 0.125, output: 10, batch: 0.5, date: 2026-11-01, source: invoice}
`

func pricesCommand(w *shell.World) *cobra.Command {
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "prices [MODEL]",
		Short: "List the prices that plans use, in dollars per million tokens",
		Long: "Lists prices in US dollars per million tokens, each with its date. MODEL is part of a name, such as haiku or openai/.\n" +
			"--json has the prices of tools that providers run, too.\n\n" +
			"A study overrides them under `prices:`, and --prices FILE does for every study:\n\n" + priceFileForm,
		Args: shell.UpTo("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			cat, err := w.Workspace().Catalog(file)
			if err != nil {
				return err
			}
			var prices []catalog.Price
			for _, p := range cat.Prices() {
				if len(args) == 0 || strings.Contains(p.Vendor+"/"+p.Model, args[0]) {
					prices = append(prices, p)
				}
			}
			if len(prices) == 0 {
				return shell.Usage("assay list prices lists all", "no price is known for %q", args[0])
			}
			if asJSON {
				return term.WriteJSON(w.Stdout, priceDocuments(prices))
			}
			return printPrices(w, prices)
		},
	}
	c.Flags().StringVar(&file, "prices", "", "a file of prices over the built-in table")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printPrices(w *shell.World, prices []catalog.Price) error {
	t := term.Table{
		Head:  []string{"MODEL", "INPUT", "CACHED", "WRITE 5M", "WRITE 1H", "OUTPUT", "BATCH IN", "BATCH OUT", "ABOVE", "AS OF", "SOURCE"},
		Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true},
		Least: map[int]int{0: 34}, Spare: []string{"SOURCE", "ABOVE", "WRITE 1H", "WRITE 5M", "AS OF", "CACHED"},
	}
	for _, p := range prices {
		live, batch := p.Live.Short, p.Batch.Short
		above := "–"
		if p.Above > 0 {
			above = assay.Thousands(p.Above)
		}
		t.Add(p.Vendor+"/"+p.Model, dollarsPerMillion(live.Input), dollarsPerMillion(live.Cached), dollarsPerMillion(live.Write5m),
			dollarsPerMillion(live.Write1h), dollarsPerMillion(live.Output), dollarsPerMillion(batch.Input),
			dollarsPerMillion(batch.Output), above, p.Date, p.Source)
		if p.Above > 0 {
			long, longBatch := p.Live.Long, p.Batch.Long
			t.Add("  above "+assay.Thousands(p.Above), dollarsPerMillion(long.Input), dollarsPerMillion(long.Cached),
				dollarsPerMillion(long.Write5m), dollarsPerMillion(long.Write1h), dollarsPerMillion(long.Output),
				dollarsPerMillion(longBatch.Input), dollarsPerMillion(longBatch.Output), "", "", "")
		}
	}
	return t.Write(w.Stdout)
}

type priceDocument struct {
	Model  string         `json:"model"`
	Live   ratesDocument  `json:"live"`
	Batch  ratesDocument  `json:"batch"`
	Above  int64          `json:"long_above_tokens,omitempty"`
	Long   *ratesDocument `json:"live_long,omitempty"`
	Calls  callsDocument  `json:"per_thousand_calls"`
	Date   string         `json:"as_of"`
	Source string         `json:"source"`
}

// callsDocument is dollars for a thousand calls of tools that the provider runs; null is unknown.
type callsDocument struct {
	Search       *float64 `json:"web_search"`
	SearchPrompt bool     `json:"web_search_by_prompt,omitempty"` // however often a request searches
	Lookup       *float64 `json:"file_search"`
	Code         *float64 `json:"code_container"`
}

// ratesDocument is dollars per million tokens; null is unknown.
type ratesDocument struct {
	Input   *float64 `json:"input"`
	Cached  *float64 `json:"cached"`
	Write5m *float64 `json:"cache_write_5m"`
	Write1h *float64 `json:"cache_write_1h"`
	Output  *float64 `json:"output"`
}

func priceDocuments(prices []catalog.Price) []priceDocument {
	out := make([]priceDocument, 0, len(prices))
	for _, p := range prices {
		doc := priceDocument{
			Model: p.Vendor + "/" + p.Model, Live: ratesJSON(p.Live.Short), Batch: ratesJSON(p.Batch.Short), Above: p.Above,
			Date: string(p.Date), Source: p.Source,
			Calls: callsDocument{Search: perThousand(p.Search), SearchPrompt: p.ByPrompt, Lookup: perThousand(p.Lookup),
				Code: perThousand(p.Code)},
		}
		if p.Above > 0 {
			doc.Long = new(ratesJSON(p.Live.Long))
		}
		out = append(out, doc)
	}
	return out
}

func perThousand(r catalog.Rate) *float64 {
	if !r.Known {
		return nil
	}
	return new(r.Million.Float() / 1000)
}

func ratesJSON(r catalog.Rates) ratesDocument {
	known := func(r catalog.Rate) *float64 {
		if !r.Known {
			return nil
		}
		return new(r.Million.Float())
	}
	return ratesDocument{known(r.Input), known(r.Cached), known(r.Write5m), known(r.Write1h), known(r.Output)}
}
