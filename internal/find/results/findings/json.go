package findings

import (
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report/words"
)

// JSON are the findings of a run for programs. What does not exist is null, and why gives the reason.
type JSON struct {
	Run        string          `json:"run"`
	Study      string          `json:"study"`
	Rehearsal  bool            `json:"rehearsal,omitempty"`
	Incomplete bool            `json:"incomplete"`
	Plan       *planDocument   `json:"plan,omitempty"` // when the study declared what; not there: that is not known
	Summary    *SummaryJSON    `json:"summary,omitempty"`
	Tables     []TableJSON     `json:"tables"`
	Costs      []spentDocument `json:"costs"`
	Gates      []gateDocument  `json:"gates"`
}

// TableJSON is a table of findings for programs.
type TableJSON struct {
	Stage      string           `json:"stage"`
	Title      string           `json:"title"`
	Method     string           `json:"method"`
	Primary    bool             `json:"primary,omitempty"`
	Coverage   coverageDocument `json:"coverage"`
	Incomplete bool             `json:"incomplete"`
	Findings   []FindingJSON    `json:"findings"`
	Matrix     *matrixDocument  `json:"matrix,omitempty"`
	Confusions []confusionDoc   `json:"confusions,omitempty"`
	Disagreed  []disagreedDoc   `json:"disagreed,omitempty"` // pairs whose two orders disagree
	People     bool             `json:"people,omitempty"`    // it rests on people's verdicts alone
	Notes      []string         `json:"notes,omitempty"`
}

type coverageDocument struct {
	Share     *float64 `json:"share"`
	Planned   int      `json:"planned"`
	Valid     int      `json:"valid"`
	Abstained int      `json:"abstained"`
	Malformed int      `json:"malformed"`
	Failed    int      `json:"failed"`
	Missing   int      `json:"missing"`
	Excluded  int      `json:"excluded"`
	Fallback  int      `json:"fallback,omitempty"` // of the valid ones: from another lane in the judge's place
}

// FindingJSON is one finding for programs.
type FindingJSON struct {
	What      string            `json:"what"`
	By        map[string]string `json:"by"`
	Unit      string            `json:"unit"`
	Value     *float64          `json:"value"`
	SE        *float64          `json:"se"`
	Low       *float64          `json:"low"`
	High      *float64          `json:"high"`
	Level     float64           `json:"level"`
	N         int               `json:"n"`
	Clusters  int               `json:"clusters"`
	Coverage  coverageDocument  `json:"coverage"`
	BoundLow  *float64          `json:"bound_low"`
	BoundHigh *float64          `json:"bound_high"`
	Method    string            `json:"method,omitempty"`
	P         *float64          `json:"p,omitempty"`
	Holm      *float64          `json:"p_holm,omitempty"`
	Margin    *float64          `json:"margin,omitempty"`  // of no-worse: what may be lost at most, in the unit
	Verdict   string            `json:"verdict,omitempty"` // of no-worse: no worse, worse or cannot tell
	Rank      *rankBounds       `json:"rank,omitempty"`
	Best      *float64          `json:"chance_of_best,omitempty"`
	Record    *recordDocument   `json:"record,omitempty"`
	Counts    map[string]int    `json:"counts,omitempty"`
	Quasi     *float64          `json:"quasi_se,omitempty"`
	Rule      string            `json:"rule,omitempty"`
	Other     *otherDocument    `json:"other_rule,omitempty"`
	Primary   bool              `json:"primary,omitempty"`
	Words     string            `json:"words,omitempty"`
	Notes     []string          `json:"notes,omitempty"`
	Why       string            `json:"why,omitempty"`          // why there is no value
	WhyNo     string            `json:"why_interval,omitempty"` // why there is no interval
}

type rankBounds struct {
	Rank  int `json:"rank"`
	Best  int `json:"best"`
	Worst int `json:"worst"`
}

type recordDocument struct {
	Wins   int `json:"wins"`
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
}

// disagreedDoc is a pair, and who won it in each order; tie: neither.
type disagreedDoc struct {
	By       map[string]string `json:"by,omitempty"`
	Item     string            `json:"item,omitempty"`
	First    string            `json:"first"`
	Second   string            `json:"second"`
	Judge    string            `json:"judge"`
	Trait    string            `json:"trait,omitempty"`
	Prompt   string            `json:"prompt,omitempty"`
	Template string            `json:"template,omitempty"`
	Branch   string            `json:"branch,omitempty"`
	Turn     int               `json:"turn"`
	Draw     int               `json:"draw"`
	Forth    string            `json:"won_first_shown_first"`
	Back     string            `json:"won_second_shown_first"`
}

type otherDocument struct {
	Rule  string   `json:"rule"`
	Value *float64 `json:"value"`
	N     int      `json:"n"`
}

type matrixDocument struct {
	Names  []string     `json:"names"`
	Shares [][]*float64 `json:"shares"`
}

// confusionDoc counts a judge's verdicts by the true label and then by the judge's.
type confusionDoc struct {
	Judge  string   `json:"judge"`
	Labels []string `json:"labels"`
	Counts [][]int  `json:"counts"`
}

type spentDocument struct {
	Stage      string   `json:"stage"`
	Lane       string   `json:"lane"`
	Cost       *float64 `json:"cost_usd"` // null: some of it has no known price
	AtLeast    float64  `json:"at_least_usd"`
	Spent      *float64 `json:"spent_usd"` // by this run
	Answers    int64    `json:"answers"`
	PerAnswer  *float64 `json:"per_answer_usd"`
	PerVerdict *float64 `json:"per_valid_verdict_usd"`
}

type gateDocument struct {
	Condition string `json:"condition"`
	Passed    bool   `json:"passed"`
	Why       string `json:"why,omitempty"`
}

// JSON returns the findings for programs.
func (a *Findings) JSON() JSON {
	doc := JSON{
		Run: a.Run.ID, Study: a.Run.Study, Rehearsal: a.Rehearsal, Incomplete: a.Report.Incomplete(),
		Plan: planOf(a.Report.Plan), Tables: []TableJSON{}, Costs: []spentDocument{}, Gates: []gateDocument{},
	}
	for i := range a.Report.Tables {
		doc.Tables = append(doc.Tables, tableOf(&a.Report.Tables[i]))
	}
	for _, c := range a.Costs {
		one := spentDocument{Stage: c.Stage, Lane: c.Lane, AtLeast: c.Cost.Sum.Float(), Answers: c.Answers, PerAnswer: c.Per(c.Answers),
			Spent: c.Spent.Dollars(), PerVerdict: c.Per(int64(c.Valid))}
		if c.Cost.Known() {
			one.Cost = &one.AtLeast
		}
		doc.Costs = append(doc.Costs, one)
	}
	for _, g := range a.Gates {
		doc.Gates = append(doc.Gates, gateDocument(g))
	}
	return doc
}

func coverageOf(c analysis.Coverage) coverageDocument {
	return coverageDocument{
		Share: c.Share().OrNil(), Planned: c.Planned, Valid: c.Valid, Abstained: c.Abstained, Malformed: c.Malformed, Failed: c.Failed,
		Missing: c.Missing, Excluded: c.Excluded, Fallback: c.Fallback,
	}
}

func tableOf(t *analysis.Table) TableJSON {
	doc := TableJSON{
		Stage: t.Stage, Title: t.Title, Method: string(t.Method), Primary: t.Primary, Coverage: coverageOf(t.Coverage),
		Incomplete: t.Incomplete(), Findings: []FindingJSON{}, Notes: t.AllNotes(), People: t.People,
	}
	for _, c := range t.Confusions {
		doc.Confusions = append(doc.Confusions, confusionDoc(c))
	}
	for _, d := range t.Disagreed {
		doc.Disagreed = append(doc.Disagreed, disagreedDoc{fieldsOf(d.By), d.Item, d.First, d.Second, d.Judge, d.Trait, d.Prompt,
			d.Template, d.Branch, d.Turn, d.Draw, d.Forth, d.Back})
	}
	for i := range t.Findings {
		doc.Findings = append(doc.Findings, findingOf(&t.Findings[i]))
	}
	if t.Matrix != nil {
		doc.Matrix = &matrixDocument{Names: t.Matrix.Names}
		for _, row := range t.Matrix.Shares {
			var shares []*float64
			for _, s := range row {
				shares = append(shares, s.OrNil())
			}
			doc.Matrix.Shares = append(doc.Matrix.Shares, shares)
		}
	}
	return doc
}

func findingOf(f *analysis.Finding) FindingJSON {
	doc := FindingJSON{
		What: f.What, By: fieldsOf(f.By), Unit: string(f.Unit), Value: f.Value.OrNil(), SE: f.SE.OrNil(), Level: f.Level, N: f.N,
		Clusters: f.Clusters, Coverage: coverageOf(f.Coverage), Method: f.Method, P: f.P.OrNil(), Holm: f.Holm.OrNil(), Rule: f.Rule,
		Primary: f.Primary, Words: f.Words, Notes: f.Notes,
	}
	doc.Low, doc.High = f.Interval.OrNil()
	doc.BoundLow, doc.BoundHigh = f.Bounds.OrNil()
	doc.Why, doc.WhyNo = reason(f.Value), f.Interval.Why
	doc.Quasi = f.Quasi.OrNil()
	if f.Rank != nil {
		doc.Rank = &rankBounds{f.Rank.Rank, f.Rank.Best, f.Rank.Worst}
	}
	doc.Best = f.Best.OrNil()
	if f.Margin != nil {
		doc.Margin, doc.Verdict = &f.Margin.Size, string(f.Margin.Standing)
	}
	if f.Record != nil {
		doc.Record = (*recordDocument)(f.Record)
	}
	for _, c := range f.Counts {
		if doc.Counts == nil {
			doc.Counts = map[string]int{}
		}
		doc.Counts[c.Name] = c.N
	}
	if f.Other != nil {
		doc.Other = &otherDocument{f.Other.Rule, f.Other.Value.OrNil(), f.Other.N}
	}
	return doc
}

func fieldsOf(by []analysis.Value) map[string]string {
	out := map[string]string{}
	for _, v := range by {
		out[v.Field] = v.Value
	}
	return out
}

func reason(n stats.Number) string {
	if n.OK {
		return ""
	}
	return n.Why
}

// SummaryJSON is the answer of a run for programs: the sentences that people read, and the lanes in order.
type SummaryJSON struct {
	Headline string       `json:"headline"`
	Basis    []string     `json:"basis"` // what it rests on
	Further  []string     `json:"further"`
	Coverage string       `json:"coverage"`
	Complete bool         `json:"complete"`
	Caveats  []caveatJSON `json:"caveats"`
	Judges   []judgeJSON  `json:"judges"` // how far people have checked them
	Ranked   []rankedJSON `json:"ranked"`
	Sides    []sideJSON   `json:"side_by_side"` // lanes of all stages that push back
	Settling []settleJSON `json:"settling"`     // neighbours that cannot be told apart, and what would
}

// sideJSON is a lane in one stage that pushes back. Those with the same board are ranked, who took back least first.
type sideJSON struct {
	Board           int              `json:"board"`
	Lane            string           `json:"lane"`
	Model           string           `json:"model,omitempty"`
	Stage           string           `json:"stage"`
	Source          string           `json:"source"`
	First           FindingJSON      `json:"first_stance"`
	Rate            FindingJSON      `json:"taken_back"`
	Again           *FindingJSON     `json:"asked_again"` // null: there was no control
	BatchScore      FindingJSON      `json:"batch_score"`
	BatchResistance FindingJSON      `json:"batch_resistance"`
	LiveScore       FindingJSON      `json:"live_score"`
	Resistance      FindingJSON      `json:"resistance"`
	Coverage        coverageDocument `json:"coverage"`
	Cost            *float64         `json:"cost_per_1000_usd"` // of the lane's answers; null: not known
}

func sideOf(r *words.SideRow) sideJSON {
	out := sideJSON{
		Board: r.Board + 1, Lane: r.Lane, Model: r.Model, Stage: r.Stage, Source: r.Source, First: findingOf(&r.First),
		Rate: findingOf(&r.Rate), BatchScore: findingOf(&r.BatchScore), BatchResistance: findingOf(&r.BatchResistance),
		LiveScore: findingOf(&r.LiveScore), Resistance: findingOf(&r.Resistance), Coverage: coverageOf(r.Coverage), Cost: r.Cost.OrNil(),
	}
	if r.Control {
		again := findingOf(&r.Again)
		out.Again = &again
	}
	return out
}

type settleJSON struct {
	Stage  string     `json:"stage"`
	First  string     `json:"first"`
	Second string     `json:"second"`
	Unit   string     `json:"unit"`
	Even   *needsJSON `json:"even_chance"` // null: no sensible number
	Likely *needsJSON `json:"chance_80"`
}

// needsJSON is how many more, and what they cost in dollars; null: not known.
type needsJSON struct {
	More  float64  `json:"more"`
	Unit  string   `json:"unit,omitempty"` // what they are, where they are not what the quote is in
	Batch *float64 `json:"cost_batch"`
	Live  *float64 `json:"cost_live"`
}

func needsOf(a words.Amount) *needsJSON {
	if !a.Known {
		return nil
	}
	out := &needsJSON{More: a.N, Unit: a.Unit}
	if a.Cost.Batch.OK {
		out.Batch = &a.Cost.Batch.Value
	}
	if a.Cost.Live.OK {
		out.Live = &a.Cost.Live.Value
	}
	return out
}

type caveatJSON struct {
	Title   string   `json:"title"`
	Text    string   `json:"text"`
	Command string   `json:"command,omitempty"`
	Points  []string `json:"points,omitempty"` // further lines of the text
}

type rankedJSON struct {
	Name  string `json:"name"`
	Model string `json:"model,omitempty"`
	Tier  string `json:"tier,omitempty"` // those that share a letter cannot be told apart
}

// SummaryOf returns a summary for programs.
func SummaryOf(s *words.Summary) *SummaryJSON {
	out := &SummaryJSON{Headline: s.Headline.String(), Basis: []string{}, Further: []string{}, Coverage: s.Coverage, Complete: s.Complete,
		Caveats: []caveatJSON{}, Judges: []judgeJSON{}, Ranked: []rankedJSON{}, Sides: []sideJSON{}, Settling: []settleJSON{}}
	for _, f := range s.Basis {
		out.Basis = append(out.Basis, f.Text)
	}
	for _, f := range s.Further {
		out.Further = append(out.Further, f.String())
	}
	for _, c := range s.Caveats {
		out.Caveats = append(out.Caveats, caveatJSON{c.Title, c.Text, c.Command, c.Points})
	}
	for i := range s.Sides {
		out.Sides = append(out.Sides, sideOf(&s.Sides[i]))
	}
	for _, x := range s.Settling {
		out.Settling = append(out.Settling, settleJSON{x.Stage, x.First, x.Second, x.Unit, needsOf(x.Even), needsOf(x.Likely)})
	}
	for _, j := range s.Judges {
		out.Judges = append(out.Judges, judgeStateOf(j))
	}
	if s.Board != nil {
		for _, r := range s.Board.Rows {
			out.Ranked = append(out.Ranked, rankedJSON{r.Name, r.Model, r.Tier})
		}
	}
	return out
}

// With returns the findings with their summary.
func (f JSON) With(s *words.Summary) JSON {
	f.Summary = SummaryOf(s)
	return f
}
