package study

import (
	"fmt"
	"strings"

	"assay/internal/study/declare"
)

// Declared returns what a study declares about its findings: which are primary, all analyses, the thresholds under `require`, and what
// is left out or counted in a way of its own.
func (s *Study) Declared() []declare.Said {
	var out []declare.Said
	for i := range s.Analyses {
		a := &s.Analyses[i]
		out = append(out, declare.Said{Kind: declare.Analysis, Text: a.Text()})
		if a.Primary {
			out = append(out, declare.Said{Kind: declare.Primary, Text: a.Text()})
		}
	}
	for _, r := range s.Require {
		out = append(out, declare.Said{Kind: declare.Threshold, Text: r.Source})
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		for _, rule := range []struct{ key, value string }{
			{"refused", string(st.Count.Refused)}, {"cut", string(st.Count.Cut)}, {"jury", string(st.Jury)},
		} {
			if rule.value != "" {
				text := fmt.Sprintf("stage %s, %s: %s", st.Name, rule.key, rule.value)
				out = append(out, declare.Said{Kind: declare.Exclusion, Text: text})
			}
		}
	}
	return out
}

// Text returns the analysis in the words of a study, without whether it is primary.
func (a *Analysis) Text() string {
	var out []string
	add := func(key string, value any, set bool) {
		if set {
			out = append(out, fmt.Sprintf("%s: %v", key, value))
		}
	}
	add("of", a.Of, true)
	add("method", a.Method, a.Method != "")
	add("by", "["+strings.Join(a.By.List, ", ")+"]", a.By.List != nil)
	add("where", a.Filter.Source, a.Filter.Source != "")
	add("with", a.With, a.With != "")
	add("control", "["+strings.Join(a.Control.List, ", ")+"]", len(a.Control.List) > 0)
	add("ridge", a.Ridge, a.Ridge != 0)
	add("firth", a.Firth, a.Firth)
	add("k", a.K, a.K != 0)
	if a.Start != nil {
		add("start", *a.Start, true)
	}
	add("orders", a.Orders, a.Orders != 0)
	add("bootstrap", a.Bootstrap, a.Bootstrap != 0)
	add("seed", a.Seed, a.Seed != 0)
	add("level", a.Level, a.Level != 0)
	add("margin", a.Margin, a.Margin != 0)
	add("baseline", a.Baseline, a.Baseline != "")
	add("against", a.Against, a.Against != "")
	return strings.Join(out, ", ")
}
