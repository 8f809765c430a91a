package results

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/study"
)

// settingsOf are the lanes of a study as findings are grouped by them.
func settingsOf(st *study.Study) map[string]*analysis.LaneSetting {
	out := map[string]*analysis.LaneSetting{}
	for _, l := range st.Lanes {
		out[l.Name] = &analysis.LaneSetting{Provider: l.Provider, Model: l.Model, Effort: l.Params.Effort, Thinking: thinkingText(l.Params.Thinking)}
	}
	return out
}

func thinkingText(t assay.Thinking) string {
	switch t.Mode {
	case assay.ThinkingTokens:
		return strconv.Itoa(t.Tokens)
	case assay.ThinkingLevel:
		return t.Level
	}
	return string(t.Mode)
}

// asking fills in how the answers of a row were asked for.
func (d *rowReader) asking(r *analysis.Row, at assay.Coordinates) {
	r.Source, r.Root = at.Source, at.Source
	if root, ok := d.roots[at.Source]; ok {
		r.Root = root
	}
	if r.Item == "" && r.Other != "" { // items are compared
		return
	}
	r.Asked, r.OtherAsked = d.settings[r.Lane], d.settings[r.Other]
}

// beginnings are the stages in which the conversations of stages began that go on with those of another.
func (d *rowReader) beginnings() map[string]string {
	out := map[string]string{}
	for i := range d.study.Stages {
		st := &d.study.Stages[i]
		root := st
		for range d.study.Stages {
			before := d.before(root)
			if len(before) == 0 {
				break
			}
			root = before[0]
		}
		if root != st {
			out[st.Name] = root.Name
		}
	}
	return out
}

// know reads what is known of items that are compared, where an analysis asks for it.
func (d *rowReader) know(ctx context.Context, stages []analysis.Stage, specs []analysis.Spec) error {
	for i := range stages {
		s := &stages[i]
		var wanted []string
		for _, p := range specs {
			if p.Stage == s.Name && p.With != "" && s.Items && !slices.Contains(wanted, p.With) {
				wanted = append(wanted, p.With)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		st, _ := d.study.Stage(s.Name)
		s.Known = map[string]map[string]string{}
		for it, err := range d.Ledger.Items(ctx, d.run.No, st.Compare) {
			if err != nil {
				return err
			}
			for _, f := range wanted {
				if v, ok := fieldAt(it.Fields, f); ok {
					if s.Known[f] == nil {
						s.Known[f] = map[string]string{}
					}
					s.Known[f][it.ID] = fmt.Sprint(v)
				}
			}
		}
	}
	return nil
}
