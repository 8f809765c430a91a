package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/inputs"
	"assay/study"
)

// scopeFlags say, on the command line of a run, what a study says in its file. They are kept with the run as what --set
// would have said.
type scopeFlags struct {
	rows    string
	items   []string
	repeats int
	mode    string
	noCache bool
	asked   func(flag string) bool // whether a flag was given
}

func (f *scopeFlags) register(c *cobra.Command) {
	flags := c.Flags()
	f.asked = flags.Changed
	flags.StringVar(&f.rows, "rows", "", "only these rows of each input that is asked, such as 1-100")
	flags.StringArrayVar(&f.items, "item", nil, "only the item with this id (repeatable)")
	flags.IntVar(&f.repeats, "repeats", 0, "how often every question is asked")
	flags.StringVar(&f.mode, "mode", "", "how everything travels: batch, live or batch-else-live, over what study, stages and lanes say")
	flags.BoolVar(&f.noCache, "no-prompt-cache", false, "no cache marks on shared contexts")
}

// travel is how everything is to travel; empty: as the study says.
func (f *scopeFlags) travel() (assay.Mode, error) {
	switch m := assay.Mode(f.mode); m {
	case "", assay.ModeBatch, assay.ModeLive, assay.ModeBatchElseLive:
		return m, nil
	}
	return "", usage(assay.DidYouMean(f.mode, []string{string(assay.ModeBatch), string(assay.ModeLive), string(assay.ModeBatchElseLive)}),
		"--mode: want batch, live or batch-else-live, got %q", f.mode)
}

// sets are the flags as paths of the study.
func (f *scopeFlags) sets(w *World, name string, have studyFlags) ([]string, error) {
	var out []string
	if f.noCache {
		out = append(out, "prompt_cache=false")
	}
	if f.repeats < 0 || f.repeats == 0 && f.asked("repeats") {
		return nil, usage("", "--repeats: want 1 or more, got %d", f.repeats)
	}
	if f.rows == "" && len(f.items) == 0 && f.repeats == 0 {
		return out, nil
	}
	if f.rows != "" {
		if _, err := inputs.ParseRows(f.rows); err != nil {
			return nil, usage("such as 1-100 or 1-10,20", "--rows: %s", err)
		}
	}
	dir, base := filepath.Split(name)
	s, problems := study.Read(w.Disk.Folder(dir), base, study.Options{Profile: have.profile, Set: have.set})
	if s == nil {
		return nil, shown(problems, dir)
	}
	return append(out, f.narrow(s)...), nil
}

// narrow are the flags about inputs and stages: for each input that is asked, and each stage that asks.
func (f *scopeFlags) narrow(s *study.Study) []string {
	var out []string
	done := map[string]bool{}
	for i := range s.Stages {
		st := &s.Stages[i]
		if f.repeats > 0 && st.Verb() == study.VerbAsk {
			out = append(out, fmt.Sprintf("stages.%s.repeats=%d", st.Name, f.repeats))
		}
		name := st.Ask
		if st.Verb() == study.VerbCompare {
			name = st.Compare
		}
		in, ok := s.Inputs.Find(name)
		if !ok || done[name] {
			continue
		}
		done[name] = true
		if f.rows != "" {
			out = append(out, "inputs."+name+".rows="+quoted(f.rows))
		}
		if len(f.items) > 0 {
			ids := make([]string, len(f.items))
			for i, id := range f.items {
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

// quoted is a text as YAML and conditions write it.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string can always be written
	return string(b)
}
