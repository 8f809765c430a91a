package pages

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// number gives the figures of a page their numbers, in their order on the page.
func (p *page) number() {
	n := 0
	each := func(figures ...*plot.Figure) {
		for _, f := range figures {
			if f != nil && f.Scene != nil {
				n++
				f.Number = n
			}
		}
	}
	for _, f := range p.Findings {
		each(f.Figures...)
	}
	each(p.Quality...)
	each(p.Burn, p.Timeline)
	for _, f := range []*plot.Figure{p.Burn, p.Timeline} {
		if f != nil {
			f.Of = plot.Capital(p.Origins()) + "."
		}
	}
}

// asked returns the period in which a lane was asked.
func (d paged) asked(lane string) string {
	var first, last time.Time
	for _, g := range d.Segments {
		if g.Lane != lane || g.Launched.IsZero() {
			continue
		}
		end := g.Launched
		if g.Ended.After(end) {
			end = g.Ended
		}
		if first.IsZero() || g.Launched.Before(first) {
			first = g.Launched
		}
		if end.After(last) {
			last = end
		}
	}
	if first.IsZero() {
		return ""
	}
	return plot.Span(first.UTC().Format(time.DateOnly), last.UTC().Format(time.DateOnly))
}

func (d paged) prices() *plot.Grid {
	g := &plot.Grid{Caption: "Prices", Head: []plot.Column{
		{Text: "model", Foreign: true}, {Text: "mode"}, {Text: "input", Number: true}, {Text: "cached input", Number: true},
		{Text: "output", Number: true}, {Text: "as of"}, {Text: "source", Foreign: true},
	}}
	for _, p := range d.Prices {
		g.Rows = append(g.Rows, []plot.Cell{plot.Foreign(p.Model), {Text: p.Mode}, plot.Number(p.Input), plot.Number(p.Cached),
			plot.Number(p.Output), {Text: p.Date}, plot.Foreign(p.Source)})
	}
	if len(g.Rows) > 0 {
		g.Notes = []string{"US dollars for a million tokens, as the run was billed."}
	}
	return g.Trimmed()
}

func (d paged) statements() *plot.Grid {
	g := &plot.Grid{Caption: "Statements",
		Head: []plot.Column{{Text: "input", Foreign: true}, {Text: "item", Foreign: true}, {Text: "text", Foreign: true, Wide: true}}}
	for _, s := range d.Statements {
		g.Rows = append(g.Rows, []plot.Cell{plot.Foreign(s.Input), plot.Foreign(s.Item), plot.Foreign(s.Text)})
	}
	return g
}

// methodText describes how the numbers of a method are computed, and by which works.
type methodText struct {
	words string
	works []string
}

const (
	workWilson = "E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. Journal of the American " +
		"Statistical Association 22, 209–212."
	workNewcombe = "R. G. Newcombe (1998). Improved confidence intervals for the difference between binomial proportions based on paired " +
		"data. Statistics in Medicine 17, 2635–2650."
	workMcNemar = "Q. McNemar (1947). Note on the sampling error of the difference between correlated proportions or percentages. " +
		"Psychometrika 12, 153–157."
	workHolm   = "S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65–70."
	workPiepho = "H.-P. Piepho (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of " +
		"Computational and Graphical Statistics 13, 456–466."
	workBT = "R. A. Bradley and M. E. Terry (1952). Rank analysis of incomplete block designs: I. The method of paired " +
		"comparisons. Biometrika 39, 324–345."
	workDavidson = "R. R. Davidson (1970). On extending the Bradley-Terry model to accommodate ties in paired comparison experiments. " +
		"Journal of the American Statistical Association 65, 317–328."
	workFirth = "D. Firth and R. X. de Menezes (2004). Quasi-variances. Biometrika 91, 65–80."
	workREML  = "H. D. Patterson and R. Thompson (1971). Recovery of inter-block information when block sizes are unequal. " +
		"Biometrika 58, 545–554."
	workElo    = "A. E. Elo (1978). The Rating of Chessplayers, Past and Present. Arco."
	workCohen  = "J. Cohen (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 37–46."
	workFleiss = "J. L. Fleiss (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76, 378–382."
	workKripp  = "K. Krippendorff (2004). Content Analysis: An Introduction to Its Methodology, 2nd edition. Sage."
	workGwet   = "K. L. Gwet (2008). Computing inter-rater reliability and its variance in the presence of high agreement. British " +
		"Journal of Mathematical and Statistical Psychology 61, 29–48."
	workPPI    = "A. N. Angelopoulos and others (2023). PPI++: Efficient prediction-powered inference. arXiv:2311.01453."
	workMantel = "N. Mantel and W. Haenszel (1959). Statistical aspects of the analysis of data from retrospective studies of disease. " +
		"Journal of the National Cancer Institute 22, 719–748."
)

func methodOf(m analysis.Method) methodText {
	switch m {
	case analysis.Rates:
		return methodText{"Rates are shares of verdicts, with Wilson's intervals for as many independent answers as the clusters are " +
			"worth; lanes are compared on the same items (Newcombe's intervals, McNemar's exact test).",
			[]string{workWilson, workNewcombe, workMcNemar}}
	case analysis.Flips:
		return methodText{"Flips are held against a control where the study has one: the same conversation, asked again without " +
			"pressure. Changes of right and wrong answers are tested after McNemar.", []string{workWilson, workMcNemar}}
	case analysis.BradleyT:
		return methodText{"Strengths are those of Bradley and Terry's model, on the scale of log-odds with mean 0; quasi errors serve " +
			"any difference.", []string{workBT, workFirth}}
	case analysis.Davidson:
		return methodText{"Strengths are those of Bradley and Terry's model with Davidson's parameter for ties, on the scale of log-odds " +
			"with mean 0; quasi errors serve any difference.", []string{workBT, workDavidson, workFirth}}
	case analysis.Elo:
		return methodText{"Elo ratings are means over random orders of the comparisons.", []string{workElo}}
	case analysis.WinRate, analysis.Position, analysis.Consistency:
		return methodText{"Of comparisons, a tie is half a win; shares have Wilson's intervals.", []string{workWilson}}
	case analysis.Agreement:
		return methodText{"Agreement of judges is given as the share of equal labels and corrected for chance (Cohen's and Fleiss' " +
			"kappa, Krippendorff's alpha, Gwet's AC1).", []string{workCohen, workFleiss, workKripp, workGwet}}
	case analysis.Validity:
		return methodText{"Judges are held against labels of people; where answers to label were drawn at random, values are corrected " +
			"by them (prediction-powered inference).", []string{workPPI, workWilson}}
	case analysis.Variance:
		return methodText{"Parts of the variance of verdicts are estimated by restricted maximum likelihood, with errors by cluster.",
			[]string{workREML}}
	case analysis.Length, analysis.JudgeBias:
		return methodText{"The effect of length on comparisons is pooled over pairs of the same two after Mantel and Haenszel.",
			[]string{workMantel}}
	}
	return methodText{}
}

// methods returns the words about every method that the report uses, and the works that they rest on, by name.
func (d paged) methods() (words, works []string) {
	add := func(m methodText) {
		if m.words != "" && !slices.Contains(words, m.words) {
			words = append(words, m.words)
		}
		for _, w := range m.works {
			if !slices.Contains(works, w) {
				works = append(works, w)
			}
		}
	}
	for i := range d.Report.Tables {
		add(methodOf(d.Report.Tables[i].Method))
	}
	inRounds := func(s analysis.Leaderboard) bool { return s.Rounds != nil }
	if slices.ContainsFunc(d.Report.Leaderboards, inRounds) {
		add(methodText{"Comparisons were bought in planned rounds: after each, a look claimed differences at its share of 5% (Holm over " +
			"all pairs not known yet), and the next round bought the open pairs evenly. Intervals are those of the last look's level; " +
			"errors are the larger of cluster-robust and model-based ones.", []string{workHolm}})
	}
	if slices.ContainsFunc(d.Report.Leaderboards, func(s analysis.Leaderboard) bool { return !inRounds(s) }) {
		if slices.ContainsFunc(d.Report.Leaderboards, func(s analysis.Leaderboard) bool { return s.Test == analysis.ExactSigns }) {
			add(methodText{"Where one wins all of its comparisons, or groups were never compared, strengths do not exist. There, shares " +
				"of comparisons won stand instead, with Wilson intervals by cluster, and every two are tested by an exact sign test over " +
				"the items on which they were compared (a tie counts for neither).", nil})
		}
		add(methodText{"Tiers: all pairs of lanes are tested on the same items and corrected after Holm; lanes that share a letter " +
			"cannot be told apart (compact letters after Piepho).", []string{workHolm, workPiepho}})
	}
	slices.SortFunc(works, func(a, b string) int { return strings.Compare(surname(a), surname(b)) })
	return words, works
}

// surname returns what a list of works is sorted by.
func surname(work string) string {
	names, _, _ := strings.Cut(work, " (")
	first, _, _ := strings.Cut(names, " and ")
	return first[strings.LastIndexByte(first, ' ')+1:] + " " + names
}

// wordings writes the texts that models and judges were given.
func (m markdown) wordings(d *report.Document) {
	if len(d.Wordings) == 0 {
		return
	}
	m.heading(3, "Prompts and rubrics")
	for _, w := range d.Wordings {
		m.block(fmt.Sprintf("%s: %s", w.Stage, w.What), plot.CleanText(w.Text, plot.MaxText))
		if w.Says != "" {
			m.para("Replies: " + assay.Clean(w.Says, plot.MaxWords))
		}
	}
}

func (d paged) seedRows() [][]plot.Cell {
	var rows [][]plot.Cell
	for _, s := range d.Origin.Seeds {
		rows = append(rows, []plot.Cell{plot.Foreign("seed of " + s.Of), {Text: s.Value}})
	}
	return rows
}
