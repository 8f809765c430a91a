package site

import (
	"fmt"
	"net/url"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// LinksOf returns the addresses of the rows behind numbers.
func LinksOf(run string) report.Links {
	return report.Links{
		Finding: func(t *analysis.Table, f *analysis.Finding) string {
			by := []string{"stage", t.Stage}
			for _, v := range f.By {
				by = append(by, v.Field, v.Value)
			}
			return VerdictsLink(run, by...)
		},
		Pair: func(t *analysis.Table, row, column string) string {
			return VerdictsLink(run, "stage", t.Stage, "lane", row, "against", column)
		},
		Lane: func(stage, lane string, e assay.Ending) string {
			return AnswersLink(run, stage, lane, e)
		},
		Segment: func(no int64) string { return fmt.Sprintf("/runs/%s/segments/%d", run, no) },
	}
}

// VerdictsLink returns the address of the rows behind a number.
func VerdictsLink(run string, by ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(by); i += 2 {
		if by[i+1] != "" {
			q.Set(by[i], by[i+1])
		}
	}
	return "/runs/" + run + "/verdicts?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// WithFiles gives figures the addresses of their files.
func WithFiles(run, by string, figures ...*plot.Figure) {
	for _, f := range figures {
		f.Files = "/runs/" + run + "/figures/" + url.PathEscape(f.ID)
		if by != "" {
			f.Query = "?by=" + url.QueryEscape(by)
		}
	}
}

// AnswersLink returns the address of the answers of a lane that ended in a way.
func AnswersLink(run, stage, lane string, e assay.Ending) string {
	q := url.Values{}
	for name, value := range map[string]string{"stage": stage, "lane": lane, "ending": string(e)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/runs/" + run + "/answers?" + q.Encode()
}

// AnswerLink returns the address of the page of one answer. The item goes along: by it, a request of a large run is found at once.
func AnswerLink(run, key, item string) string {
	return "/runs/" + run + "/answers/" + key + "?item=" + url.QueryEscape(item)
}
