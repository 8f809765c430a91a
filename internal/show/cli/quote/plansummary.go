// Package quote puts into words what a plan sends, what it costs, how long it takes and which differences it can show.
package quote

import (
	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/plan"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// AtMost returns the mark of a number that is not exact.
func AtMost(exact bool) string {
	if exact {
		return ""
	}
	return "≤ "
}

// Tokens returns a number of tokens in words.
func Tokens(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// batchesOf returns how a wave is cut, as far as its prompts are known.
func batchesOf(t plan.Total) string {
	known := fmt.Sprintf(" in %s, %s", assay.Count(t.Segments, "batch file"), assay.Size(t.Bytes))
	switch {
	case t.Later == 0 && t.Segments == 0:
		return ", live, " + assay.Size(t.Bytes)
	case t.Later == 0:
		return known
	case t.Segments == 0:
		return ", cut into batch files when they are made"
	}
	return fmt.Sprintf("%s, and %s cut when they are made", known, assay.Count(t.Later, "request"))
}

// PayNow is the beginning of every question: what is paid now, and for how much.
func PayNow(p plan.Price, requests int64, exact bool) string {
	if requests == 0 {
		return "You pay now: nothing"
	}
	if p.Expected.Unknown > 0 {
		return fmt.Sprintf("You pay now: %s for %s%s, of some no price is known", p.Expected, UpTo(exact),
			assay.Count(requests, "new request"))
	}
	return fmt.Sprintf("You pay now: %s (at most %s) for %s%s", p.Expected, p.High, UpTo(exact), assay.Count(requests, "new request"))
}

// UpTo returns the word before a number that is not known exactly.
func UpTo(exact bool) string {
	if exact {
		return ""
	}
	return "up to "
}

// Summary returns the plan in sentences.
func Summary(d *plan.Input, p *plan.Plan) string {
	var b strings.Builder
	if len(p.Parts) > 0 {
		b.WriteString(sending(d, p))
	} else {
		b.WriteString("No request: nothing is asked, and nothing is paid.\n")
	}
	b.WriteString(stops(d, p))
	for _, q := range p.Power {
		b.WriteString(powerLines(q))
	}
	for _, n := range p.Said(nil) {
		b.WriteString("Note: " + n + ".\n")
	}
	if len(p.Parts) > 0 {
		b.WriteString(origins(d, p))
	}
	return b.String()
}

// sending returns what is sent, what it costs and how long it takes.
func sending(d *plan.Input, p *plan.Plan) string {
	all := p.Sum(func(plan.Part) bool { return true })
	first := p.Sum(func(q plan.Part) bool { return q.Wave == 1 })
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s in %s; the first wave is %s%s.\n",
		map[bool]string{true: "", false: "At most "}[all.Exact], assay.Count(all.Requests, "request"), assay.Count(p.Waves, "wave"),
		assay.Count(first.Requests, "request"), batchesOf(first))
	if all.Cost.Expected.Unknown > 0 {
		fmt.Fprintf(&b, "Cost: %s expected; of some requests no price is known.", all.Cost.Expected)
	} else {
		fmt.Fprintf(&b, "Cost: %s expected, %s to %s.", all.Cost.Expected, all.Cost.Low, all.Cost.High)
	}
	if all.Live.Expected != all.Cost.Expected {
		fmt.Fprintf(&b, " Live it would be %s.", all.Live.Expected)
	}
	b.WriteString("\n")
	for _, line := range byProvider(p) {
		b.WriteString("  " + line + "\n")
	}
	fmt.Fprintf(&b, "%s Disk: %s to %s.\n", Times(d, p), assay.Size(p.DiskLow), assay.Size(p.DiskHigh))
	return b.String()
}

// Times returns how long a plan takes.
func Times(d *plan.Input, p *plan.Plan) string {
	usual, longest := waiting(d, p)
	return "Time: " + Takes(Hours(usual), Hours(longest)) + "."
}

// origins returns where the numbers of tokens come from, and the dates of prices.
func origins(d *plan.Input, p *plan.Plan) string {
	text := "Tokens of requests that are known now are counted"
	if p.Sampled {
		text = "Tokens of requests that are known now are estimated from a sample, since there are many"
	}
	text += "; those of later requests and of answers are estimated, from " + sources(p)
	if oldest, newest := d.PriceDates(); oldest == newest && oldest != "" {
		text += fmt.Sprintf("; prices of %s", oldest)
	} else if oldest != "" {
		text += fmt.Sprintf("; prices of %s to %s", oldest, newest)
	}
	return text + ".\n"
}

// Guessed returns where the lengths of answers are taken from.
func Guessed(p *plan.Plan) string { return " Lengths of answers are guessed from " + sources(p) + "." }

// sources names where the tokens of answers come from, best first, each with its lanes where there are several.
func sources(p *plan.Plan) string {
	lanes := map[plan.Source][]string{}
	for _, q := range p.Parts {
		if !slices.Contains(lanes[q.From], q.Lane.Name) {
			lanes[q.From] = append(lanes[q.From], q.Lane.Name)
		}
	}
	var out []string
	for _, s := range []struct {
		from plan.Source
		word string
	}{
		{plan.FromRun, "answers of this run"}, {plan.FromEarlier, "an earlier run of the study"}, {plan.FromPilot, "a pilot"},
		{plan.FromModel, "the same model in other studies"}, {plan.FromCatalog, "the catalogue"},
	} {
		names := lanes[s.from]
		switch {
		case len(names) == 0:
		case len(lanes) == 1:
			return s.word
		case len(names) > mostNamed:
			out = append(out, fmt.Sprintf("%s (%d lanes)", s.word, len(names)))
		default:
			out = append(out, fmt.Sprintf("%s (%s)", s.word, strings.Join(names, ", ")))
		}
	}
	return strings.Join(out, ", ")
}

// mostNamed is how many lanes of a source are named.
const mostNamed = 5

// Takes returns how long a plan takes, once where the two are the same.
func Takes(usual, longest string) string {
	switch {
	case usual == longest && usual == fewMinutes:
		return usual
	case usual == longest:
		return "up to " + usual
	case usual == fewMinutes:
		return "usually " + usual + ", at most " + longest
	}
	return "usually up to " + usual + ", at most " + longest
}

// fewMinutes is a time that is too short to say it in a number.
const fewMinutes = "a few minutes"

// stops returns when lanes stop because of errors, where the study has such a word.
func stops(d *plan.Input, p *plan.Plan) string {
	var lanes []string
	at := map[string]study.StopIf{}
	for _, q := range p.Parts {
		l, ok := d.Study.Lane(q.Lane.Name)
		if !ok || at[l.Name] != 0 {
			continue
		}
		if at[l.Name] = cmp.Or(l.StopIf, d.Study.StopIf); at[l.Name] > 0 {
			lanes = append(lanes, l.Name)
		}
	}
	var b strings.Builder
	for len(lanes) > 0 {
		share := at[lanes[0]]
		same := slices.DeleteFunc(slices.Clone(lanes), func(name string) bool { return at[name] != share })
		lanes = slices.DeleteFunc(lanes, func(name string) bool { return at[name] == share })
		if n := len(same) - 5; n > 0 {
			same = append(same[:5], fmt.Sprintf("%d more", n))
		}
		fmt.Fprintf(&b, "Stop: a lane is stopped when more than %.3g%% of its requests end without an answer: %s.\n", 100*float64(share),
			strings.Join(same, ", "))
	}
	return b.String()
}

func byProvider(p *plan.Plan) []string {
	var names []string
	for _, q := range p.Parts {
		if !slices.Contains(names, q.Lane.Provider) {
			names = append(names, q.Lane.Provider)
		}
	}
	var lines []string
	for _, name := range names {
		t := p.Sum(func(q plan.Part) bool { return q.Lane.Provider == name })
		line := fmt.Sprintf("%s: %s%s, ", name, AtMost(t.Exact), assay.Count(t.Requests, "request"))
		if t.Cost.Expected.Unknown > 0 {
			line += "price: " + t.Cost.Expected.String()
		} else {
			line += fmt.Sprintf("%s (%s to %s)", t.Cost.Expected, t.Cost.Low, t.Cost.High)
		}
		lines = append(lines, line)
	}
	return lines
}

// waiting adds up, over the waves, how long the slowest provider usually and at the longest takes. What goes live takes at
// least as long as the study's own rates and pauses make it.
func waiting(d *plan.Input, p *plan.Plan) (usual, longest time.Duration) {
	for wave := 1; wave <= p.Waves; wave++ {
		var u, l time.Duration
		live := map[string]int64{}
		for _, q := range p.Parts {
			switch {
			case wave < q.Wave || wave >= q.Wave+max(1, q.Rounds):
			case q.Mode == assay.ModeBatch:
				limits, jobs := d.Limits(q.Lane), time.Duration(1)
				if q.Primed && wave == q.Wave { // after the job that goes first
					jobs = 2
				}
				u, l = max(u, jobs*limits.Usual), max(l, jobs*limits.Longest)
			default:
				n := q.Requests / int64(max(1, q.Rounds))
				live[q.Lane.Provider] += n
				if lane, ok := d.Study.Lane(q.Lane.Name); ok {
					u = max(u, lane.Live.Takes(n))
				}
			}
		}
		for name, n := range live {
			caps, _ := d.Study.Providers.Find(name)
			u = max(u, caps.Live.Takes(n))
		}
		usual, longest = usual+u, longest+max(u, l)
	}
	return usual, longest
}

// Hours returns a length of time in words.
func Hours(t time.Duration) string {
	switch {
	case t < 2*time.Minute:
		return fewMinutes
	case t < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", t.Minutes())
	}
	return fmt.Sprintf("%.0f hours", t.Hours())
}
