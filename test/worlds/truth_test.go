package worlds

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/assay"
)

// checkAnswers holds the answers to first questions against what the models were asked: each is one that its model gave to the very
// question that the study asks about the item now.
func (h *history) checkAnswers(ctx context.Context, all []runState, _ bill) error {
	if len(all) == 0 {
		return nil
	}
	rows, err := h.table("answers", "stage turn lane item template branch draw pair judge vote", "ending text")
	if err != nil {
		return err
	}
	models, questions := map[string]string{}, map[string]string{}
	for _, l := range h.study.Lanes {
		_, models[l.Name], _ = strings.Cut(l.Model, "/")
	}
	for _, it := range h.study.Items {
		questions[it.ID] = strings.ReplaceAll(h.study.asked(), "{{ text }}", it.Text) + h.study.shown(it)
	}
	h.assay(ctx, ending{}, "show", all[0].Run+":"+h.study.Items[0].ID+":"+h.study.Lanes[0].Name) // printed for checkSecrets
	for key, row := range rows {
		at := strings.Split(key, "|")
		ended, text, _ := strings.Cut(row, "|")
		model, question := models[at[2]], questions[at[3]]
		if at[0] != "answers" || at[1] != "1" || ended != string(assay.Answered) || model == "" || question == "" ||
			h.models.gave(model, question, text) {
			continue
		}
		return breaks(L5, "", "the answer to "+key+" is one to its question", "%q, which %s did not reply to %q", text, model, question)
	}
	return nil
}

// checkVerdicts holds verdicts against the replies of their judges: a label is in the reply, and one that names
// none gives no verdict.
func (h *history) checkVerdicts(_ context.Context, all []runState, _ bill) error {
	if len(all) == 0 {
		return nil
	}
	replies, err := h.table("answers", "key second_try judge", "text")
	verdicts, more := h.table("verdicts", "key second_try judge stage prompt trait", "state label subject against")
	if err = errors.Join(err, more); err != nil {
		return err
	}
	for key, row := range verdicts {
		at := strings.Split(key, "|")
		v := strings.Split(row, "|")
		state, label := v[0], v[1]
		if h.study.Judge == "program" && at[3] == "good" && !strings.HasPrefix(at[2], "human:") && state != string(assay.VerdictMissing) {
			want, said := scored(h.study.Script(), replies[v[2]+"|false|"])
			if state != string(want) || want == assay.VerdictValid && label != said {
				return breaks(L5, "", "a verdict is what the program said", "%s %s of %s, which it called %s %s", state, label, key,
					want, said)
			}
			continue
		}
		if !strings.HasPrefix(at[2], "judge") || state != string(assay.VerdictValid) {
			continue
		}
		if label == "tie" && replies[v[2]+"|false|"] != "" && replies[v[2]+"|false|"] == replies[v[3]+"|false|"] {
			continue // a judge is not asked about two equal texts
		}
		reply := replies[strings.Join(at[:3], "|")]
		if !strings.HasPrefix(reply, "{") || at[3] == "good" && !strings.Contains(reply, `"`+label+`"`) {
			return breaks(L5, "", "a verdict is what its judge replied", "%s of %s, from %q", label, key, reply)
		}
	}
	return nil
}

// checkLost holds what counts as lost against the faults: results are lost only where a provider left them out. What expires at xAI has no
// line and no word of its end.
func (h *history) checkLost(ctx context.Context, all []runState, _ bill) error {
	silent := func(f string) bool {
		return strings.Contains(f, " fetch ") || strings.Contains(f, " check ") || strings.Contains(f, " expire")
	}
	if slices.ContainsFunc(h.Faults, silent) {
		return nil
	}
	for _, r := range all {
		for _, l := range r.Lanes {
			if n := l.Endings[string(assay.Lost)]; n > 0 {
				return breaks(L5, h.statuses(ctx, all), "what every provider handed out is here", "%d requests of %s are lost", n, l.Lane)
			}
		}
	}
	return nil
}

// checkPages looks for texts that came from outside, alive, in what was written for browsers and spreadsheets, and for the key.
func (h *history) checkPages(context.Context, []runState, bill) error {
	page, err := os.ReadFile(filepath.Join(h.dir, "report.html"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if strings.Contains(string(page), hostile[0]) {
		return breaks(L14, "", "no markup of an answer is alive in a report", "report.html holds %s", hostile[0])
	}
	if strings.Contains(string(page), secret) {
		return breaks(L14, "", "no key is in a report", "it is")
	}
	return nil
}

// checkMadeOnce counts requests that were billed in two jobs under one id: their segment was created twice. Where lists name every job
// within a minute and nobody sleeps, a create call is never repeated that made a job.
func (h *history) checkMadeOnce(ctx context.Context, all []runState, b bill) error {
	lists := func(f string) bool { return strings.Contains(f, " list hide") && !strings.Contains(f, "hide=40s") }
	if h.back || slices.ContainsFunc(h.Faults, lists) ||
		slices.ContainsFunc(h.Actions, func(a Action) bool { return a.End.How == pause }) {
		return nil
	}
	for _, charges := range b.batch {
		jobs := map[string]string{}
		for _, c := range charges {
			if other, there := jobs[c.ID]; there && other != c.Job {
				return breaks(L1, h.statuses(ctx, all), "a job is made once", "%s was billed in jobs %s and %s", c.ID, other, c.Job)
			}
			jobs[c.ID] = c.Job
		}
	}
	return nil
}
