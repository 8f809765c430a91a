package speceval

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
	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/study"
)

// Write writes answers, readings and comparisons as the specification system does: a file for each group of items.
func Write(ctx context.Context, t *folder.Tree, runs []export.Run) error {
	found := false
	for _, r := range runs {
		wrote, err := writeRun(ctx, t, r)
		if err != nil {
			return fmt.Errorf("export run %s: %w", r.ID, err)
		}
		found = found || wrote
	}
	if !found {
		return &export.NoStageError{Lacks: "has answers of lanes"}
	}
	return nil
}

// writeRun writes one run; it reports whether a stage of it has answers.
func writeRun(ctx context.Context, t *folder.Tree, r export.Run) (found bool, err error) {
	w := &writer{lists: folder.NewDocuments(t), rest: map[string]func() any{}, batches: map[string]map[string]bool{},
		seen: map[string]int64{}, metas: map[int64]segmentMeta{}}
	if w.rows, err = r.Rows(ctx); err != nil {
		return false, err
	}
	if err := w.batchMetas(ctx); err != nil {
		return false, err
	}
	for i := range w.rows.Study.Stages {
		st := &w.rows.Study.Stages[i]
		if !export.HasConversations(st) {
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

// writer writes one run.
type writer struct {
	rows    *rows.Reader
	lists   *folder.Documents
	rest    map[string]func() any // the fields beside the list of a file
	batches map[string]map[string]bool
	seen    map[string]int64      // items of a group so far
	metas   map[int64]segmentMeta // by segment
}

func (w *writer) stage(ctx context.Context, st *study.Stage) error {
	clear(w.seen)
	return export.InBlocks(w.rows.Scripts.Conversations(ctx, w.rows.Run, st.Name), export.ConversationBlock,
		func(block []script.Conversation) error {
			return w.block(ctx, st, block)
		})
}

// block writes the last answers of some items, and the verdicts on them.
func (w *writer) block(ctx context.Context, st *study.Stage, block []script.Conversation) error {
	texts := map[assay.Key]string{}
	for _, talk := range block {
		for _, e := range talk.Exchanges {
			texts[e.At.Key()] = e.Answer.Outcome.Text
		}
	}
	verdicts, err := w.rows.Ledger.VerdictsOn(ctx, w.rows.Run.No, export.KeysOf(block))
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
			one := answer{talk: &talk, exchange: e, group: group, index: index, stage: st.Name}
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

// groupOf returns the group of an item: its field of that name, else its cluster.
func groupOf(it *assay.Item) string {
	if g, ok := it.Fields["group"].(string); ok && g != "" {
		return g
	}
	return cmp.Or(it.Cluster, it.ID)
}

// replies returns the replies of judges, by the keys of their requests.
func (w *writer) replies(ctx context.Context, verdicts map[assay.Key][]store.Verdict) (map[assay.Key]store.Answer, error) {
	asked := map[assay.Ref]bool{}
	for _, all := range verdicts {
		for _, v := range all {
			if v.Segment != 0 {
				asked[requestOf(&v)] = true
			}
		}
	}
	return w.rows.Ledger.AnswersTo(ctx, w.rows.Run.No, slices.Collect(maps.Keys(asked)))
}

// answer is one answer that is written into a tree.
type answer struct {
	talk     *script.Conversation
	exchange *script.Exchange
	group    string
	index    int64
	stage    string
}

func (a answer) input() string { return export.Question(a.talk, a.exchange) }

// lane returns the folder of a lane.
func (a answer) lane() string { return artifacts.Name(a.model()) }

// model returns a lane as a name; answers of further turns, branches, templates and draws have names of their own.
func (a answer) model() string {
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

// stamp returns when the run began, as a folder.
func (w *writer) stamp() string { return w.rows.Run.Created.UTC().Format("20060102_150405") }

// spec returns the folder of a specification: the study, and the stage where it has several.
func (w *writer) spec(stage string) string {
	n := 0
	for i := range w.rows.Study.Stages {
		if export.HasConversations(&w.rows.Study.Stages[i]) {
			n++
		}
	}
	if n > 1 {
		return artifacts.Name(w.rows.Run.Study + "." + stage)
	}
	return artifacts.Name(w.rows.Run.Study)
}

func (w *writer) answer(a answer) error {
	e := a.exchange
	if !e.Sent || !e.Answer.Ended || !e.Answer.Outcome.Ending.Stands() {
		return nil
	}
	out := output{Index: a.index, Input: a.input(), Output: e.Answer.Outcome.Text, Batch: w.rows.Jobs[e.Answer.Segment]}
	if e.Answer.Outcome.Ending != assay.Answered {
		out.Ending = string(e.Answer.Outcome.Ending)
	}
	file := path.Join(generationsDir, w.spec(a.stage), a.lane(), w.stamp(), "results", artifacts.Name(a.group)+".json")
	return w.lists.Add(file, "", out)
}

// verdict writes a verdict into the tree of its kind.
func (w *writer) verdict(a answer, v *store.Verdict, texts map[assay.Key]string, raw map[assay.Key]store.Answer) error {
	if v.Against != (assay.Key{}) {
		if v.Subject != a.exchange.At.Key() { // it is written with the answer that was shown first
			return nil
		}
		return w.ranked(a, v, texts, raw)
	}
	out := reading{Index: &a.index, Input: a.input(), Output: a.exchange.Answer.Outcome.Text, Explanation: v.Reason}
	row := w.rows.Verdict(v)
	out.Confidence = row.Confidence
	dir := ratingsDir
	switch {
	case v.State != assay.VerdictValid:
		out.State = string(v.State)
		if w.binary(v.At.Stage) {
			dir = complianceDir
		}
	case w.binary(v.At.Stage):
		dir, out.Compliant = complianceDir, new(v.Score != nil && *v.Score == 1)
	default:
		out.Rating = v.Score
		if v.Score == nil {
			out.State = v.Label // a label without a score
		}
	}
	file := w.judgeFile(dir, a, v, judgeName(v, row.Prompt), a.lane())
	w.rest[file] = func() any {
		var m readingMeta
		m.Metadata.Model, m.Metadata.Statement, m.Metadata.Batches = a.model(), a.group,
			append([]string{}, slices.Sorted(maps.Keys(w.batches[file]))...)
		return m
	}
	w.batch(file, raw[requestOf(v).Key])
	return w.lists.Add(file, "results", out)
}

// binary reports whether a stage reads answers by two labels that score 1 and 0.
func (w *writer) binary(stage string) bool {
	st, ok := w.rows.Study.Stage(stage)
	return ok && st.Rubric.Name == "compliance"
}

// judgeName returns the name of a judge; further prompts have names of their own.
func judgeName(v *store.Verdict, prompt string) string {
	if prompt != "" {
		return v.At.Judge + "+" + prompt
	}
	return v.At.Judge
}

// judgeFile returns the name of the file with a judge's verdicts on some models.
func (w *writer) judgeFile(dir string, a answer, v *store.Verdict, judge, models string) string {
	return path.Join(dir, specPrefix+w.judgeSpec(a.stage, v), judgePrefix+artifacts.Name(judge), models, "results",
		artifacts.Name(a.group)+".json")
}

// judgeSpec returns the specification's folder in the trees of judges; a second stage of a kind has its own.
func (w *writer) judgeSpec(stage string, v *store.Verdict) string {
	spec := w.spec(stage)
	for i := range w.rows.Study.Stages {
		st := &w.rows.Study.Stages[i]
		if st.Name == v.At.Stage {
			break
		}
		same := st.Verb() == study.VerbJudge && w.binary(st.Name) == w.binary(v.At.Stage) || st.Verb() == study.VerbCompare
		if of, _ := w.rows.Study.Stage(v.At.Stage); same && of.Verb() == st.Verb() {
			return spec + "." + artifacts.Name(v.At.Stage)
		}
	}
	return spec
}

// batch notes that a file holds what a batch brought.
func (w *writer) batch(file string, a store.Answer) {
	if job := w.rows.Jobs[a.Segment]; job != "" {
		if w.batches[file] == nil {
			w.batches[file] = map[string]bool{}
		}
		w.batches[file][job] = true
	}
}

func (w *writer) ranked(a answer, v *store.Verdict, texts map[assay.Key]string, raw map[assay.Key]store.Answer) error {
	row := w.rows.Verdict(v)
	reply := raw[requestOf(v).Key]
	out := ranking{
		Index: &a.index, Input: a.input(), OutputA: texts[v.Subject], OutputB: texts[v.Against], Raw: reply.Outcome.Text, Task: row.Key,
		Custom: row.Key,
	}
	rank := map[string]int64{assay.LabelA: 1, assay.LabelB: -1, assay.LabelTie: 0}
	if n, ok := rank[v.Label]; ok && v.State == assay.VerdictValid {
		out.Rank = &n
	} else {
		out.State = v.State
	}
	other := a
	exchange := *a.exchange
	exchange.At.Lane = row.Second
	other.exchange = &exchange
	judge := judgeName(v, strings.Trim(row.Prompt+"+"+row.Trait, "+"))
	file := w.judgeFile(rankingsDir, a, v, judge, a.lane()+"x"+other.lane())
	w.batch(file, reply)
	w.rest[file] = func() any {
		var m rankingMeta
		m.Metadata.Judge, m.Metadata.ModelA, m.Metadata.ModelB, m.Metadata.Spec = judge, a.model(), other.model(), w.rows.Run.Study
		m.Metadata.Statement, m.Metadata.Timestamp = a.group, w.rows.Run.Created.UTC().Format(time.RFC3339)
		m.Metadata.Batch = strings.Join(slices.Sorted(maps.Keys(w.batches[file])), ",")
		return m
	}
	return w.lists.Add(file, "rankings", out)
}

// prompt notes an input with the batch it travelled in.
func (w *writer) prompt(a answer) error {
	meta, ok := w.metas[a.exchange.Answer.Segment]
	if !a.exchange.Sent || !ok {
		return nil
	}
	return w.lists.Add(meta.file, "original_prompts_data", promptFile{Index: a.index, Statement: a.group, Input: a.input()})
}

// segmentMeta is the metadata of a batch, and its file.
type segmentMeta struct {
	file string
	batchMeta
}

// batchMetas finds the batches of answers.
func (w *writer) batchMetas(ctx context.Context) error {
	segments, err := w.rows.Ledger.Segments(ctx, w.rows.Run.No)
	if err != nil {
		return err
	}
	for _, s := range segments {
		st, ok := w.rows.Study.Stage(s.Stage)
		if !ok || !export.HasConversations(st) || s.Job == "" {
			continue
		}
		m := segmentMeta{batchMeta: batchMeta{
			Batch: s.Job, Status: cmp.Or(s.JobState, string(s.State)), Error: s.Reason.String(), Model: s.Model}}
		m.file = path.Join(generationsDir, w.spec(s.Stage), artifacts.Name(s.Lane), w.stamp(), "metadata", artifacts.Name(s.Job)+".json")
		w.metas[s.No] = m
		w.rest[m.file] = func() any { return m.batchMeta }
	}
	return nil
}

// output is one answer in results/{group}.json.
type output struct {
	Index  int64  `json:"original_index"`
	Input  string `json:"input_text"`
	Output string `json:"output_text"`
	Batch  string `json:"batch_id"`
	Ending string `json:"ending,omitempty"` // ours: an answer that was cut or refused
}

// batchMeta holds the fields of metadata/{batch_id}.json beside its original_prompts_data.
type batchMeta struct {
	Batch  string `json:"batch_id"`
	Status string `json:"status"`
	Error  string `json:"error_message"`
	Model  string `json:"model"` // ours
}

// promptFile is one of the original_prompts_data of a batch.
type promptFile struct {
	Index     int64  `json:"original_index"`
	Statement string `json:"statement_id"`
	Input     string `json:"input_text"`
}

// readingMeta holds the fields beside the readings of one group.
type readingMeta struct {
	Metadata struct {
		Model     string   `json:"model"`
		Statement string   `json:"statement_id"`
		Batches   []string `json:"batch_ids"`
	} `json:"metadata"`
}

// rankingMeta holds the fields beside the comparisons of one group.
type rankingMeta struct {
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
