package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/study"
)

// writeSpecEval writes answers, readings and comparisons as the specification system does: a file for each group of items.
func writeSpecEval(ctx context.Context, t *Tree, runs []Run) error {
	found := false
	for _, r := range runs {
		wrote, err := writeSpecRun(ctx, t, r)
		if err != nil {
			return fmt.Errorf("export run %s: %w", r.ID, err)
		}
		found = found || wrote
	}
	if !found {
		return &NoStageError{"has answers of lanes"}
	}
	return nil
}

// writeSpecRun writes one run; it reports whether a stage of it has answers.
func writeSpecRun(ctx context.Context, t *Tree, r Run) (found bool, err error) {
	w := &specWriter{lists: newDocuments(t), rest: map[string]func() any{}, batches: map[string]map[string]bool{}, seen: map[string]int64{}, metas: map[int64]specMeta{}}
	if w.Rows, err = r.rows(ctx); err != nil {
		return false, err
	}
	if err := w.batchMetas(ctx); err != nil {
		return false, err
	}
	for i := range w.Study.Stages {
		st := &w.Study.Stages[i]
		if !talks(st) {
			continue
		}
		found = true
		if err := w.stage(ctx, st); err != nil {
			return found, err
		}
	}
	return found, w.lists.Close(func(file string) any {
		if rest := w.rest[file]; rest != nil {
			return rest()
		}
		return nil
	})
}

// specWriter writes one run.
type specWriter struct {
	*results.Rows
	lists   *documents
	rest    map[string]func() any // what stands beside the list of a file
	batches map[string]map[string]bool
	seen    map[string]int64   // items of a group so far
	metas   map[int64]specMeta // by segment
}

func (w *specWriter) stage(ctx context.Context, st *study.Stage) error {
	clear(w.seen)
	return inBlocks(w.Scripts.Talks(ctx, w.Run, st.Name), blockTalks, func(block []script.Talk) error { return w.block(ctx, st, block) })
}

// block writes the last answers of some items, and what judges said about them.
func (w *specWriter) block(ctx context.Context, st *study.Stage, block []script.Talk) error {
	texts := map[assay.Key]string{}
	for _, talk := range block {
		for _, e := range talk.Exchanges {
			texts[e.At.Key()] = e.Answer.Outcome.Text
		}
	}
	verdicts, err := w.Ledger.VerdictsOn(ctx, w.Run.No, keysOf(block))
	if err != nil {
		return err
	}
	raw, err := w.replies(ctx, verdicts)
	if err != nil {
		return err
	}
	for _, talk := range block {
		group := groupOf(&talk.Item)
		index := w.seen[group]
		w.seen[group]++
		for i := range talk.Exchanges {
			e := &talk.Exchanges[i]
			one := specAnswer{talk: &talk, exchange: e, group: group, index: index, stage: st.Name}
			if err := errors.Join(w.prompt(one), w.answer(one)); err != nil {
				return err
			}
			for k := range verdicts[e.At.Key()] {
				if err := w.verdict(one, &verdicts[e.At.Key()][k], texts, raw); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// groupOf is the group of an item: its field of that name, else its cluster.
func groupOf(it *assay.Item) string {
	if g, ok := it.Fields["group"].(string); ok && g != "" {
		return g
	}
	return cmp.Or(it.Cluster, it.ID)
}

// replies reads what judges said, by the keys of their requests.
func (w *specWriter) replies(ctx context.Context, verdicts map[assay.Key][]store.Verdict) (map[assay.Key]store.Answer, error) {
	asked := map[assay.Key]bool{}
	for _, all := range verdicts {
		for _, v := range all {
			if v.Segment != 0 {
				asked[v.At.Key()] = true
			}
		}
	}
	return w.Ledger.AnswersTo(ctx, w.Run.No, slices.Collect(maps.Keys(asked)))
}

// specAnswer is one answer that is written into a tree.
type specAnswer struct {
	talk     *script.Talk
	exchange *script.Exchange
	group    string
	index    int64
	stage    string
}

func (a specAnswer) input() string { return question(a.talk, a.exchange) }

// lane is the folder of a lane.
func (a specAnswer) lane() string { return artifacts.Name(a.model()) }

// model is a lane as a name; answers of further turns, branches, templates and draws have names of their own.
func (a specAnswer) model() string {
	at, name := a.exchange.At, a.exchange.At.Lane
	for _, part := range []string{at.Template, at.Branch} {
		if part != "" {
			name += "+" + part
		}
	}
	if at.Turn > 1 {
		name += fmt.Sprintf("+turn%d", at.Turn)
	}
	if at.Draw > 1 {
		name += fmt.Sprintf("+draw%d", at.Draw)
	}
	return name
}

// stamp is when the run began, as a folder.
func (w *specWriter) stamp() string { return w.Run.Created.UTC().Format("20060102_150405") }

// spec is the folder of a specification: the study, and the stage where it has several.
func (w *specWriter) spec(stage string) string {
	n := 0
	for i := range w.Study.Stages {
		if talks(&w.Study.Stages[i]) {
			n++
		}
	}
	if n > 1 {
		return artifacts.Name(w.Run.Study + "." + stage)
	}
	return artifacts.Name(w.Run.Study)
}

func (w *specWriter) answer(a specAnswer) error {
	e := a.exchange
	if !e.Sent || !e.Answer.Ended || !e.Answer.Outcome.Ending.Stands() {
		return nil
	}
	out := specOutput{Index: a.index, Input: a.input(), Output: e.Answer.Outcome.Text, Batch: w.Jobs[e.Answer.Segment]}
	if e.Answer.Outcome.Ending != assay.Answered {
		out.Ending = string(e.Answer.Outcome.Ending)
	}
	file := path.Join(generationsDir, w.spec(a.stage), a.lane(), w.stamp(), "results", artifacts.Name(a.group)+".json")
	return w.lists.Add(file, "", out)
}

// verdict writes a verdict into the tree of its kind.
func (w *specWriter) verdict(a specAnswer, v *store.Verdict, texts map[assay.Key]string, raw map[assay.Key]store.Answer) error {
	if v.Against != (assay.Key{}) {
		if v.Subject != a.exchange.At.Key() { // it stands with the answer that was shown first
			return nil
		}
		return w.ranked(a, v, texts, raw)
	}
	out := specReading{Index: &a.index, Input: a.input(), Output: a.exchange.Answer.Outcome.Text, Explanation: v.Reason}
	row := w.Verdict(v)
	out.Confidence = row.Confidence
	dir := ratingsDir
	switch {
	case v.State != store.VerdictValid:
		out.State = string(v.State)
		if w.binary(v.At.Stage) {
			dir = complianceDir
		}
	case w.binary(v.At.Stage):
		yes := v.Score != nil && *v.Score == 1
		dir, out.Compliant = complianceDir, &yes
	default:
		out.Rating = v.Score
		if v.Score == nil {
			out.State = v.Label // a label without a score
		}
	}
	file := w.judgeFile(dir, a, v, judgeName(v, row.Prompt), a.lane())
	w.rest[file] = func() any {
		var m specReadingMeta
		m.Metadata.Model, m.Metadata.Statement, m.Metadata.Batches = a.model(), a.group, append([]string{}, slices.Sorted(maps.Keys(w.batches[file]))...)
		return m
	}
	w.batch(file, raw[v.At.Key()])
	return w.lists.Add(file, "results", out)
}

// binary reports whether a stage reads answers by two labels that score 1 and 0.
func (w *specWriter) binary(stage string) bool {
	st, ok := w.Study.Stage(stage)
	return ok && st.Rubric.Name == "compliance"
}

// judgeName is the name of a judge; further prompts have names of their own.
func judgeName(v *store.Verdict, prompt string) string {
	if prompt != "" {
		return v.At.Judge + "+" + prompt
	}
	return v.At.Judge
}

// judgeFile is where a judge's verdicts on some models stand.
func (w *specWriter) judgeFile(dir string, a specAnswer, v *store.Verdict, judge, models string) string {
	return path.Join(dir, specPrefix+w.judgeSpec(a.stage, v), judgePrefix+artifacts.Name(judge), models, "results", artifacts.Name(a.group)+".json")
}

// judgeSpec is the specification's folder in the trees of judges; a second stage of a kind has its own.
func (w *specWriter) judgeSpec(stage string, v *store.Verdict) string {
	spec := w.spec(stage)
	for i := range w.Study.Stages {
		st := &w.Study.Stages[i]
		if st.Name == v.At.Stage {
			break
		}
		same := st.Verb() == study.VerbJudge && w.binary(st.Name) == w.binary(v.At.Stage) || st.Verb() == study.VerbCompare
		if of, _ := w.Study.Stage(v.At.Stage); same && of.Verb() == st.Verb() {
			return spec + "." + artifacts.Name(v.At.Stage)
		}
	}
	return spec
}

// batch notes that a file holds what a batch brought.
func (w *specWriter) batch(file string, a store.Answer) {
	if job := w.Jobs[a.Segment]; job != "" {
		if w.batches[file] == nil {
			w.batches[file] = map[string]bool{}
		}
		w.batches[file][job] = true
	}
}

func (w *specWriter) ranked(a specAnswer, v *store.Verdict, texts map[assay.Key]string, raw map[assay.Key]store.Answer) error {
	row := w.Verdict(v)
	reply := raw[v.At.Key()]
	out := specRank{
		Index: &a.index, Input: a.input(), OutputA: texts[v.Subject], OutputB: texts[v.Against], Raw: reply.Outcome.Text, Task: row.Key, Custom: row.Key,
	}
	rank := map[string]int64{assay.LabelA: 1, assay.LabelB: -1, assay.LabelTie: 0}
	if n, ok := rank[v.Label]; ok && v.State == store.VerdictValid {
		out.Rank = &n
	} else {
		out.State = string(v.State)
	}
	other := a
	exchange := *a.exchange
	exchange.At.Lane = row.Second
	other.exchange = &exchange
	judge := judgeName(v, strings.Trim(row.Prompt+"+"+row.Trait, "+"))
	file := w.judgeFile(rankingsDir, a, v, judge, a.lane()+"x"+other.lane())
	w.batch(file, reply)
	w.rest[file] = func() any {
		var m specRankMeta
		m.Metadata.Judge, m.Metadata.ModelA, m.Metadata.ModelB, m.Metadata.Spec = judge, a.model(), other.model(), w.Run.Study
		m.Metadata.Statement, m.Metadata.Timestamp = a.group, w.Run.Created.UTC().Format(time.RFC3339)
		m.Metadata.Batch = strings.Join(slices.Sorted(maps.Keys(w.batches[file])), ",")
		return m
	}
	return w.lists.Add(file, "rankings", out)
}

// prompt notes an input with the batch it travelled in.
func (w *specWriter) prompt(a specAnswer) error {
	meta, ok := w.metas[a.exchange.Answer.Segment]
	if !a.exchange.Sent || !ok {
		return nil
	}
	return w.lists.Add(meta.file, "original_prompts_data", specPrompt{Index: a.index, Statement: a.group, Input: a.input()})
}

// specMeta is what is said about a batch, and where.
type specMeta struct {
	file string
	specBatch
}

// batchMetas finds the batches of answers.
func (w *specWriter) batchMetas(ctx context.Context) error {
	segments, err := w.Ledger.Segments(ctx, w.Run.No)
	if err != nil {
		return err
	}
	for _, s := range segments {
		st, ok := w.Study.Stage(s.Stage)
		if !ok || !talks(st) || s.Job == "" {
			continue
		}
		m := specMeta{specBatch: specBatch{Batch: s.Job, Status: cmp.Or(s.JobState, string(s.State)), Error: s.Reason, Model: s.Model}}
		m.file = path.Join(generationsDir, w.spec(s.Stage), artifacts.Name(s.Lane), w.stamp(), "metadata", artifacts.Name(s.Job)+".json")
		w.metas[s.No] = m
		w.rest[m.file] = func() any { return m.specBatch }
	}
	return nil
}

// specOutput is one answer in results/{group}.json.
type specOutput struct {
	Index  int64  `json:"original_index"`
	Input  string `json:"input_text"`
	Output string `json:"output_text"`
	Batch  string `json:"batch_id"`
	Ending string `json:"ending,omitempty"` // ours: an answer that was cut or refused
}

// specBatch is what stands in metadata/{batch_id}.json beside its original_prompts_data.
type specBatch struct {
	Batch  string `json:"batch_id"`
	Status string `json:"status"`
	Error  string `json:"error_message"`
	Model  string `json:"model"` // ours
}

// specPrompt is one of the original_prompts_data of a batch.
type specPrompt struct {
	Index     int64  `json:"original_index"`
	Statement string `json:"statement_id"`
	Input     string `json:"input_text"`
}

// specReadingMeta stands beside the readings of one group.
type specReadingMeta struct {
	Metadata struct {
		Model     string   `json:"model"`
		Statement string   `json:"statement_id"`
		Batches   []string `json:"batch_ids"`
	} `json:"metadata"`
}

// specRankMeta stands beside the comparisons of one group.
type specRankMeta struct {
	Metadata struct {
		Judge     string `json:"ranking_judge_model_info"`
		ModelA    string `json:"model_a"`
		ModelB    string `json:"model_b"`
		Spec      string `json:"org_spec_name"`
		Statement string `json:"statement_id"`
		Batch     string `json:"batch_id"`
		Timestamp string `json:"timestamp"`
	} `json:"metadata"`
}
