package results

import "assay/internal/show/report"

// SummaryJSON is the answer of a run for programs: the sentences that people read, and the lanes in order.
type SummaryJSON struct {
	Headline string       `json:"headline"`
	Further  []string     `json:"further"`
	Coverage string       `json:"coverage"`
	Complete bool         `json:"complete"`
	Caveats  []caveatJSON `json:"caveats"`
	Ranked   []rankedJSON `json:"ranked"`
	Settling []settleJSON `json:"settling"` // neighbours that cannot be told apart, and what would
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
	Batch *float64 `json:"cost_batch"`
	Live  *float64 `json:"cost_live"`
}

func needsOf(a report.Amount) *needsJSON {
	if !a.Known {
		return nil
	}
	out := &needsJSON{More: a.N}
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

// SummaryOf is a summary for programs.
func SummaryOf(s *report.Summary) *SummaryJSON {
	out := &SummaryJSON{Headline: s.Headline.String(), Further: []string{}, Coverage: s.Coverage, Complete: s.Complete, Caveats: []caveatJSON{}, Ranked: []rankedJSON{}, Settling: []settleJSON{}}
	for _, f := range s.Further {
		out.Further = append(out.Further, f.String())
	}
	for _, c := range s.Caveats {
		out.Caveats = append(out.Caveats, caveatJSON(c))
	}
	for _, x := range s.Settling {
		out.Settling = append(out.Settling, settleJSON{x.Stage, x.First, x.Second, x.Unit, needsOf(x.Even), needsOf(x.Likely)})
	}
	if s.Board != nil {
		for _, r := range s.Board.Rows {
			out.Ranked = append(out.Ranked, rankedJSON{r.Name, r.Model, r.Tier})
		}
	}
	return out
}

// With is the findings with their summary.
func (f FindingsJSON) With(s *report.Summary) FindingsJSON {
	f.Summary = SummaryOf(s)
	return f
}
