package web

import (
	"net/http"
	"time"

	"assay/internal/find/results/findings"
	"assay/internal/show/report/words"
)

// summaryData is the first thing that a reader sees of a run: what it found.
type summaryData struct {
	Run         runRow
	Lead, About string    // the study's description, before the answer where it is short
	Known       bool      // there are findings
	Current     bool      // they are of the ledger as it is
	At          time.Time // when they were computed
	Answer      *words.Summary
	Before      string // the run of the same study before this one; empty: there is none
}

// summaryPage shows what a run found.
func (s *Server) summaryPage(q *request) (*view, error) {
	row, err := s.rowOf(q.Context(), q.home, q.run)
	if err != nil {
		return nil, err
	}
	f, err := s.findingsOf(q, "")
	if err != nil {
		return nil, err
	}
	before, err := runBefore(q)
	if err != nil {
		return nil, err
	}
	data := summaryData{Run: row, Known: f.Known, Current: f.Current, At: f.At, Before: before}
	v := &view{template: "summary", title: q.run.Study, run: &row, tab: "summary", data: data, live: "/runs/" + q.run.ID + "/news?by="}
	if q.api() {
		if !f.Known {
			return nil, &problem{http.StatusServiceUnavailable, "the findings are still being computed"}
		}
		v.data = findings.SummaryOf(words.Summarise(f.Value.document))
		return v, nil
	}
	if f.Known {
		data.Lead, data.About = words.Lead(f.Value.document.Description)
		data.Answer = linked(words.Summarise(f.Value.document), q.run.ID)
		v.data = data
	}
	return v, nil
}

// linked adds to a summary the addresses of the rows behind its numbers.
func linked(s *words.Summary, run string) *words.Summary {
	if s.Board == nil {
		return s
	}
	for _, row := range s.Board.Rows {
		for i := range row.Cells {
			if !row.Cells[i].None {
				row.Cells[i].Link = verdictsLink(run, "stage", s.Board.Columns[i].Stage, s.Board.Field, row.Name)
			}
		}
	}
	return s
}

// findingsOf waits for the findings of a run: a page not for long, a program until they are there.
func (s *Server) findingsOf(q *request, by string) (found[*runFindings], error) {
	version, err := q.home.Pages.Version(q.Context(), q.run.No)
	if err != nil {
		return found[*runFindings]{}, err
	}
	patience, err := q.patience()
	if err != nil {
		return found[*runFindings]{}, err
	}
	f := s.findings.get(q.Context(), findingsKey{q.home, q.run.No, by}, version, patience)
	if f.Err != nil {
		return f, &problem{http.StatusUnprocessableEntity, f.Err.Error()}
	}
	return f, nil
}
