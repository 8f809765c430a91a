package inspect

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/people"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/study"
)

// Write writes runs as logs: one for each stage of answers and lane, one for each stage of comparisons and judge.
func (f Form) Write(ctx context.Context, t *folder.Tree, runs []export.Run) error {
	found := false
	for _, r := range runs {
		rows, err := r.Rows(ctx)
		if err != nil {
			return fmt.Errorf("export run %s: %w", r.ID, err)
		}
		x := &runWriter{rows: rows, tree: t, form: f, version: r.Version, several: map[string]bool{}}
		for i := range rows.Study.Stages {
			st := &rows.Study.Stages[i]
			var err error
			switch {
			case export.HasConversations(st):
				err = x.answers(ctx, st)
			case st.Verb() == study.VerbCompare:
				err = x.comparisons(ctx, st)
			}
			if err != nil {
				return fmt.Errorf("export run %s: %w", r.ID, err)
			}
		}
		found = found || x.logs > 0
	}
	if !found {
		return &export.NoStageError{Lacks: "has answers or comparisons yet"}
	}
	return nil
}

// runWriter writes the logs of one run.
type runWriter struct {
	rows    *rows.Reader
	tree    *folder.Tree
	form    Form
	version string
	logs    int
	several map[string]bool // by stage: whether several judges speak in it
}

// blockSize is how many samples are held while what belongs to them is read.
const blockSize = 32

// answers writes a log for each lane of a stage.
func (x *runWriter) answers(ctx context.Context, st *study.Stage) error {
	lanes := x.lanesOf(st.Name)
	for _, lane := range lanes {
		log := x.log(st, lane)
		walk := x.ended(ctx, st, lane, lanes)
		err := export.InBlocks(walk, blockSize, func(block []store.Answer) error { return log.block(ctx, block) })
		if err == nil {
			err = log.close()
		}
		if err != nil {
			return fmt.Errorf("stage %s, lane %s: %w", st.Name, lane, err)
		}
	}
	return nil
}

func (x *runWriter) lanesOf(stage string) []string {
	var names []string
	for at := range x.rows.Lanes {
		if at[0] == stage {
			names = append(names, at[1])
		}
	}
	sort.Strings(names)
	return names
}

// ended walks over the answers of a lane that have an ending, and after them over the questions that were never sent.
func (x *runWriter) ended(ctx context.Context, st *study.Stage, lane string, lanes []string) iter.Seq2[store.Answer, error] {
	return func(yield func(store.Answer, error) bool) {
		for a, err := range x.rows.Ledger.Answers(ctx, x.rows.Run.No, st.Name, lane) {
			if err == nil && !a.Ended {
				continue
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
		others := map[string]bool{}
		for _, name := range lanes {
			others[name] = name != lane
		}
		for at, err := range x.rows.Scripts.Unasked(ctx, x.rows.Run, st.Name, others) {
			if !yield(store.Answer{Attempt: store.Attempt{Key: at.Key(), At: at}, Lane: at.Lane}, err) || err != nil {
				return
			}
		}
	}
}

// comparisons writes a log for each judge of a stage, with a sample for each verdict.
func (x *runWriter) comparisons(ctx context.Context, st *study.Stage) error {
	judges := map[string]bool{}
	for v, err := range x.rows.Ledger.VerdictRows(ctx, x.rows.Run.No, st.Name, store.WithoutSubjects) {
		if err != nil {
			return err
		}
		judges[v.At.Judge] = true
	}
	delete(judges, "")
	for _, judge := range slices.Sorted(maps.Keys(judges)) {
		log := x.log(st, judge)
		own := func(yield func(store.Verdict, error) bool) {
			for v, err := range x.rows.Ledger.Verdicts(ctx, x.rows.Run.No, st.Name) {
				if err == nil && v.At.Judge != judge {
					continue
				}
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
		err := export.InBlocks(own, blockSize, func(block []store.Verdict) error { return log.comparisons(ctx, block) })
		if err == nil {
			err = log.close()
		}
		if err != nil {
			return fmt.Errorf("stage %s, judge %s: %w", st.Name, judge, err)
		}
	}
	return nil
}

// prompts makes again what some requests were asked; nil in the place of one that cannot be made.
func (x *runWriter) prompts(ctx context.Context, block []store.Answer) ([]*assay.Prompt, error) {
	out := make([]*assay.Prompt, len(block))
	var at []assay.Coordinates
	var places []int
	for i, a := range block {
		if a.Ended && a.Mode != store.Imported {
			at, places = append(at, a.At), append(places, i)
		}
	}
	if len(at) == 0 {
		return out, nil
	}
	made, err := rows.Prompts(ctx, x.rows.Reader, x.rows.Run, at)
	if err == nil && len(made) == len(at) {
		for i, p := range made {
			out[places[i]] = &p
		}
		return out, nil
	}
	for i, one := range at { // one of them cannot be made again: the others can
		made, err := rows.Prompts(ctx, x.rows.Reader, x.rows.Run, []assay.Coordinates{one})
		if err == nil && len(made) == 1 {
			out[places[i]] = &made[0]
		}
	}
	return out, ctx.Err()
}

// graders returns what the judges of some answers were asked for, every try of it, by the key of the answer.
func (x *runWriter) graders(ctx context.Context, entries []rows.Entry) (map[assay.Key][]store.Answer, error) {
	about := map[assay.Key]assay.Key{}
	var refs []assay.Ref
	for _, e := range entries {
		for _, v := range e.Verdicts {
			if x.rows.Verb(v.At.Stage) != string(study.VerbJudge) {
				continue
			}
			for _, at := range x.tries(&v) {
				ref := at.Ref()
				about[ref.Key] = e.Answer.Key
				refs = append(refs, ref)
			}
		}
	}
	found, err := x.rows.Ledger.AnswersTo(ctx, x.rows.Run.No, refs)
	out := map[assay.Key][]store.Answer{}
	for _, ref := range refs {
		if a, ok := found[ref.Key]; ok && a.Ended {
			out[about[ref.Key]] = append(out[about[ref.Key]], a)
			delete(found, ref.Key)
		}
	}
	return out, err
}

// tries returns the requests that led to a verdict: the judge's, those that asked again, and the one of the lane in its place.
func (x *runWriter) tries(v *store.Verdict) []assay.Coordinates {
	var out []assay.Coordinates
	st, ok := x.rows.Study.Stage(v.At.Stage)
	for again := 0; ok && again <= v.Again; again++ {
		at := v.At
		at.Again, at.By = again, ""
		out = append(out, at)
		if st.Fallback != "" {
			at.By = st.Fallback
			out = append(out, at)
		}
	}
	return out
}

// speakers reports whether several judges speak in a stage.
func (x *runWriter) speakers(ctx context.Context, stage string) (bool, error) {
	if many, ok := x.several[stage]; ok {
		return many, nil
	}
	persons, err := x.rows.Ledger.People(ctx, x.rows.Run.No, stage)
	n := len(persons)
	if st, ok := x.rows.Study.Stage(stage); ok {
		for _, name := range st.Judges.List {
			if !strings.HasPrefix(name, people.Prefix) {
				n += len(x.rows.Study.LanesNamed([]string{name}))
			}
		}
		if n += len(st.ImportedJudges()); len(st.Judges.List) == 0 {
			n++ // a rule
		}
	}
	x.several[stage] = n > 1
	return n > 1, err
}

// modelOf returns the model that a request went to, as Inspect names models.
func (x *runWriter) modelOf(stage, lane string) string {
	l := x.rows.Lanes[[2]string{stage, lane}]
	switch {
	case l.Model == "":
		return "none/" + lane
	case l.Provider == "":
		return l.Model
	}
	return l.Provider + "/" + l.Model
}

// configOf returns the parameters of a lane: those that Inspect knows, and the rest.
func configOf(r *rows.Answer) (config, further map[string]any) {
	config, further = map[string]any{}, map[string]any{}
	put := func(to map[string]any, name string, value any, known bool) {
		if known {
			to[name] = value
		}
	}
	put(config, "temperature", r.Temperature, r.Temperature != nil)
	put(config, "top_p", r.TopP, r.TopP != nil)
	put(config, "top_k", r.TopK, r.TopK != nil)
	put(config, "max_tokens", r.MaxTokens, r.MaxTokens != nil)
	put(config, "seed", r.Seed, r.Seed != nil)
	put(config, "logprobs", true, r.Logprobs != nil)
	put(config, "top_logprobs", r.Logprobs, r.Logprobs != nil)
	put(config, "stop_seqs", r.Stop, r.Stop != "")
	efforts := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} // any other makes a log unreadable
	ours := slices.Contains(efforts, r.Effort)
	put(config, "reasoning_effort", r.Effort, ours)
	put(further, "effort", r.Effort, r.Effort != "" && !ours)
	tokens := r.Thinking != "" && len(r.Thinking) < 10 && strings.Trim(r.Thinking, "0123456789") == ""
	put(config, "reasoning_tokens", rows.Raw(r.Thinking), tokens)
	put(further, "thinking", r.Thinking, r.Thinking != "" && !tokens)
	put(further, "with_thoughts", true, r.WithThoughts)
	put(further, "schema", r.Schema, r.Schema != "")
	put(further, "service_tier", r.ServiceTier, r.ServiceTier != "")
	put(further, "server_tools", r.ServerTools, r.ServerTools != "")
	put(further, "extra", r.Extra, r.Extra != "")
	return config, further
}

// placeOf returns the coordinates of a row in short: those that are not given by its log.
func placeOf(r script.Reading) []string {
	out := []string{r.Template, r.Branch}
	if r.Turn > 1 || r.Branch != "" {
		out = append(out, fmt.Sprint(r.Turn))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
