package trend

import (
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/drift"
)

// Gap returns a change in words: +5.0 points.
func Gap(u analysis.Unit, n stats.Number) string {
	switch {
	case !n.OK:
		return "unknown"
	case u == analysis.Share:
		return strings.TrimSuffix(analysis.Gap.Show(n.Value), "pt") + "points"
	}
	return fmt.Sprintf("%+.3f", n.Value)
}

// span returns an interval of a change in words: 2.1 to 8.0.
func span(u analysis.Unit, i stats.Interval) string {
	if !i.OK {
		return "no interval"
	}
	show := func(x float64) string {
		if u == analysis.Share {
			return strings.TrimPrefix(strings.TrimSuffix(analysis.Gap.Show(x), " pt"), "+")
		}
		return fmt.Sprintf("%.3f", x)
	}
	return show(i.Low) + " to " + show(i.High)
}

// shown returns a change with its interval.
func shown(u analysis.Unit, c drift.Change) string {
	return Gap(u, c.Value) + " (" + span(u, c.Interval) + ")"
}

// Words returns what is known of the judge, in a sentence.
func (j *Judge) Words(u analysis.Unit) string {
	text := ""
	switch gold := assay.Count(j.Shift.N, "gold answer"); {
	case j.Exact:
		return "A rule judges, as before."
	case j.Gold == "":
		text = "Whether the judge moved is not known: the study has no gold set that it judges in every run."
	case j.Taken > 0:
		text = fmt.Sprintf("The judge was not measured again: %s on the gold set were taken over from an earlier run.",
			assay.Count(int(j.Taken), "verdict"))
	case j.Unlike != "" && j.Shift.Value.OK:
		text = fmt.Sprintf("On %s the verdicts changed by %s, and these are unlike the study's answers: %s. So it corrects nothing.",
			gold, shown(u, j.Shift), j.Unlike)
	case !j.Measured:
		text = "Whether the judge moved is not known: " + j.Shift.Value.Why + "."
	case j.Moved(Level):
		text = fmt.Sprintf("The judge moved by %s on %s.", shown(u, j.Shift), gold)
	default:
		text = fmt.Sprintf("The judge was not shown to have moved: %s on %s.", shown(u, j.Shift), gold)
	}
	if len(j.ByHand) > 0 {
		text += " It was changed in the study: " + j.ByHand.String() + "."
	}
	for _, v := range j.Served {
		text += fmt.Sprintf(" Judge %s is served as %s, and was as %s.", v.Lane, v.Is, v.Was)
	}
	if j.Edited > 0 {
		text += fmt.Sprintf(" %s changed since, and not counted.", assay.Count(j.Edited, "gold answer"))
	}
	return text
}

// Words returns whose the change of a lane is, in a sentence.
func (l *Lane) Words(u analysis.Unit, j *Judge) string {
	change, model := shown(u, l.Change), shown(u, l.Model)
	switch l.Whose {
	case drift.NotAsked:
		text := "its answers are those of an earlier run, so the model was not measured again"
		if l.Value.OK && !stats.Same(l.Value.Value, 0) {
			return change + ", all of it the judge's: " + text + "."
		}
		return capital(text) + "."
	case drift.Judges:
		return change + ", the judge's: no change of the model is shown, " + model + " without the judge's."
	case drift.Models:
		return change + ", the model's: " + model + " without the judge's."
	case drift.Boths:
		return change + ": the judge moved, and the model changed by " + model + "."
	case drift.CannotTell:
		return change + ", the judge's or the model's: cannot be told apart. " + l.needs(j)
	}
	if l.Model.Value.OK && !j.Exact {
		return "No change is shown: " + change + ", " + model + " without the judge's."
	}
	return "No change is shown: " + change + "."
}

// needs returns what would tell whose a change is.
func (l *Lane) needs(j *Judge) string {
	switch {
	case l.More == 0:
		return "More items would."
	case j.Unlike != "":
		return "A gold set like the study's answers would."
	case j.Gold == "":
		return fmt.Sprintf("A gold set of about %s would (assay help trend).", assay.Count(l.More, "answer"))
	}
	return fmt.Sprintf("About %s would.", assay.Count(l.More, "more gold answer"))
}

// Partly returns how many answers of a lane are those of an earlier run, where some and not all are; empty: none are, or all.
func (l *Lane) Partly() string {
	if l.TakenOver == 0 || l.TakenOver == l.Answers {
		return ""
	}
	return fmt.Sprintf("%s of its %s answers are those of an earlier run.", assay.Thousands(l.TakenOver), assay.Thousands(l.Answers))
}

// Differs returns in what the two runs differ besides the judge, in words; none: in nothing that is known.
func (s *Step) Differs() []string {
	var out []string
	if s.Edited > 0 {
		out = append(out, assay.Count(s.Edited, "item")+" changed since, and not counted")
	}
	for i, n := range s.Alone {
		if n > 0 {
			out = append(out, assay.Count(n, "item")+" only in the "+[]string{"first", "second"}[i]+" run")
		}
	}
	for _, e := range s.Edits {
		out = append(out, e.String())
	}
	for _, v := range s.Served {
		out = append(out, fmt.Sprintf("%s is served as %s, and was as %s", v.Lane, v.Is, v.Was))
	}
	return out
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// About returns what is to be known of a run in a stage: how much its numbers rest on, what it cost, and the state of its judge.
func (t *Trend) About(s *Stage, i int) string {
	n := 0
	for _, p := range s.Points[i] {
		n = max(n, p.N)
	}
	text := fmt.Sprintf("%s: %s for a lane, %s", t.Runs[i].ID, assay.Count(n, "verdict"), t.Runs[i].Cost)
	switch {
	case s.Judged[i] == "":
	case i > 0 && s.Judged[i] == s.Judged[i-1]:
		text += "; judge as before"
	default:
		text += "; " + s.Judged[i]
	}
	for _, p := range s.Points[i] {
		if p.Corrected {
			return text + ". Values are corrected by people's labels; changes are the judge's"
		}
	}
	return text
}

// Change returns the change of a lane since the run before in a few words, and whose it is; empty: there is none to tell.
func (s *Stage) Change(run int, lane string) (change, whose string) {
	if run == 0 {
		return "", ""
	}
	for _, l := range s.Steps[run-1].Lanes {
		if l.Name == lane {
			return strings.TrimSuffix(Gap(s.Unit, l.Value), " points"), whoseWords[l.Whose]
		}
	}
	return "", ""
}

var whoseWords = map[drift.Whose]string{drift.Nobodys: "not shown", drift.Judges: "the judge's", drift.Models: "the model's",
	drift.Boths: "both", drift.CannotTell: "cannot tell", drift.NotAsked: "not asked"}

// Story returns what happened between two runs, the runs first.
func (t *Trend) Story(s *Stage, i int) []string {
	step := &s.Steps[i]
	out := []string{fmt.Sprintf("From %s to %s, %s in both:", t.Runs[i].ID, t.Runs[i+1].ID, assay.Count(step.Items, "item"))}
	if step.Why != "" {
		return append(out, capital(step.Why)+".")
	}
	out = append(out, step.Judge.Words(s.Unit))
	for k := range step.Lanes {
		l := &step.Lanes[k]
		out = append(out, strings.TrimSpace(l.Name+": "+l.Words(s.Unit, &step.Judge)+" "+l.Partly()))
	}
	if differs := step.Differs(); len(differs) > 0 {
		out = append(out, "Also: "+strings.Join(differs, "; ")+".")
	}
	return out
}
