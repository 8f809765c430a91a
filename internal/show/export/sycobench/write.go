package sycobench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/table"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Write writes conversations as the sycophancy system does: a folder for each stage with a file for each model,
// and over all of them the batches that were sent.
func Write(ctx context.Context, t *folder.Tree, runs []export.Run) error {
	batches := &batchLog{tracked: []trackedBatch{}, log: table.NewSheets[loggedBatch](t)}
	found := false
	for _, r := range runs {
		rows, err := r.Rows(ctx)
		if err != nil {
			return fmt.Errorf("export run %s: %w", r.ID, err)
		}
		for i := range rows.Study.Stages {
			if st := &rows.Study.Stages[i]; export.HasConversations(st) {
				found = true
				if err := writeExperiment(ctx, t, rows, st); err != nil {
					return fmt.Errorf("export run %s: %w", r.ID, err)
				}
			}
		}
		if err := batches.add(ctx, rows); err != nil {
			return err
		}
	}
	if !found {
		return &export.NoStageError{Lacks: "has conversations"}
	}
	return batches.close(t)
}

// batchLog gathers the batches of all runs.
type batchLog struct {
	tracked []trackedBatch
	log     *table.Sheets[loggedBatch]
}

func (b *batchLog) add(ctx context.Context, rows *rows.Reader) error {
	segments, err := rows.Ledger.Segments(ctx, rows.Run.No)
	if err != nil {
		return err
	}
	place := func(stage string) int {
		return slices.IndexFunc(rows.Study.Stages, func(st study.Stage) bool { return st.Name == stage })
	}
	sort.Slice(segments, func(i, j int) bool { // not by when they went out, which is chance
		a, b := &segments[i], &segments[j]
		return cmp.Or(cmp.Compare(place(a.Stage), place(b.Stage)), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Lane, b.Lane),
			cmp.Compare(a.No, b.No)) < 0
	})
	for _, s := range segments {
		if s.Job == "" {
			continue
		}
		at := s.Launched.UTC().Format(time.RFC3339)
		b.tracked = append(b.tracked, trackedBatch{Provider: s.Provider, Batch: s.Job, Model: s.Model, Created: at, Status: trackedAs(s)})
		if err := b.log.Add("batch_log.csv",
			&loggedBatch{Date: at, Provider: s.Provider, Batch: s.Job, Model: s.Model, Event: "created"}); err != nil {
			return err
		}
	}
	return nil
}

// trackedAs returns the state of a batch in the words of the sycophancy system.
func trackedAs(s store.Segment) string {
	switch {
	case s.State == store.Settled:
		return "completed"
	case s.State.Terminal() || s.State == store.Held:
		return string(s.State)
	}
	return "in_progress"
}

func (b *batchLog) close(t *folder.Tree) error {
	all := struct {
		Batches []trackedBatch `json:"batches"`
	}{b.tracked}
	return errors.Join(b.log.Close(), t.WriteJSON("batch_tracking.json", all))
}

// experiment writes the conversations of one stage.
type experiment struct {
	rows   *rows.Reader
	st     *study.Stage
	dir    string
	files  *folder.Documents
	scores *table.Sheets[scoreRow]
	meta   metadata
	models map[string]*modelFile
	judges map[string]bool
	noted  map[string]bool
	seen   []string // pressures, in the order in which they come
}

func writeExperiment(ctx context.Context, t *folder.Tree, rows *rows.Reader, st *study.Stage) error {
	x := &experiment{
		rows: rows, st: st, files: folder.NewDocuments(t), scores: table.NewSheets[scoreRow](t),
		models: map[string]*modelFile{}, judges: map[string]bool{}, noted: map[string]bool{},
	}
	if err := x.begin(ctx); err != nil {
		return err
	}
	err := export.InBlocks(x.opened(ctx), export.ConversationBlock, func(block []script.Conversation) error {
		verdicts, err := x.rows.Ledger.VerdictsOn(ctx, x.rows.Run.No, export.KeysOf(block))
		for i := range block {
			if err == nil {
				err = x.talk(&block[i], verdicts)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return x.end(t)
}

// begin names the folder by its content.
func (x *experiment) begin(ctx context.Context) error {
	input := (&plan.Input{Study: x.rows.Study}).Root(x.st)
	for _, err := range x.rows.Ledger.Items(ctx, x.rows.Run.No, input) {
		if err != nil {
			return err
		}
		x.meta.Size++
	}
	providers := map[string]bool{}
	for at, l := range x.rows.Lanes {
		if at[0] == x.st.Name {
			x.models[l.Name] = &modelFile{Key: l.Name, Name: l.Model, Provider: l.Provider}
			providers[l.Provider] = true
		}
	}
	provider := "mixed"
	if len(providers) == 1 {
		provider = slices.Collect(maps.Keys(providers))[0]
	}
	date := x.rows.Run.Created.UTC().Format(time.DateOnly)
	x.meta.ID = fmt.Sprintf("%s_%s_%dmodels_%dq_%s_%s", date, cmp.Or(provider, "elsewhere"), len(x.models), x.meta.Size, x.st.Name,
		x.rows.Run.ID)
	x.dir = artifacts.Name(x.meta.ID)
	x.meta.Dataset, x.meta.Pressure, x.meta.Date, x.meta.Start, x.meta.Rehearsal = input, x.st.Name, date,
		x.rows.Run.Created.UTC().Format(time.RFC3339), x.rows.Run.Rehearsal
	if !x.rows.Run.Closed.IsZero() {
		x.meta.End, x.meta.Seconds = x.rows.Run.Closed.UTC().Format(time.RFC3339), new(x.rows.Run.Closed.Sub(x.rows.Run.Created).Seconds())
	}
	return nil
}

// thread is one conversation: a lane's, of one template and draw.
type thread struct {
	conversation
	lane   string
	cost   assay.Cost
	levels map[int64]int64 // how many rounds each turn has so far
}

// talk writes the conversations about one item.
func (x *experiment) talk(talk *script.Conversation, verdicts map[assay.Key][]store.Verdict) error {
	var threads []*thread
	for i := range talk.Exchanges {
		e := &talk.Exchanges[i]
		if e.Spared {
			continue // the old program did not write what it did not ask
		}
		th := threadOf(threads, e.At)
		if x.turn(e.At) == 1 || th == nil {
			th = &thread{lane: e.At.Lane, levels: map[int64]int64{}}
			th.ID, th.Item, th.Draw, th.Rounds = talk.Ord+1, talk.Item.ID, int64(e.At.Draw), []round{}
			th.Expect = talk.Item.Expect
			if talk.Item.Cluster != talk.Item.ID {
				th.Cluster = talk.Item.Cluster
			}
			th.Question = export.Question(talk, e)
			threads = append(threads, th)
		}
		level := x.exchange(th, e, verdicts[e.At.Key()])
		if !x.own(e.At) {
			continue // its scores are in the file of its own stage
		}
		if err := x.score(th, e, level, verdicts[e.At.Key()]); err != nil {
			return err
		}
	}
	for _, th := range threads {
		if err := x.put(th); err != nil {
			return err
		}
	}
	return nil
}

// threadOf returns the conversation that a later turn goes on with; draws of a control go on with the first.
func threadOf(threads []*thread, at assay.Coordinates) *thread {
	var first *thread
	for _, th := range threads {
		if th.lane != at.Lane {
			continue
		}
		if th.Draw == int64(at.Draw) {
			return th
		}
		if first == nil {
			first = th
		}
	}
	return first
}

// exchange writes a message and its answer into a conversation; it returns the level of the pressure, 0 for the question.
func (x *experiment) exchange(th *thread, e *script.Exchange, verdicts []store.Verdict) int64 {
	o := e.Answer.Outcome
	var in, out *int64
	if o.Usage.Known {
		in, out = &o.Usage.Input, &o.Usage.Output
	}
	ending := string(o.Ending)
	switch {
	case !e.Sent:
		ending = rows.Unasked
	case o.Ending == assay.Answered:
		ending = ""
	}
	switch {
	case !e.Sent || !x.own(e.At):
	case e.Answer.Price != nil:
		th.cost = th.cost.Add(assay.Cost{Sum: *e.Answer.Price, Priced: 1})
	default:
		th.cost = th.cost.Add(assay.Cost{Unknown: 1})
	}
	turn := int64(x.turn(e.At))
	if turn == 1 {
		th.Initial = opening{Response: o.Text, Input: in, Output: out, Ending: ending}
		for _, v := range verdicts {
			if st, ok := x.rows.Study.Stage(v.At.Stage); ok && (st.Rubric.Name == "stance" || st.Rubric.Name == "stance_keywords") {
				th.Initial.Assessment = v.Label
			}
		}
		return 0
	}
	level := turn - 1
	if e.At.Branch != "" {
		th.levels[turn]++
		level = th.levels[turn]
	}
	if e.Message != "" && !x.noted[e.Message] && len(x.seen) < maxPhrases {
		x.noted[e.Message], x.seen = true, append(x.seen, e.Message)
	}
	th.Rounds = append(th.Rounds, round{
		Level: level, Pressure: e.Message, Response: o.Text, Turn: turn, Branch: e.At.Branch, Input: in, Output: out, Ending: ending,
	})
	return level
}

// maxPhrases is how many pressures metadata.json lists.
const maxPhrases = 100

// score writes the verdicts on an answer.
func (x *experiment) score(th *thread, e *script.Exchange, level int64, verdicts []store.Verdict) error {
	order := func(a, b store.Verdict) int {
		return cmp.Or(cmp.Compare(a.At.Stage, b.At.Stage), cmp.Compare(a.At.Judge, b.At.Judge))
	}
	sort.SliceStable(verdicts, func(i, j int) bool { return order(verdicts[i], verdicts[j]) < 0 })
	for i := range verdicts {
		v := x.rows.Verdict(&verdicts[i])
		if v.Against != "" {
			continue
		}
		x.judges[v.Judge] = true
		row := scoreRow{
			Model: th.lane, Question: th.ID, Level: level, Asked: th.Question, Pressure: e.Message, Response: e.Answer.Outcome.Text,
			Score: v.Score, Classification: v.Label, Reasoning: v.Reason, Judge: v.Judge, At: v.GivenAt, Stage: v.Stage, Item: v.Item,
			Turn: int64(x.turn(e.At)), Branch: v.Branch, Draw: v.Draw, State: v.State,
		}
		if level == 0 {
			row.Pressure = ""
		}
		if err := x.scores.Add(path.Join(x.dir, "scoring", artifacts.Name(v.Judge)+".csv"), &row); err != nil {
			return err
		}
	}
	return nil
}

// put writes a conversation, and adds it to the sums of its model.
func (x *experiment) put(th *thread) error {
	m, ok := x.models[th.lane]
	if !ok {
		m = &modelFile{Key: th.lane}
		x.models[th.lane] = m
	}
	th.Cost = th.cost.Dollars()
	whole, input, output := x.count(th)
	if m.Questions == 0 {
		m.Cost, m.Metrics.Input, m.Metrics.Output = th.Cost, input, output
	} else {
		m.Cost, m.Metrics.Input, m.Metrics.Output = both(m.Cost, th.Cost), both(m.Metrics.Input, input), both(m.Metrics.Output, output)
	}
	m.Questions++
	if whole {
		m.Completed++
	}
	return x.files.Add(x.file(th.lane), "conversations", th.conversation)
}

func (x *experiment) file(lane string) string {
	return path.Join(x.dir, "model_responses", artifacts.Name(lane)+".json")
}

func (x *experiment) end(t *folder.Tree) error {
	summary := summary{ID: x.meta.ID, Models: []modelFile{}}
	testing := new(float64)
	byFile := map[string]*modelFile{}
	for _, name := range slices.Sorted(maps.Keys(x.models)) {
		m := x.models[name]
		m.Metrics.Questions, m.Metrics.Cost = m.Questions, m.Cost
		byFile[x.file(name)] = m
		testing = both(testing, m.Cost)
		x.meta.Models = append(x.meta.Models, name)
		summary.Models = append(summary.Models, *m)
	}
	x.meta.Phrases, x.meta.Scorers, x.meta.Testing, x.meta.Scoring = append([]string{}, x.seen...), slices.Sorted(maps.Keys(x.judges)),
		testing, x.scoring()
	x.meta.Cost = both(x.meta.Testing, x.meta.Scoring)
	if err := x.files.Close(func(file string) any { return byFile[file] }); err != nil {
		return err
	}
	return errors.Join(x.scores.Close(), t.WriteJSON(path.Join(x.dir, "metadata.json"), x.meta),
		t.WriteJSON(path.Join(x.dir, "summary.json"), summary))
}
