package words

import (
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/show/report/plot"
	"assay/internal/study/declare"
)

// moved returns the caveats about what the study declared, dropped or changed after verdicts were there, or after it was locked.
func (d document) moved() []Caveat {
	if d.Report == nil || d.Report.Plan == nil {
		return nil
	}
	plan := d.Report.Plan
	var points []string
	for _, e := range plan.Late() {
		points = append(points, said(e)+fmt.Sprintf(": declared on %s, after %s", e.Day(), assay.Count(e.Verdicts, "verdict")))
	}
	for _, e := range plan.Dropped() {
		points = append(points, said(e)+fmt.Sprintf(": declared before the data, dropped on %s, after %s", e.Dropped.Day(),
			assay.Count(e.Dropped.Verdicts, "verdict")))
	}
	var out []Caveat
	if len(points) > 0 {
		out = append(out, Caveat{"Declared late.", "The plan was changed after verdicts were there. What was declared late is not " +
			"corrected with what was planned:", "", points})
	}
	if l := plan.Lock; l != nil && len(l.Changed) > 0 {
		out = append(out, Caveat{"Changed since the lock.", LockWords(l), "", nil})
	}
	return out
}

// said returns a declaration for people.
func said(e declare.Entry) string {
	return fmt.Sprintf("%s `%s`", e.Kind, assay.Clean(e.Text, plot.MaxWords))
}

// LockWords returns since when a study is locked, and what was changed since.
func LockWords(l *declare.Lock) string {
	const short = 12
	text := fmt.Sprintf("Locked on %s (sha256 %s)", declare.Day(l.At), l.Digest[:min(short, len(l.Digest))])
	if len(l.Changed) == 0 {
		return text + "; nothing was changed since."
	}
	return text + "; changed since: " + assay.Clean(strings.Join(l.Changed, ", "), plot.MaxWords) + "."
}

// PlanWords returns when primary findings were declared, where there are any, and whether the study was locked.
func PlanWords(plan *declare.Plan, primary bool) []string {
	if plan == nil {
		plan = &declare.Plan{}
	}
	var out []string
	if l := plan.Lock; l != nil {
		out = append(out, LockWords(l))
	}
	if !primary {
		return out
	}
	const rest = "Their p-values are adjusted together (Holm); all other findings are exploratory."
	if !plan.Known {
		return append(out, "Primary findings are named in the study; whether that was before the data is not known. "+rest)
	}
	var last declare.Entry
	for _, e := range plan.Entries {
		if e.Kind == declare.Primary && e.Verdicts == 0 && e.At.After(last.At) {
			last = e
		}
	}
	return append(out, fmt.Sprintf("Primary findings were declared by %s, before any verdict was there. %s", last.Day(), rest))
}
