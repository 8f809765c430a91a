package worlds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"assay/internal/study/studyfile"
	"assay/test/worlds/recount"
	"assay/test/worlds/recount/rubrics"
)

// checkNumbers computes every number of the newest run again from what it exports. The study in the folder is that of the run: the
// person has just run it.
func (h *history) checkNumbers(ctx context.Context, all []runState, _ bill) error {
	if len(all) == 0 {
		return nil
	}
	rows, dir := saying{}, filepath.Join(h.dir, "tables")
	if h.format() != "jsonl" {
		rows = h.assay(ctx, ending{}, "export", all[0].Run, "--format", "jsonl", "--out", "rows", "--replace")
		dir = filepath.Join(h.dir, "rows")
	}
	claims := h.assay(ctx, ending{}, "analyse", all[0].Run, "--json")
	if rows.code != 0 || claims.code != 0 && claims.code != 3 {
		return breaks(L9, rows.String()+claims.String(), "a run can be exported and analysed", "exit codes %d and %d", rows.code,
			claims.code)
	}
	if err := os.WriteFile(filepath.Join(dir, "analyse.json"), []byte(claims.out), 0o600); err != nil {
		return err
	}
	r, err := recount.Read(os.DirFS(dir))
	if err != nil {
		return err
	}
	st, problems := studyfile.Read(os.DirFS(h.dir), "study.yaml", studyfile.Options{})
	if st == nil {
		return problems
	}
	if r.Rubrics, err = rubrics.Of(st); err != nil {
		return err
	}
	r.Doubled = len(all[0].Doubles) > 0
	for _, d := range recount.Check(r).Disagreements {
		return breaks(L9, "", d.Stage+", "+d.Analysis+", "+d.Lanes+": "+d.What+" is "+d.Ours, "%s", d.Theirs)
	}
	if err := h.checkTakenPrices(ctx, r); err != nil {
		return err
	}
	return h.checkPrinted(ctx, r, all[0].Run, dir)
}

// checkTakenPrices holds the price of every answer that was taken over against that of the run that it came from.
func (h *history) checkTakenPrices(ctx context.Context, r *recount.Run) error {
	donors := map[string]map[string]*float64{} // by run and key
	for i := range r.Answers {
		a := &r.Answers[i]
		if a.ReusedFrom == "" || a.Judge != "" { // the reply of a judge may be that to a second try
			continue
		}
		if donors[a.ReusedFrom] == nil {
			prices, err := h.pricesOf(ctx, a.ReusedFrom)
			if err != nil {
				return err
			}
			donors[a.ReusedFrom] = prices
		}
		was, there := donors[a.ReusedFrom][a.Key] // one under another key is not compared
		if there && (was == nil) != (a.Price == nil) || was != nil && a.Price != nil && *was != *a.Price {
			return breaks(L2, "", "an answer that was taken over has its price", "%s of run %s costs %s there and %s here", a.Key,
				a.ReusedFrom, dollars(was), dollars(a.Price))
		}
	}
	return nil
}

// pricesOf returns what the answers of a run cost, by key.
func (h *history) pricesOf(ctx context.Context, run string) (map[string]*float64, error) {
	rows := h.assay(ctx, ending{}, "export", run, "--format", "jsonl", "--out", "donor", "--replace")
	if rows.code != 0 {
		return nil, breaks(L9, rows.String(), "a run can be exported", "exit code %d", rows.code)
	}
	dir := filepath.Join(h.dir, "donor")
	if err := os.WriteFile(filepath.Join(dir, "analyse.json"), []byte(`{"runs":[{}]}`), 0o600); err != nil {
		return nil, err
	}
	r, err := recount.Read(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	out := map[string]*float64{}
	for _, a := range r.Answers {
		out[a.Key] = a.Price
	}
	return out, nil
}

func dollars(x *float64) string {
	if x == nil {
		return "what is not known"
	}
	return fmt.Sprintf("$%g", *x)
}

// checkPrinted holds what is printed of the findings against what programs read of them.
func (h *history) checkPrinted(ctx context.Context, r *recount.Run, run, dir string) error {
	if len(r.Claims.Tables) == 0 {
		return nil
	}
	var printed recount.Printed
	if h.shows(1) {
		printed.Terminal = h.assay(ctx, ending{}, "analyse", run, "--full").out
	}
	if h.shows(2) {
		printed.CSV = h.assay(ctx, ending{}, "analyse", run, "--csv").out
	}
	findings, err := os.ReadFile(filepath.Join(dir, "findings.jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	page, err := os.ReadFile(filepath.Join(h.dir, "report.html"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	printed.Export, printed.Report = string(findings), string(page)
	if h.Seed%4 == 1 || h.Thorough {
		if printed.Page, printed.API, err = h.dashboard(ctx, run); err != nil {
			return err
		}
	}
	for _, d := range recount.CheckPrinted(r, printed).Disagreements {
		return breaks(L8, printed.Terminal, d.Stage+", "+d.Analysis+", "+d.Lanes+": "+d.What+" is "+d.Ours, "%s", d.Theirs)
	}
	return nil
}
