package cli

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

	"assay"
	"assay/artifacts"
	"assay/export"
	"assay/store"
	"assay/study"
	"assay/waves"
)

// writeGroups writes answers, readings and comparisons as the specification system does: a file for each group of items.
func writeGroups(ctx context.Context, t *export.Tree, runs []exported) error {
	found := false
	for _, e := range runs {
		g := &grouped{tree: t, lists: export.NewLists(t), rest: map[string]func() any{}, batches: map[string]map[string]bool{}, seen: map[string]int64{}, metas: map[int64]batchMeta{}}
		var err error
		if g.exporter, err = e.teller(ctx); err == nil {
			err = g.batchMetas(ctx)
		}
		if err != nil {
			return fmt.Errorf("export run %s: %w", e.run.ID, err)
		}
		for i := range g.study.Stages {
			st := &g.study.Stages[i]
			if !talks(st) {
				continue
			}
			found = true
			if err := g.stage(ctx, st); err != nil {
				return fmt.Errorf("export run %s: %w", e.run.ID, err)
			}
		}
		err = g.lists.Close(func(file string) any {
			if rest := g.rest[file]; rest != nil {
				return rest()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return usage("csv, jsonl and parquet write all stages", "no stage of these runs has answers of lanes")
	}
	return nil
}

// talks tells whether a stage has conversations.
func talks(st *study.Stage) bool {
	v := st.Verb()
	return v == study.VerbAsk || v == study.VerbContinue || v == study.VerbImport
}

// grouped writes one run.
type grouped struct {
	*exporter
	tree    *export.Tree
	lists   *export.Lists
	rest    map[string]func() any // what stands beside the list of a file
	batches map[string]map[string]bool
	seen    map[string]int64    // items of a group so far
	metas   map[int64]batchMeta // by segment
}

// groupOf is the group of an item: its field of that name, else its cluster.
func groupOf(it *assay.Item) string {
	if g, ok := it.Fields["group"].(string); ok && g != "" {
		return g
	}
	return cmp.Or(it.Cluster, it.ID)
}

// blockTalks is how many conversations are held while their verdicts are read.
const blockTalks = 32

func (g *grouped) stage(ctx context.Context, st *study.Stage) error {
	clear(g.seen)
	var block []waves.Talk
	for talk, err := range g.h.planner.Talks(ctx, g.run, st.Name) {
		if err != nil {
			return err
		}
		if block = append(block, talk); len(block) < blockTalks {
			continue
		}
		if err := g.block(ctx, st, block); err != nil {
			return err
		}
		block = block[:0]
	}
	return g.block(ctx, st, block)
}

// block writes the last answers of some items, and what was said about them.
func (g *grouped) block(ctx context.Context, st *study.Stage, block []waves.Talk) error {
	var keys []assay.Key
	texts := map[assay.Key]string{}
	for _, talk := range block {
		for _, e := range talk.Exchanges {
			keys = append(keys, e.At.Key())
			texts[e.At.Key()] = e.Answer.Outcome.Text
		}
	}
	verdicts, err := g.h.ledger.VerdictsOn(ctx, g.run.No, keys)
	if err != nil {
		return err
	}
	raw, err := g.replies(ctx, verdicts)
	if err != nil {
		return err
	}
	for _, talk := range block {
		group := groupOf(&talk.Item)
		index := g.seen[group]
		g.seen[group]++
		for i := range talk.Exchanges {
			e := &talk.Exchanges[i]
			one := answered{talk: &talk, exchange: e, group: group, index: index, stage: st.Name}
			if err := errors.Join(g.prompt(one), g.answer(one)); err != nil {
				return err
			}
			for k := range verdicts[e.At.Key()] {
				if err := g.said(one, &verdicts[e.At.Key()][k], texts, raw); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// replies reads what judges said, by the keys of their requests.
func (g *grouped) replies(ctx context.Context, verdicts map[assay.Key][]store.Verdict) (map[assay.Key]store.Answer, error) {
	asked := map[assay.Key]bool{}
	for _, all := range verdicts {
		for _, v := range all {
			if v.Segment != 0 {
				asked[v.At.Key()] = true
			}
		}
	}
	return g.h.ledger.AnswersTo(ctx, g.run.No, slices.Collect(maps.Keys(asked)))
}

// answered is one answer on its way into a tree.
type answered struct {
	talk     *waves.Talk
	exchange *waves.Exchange
	group    string
	index    int64
	stage    string
}

func (a answered) input() string {
	return fmt.Sprint(cmpAny(a.talk.Item.Fields["text"], a.exchange.Said))
}

func cmpAny(a any, b string) any {
	if a == nil {
		return b
	}
	return a
}

// lane is the folder of a lane.
func (a answered) lane() string { return artifacts.Name(a.model()) }

// model is a lane as a name; answers of further turns, branches, templates and draws have names of their own.
func (a answered) model() string {
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
func (g *grouped) stamp() string { return g.run.Created.UTC().Format("20060102_150405") }

// spec is the folder of a specification: the study, and the stage where it has several.
func (g *grouped) spec(stage string) string {
	n := 0
	for i := range g.study.Stages {
		if talks(&g.study.Stages[i]) {
			n++
		}
	}
	if n > 1 {
		return artifacts.Name(g.run.Study + "." + stage)
	}
	return artifacts.Name(g.run.Study)
}

func (g *grouped) file(parts ...string) string {
	return path.Join(parts...) + ".json"
}

func (g *grouped) answer(a answered) error {
	e := a.exchange
	if !e.Sent || !e.Answer.Ended || !e.Answer.Outcome.Ending.Stands() {
		return nil
	}
	out := export.Generation{Index: a.index, Input: a.input(), Output: e.Answer.Outcome.Text, Batch: g.jobs[e.Answer.Segment]}
	if e.Answer.Outcome.Ending != assay.Answered {
		out.Ending = string(e.Answer.Outcome.Ending)
	}
	file := g.file(export.GenerationsDir, g.spec(a.stage), a.lane(), g.stamp(), "results", artifacts.Name(a.group))
	return g.lists.Add(file, "", out)
}

// said writes a verdict into the tree of its kind.
func (g *grouped) said(a answered, v *store.Verdict, texts map[assay.Key]string, raw map[assay.Key]store.Answer) error {
	if v.Against != (assay.Key{}) {
		if v.Subject != a.exchange.At.Key() { // it is told with the answer that was shown first
			return nil
		}
		return g.ranked(a, v, texts, raw)
	}
	out := export.Judged{Index: &a.index, Input: a.input(), Output: a.exchange.Answer.Outcome.Text, Explanation: v.Reason}
	row, err := g.verdict(v)
	if err != nil {
		return err
	}
	out.Confidence = row.Confidence
	dir := export.RatingsDir
	switch {
	case v.State != store.VerdictValid:
		out.State = string(v.State)
		if g.binary(v.At.Stage) {
			dir = export.ComplianceDir
		}
	case g.binary(v.At.Stage):
		yes := v.Score != nil && *v.Score == 1
		dir, out.Compliant = export.ComplianceDir, &yes
	default:
		out.Rating = v.Score
		if v.Score == nil {
			out.State = v.Label // a label without a score
		}
	}
	file := g.file(dir, export.SpecPrefix+g.judgeSpec(a.stage, v), export.JudgePrefix+artifacts.Name(g.judge(v, row.Prompt)), a.lane(), "results", artifacts.Name(a.group))
	g.rest[file] = func() any {
		var m export.JudgedMeta
		m.Metadata.Model, m.Metadata.Statement, m.Metadata.Batches = a.model(), a.group, append([]string{}, slices.Sorted(maps.Keys(g.batches[file]))...)
		return m
	}
	g.batch(file, raw[v.At.Key()])
	return g.lists.Add(file, "results", out)
}

// binary tells whether a stage reads answers by two labels that score 1 and 0.
func (g *grouped) binary(stage string) bool {
	st, ok := g.study.Stage(stage)
	return ok && st.Rubric.Name == "compliance"
}

// judge is the folder of a judge; further prompts and votes have folders of their own.
func (g *grouped) judge(v *store.Verdict, prompt string) string {
	name := v.At.Judge
	if prompt != "" {
		name += "+" + prompt
	}
	return name
}

// judgeSpec is the specification's folder in the trees of judges; a second stage of a kind has its own.
func (g *grouped) judgeSpec(stage string, v *store.Verdict) string {
	spec := g.spec(stage)
	for i := range g.study.Stages {
		st := &g.study.Stages[i]
		if st.Name == v.At.Stage {
			break
		}
		same := st.Verb() == study.VerbJudge && g.binary(st.Name) == g.binary(v.At.Stage) || st.Verb() == study.VerbCompare
		if of, _ := g.study.Stage(v.At.Stage); same && of.Verb() == st.Verb() {
			return spec + "." + artifacts.Name(v.At.Stage)
		}
	}
	return spec
}

func (g *grouped) batch(file string, a store.Answer) {
	if job := g.jobs[a.Segment]; job != "" {
		if g.batches[file] == nil {
			g.batches[file] = map[string]bool{}
		}
		g.batches[file][job] = true
	}
}

func (g *grouped) ranked(a answered, v *store.Verdict, texts map[assay.Key]string, raw map[assay.Key]store.Answer) error {
	row, err := g.verdict(v)
	if err != nil {
		return err
	}
	reply := raw[v.At.Key()]
	out := export.Ranking{
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
	judge := g.judge(v, strings.Trim(row.Prompt+"+"+row.Trait, "+"))
	pair := a.lane() + "x" + other.lane()
	file := g.file(export.RankingsDir, export.SpecPrefix+g.judgeSpec(a.stage, v), export.JudgePrefix+artifacts.Name(judge), pair, "results", artifacts.Name(a.group))
	g.batch(file, reply)
	g.rest[file] = func() any {
		var m export.RankingMeta
		m.Metadata.Judge, m.Metadata.ModelA, m.Metadata.ModelB, m.Metadata.Spec = judge, a.model(), other.model(), g.run.Study
		m.Metadata.Statement, m.Metadata.Timestamp = a.group, g.run.Created.UTC().Format(time.RFC3339)
		m.Metadata.Batch = strings.Join(slices.Sorted(maps.Keys(g.batches[file])), ",")
		return m
	}
	return g.lists.Add(file, "rankings", out)
}

// prompt notes an input with the batch it travelled in.
func (g *grouped) prompt(a answered) error {
	meta, ok := g.metas[a.exchange.Answer.Segment]
	if !a.exchange.Sent || !ok {
		return nil
	}
	return g.lists.Add(meta.file, "original_prompts_data", export.BatchPrompt{Index: a.index, Statement: a.group, Input: a.input()})
}

// batchMeta is what is said about a batch, and where.
type batchMeta struct {
	file string
	export.BatchMeta
}

// batchMetas finds the batches of answers.
func (g *grouped) batchMetas(ctx context.Context) error {
	segments, err := g.h.ledger.Segments(ctx, g.run.No)
	if err != nil {
		return err
	}
	for _, s := range segments {
		st, ok := g.study.Stage(s.Stage)
		if !ok || !talks(st) || s.Job == "" {
			continue
		}
		m := batchMeta{BatchMeta: export.BatchMeta{Batch: s.Job, Status: cmp.Or(s.JobState, string(s.State)), Error: s.Reason, Model: s.Model}}
		m.file = path.Join(export.GenerationsDir, g.spec(s.Stage), artifacts.Name(s.Lane), g.stamp(), "metadata", artifacts.Name(s.Job)+".json")
		g.metas[s.No] = m
		g.rest[m.file] = func() any { return m.BatchMeta }
	}
	return nil
}
