package words

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
	"assay/internal/show/report/plot"
)

// maxHeadline is how many words a headline has.
const maxHeadline = 25

// fits reports whether sentences are short enough for a headline.
func fits(all ...Sentence) bool {
	n := 0
	for _, s := range all {
		n += len(strings.Fields(s.String()))
	}
	return n <= maxHeadline
}

// headline returns who leads and whether that can be told apart, in at most 25 words, and the sentences that go on from there.
func (d document) headline(r *ranked) (head Sentence, rest []Sentence) {
	if r.early() {
		return say(tooEarly(r)), nil
	}
	if head, rest = d.who(r); r.Checked.Decides() && r.Checked.State == checked.NoBetter {
		return head.and(say(" The judge is no better than chance.")), rest
	}
	if s := d.cheapest(r); s != nil {
		if fits(head, s) {
			return head.and(say(" "), s), rest
		}
		rest = append(rest, s)
	}
	return head, rest
}

// earlyShare is the share of what is planned below which a ranking that shows no difference has a line and no paragraph.
const earlyShare = 0.1

// early reports whether too little is there to rank anything.
func (r *ranked) early() bool {
	share := r.Coverage.Share()
	return share.OK && share.Value < earlyShare && r.Coverage.Valid > 0 && len(r.apart) == 0 && r.Rounds == nil
}

// tooEarly returns the sentence on a ranking of which hardly anything is there.
func tooEarly(r *ranked) string {
	c := r.Coverage
	return fmt.Sprintf("%s of %s %s: too early to rank.", assay.Thousands(c.Valid), assay.Thousands(c.Wanted()), votes(r))
}

// votes returns what verdicts are called: those of people are votes.
func votes(r *ranked) string {
	if r.Machines {
		return "verdicts"
	}
	return "votes"
}

// noResult returns that a ranking has no result, and why.
func noResult(r *ranked, of string) string {
	switch c := r.Coverage; {
	case c.Malformed == 1 && c.Given() == 1:
		return "no result: the only verdict" + of + " is unreadable"
	case c.Malformed > 0 && c.Malformed == c.Given():
		return fmt.Sprintf("no result: all %s verdicts%s are unreadable", assay.Thousands(c.Malformed), of)
	case c.Given() == 0 && c.Wanted() > 0:
		return fmt.Sprintf("no %s yet: 0 of %s", votes(r), assay.Thousands(c.Wanted()))
	}
	return "there is no result yet: " + whyNone(r)
}

// who returns who leads, and further sentences about it.
func (d document) who(r *ranked) (head Sentence, rest []Sentence) {
	if len(r.Unmet) > 1 {
		return say(fmt.Sprintf("The %s cannot be ranked together: not all were compared with each other.", fieldWord(r.Field))),
			d.groups(r)
	}
	switch len(r.order) {
	case 0:
		why := noResult(r, " of "+r.Stage)
		if head = say(plot.Capital(why) + "."); fits(head) {
			return head, nil
		}
		return say("There is no result yet."), []Sentence{head}
	case 1:
		if head = lane(r, r.order[0]).and(say(": " + r.values(r.order) + between95(r, r.order[0]) + ".")); !fits(head) {
			head = lane(r, r.order[0]).and(say(" alone has a result."))
		}
		if len(r.Places) == 1 {
			return head, []Sentence{say(fmt.Sprintf("There is no other %s to compare it with.", r.Field))}
		}
		return head, []Sentence{say(fmt.Sprintf("The other %s have no result yet.", fieldWord(r.Field)))}
	}
	switch {
	case r.tested:
		head, rest = d.ahead(r)
		rest = append(rest, some(r.notTested())...)
	case r.alike():
		head = r.valued(d.names(r, r.order).and(say(" have the same result")), r.order, ".")
	default:
		head = r.valued(lane(r, r.order[0]).and(say(" comes first")), r.order[:1], "; whether that is more than chance is not known.")
		rest = []Sentence{say("It could not be tested: " + r.whyUntested() + ".")}
	}
	return head, append(rest, some(r.byPosition())...)
}

// some returns the sentences that there are.
func some(all ...Sentence) []Sentence {
	return slices.DeleteFunc(all, func(s Sentence) bool { return s == nil })
}

// alike reports whether all places have the same value.
func (r *ranked) alike() bool {
	return r.Places[r.order[0]].Value.Value == r.Places[r.order[len(r.order)-1]].Value.Value
}

// lane returns the name of a place.
func lane(r *ranked, place int) Sentence {
	return Sentence{{Text: r.Places[place].Name, Lane: true}}
}

// valued returns a sentence with what places got in brackets, as far as a headline has room for that. Of several, only if they have the
// same items.
func (r *ranked) valued(subject Sentence, places []int, end string) Sentence {
	if _, uneven := r.Uneven(); uneven && len(places) > 1 {
		return subject.and(say(end))
	}
	if with := subject.and(say(" (" + r.values(places) + ")" + end)); fits(with) {
		return with
	}
	return subject.and(say(end))
}

// ahead returns who is ahead where differences were tested.
func (d document) ahead(r *ranked) (head Sentence, rest []Sentence) {
	top, clique := r.top()
	unknown := r.unknown()
	add := func(s Sentence) { rest = append(rest, some(s)...) }
	switch {
	case len(unknown) > 0: // the sentence is about the best alone
		head = r.valued(lane(r, top[0]).and(say(" comes first")), top[:1], "; ").
			and(say("whether it is ahead of "), d.names(r, unknown), say(" is not known."))
		if len(top) > 1 {
			add(d.names(r, top[1:]).and(say(" cannot be told apart from it.")))
		}
		add(d.behind(r, top[:1], len(top) > 1))
	case r.Field == analysis.ByItem && len(top) > maxNamed:
		head = d.texts(r)
	case len(top) == len(r.order) && clique:
		head = r.valued(say("No difference was found "+among(top)).and(d.names(r, top)), top, ".")
	case len(top) == 1:
		others := ""
		if len(r.order) > 2 {
			others = " of all others"
		}
		head = r.valued(lane(r, top[0]).and(say(" is ahead"+others)), top, ".")
		add(d.behind(r, top, true))
	case clique:
		head = r.valued(d.names(r, top).and(say(" lead")), top, "; no difference between them was found.")
		add(d.behind(r, top, r.allApart(top)))
	default:
		head = r.valued(lane(r, top[0]).and(say(" comes first")), top[:1], "; ").
			and(d.names(r, top[1:]), say(" cannot be told apart from it."))
		add(d.behind(r, top[:1], true))
	}
	return head, rest
}

// among returns the word before so many names: between two, among more.
func among(names []int) string {
	if len(names) > 2 {
		return "among "
	}
	return "between "
}

// texts returns who comes first of many items, of which many cannot be told apart from it, and how far the order goes beyond chance.
func (d document) texts(r *ranked) Sentence {
	behind, apart, all := 0, 0, 0
	for k, i := range r.order {
		for _, j := range r.order[:k] {
			all++
			if r.differ(i, j) {
				apart++
			}
			if j == r.order[0] && r.differ(i, j) {
				behind++
			}
		}
	}
	if apart == 0 {
		return r.valued(lane(r, r.order[0]).and(say(" comes first")), r.order[:1],
			fmt.Sprintf("; no two of the %d items can be told apart yet.", len(r.order)))
	}
	surely := fmt.Sprintf("; %d of %d others %s surely behind", behind, len(r.order)-1, assay.Verb(behind, "is", "are"))
	if behind == 0 {
		surely = "; no other is surely behind"
	}
	return r.valued(lane(r, r.order[0]).and(say(" comes first")), r.order[:1], fmt.Sprintf("%s. %s of %s of items can be told apart.",
		surely, assay.Thousands(apart), assay.Count(all, "pair")))
}

// groups returns sentences on lanes in groups that were never compared: who is ahead in each.
func (d document) groups(r *ranked) []Sentence {
	out := []Sentence{r.unmet().and(say("."))}
	for k, members := range r.Unmet {
		if k == maxGroupsNamed {
			break
		}
		if len(members) > 1 {
			head, rest := d.who(rank(r.part(members)))
			out = append(append(out, head), rest...)
		}
	}
	return out
}

// byPosition returns the sentence on a position that decides more than who is better; nil: it does not.
func (r *ranked) byPosition() Sentence {
	p := r.Position
	switch {
	case !p.Biased(), r.early():
		return nil
	case p.OneOrder:
		return say("Every two were shown in one order only, so that this may be the place and not the answer.")
	case p.Decides():
		return say(fmt.Sprintf("The judge looks at the position: the one shown first won %s.", percentOf(p.First.Value)))
	}
	return nil
}

// notTested returns the sentence on the pairs that could not be tested, and why; nil: none.
func (r *ranked) notTested() Sentence {
	n, all := r.untested()
	if n == 0 {
		return nil
	}
	return say(fmt.Sprintf("%s of %s of %s could not be tested: %s.", assay.Thousands(n), assay.Count(all, "pair"), fieldWord(r.Field),
		r.whyUntested()))
}

// Tone is how much a reader has to mind a fact.
type Tone string

// The tones.
const (
	Plain Tone = ""
	Doubt Tone = "doubt"
	Alarm Tone = "warn"
)

// Fact is something that a headline rests on.
type Fact struct {
	Text string
	Tone Tone
}

// BasisLine returns what the headline rests on as one line; empty: nothing was judged.
func (s *Summary) BasisLine() string {
	texts := make([]string, len(s.Basis))
	for i, f := range s.Basis {
		texts[i] = f.Text
	}
	return strings.Join(texts, " · ")
}

// basis returns what the headline rests on: items, the state of the judge, coverage.
func (d document) basis(r *ranked) []Fact {
	var out []Fact
	if len(r.order) > 0 {
		out = append(out, Fact{Text: d.units(r)})
	}
	out = append(out, r.judgeState())
	if r.byPosition() != nil {
		out = append(out, Fact{"the order of showing decides", Alarm})
		if r.Position.OneOrder {
			out[len(out)-1].Text = "each two shown in one order only"
		}
	}
	switch share := r.Coverage.Share(); {
	case !share.OK:
		out = append(out, Fact{"no verdict was planned", Doubt})
	case share.Value >= 1 && !d.Report.Incomplete():
		out = append(out, Fact{Text: "all verdicts are there"})
	case r.Coverage.Incomplete() || hasGaps(r):
		out = append(out, Fact{percentOf(share.Value) + " of the verdicts are there", Doubt})
	case share.Value >= 1:
		out = append(out, Fact{Text: "all verdicts of " + r.Stage + " are there"})
	default:
		out = append(out, Fact{Text: percentOf(share.Value) + " of the verdicts are there"})
	}
	return out
}

// judgeState returns how far the judge of a ranking was checked.
func (r *ranked) judgeState() Fact {
	c, alone := r.Checked, ""
	if r.Alone != "" {
		alone = ", numbers not corrected"
	}
	switch {
	case !r.Machines:
		return Fact{Text: "judged by people"}
	case c != nil && c.Chosen:
		text := fmt.Sprintf("judge unchecked: %s not drawn", assay.Count(c.Given, "label"))
		if c.Agrees.OK && c.AgreesInterval.OK {
			text += fmt.Sprintf(", agrees in %s (%s)", percentOf(c.Agrees.Value), percents(c.AgreesInterval.Low, c.AgreesInterval.High))
		}
		if r.Validated { // nothing can be drawn here
			return Fact{Text: strings.Replace(text, "judge unchecked", "judge held against people", 1)}
		}
		return Fact{text, Doubt}
	case c == nil && r.Validated:
		return Fact{Text: "judged by a rule"}
	case c == nil || c.State == checked.Unchecked:
		return Fact{"judge unchecked", Doubt}
	case c.State == checked.NoBetter:
		return Fact{c.Whose("judge no better than chance") + alone, Alarm}
	case c.State == checked.FavoursLanes:
		return Fact{c.Whose("judge favours lanes") + alone, Alarm}
	case c.State == checked.Untellable:
		return Fact{"judge cannot be checked", Doubt}
	case c.State == checked.BeingChecked:
		text := c.Whose("judge being checked: ") + c.Progress()
		if c.Short() {
			text = "judge cannot be checked: too few items"
		}
		if c.Shares && c.Agrees.OK && c.AgreesInterval.OK {
			text += fmt.Sprintf(", agrees in %s (%s)", percentOf(c.Agrees.Value), percents(c.AgreesInterval.Low, c.AgreesInterval.High))
		}
		return Fact{text, Doubt}
	}
	text := c.Whose("judge checked")
	if c.Shares && c.Error.OK {
		text += ": wrong in " + percentOf(c.Error.Value)
	}
	if c.Incomplete() {
		return Fact{text + ", labels incomplete" + alone, Doubt}
	}
	if alone != "" {
		return Fact{text + alone, Doubt}
	}
	return Fact{Text: text}
}
