package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
	"assay/internal/show/report/plot"
)

// caveats returns the weak points of the summary, each with what to do about it.
func (d document) caveats(lead *ranked, all []*ranked) []Caveat {
	out := d.unfinished(all)
	if c := d.unvalidated(lead, all); c != nil {
		out = append(out, *c)
	}
	out = append(out, d.checked(append([]*ranked{lead}, others(lead, all)...))...)
	if c := d.few(lead); c != nil {
		out = append(out, *c)
	}
	for _, r := range all {
		if c := d.instead(r); c != nil {
			out = append(out, *c)
		}
		if c := placed(r); c != nil {
			out = append(out, *c)
		}
		if c := uneven(r, d.nounOf(r.Stage)); c != nil {
			out = append(out, *c)
		}
		if r.Penalised != "" {
			out = append(out, Caveat{Title: "Penalised strengths.",
				Text: fmt.Sprintf("In stage %s, %s: without a penalty strengths would be infinite. "+
					"All are drawn together a little (Firth's penalty), and so are their differences.", r.Stage,
					assay.Clean(r.Penalised, plot.MaxWords))})
		}
		if c := inRounds(r); c != nil {
			out = append(out, *c)
		}
		if c := looked(r); c != nil {
			out = append(out, *c)
		}
		if r.Unclear > 0 {
			out = append(out, Caveat{Title: "Labels were chosen.",
				Text: fmt.Sprintf("In stage %s, %s chosen because it was not clear which of the "+
					"two is better: opponents differ, so shares of wins do not compare between %s. Strengths and tiers do.", r.Stage,
					were(int64(r.Unclear), "label"), fieldWord(r.Field))})
		}
		if r.Style != "" {
			out = append(out, Caveat{Title: "Style.",
				Text: fmt.Sprintf("In stage %s, %s.", r.Stage, assay.Clean(r.Style, plot.MaxWords))})
		}
	}
	out = append(out, d.moved()...)
	if c := d.unsettledNeighbours(append([]*ranked{lead}, others(lead, all)...)); c != nil {
		out = append(out, *c)
	}
	out = append(out, d.morePairs(all)...)
	if c := d.kin(all); c != nil {
		out = append(out, *c)
	}
	return out
}

// judgeUnchecked is the title of the caveat that no drawn label tests a judge.
const judgeUnchecked = "Judge unchecked."

const (
	LabelsWanted    = 40 // make a judge's error known
	labelsInAMinute = 4
)

// LabelsFor returns how many labels check a judge of so many lanes, or of their pairs.
func LabelsFor(lanes int, pairs bool) int {
	return checked.FewestChecked * checked.LabelsOfItem(lanes, pairs)
}

// labelsOf returns how many labels make the error of a leaderboard's judge known, and whether these are all there can be.
func labelsOf(r *ranked) (wanted int, all bool) {
	if r.Field != analysis.ByLane {
		if pairs := r.Clusters; pairs > 0 && pairs < LabelsWanted {
			return pairs, true
		}
		return LabelsWanted, false
	}
	pairs := r.Verb == analysis.Compared
	if wanted = LabelsWanted; r.Rounds == nil {
		wanted = max(wanted, LabelsFor(len(r.Places), pairs))
	}
	items := r.Clusters
	for _, t := range r.Tests {
		items = max(items, t.Items, t.Clusters)
	}
	if there := items * checked.LabelsOfItem(len(r.Places), pairs); there > 0 && there < wanted {
		return there, len(r.Places) <= checked.LanesOfItem // of more lanes some are drawn
	}
	if planned := int(r.Coverage.Wanted()); planned > 0 && planned < wanted { // nothing is known of its items yet
		return planned, false
	}
	return wanted, false
}

// unvalidated returns the caveat that nobody has checked the judge, and how to.
func (d document) unvalidated(lead *ranked, all []*ranked) *Caveat {
	var stages []string
	var first *ranked
	for _, r := range append([]*ranked{lead}, all...) {
		if r.Machines && !r.Validated && r.Checked == nil && len(r.order) > 0 && !slices.Contains(stages, r.Stage) {
			stages = append(stages, r.Stage)
			if first == nil {
				first = r
			}
		}
	}
	if first == nil {
		return nil
	}
	if i := slices.IndexFunc(all, func(r *ranked) bool { return r.Stage == first.Stage && r.Field == analysis.ByLane }); i >= 0 {
		first = all[i]
	}
	which, known, time := "The judge of stage "+first.Stage, "checked it", ""
	if len(stages) > 1 {
		which = "The judges of stages " + assay.Listed(stages)
		known, time = "checked them", " for each stage"
	}
	what, every := "answer", ""
	if first.Verb == analysis.Compared {
		what = "pair"
	}
	wanted, whole := labelsOf(first)
	if whole && wanted > 1 {
		every = "all "
	}
	text := fmt.Sprintf("%s: no person has %s. Label %s%s yourself, about %s%s:", which, known, every, assay.Count(wanted, what),
		assay.Count(max(wanted/labelsInAMinute, 1), "minute"), time)
	return &Caveat{Title: judgeUnchecked, Text: text, Command: d.command("label", first.Stage, "--count", strconv.Itoa(wanted)),
		Button: "Check the judge", Size: labelsTime(wanted, "label"), People: first.Stage}
}

// What a reader wants to be able to see: ten points between two lanes, or 60% of wins.
const (
	wantedPoints = 0.10
	wantedWins   = 0.60
	wantedPower  = 0.8
)

// single returns the caveat about a stage that is about one item alone.
func (d document) single(stage string) *Caveat {
	noun := d.nounOf(stage)
	one := "One " + strings.TrimSuffix(noun, "s")
	how, command := d.more(stage)
	return &Caveat{Title: one + ".", Text: "It says nothing about others." + how, Command: command, Button: "Add " + noun,
		Size: "one says nothing about others"}
}

// few returns the caveat about the difference that so many items can show, and how many a smaller one needs; nil where
// they are enough.
func (d document) few(r *ranked) *Caveat {
	se, ok := r.medianError()
	items := r.Clusters
	if items == 1 && r.PerCluster() <= 1 && len(r.order) > 1 && r.Field != analysis.ByItem {
		return d.single(r.Stage)
	}
	// of items that are compared there may be no more pairs
	if !ok || items < 2 || len(r.order) < 2 || r.Rounds != nil || r.Field == analysis.ByItem {
		return nil
	}
	if r.Corrected() {
		return d.fewLabels(r, se)
	}
	design := stats.Design{Items: se * se * float64(items), DrawsA: 1, DrawsB: 1}
	test := stats.Test{Alpha: (1 - r.Level) * r.Looked.Part() / float64(len(r.Tests)), Power: wantedPower}
	smallest, err := design.Detectable(items, test)
	if err != nil {
		return nil
	}
	student := 0.0 // items that Student's t needs besides
	if r.Test != analysis.ExactPairs {
		smallest = (stats.StudentCritical(test.Alpha, items) + stats.NormalQuantile(test.Power)) * se
		z := stats.NormalQuantile(1 - test.Alpha/2)
		student = z * z / 2
	}
	wanted, can, want := wantedPoints, "differences of about "+pointsOf(min(1, smallest))+" points", "10 points need"
	switch r.Unit {
	case analysis.Logit:
		wanted = math.Log(wantedWins / (1 - wantedWins))
		can, want = "that one wins "+percentOf(1/(1+math.Exp(-smallest)))+" or more against another", "60% needs"
	case analysis.Score:
		wanted, can, want = smallest/2, "differences of about "+scoreOf(smallest), "half of that needs"
	}
	if r.Unit == analysis.Share && smallest > 1 {
		can = "no difference, however large"
	}
	if smallest <= wanted || r.Unit == analysis.Score && !unsettled(r) {
		return nil
	}
	needed, err := design.ItemsNeeded(wanted, test)
	if err != nil {
		return nil
	}
	noun := d.nounOf(r.Stage)
	text := fmt.Sprintf("%s can show %s; %s about %s.", d.units(r), can, want,
		assay.Thousands(roughly(int(math.Ceil((float64(needed)+student)*r.PerCluster())))))
	how, command := d.more(r.Stage)
	c := &Caveat{Title: "Few " + noun + ".", Text: text + how, Command: command, Button: "Add " + noun,
		Size: want + " about " + assay.Thousands(roughly(int(math.Ceil(float64(needed)*r.PerCluster()))))}
	if quotes := d.settlings(r); len(quotes) > 0 && quotes[0].Likely.Known && r.Verb == analysis.Judged {
		c.Button, c.Size = quotes[0].tells()
	}
	return c
}

// looked returns the caveat of a stage that was looked at before more items were asked; nil: it was not.
func looked(r *ranked) *Caveat {
	l := r.Looked
	if l == nil {
		return nil
	}
	var items []string
	for _, n := range l.Items {
		items = append(items, assay.Thousands(n))
	}
	return &Caveat{Title: "Looked at again.",
		Text: fmt.Sprintf("Stage %s was looked at before, with %s items. What was claimed then stays; what is "+
			"new is claimed at %.2g%%, over all pairs. The chance of any false claim is at most %.3g%%.", r.Stage,
			strings.Join(items, " and "), 100*(1-r.Level)*l.Part(), 100*l.Bound(r.Level))}

}

// inRounds returns the caveat of a stage that buys its pairs in rounds: how far it is, and what its numbers guarantee.
func inRounds(r *ranked) *Caveat {
	x := r.Rounds
	if x == nil {
		return nil
	}
	text := fmt.Sprintf("Stage %s stopped after round %d of %d: %s.", r.Stage, x.Looks, x.Planned, x.Stopped)
	if x.Stopped == "" {
		text = fmt.Sprintf("Stage %s has had %d of %d looks, and goes on.", r.Stage, x.Looks, x.Planned)
	}
	title := "Bought in rounds."
	if x.Looks > x.Planned {
		title = "Bought beyond the plan."
		text = fmt.Sprintf("Stage %s was looked at %d times, %d of them planned: %s.", r.Stage, x.Looks, x.Planned, x.Stopped)
		if x.Stopped == "" {
			text = fmt.Sprintf("Stage %s: what was bought beyond its plan is under way.", r.Stage)
		}
	}
	if !x.Width {
		text += fmt.Sprintf(" Its intervals and tiers count that pairs were bought by what was found: the chance of any false claim is "+
			"at most %.0f%%.", 100*x.Bound())
	}
	return &Caveat{Title: title, Text: text}
}

// placed returns the caveat on a judge that looks at the position, or on pairs that were shown in one order; nil: neither.
func placed(r *ranked) *Caveat {
	p := r.Position
	if !p.Biased() || r.early() {
		return nil
	}
	text := fmt.Sprintf("In stage %s the one shown first won %s of decided comparisons", r.Stage, percentOf(p.First.Value))
	if p.Same.OK {
		text += fmt.Sprintf(", and the same one won both ways round in %s of pairs", percentOf(p.Same.Value))
	}
	if p.OneOrder {
		return &Caveat{Title: "One order.",
			Text: text + ". Every two were always shown in the same order: who stood first and who is better cannot " +
				"be told apart. Show pairs both ways (order: both)."}

	}
	return &Caveat{Title: "Position.",
		Text: text + ": the judge looks at where an answer stands. Strengths take that out as far as pairs were shown " +
			"both ways; a judge that agrees with itself would say more."}

}

// unsettled reports whether several places may be the best.
func unsettled(r *ranked) bool {
	top, _ := r.top()
	return len(top) > 1 || len(r.unknown()) > 0
}

// kin returns the caveat that the only judge is of the same family as lanes that it judges.
func (d document) kin(all []*ranked) *Caveat {
	var judge string
	var names, stages []string
	for _, r := range all {
		if len(r.Kin) == 0 || len(r.Kin) == len(r.Places) {
			continue
		}
		judge, stages = r.Judges[0], append(stages, r.Stage)
		for _, n := range r.Kin {
			if n = assay.Clean(n, plot.MaxName); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	list := strings.Join(names[:min(maxNamed, len(names))], ", ")
	if left := len(names) - maxNamed; left > 0 {
		list += fmt.Sprintf(" and %d others", left)
	}
	text := fmt.Sprintf("%s is of the same family as %s, and may favour its own.", assay.Clean(judge, plot.MaxName), list)
	if d.Rerun.Command == "" {
		return &Caveat{Title: "One judge.", Text: text + " A judge of another provider would tell."}
	}
	return &Caveat{Title: "One judge.", Text: text + d.edited("add a lane of another provider to `lanes` and to `judges` of "+
		assay.Verb(len(stages), "stage ", "stages ")+strings.Join(stages, ", ")), Command: d.Rerun.Command + d.Where}

}

func are(n int64, noun string) string {
	return assay.Count(n, noun) + assay.Verb(n, " is", " are")
}

// Pair is two lanes in a stage that compares them.
type Pair struct{ Stage, First, Second string }

// Caveat is a weak point and what to do about it.
type Caveat struct {
	Title   string
	Text    string
	Command string // to type; empty: there is none
	Points  []string

	Button string // what the command does, in a few words; empty: it is no action
	Size   string // how much of it, and at what cost
	People string // the stage that people judge to do it; empty: none
	Pair   Pair   // what comparisons are bought of to do it; the zero value: none
	Link   string // to the page that does it; empty: there is none
}

// instead returns the caveat about why there are no strengths, and how to connect groups that were never compared; nil:
// there are strengths.
func (d document) instead(r *ranked) *Caveat {
	switch {
	case r.Instead == "", r.early():
		return nil
	case len(r.Unmet) < 2:
		text := fmt.Sprintf("In stage %s, %s: strengths would be infinite. Shares of wins are compared instead, by exact sign tests.",
			r.Stage, assay.Clean(r.Instead, plot.MaxWords))
		few := d.tooFewWins(r)
		if few == "" {
			return &Caveat{Title: "No strengths.", Text: text}
		}
		how, command := d.more(r.Stage)
		return &Caveat{Title: "No strengths.", Text: text + few + how, Command: command}
	}
	text := fmt.Sprintf("In stage %s, %s.", r.Stage, assay.Clean(r.Instead, plot.MaxWords))
	joins := make([]string, 0, maxGroupsNamed)
	for k := range r.Unmet[1:min(len(r.Unmet), maxGroupsNamed+1)] {
		joins = append(joins, assay.Clean(r.Unmet[k][0], plot.MaxName)+" with "+assay.Clean(r.Unmet[k+1][0], plot.MaxName))
	}
	connect := " Comparisons of " + strings.Join(joins, ", and of ") + " would connect them."
	switch {
	case !r.Machines:
		return &Caveat{Title: "Not all were compared.", Text: text + connect + " Judge more pairs:", Command: d.command("label", r.Stage)}
	case r.Coverage.Incomplete():
		return &Caveat{Title: "Not all were compared.",
			Text:    text + connect + " Verdicts of this stage are missing; see which:",
			Command: d.command("errors", "--verdicts")}

	case d.Rerun.Command == "":
		return &Caveat{Title: "Not all were compared.", Text: text + connect + " Add them to the pairs of the study."}
	}
	return &Caveat{Title: "Not all were compared.",
		Text:    text + connect + d.edited("add them to `pairs` of stage "+r.Stage),
		Command: d.Rerun.Command + d.Where}

}

// tooFewWins returns how many wins in a row an exact test needs, where there are fewer; empty: there are enough.
func (d document) tooFewWins(r *ranked) string {
	if len(r.Tests) == 0 || r.Field == analysis.ByItem { // two items meet in one or two pairs: more of them show no more
		return ""
	}
	needed, p := 1, 1.0 // two-sided p of one win
	for p*float64(len(r.Tests)) >= 1-r.Level {
		needed, p = needed+1, p/2
	}
	if r.Clusters >= needed {
		return ""
	}
	noun := d.nounOf(r.Stage)
	return fmt.Sprintf(" %s %s too few for that: it takes %d or more, all won.", assay.Count(r.Clusters, strings.TrimSuffix(noun, "s")),
		assay.Verb(r.Clusters, "is", "are"), needed)
}
