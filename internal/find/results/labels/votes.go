package labels

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/stats/checked"
	"assay/internal/keep/store"
	"assay/internal/send/script/people"
	"assay/internal/show/report/words"
)

// Votes is how far people are with a stage, and how often they agree with its other judges.
type Votes struct {
	Planned  int    `json:"planned"`             // all that people may be asked
	Labelled int    `json:"labelled"`            // of it, what any of them has labelled
	Yours    int    `json:"yours"`               // of one person
	Both     int    `json:"judged_by_both"`      // verdicts of other judges on what people decided
	Same     int    `json:"judged_the_same"`     // of them, those that agree
	Twice    int    `json:"labelled_by_several"` // answers that two people or more decided
	Alike    int    `json:"labelled_alike"`      // of them, those on which they agree
	Open     int    `json:"undecided"`           // of the others, those that nobody has decided
	Machines bool   `json:"has_other_judges"`    // the stage asks models, or a rule judges
	Quote    *Quote `json:"quote,omitempty"`     // nil: none can be given
	Differ   bool   `json:"people_differ"`       // they do not agree among themselves
	pairs    bool
	wanted   int // labels that make the judge's error known
}

// Count returns how much people may be asked in a stage: each answer, or each pair, once. It walks over all of it.
func (p *Panel) Count(ctx context.Context) (int, error) {
	n := 0
	for _, err := range p.People.Tasks(ctx) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// VotesOf counts people's labels in a stage. What is planned is the caller's to add: counting it takes a walk over the
// whole stage.
func VotesOf(ctx context.Context, r *results.Reader, run store.Run, p *Panel, stage, person string) (Votes, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return Votes{}, err
	}
	s, _ := st.Stage(stage)
	machines := len(st.LanesNamed(s.Judges.List))+len(s.ImportedJudges()) > 0 || p.rubric.Rule != nil
	out := Votes{Machines: machines, pairs: p.Pairs(), wanted: words.LabelsWanted}
	d, err := p.People.Draw(ctx)
	if err != nil {
		return Votes{}, err
	}
	if d != nil {
		out.wanted = words.LabelsFor(len(d.Lanes), out.pairs)
	}
	seen, yours := map[store.Task]bool{}, map[store.Task]bool{}
	said, settled := map[store.Task][]string{}, map[store.Task]bool{}
	var decided []store.Verdict
	var keys []assay.Key
	for v, err := range r.Ledger.PeopleVerdicts(ctx, run.No, stage) {
		if err != nil {
			return out, err
		}
		if v.Stale || people.Picked(&v) {
			continue
		}
		about := v.Task()
		seen[about] = true
		if v.At.Judge == person {
			yours[about] = true
		}
		chosen, _ := people.ChosenAs(&v)
		settled[about] = settled[about] || chosen == analysis.ChosenAdjudicated
		if v.State == assay.VerdictValid && chosen != analysis.ChosenAdjudicated && !out.pairs {
			said[about] = append(said[about], people.Word(&v))
		}
		if v.State == assay.VerdictValid {
			decided, keys = append(decided, v), append(keys, v.Subject)
		}
	}
	out.Labelled, out.Yours = len(seen), len(yours)
	agree := checked.Agree(slices.Collect(maps.Values(said)))
	out.Twice, out.Differ = agree.Twice, agree.Differ()
	for about, words := range said {
		switch one := !slices.ContainsFunc(words, func(w string) bool { return w != words[0] }); {
		case len(words) > 1 && one:
			out.Alike++
		case !one && !settled[about]:
			out.Open++
		}
	}
	others, err := r.Ledger.VerdictsOn(ctx, run.No, keys)
	if err != nil {
		return out, err
	}
	testing := slices.DeleteFunc(slices.Clone(decided), func(v store.Verdict) bool { return people.Earlier(&v) })
	out.Quote = p.quote(d, testing, others)
	for i := range decided {
		said := decided[i]
		for k := range others[said.Subject] {
			v := &others[said.Subject][k]
			if v.At.Stage != stage || v.State != assay.VerdictValid || strings.HasPrefix(v.At.Judge, people.Prefix) ||
				v.Task() != said.Task() {
				continue
			}
			out.Both++
			if saysSame(v, &said) {
				out.Same++
			}
		}
	}
	return out, nil
}

// saysSame reports whether two verdicts on the same subject agree.
func saysSame(a, b *store.Verdict) bool {
	switch {
	case a.Against != (assay.Key{}):
		return winnerOf(a) == winnerOf(b)
	case a.Label != "" || b.Label != "":
		return a.Label == b.Label
	}
	return a.Score != nil && b.Score != nil && *a.Score == *b.Score
}

// winnerOf returns the better answer of a pair; none where they are as good.
func winnerOf(v *store.Verdict) assay.Key {
	switch v.Label {
	case assay.LabelA:
		return v.Subject
	case assay.LabelB:
		return v.Against
	}
	return assay.Key{}
}

// Words returns how far people are, and what more labels would change.
func (v Votes) Words() []string {
	noun := "answer"
	if v.pairs {
		noun = "pair"
	}
	var out []string
	if v.Planned > 0 {
		out = append(out, fmt.Sprintf("%s of %s judged by people", assay.Thousands(v.Labelled), assay.Count(v.Planned, noun)))
	} else {
		out = append(out, assay.Count(v.Labelled, noun)+" judged by people")
	}
	switch {
	case !v.Machines && v.Planned > v.Labelled:
		out = append(out, fmt.Sprintf("%s left until the ranking rests on all of them", assay.Count(v.Planned-v.Labelled, noun)))
	case !v.Machines:
	case v.Labelled == 0:
		out = append(out, "after the first label this shows how often the other judges say the same")
	case v.Both == 0:
		out = append(out, "agreement with the other judges: unknown, they have judged none of these")
	default:
		out = append(out, fmt.Sprintf("the other judges say the same in %s of %s (%.0f%%)", assay.Thousands(v.Same),
			assay.Count(v.Both, "verdict"), 100*float64(v.Same)/float64(v.Both)))
	}
	if v.Twice > 0 {
		out = append(out, fmt.Sprintf("people agree on %d of %s that several labelled (%.0f%%)", v.Alike, assay.Count(v.Twice, "answer"),
			100*float64(v.Alike)/float64(v.Twice)))
		if v.Differ {
			out = append(out, "they do not agree among themselves: the judge cannot be better than they are")
		}
	}
	switch left := v.wanted - v.Labelled; {
	case v.Quote != nil:
		out = append(out, v.Quote.words(v.pairs))
	case !v.Machines || left <= 0 || v.Planned > 0 && v.Planned == v.Labelled:
	case v.Planned > 0 && v.Planned-v.Labelled < left:
		there := v.Planned - v.Labelled
		out = append(out, assay.Count(there, "more label")+assay.Verb(there, " is all there is", " are all there are"))
	default:
		out = append(out, fmt.Sprintf("%s %s the judge's error bar known", assay.Count(left, "more label"),
			assay.Verb(left, "makes", "make")))
	}
	return out
}
