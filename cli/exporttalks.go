package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"assay"
	"assay/artifacts"
	"assay/export"
	"assay/plan"
	"assay/store"
	"assay/study"
	"assay/waves"
)

// writeConversations writes conversations as the sycophancy system does: a folder for each stage with a file for each model,
// and over all of them the batches that were sent.
func writeConversations(ctx context.Context, t *export.Tree, runs []exported) error {
	var tracked struct {
		Batches []export.Tracked `json:"batches"`
	}
	tracked.Batches = []export.Tracked{}
	log := export.NewSheets[export.Logged](t)
	found := false
	for _, e := range runs {
		of, err := e.teller(ctx)
		if err != nil {
			return fmt.Errorf("export run %s: %w", e.run.ID, err)
		}
		for i := range of.study.Stages {
			if st := &of.study.Stages[i]; talks(st) {
				found = true
				if err := writeExperiment(ctx, t, of, st); err != nil {
					return fmt.Errorf("export run %s: %w", e.run.ID, err)
				}
			}
		}
		segments, err := e.h.ledger.Segments(ctx, e.run.No)
		if err != nil {
			return err
		}
		slices.SortFunc(segments, func(a, b store.Segment) int { // not by when they went out, which is chance
			return cmp.Or(cmp.Compare(of.place(a.Stage), of.place(b.Stage)), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.No, b.No))
		})
		for _, s := range segments {
			if s.Job == "" {
				continue
			}
			at := s.Launched.UTC().Format(time.RFC3339)
			tracked.Batches = append(tracked.Batches, export.Tracked{Provider: s.Provider, Batch: s.Job, Model: s.Model, Created: at, Status: trackedAs(s)})
			if err := log.Add("batch_log.csv", &export.Logged{Date: at, Provider: s.Provider, Batch: s.Job, Model: s.Model, Event: "created"}); err != nil {
				return err
			}
		}
	}
	if !found {
		return usage("csv, jsonl and parquet write all stages", "no stage of these runs has conversations")
	}
	return errors.Join(log.Close(), writeDocument(t, "batch_tracking.json", tracked))
}

// place is where a stage stands in the study.
func (t *exporter) place(stage string) int {
	return slices.IndexFunc(t.study.Stages, func(st study.Stage) bool { return st.Name == stage })
}

// trackedAs is the state of a batch in the words of the sycophancy system.
func trackedAs(s store.Segment) string {
	switch {
	case s.State == store.Settled:
		return "completed"
	case s.State.Terminal() || s.State == store.Held:
		return string(s.State)
	}
	return "in_progress"
}

// experiment writes the conversations of one stage.
type experiment struct {
	*exporter
	st     *study.Stage
	dir    string
	files  *export.Lists
	scores *export.Sheets[export.Score]
	meta   export.Experiment
	models map[string]*export.ModelFile
	judges map[string]bool
	said   map[string]bool
	seen   []string // pressures, in the order in which they come
}

func writeExperiment(ctx context.Context, t *export.Tree, of *exporter, st *study.Stage) error {
	x := &experiment{
		exporter: of, st: st, files: export.NewLists(t), scores: export.NewSheets[export.Score](t),
		models: map[string]*export.ModelFile{}, judges: map[string]bool{}, said: map[string]bool{},
	}
	if err := x.begin(ctx); err != nil {
		return err
	}
	opened, stop := x.openings(ctx)
	defer stop()
	var block []waves.Talk
	for talk, err := range of.h.planner.Talks(ctx, of.run, st.Name) {
		if err == nil {
			err = opened(&talk)
		}
		if err != nil {
			return err
		}
		if block = append(block, talk); len(block) == blockTalks {
			if err := x.block(ctx, block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	if err := x.block(ctx, block); err != nil {
		return err
	}
	return x.end(t)
}

// begin names the folder, which tells what is in it.
func (x *experiment) begin(ctx context.Context) error {
	desk := plan.Input{Study: x.study}
	input := desk.Root(x.st)
	for _, err := range x.h.ledger.Items(ctx, x.run.No, input) {
		if err != nil {
			return err
		}
		x.meta.Size++
	}
	providers := map[string]bool{}
	for at, l := range x.lanes {
		if at[0] == x.st.Name {
			x.models[l.Name] = &export.ModelFile{Key: l.Name, Name: l.Model, Provider: l.Provider}
			providers[l.Provider] = true
		}
	}
	provider := "mixed"
	if len(providers) == 1 {
		provider = slices.Collect(maps.Keys(providers))[0]
	}
	date := x.run.Created.UTC().Format(time.DateOnly)
	x.meta.ID = fmt.Sprintf("%s_%s_%dmodels_%dq_%s_%s", date, cmpOr(provider, "elsewhere"), len(x.models), x.meta.Size, x.st.Name, x.run.ID)
	x.dir = artifacts.Name(x.meta.ID)
	x.meta.Dataset, x.meta.Pressure, x.meta.Date, x.meta.Start, x.meta.Rehearsal = input, x.st.Name, date, x.run.Created.UTC().Format(time.RFC3339), x.run.Rehearsal
	if !x.run.Closed.IsZero() {
		seconds := x.run.Closed.Sub(x.run.Created).Seconds()
		x.meta.End, x.meta.Seconds = x.run.Closed.UTC().Format(time.RFC3339), &seconds
	}
	return nil
}

func (x *experiment) block(ctx context.Context, block []waves.Talk) error {
	var keys []assay.Key
	for _, talk := range block {
		for _, e := range talk.Exchanges {
			keys = append(keys, e.At.Key())
		}
	}
	verdicts, err := x.h.ledger.VerdictsOn(ctx, x.run.No, keys)
	if err != nil {
		return err
	}
	for i := range block {
		if err := x.talk(&block[i], verdicts); err != nil {
			return err
		}
	}
	return nil
}

// thread is one conversation: a lane's, of one template and draw.
type thread struct {
	export.Conversation
	lane   string
	cost   assay.Cost
	levels map[int64]int64 // how many rounds each turn has so far
}

// talk writes the conversations about one item.
func (x *experiment) talk(talk *waves.Talk, verdicts map[assay.Key][]store.Verdict) error {
	var threads []*thread
	for i := range talk.Exchanges {
		e := &talk.Exchanges[i]
		if e.Spared {
			continue // the old program did not write what it did not ask
		}
		th := threadOf(threads, e.At)
		if x.turn(e.At) == 1 || th == nil {
			th = &thread{lane: e.At.Lane, levels: map[int64]int64{}}
			th.ID, th.Item, th.Draw, th.Rounds = talk.Ord+1, talk.Item.ID, int64(e.At.Draw), []export.Round{}
			th.Expect = talk.Item.Expect
			if talk.Item.Cluster != talk.Item.ID {
				th.Cluster = talk.Item.Cluster
			}
			th.Question = fmt.Sprint(cmpAny(talk.Item.Fields["text"], e.Said))
			threads = append(threads, th)
		}
		level := x.exchange(th, e, verdicts[e.At.Key()])
		if !x.own(e.At) {
			continue // told with its own stage
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

// threadOf is the conversation that a later turn goes on with; draws of a control go on with the first.
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

// exchange writes a message and its answer into a conversation; it tells the level of the pressure, 0 for the question.
func (x *experiment) exchange(th *thread, e *waves.Exchange, verdicts []store.Verdict) int64 {
	o := e.Answer.Outcome
	var in, out *int64
	if o.Usage.Known {
		in, out = &o.Usage.Input, &o.Usage.Output
	}
	ending := string(o.Ending)
	switch {
	case !e.Sent:
		ending = export.Unasked
	case o.Ending == assay.Answered:
		ending = ""
	}
	switch {
	case !e.Sent || !x.own(e.At):
	case e.Answer.Cost != nil:
		th.cost = th.cost.Add(assay.Cost{Sum: *e.Answer.Cost, Priced: 1})
	default:
		th.cost = th.cost.Add(assay.Cost{Unknown: 1})
	}
	turn := int64(x.turn(e.At))
	if turn == 1 {
		th.Initial = export.Initial{Response: o.Text, Input: in, Output: out, Ending: ending}
		for _, v := range verdicts {
			if st, ok := x.study.Stage(v.At.Stage); ok && (st.Rubric.Name == "stance" || st.Rubric.Name == "stance_keywords") {
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
	if e.Said != "" && !x.said[e.Said] && len(x.seen) < maxPhrases {
		x.said[e.Said], x.seen = true, append(x.seen, e.Said)
	}
	th.Rounds = append(th.Rounds, export.Round{
		Level: level, Pressure: e.Said, Response: o.Text, Turn: turn, Branch: e.At.Branch, Input: in, Output: out, Ending: ending,
	})
	return level
}

// maxPhrases is how many pressures metadata.json lists.
const maxPhrases = 100

// score writes what judges said about an answer.
func (x *experiment) score(th *thread, e *waves.Exchange, level int64, verdicts []store.Verdict) error {
	slices.SortStableFunc(verdicts, func(a, b store.Verdict) int {
		return cmp.Or(cmp.Compare(a.At.Stage, b.At.Stage), cmp.Compare(a.At.Judge, b.At.Judge))
	})
	for i := range verdicts {
		v, err := x.verdict(&verdicts[i])
		if err != nil {
			return err
		}
		if v.Against != "" {
			continue
		}
		x.judges[v.Judge] = true
		row := export.Score{
			Model: th.lane, Question: th.ID, Level: level, Asked: th.Question, Pressure: e.Said, Response: e.Answer.Outcome.Text, Score: v.Score,
			Classification: v.Label, Reasoning: v.Reason, Judge: v.Judge, At: v.GivenAt, Stage: v.Stage, Item: v.Item, Turn: int64(x.turn(e.At)), Branch: v.Branch,
			Draw: v.Draw, State: v.State,
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
		m = &export.ModelFile{Key: th.lane}
		x.models[th.lane] = m
	}
	th.Cost = sum(th.cost)
	whole := th.Initial.Ending == "" || assay.Ending(th.Initial.Ending).Stands()
	tokens := [2]*int64{th.Initial.Input, th.Initial.Output}
	if x.st.Continue != "" {
		tokens = [2]*int64{new(int64), new(int64)} // the opening counts in its own stage
	}
	for _, r := range th.Rounds {
		whole = whole && (r.Ending == "" || assay.Ending(r.Ending).Stands())
		if r.Ending == export.Unasked {
			continue // nothing was sent
		}
		tokens[0], tokens[1] = both64(tokens[0], r.Input), both64(tokens[1], r.Output)
	}
	if m.Questions == 0 {
		m.Cost, m.Metrics.Input, m.Metrics.Output = th.Cost, tokens[0], tokens[1]
	} else {
		m.Cost, m.Metrics.Input, m.Metrics.Output = bothFloat(m.Cost, th.Cost), both64(m.Metrics.Input, tokens[0]), both64(m.Metrics.Output, tokens[1])
	}
	m.Questions++
	if whole {
		m.Completed++
	}
	return x.files.Add(x.file(th.lane), "conversations", th.Conversation)
}

func (x *experiment) file(lane string) string {
	return path.Join(x.dir, "model_responses", artifacts.Name(lane)+".json")
}

func (x *experiment) end(t *export.Tree) error {
	summary := export.Summary{ID: x.meta.ID, Models: []export.ModelFile{}}
	testing := new(float64)
	byFile := map[string]*export.ModelFile{}
	for _, name := range slices.Sorted(maps.Keys(x.models)) {
		m := x.models[name]
		m.Metrics.Questions, m.Metrics.Cost = m.Questions, m.Cost
		byFile[x.file(name)] = m
		testing = bothFloat(testing, m.Cost)
		x.meta.Models = append(x.meta.Models, name)
		summary.Models = append(summary.Models, *m)
	}
	x.meta.Phrases, x.meta.Scorers, x.meta.Testing, x.meta.Scoring = append([]string{}, x.seen...), slices.Sorted(maps.Keys(x.judges)), testing, x.scoring()
	x.meta.Cost = bothFloat(x.meta.Testing, x.meta.Scoring)
	if err := x.files.Close(func(file string) any { return byFile[file] }); err != nil {
		return err
	}
	return errors.Join(x.scores.Close(), writeDocument(t, path.Join(x.dir, "metadata.json"), x.meta), writeDocument(t, path.Join(x.dir, "summary.json"), summary))
}
