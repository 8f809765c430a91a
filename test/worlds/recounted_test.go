package worlds

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

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
	rows := h.assay(ctx, ending{}, "export", all[0].Run, "--format", "jsonl", "--out", "rows", "--replace")
	claims := h.assay(ctx, ending{}, "analyse", all[0].Run, "--json")
	if rows.code != 0 || claims.code != 0 && claims.code != 3 {
		return breaks(L9, rows.String()+claims.String(), "a run can be exported and analysed", "exit codes %d and %d", rows.code,
			claims.code)
	}
	dir := filepath.Join(h.dir, "rows")
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
	for _, d := range recount.Check(r).Disagreements {
		if strings.HasPrefix(d.Analysis, "validity") && strings.HasPrefix(d.What, "table, ") {
			continue // open: what is planned where a person has labelled some answers, the judge's verdicts or the labels, too
		}
		return breaks(L9, "", d.Stage+", "+d.Analysis+", "+d.Lanes+": "+d.What+" is "+d.Ours, "%s", d.Theirs)
	}
	return h.checkPrinted(ctx, r, all[0].Run)
}

// checkPrinted holds what is printed of the findings against what programs read of them.
func (h *history) checkPrinted(ctx context.Context, r *recount.Run, run string) error {
	if len(r.Claims.Tables) == 0 {
		return nil
	}
	full := h.assay(ctx, ending{}, "analyse", run, "--full")
	printed := recount.Printed{Terminal: full.out}
	if h.Seed%2 == 0 {
		printed.CSV = h.assay(ctx, ending{}, "analyse", run, "--csv").out
	}
	findings, err := os.ReadFile(filepath.Join(h.dir, "rows", "findings.jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	page, more := os.ReadFile(filepath.Join(h.dir, "report.html"))
	if more != nil {
		return more
	}
	printed.Export, printed.Report = string(findings), string(page)
	for _, d := range recount.CheckPrinted(r, printed).Disagreements {
		return breaks(L8, full.String(), d.Stage+", "+d.Analysis+", "+d.Lanes+": "+d.What+" is "+d.Ours, "%s", d.Theirs)
	}
	return nil
}
