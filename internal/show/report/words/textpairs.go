package words

import (
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

// pairsLeft returns how many pairs of its texts a stage has not judged.
func (r *ranked) pairsLeft() int {
	n := len(r.Places)
	return max(0, n*(n-1)/2-r.Clusters)
}

// atMost takes back what is quoted above the pairs that are left.
func (s *Settling) atMost(left int) {
	s.Short = !s.Even.Known || s.Even.N > float64(left)
	for _, a := range []*Amount{&s.Even, &s.Likely} {
		a.Known = a.Known && a.N <= float64(left)
	}
}

// morePairs returns the caveats on texts that cannot be told apart: once for each stage, whether more pairs of them would
// do it, and what to change in the study.
func (d document) morePairs(all []*ranked) []Caveat {
	var out []Caveat
	var done []string
	for _, r := range all {
		if r.Field != analysis.ByItem || r.Rounds != nil || slices.Contains(done, r.Stage) {
			continue
		}
		c := d.buysPairs(r)
		if c == nil {
			c = d.noPairsLeft(r)
		}
		if c != nil {
			out, done = append(out, *c), append(done, r.Stage)
		}
	}
	return out
}

// startPerText is how many pairs a text a ranking is started with.
const startPerText = 5

// buysPairs returns the caveat that more pairs tell neighbours apart, or would show what it takes; nil: they do not.
func (d document) buysPairs(r *ranked) *Caveat {
	most, left := 0.0, r.pairsLeft()
	for _, s := range d.settlings(r) {
		switch {
		case s.Likely.Known:
			most = max(most, s.Likely.N)
		case s.Even.Known:
			most = max(most, s.Even.N)
		}
	}
	if r.Scanty() && r.opens() {
		most = min(float64(left), float64(max(1, startPerText*len(r.Places)-r.Clusters)))
	}
	if most == 0 {
		return nil
	}
	return d.raises(r, fmt.Sprintf("Stage %s has judged %s of its texts and leaves %s out. A text gains by pairs with any other.", r.Stage,
		assay.Count(r.Clusters, "pair"), assay.Thousands(left)), int(most))
}

// raises returns the caveat that more pairs should be judged, with the edit or the command that does it.
func (d document) raises(r *ranked, text string, more int) *Caveat {
	from := d.Pairings[r.Stage]
	switch {
	case d.Rerun.Command == "" || from.Limit == "":
		return &Caveat{Title: "More pairs.", Text: text}
	case from.Limit != "sample" || from.Grouped || r.Coverage.Incomplete():
		return &Caveat{Title: "More pairs.",
			Text: fmt.Sprintf("%s Change `%s` in the `pairs` of the stage (%s).", text, from.Limit, d.Rerun.File)}

	}
	return &Caveat{Title: "More pairs.", Text: d.again(text + " Raise the sample"), Button: "Judge more pairs",
		Size:    assay.Count(more, "pair") + " of " + assay.Thousands(r.pairsLeft()),
		Command: fmt.Sprintf("%s --set stages.%s.pairs.sample=%d", d.Rerun.Command, r.Stage, r.Clusters+more) + d.Where}

}

// opens reports whether there are neighbours that were tested and cannot be told apart.
func (r *ranked) opens() bool {
	for k := range r.order[min(1, len(r.order)):] {
		if r.tested && !r.differ(r.order[k], r.order[k+1]) {
			return true
		}
	}
	return false
}

// noPairsLeft returns the caveat that neighbours take more pairs than are left; nil: none do.
func (d document) noPairsLeft(r *ranked) *Caveat {
	short := slices.ContainsFunc(d.settlings(r), func(s Settling) bool { return s.Short })
	if !short && (!r.Scanty() || !r.opens()) {
		return nil
	}
	pairs, left := fmt.Sprintf("all %s are judged", assay.Count(r.Clusters, "pair")), r.pairsLeft()
	switch {
	case 2*left > r.Clusters:
		return d.raises(r, fmt.Sprintf("Stage %s has judged %s of its texts and leaves %s out. More of them tell more texts apart; "+
			"some neighbours are too close even for all of them.", r.Stage, assay.Count(r.Clusters, "pair"), assay.Thousands(left)),
			min(left, r.Clusters))
	case left > 0:
		pairs = fmt.Sprintf("%s judged, and %s more %s not enough", are(int64(r.Clusters), "pair"), assay.Thousands(left),
			assay.Verb(left, "is", "are"))
	}
	text := fmt.Sprintf("In stage %s, some neighbours cannot be told apart with these texts and judges: %s.", r.Stage, pairs)
	if d.Rerun.File == "" {
		return &Caveat{Title: "No pairs left.", Text: text + " Another judge or more texts would help."}
	}
	from, both := d.Pairings[r.Stage], ""
	if !from.Both {
		both = ", show pairs both ways (`order: both` in its `pairs`)"
	}
	return &Caveat{Title: "No pairs left.", Text: fmt.Sprintf("%s Add a judge (`judges` of the stage)%s or add texts (input %s) in %s.",
		text, both, from.Input, d.Rerun.File)}

}
