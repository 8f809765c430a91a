package results

import "assay/report"

// SummaryJSON is the answer of a run for programs: the sentences that people read, and the lanes in order.
type SummaryJSON struct {
	Headline string       `json:"headline"`
	Further  []string     `json:"further"`
	Coverage string       `json:"coverage"`
	Complete bool         `json:"complete"`
	Caveats  []caveatJSON `json:"caveats"`
	Ranked   []rankedJSON `json:"ranked"`
}

type caveatJSON struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}

type rankedJSON struct {
	Name  string `json:"name"`
	Model string `json:"model,omitempty"`
	Tier  string `json:"tier,omitempty"` // those that share a letter cannot be told apart
}

// SummaryOf is a summary for programs.
func SummaryOf(s *report.Summary) *SummaryJSON {
	out := &SummaryJSON{Headline: s.Headline.String(), Further: []string{}, Coverage: s.Coverage, Complete: s.Complete, Caveats: []caveatJSON{}, Ranked: []rankedJSON{}}
	for _, f := range s.Further {
		out.Further = append(out.Further, f.String())
	}
	for _, c := range s.Caveats {
		out.Caveats = append(out.Caveats, caveatJSON(c))
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
