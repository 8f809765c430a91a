package workspace

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"assay/internal/study"
	"assay/internal/study/studyfile"
)

// Scope narrows a study to a part, over the settings in its file.
type Scope struct {
	Rows    string   // only these rows of each input that is asked
	Items   []string // only the items with these ids
	Repeats int      // how often every question is asked; 0: as in the study
	NoCache bool     // no cache marks on shared contexts
}

// Sets returns the scope as settings of the study, path=value. They are kept with the run. What is wrong with the study comes back
// as assay.Problems.
func (w *World) Sets(name string, o StudyOptions, s Scope) ([]string, error) {
	var out []string
	if s.NoCache {
		out = append(out, "prompt_cache=false")
	}
	if s.Rows == "" && len(s.Items) == 0 && s.Repeats == 0 {
		return out, nil
	}
	dir, base := filepath.Split(name)
	st, problems := studyfile.Read(w.Disk.Folder(dir), base, studyfile.Options{Profile: o.Profile, Set: o.Set})
	if st == nil {
		return nil, InFolder(problems, dir)
	}
	return append(out, s.of(st)...), nil
}

// of returns the scope for each input that is asked, and each stage that asks.
func (s Scope) of(st *study.Study) []string {
	var out []string
	done := map[string]bool{}
	for i := range st.Stages {
		stage := &st.Stages[i]
		if s.Repeats > 0 && stage.Verb() == study.VerbAsk {
			out = append(out, fmt.Sprintf("stages.%s.repeats=%d", stage.Name, s.Repeats))
		}
		name := stage.Ask
		if stage.Verb() == study.VerbCompare {
			name = stage.Compare
		}
		in, ok := st.Inputs.Find(name)
		if !ok || done[name] {
			continue
		}
		done[name] = true
		if s.Rows != "" {
			out = append(out, "inputs."+name+".rows="+quoted(s.Rows))
		}
		if len(s.Items) > 0 {
			ids := make([]string, len(s.Items))
			for i, id := range s.Items {
				ids[i] = quoted(id)
			}
			where := "id in [" + strings.Join(ids, ", ") + "]"
			if in.Filter.Source != "" {
				where = "(" + in.Filter.Source + ") and " + where
			}
			out = append(out, "inputs."+name+".where="+quoted(where))
		}
	}
	return out
}

// quoted returns a text as YAML and conditions write it.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string can always be written
	return string(b)
}
