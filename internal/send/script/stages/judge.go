package stages

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/send/script/rubric"
	"assay/internal/study"
	"assay/internal/study/plan"
	"assay/internal/study/prompt"
)

// Judge is a judge stage: every judge reads every answer the stage is about. A group of turn t reads the
// Answers of turn t, so that judge starts as soon as they are there.
type Judge struct {
	panel
	sources []*Asking
	input   string
	expects *prompt.Template           // what a rule expects of an answer; nil: what the item has
	calls   *study.ToolRule            // what a rule expects of the calls of an answer; nil: it goes by the text
	slices  map[string]map[string]bool // of sources that ask a slice of the input: its items
}

func (s *Stages) buildJudge(ctx context.Context, st *study.Stage) (Stage, error) {
	p, err := s.panel(st)
	if err != nil {
		return nil, err
	}
	j := &Judge{panel: p, input: s.Input.Root(st)}
	if own := s.Input.Study.RubricOf(st); own != nil && own.Rule != nil {
		j.expects, j.calls = own.Rule.Exact.Template, own.Rule.Tool
	}
	for _, name := range st.Judge.List {
		source, ok := s.Asking(name)
		if !ok {
			return nil, fmt.Errorf("stage %s judges %s, which has no answers of this run", st.Name, name)
		}
		j.sources = append(j.sources, source)
		if source.input == j.input {
			continue
		}
		if j.slices == nil {
			j.slices = map[string]map[string]bool{}
		}
		if j.slices[source.input], err = s.Input.IDs(ctx, source.input); err != nil {
			return nil, err
		}
	}
	return j, ctx.Err()
}

// Items names the input.
func (j *Judge) Items() string { return j.input }

// Turns returns how many turns the longest source has.
func (j *Judge) Turns() int {
	n := 0
	for _, s := range j.sources {
		n = max(n, s.Turns())
	}
	return n
}

// Conditional reports whether the stage, or one that it reads, has conditions on more than the item.
func (j *Judge) Conditional() bool {
	return j.conditional() || slices.ContainsFunc(j.sources, (*Asking).Conditional)
}

// Conditions of a judgement are those of the answer it reads, and its own.
func (j *Judge) Conditions(it assay.Item, at assay.Coordinates) ([]Condition, error) {
	subject, s, err := j.read(at)
	if err != nil {
		return nil, err
	}
	out, err := s.Conditions(it, subject)
	if err != nil || !conditional(j.stage) {
		return out, err
	}
	before, err := s.Needs(it, subject)
	own := Condition{Stage: j.stage, Item: &it, Lane: subject.Lane,
		Conversations: [][]assay.Coordinates{latestFirst(append(before, subject))}}
	return append(out, own), err
}

// Reads reports whether the stage is about a lane's answers of a turn of a stage.
func (j *Judge) Reads(stage, lane string, turn int) bool {
	s, err := j.source(stage)
	takes := func(l *study.Lane) bool { return l.Name == lane && j.stage.Takes(l) }
	return err == nil && j.reads(s, turn) && slices.ContainsFunc(s.chosen, takes)
}

// reads reports whether the stage is about the answers of a turn of a source.
func (j *Judge) reads(s *Asking, turn int) bool {
	return plan.Of(j.stage, j.rubric.Rubric).Reads(turn, s.span())
}

// At lists a judge's requests about the answers of a turn.
func (j *Judge) At(it assay.Item, _ int64, lane string, turn int) []assay.Coordinates {
	subjects, names := j.subjects(it, turn), j.rubric.Names()
	out := make([]assay.Coordinates, 0, len(subjects)*len(names)*j.votes)
	for _, subject := range subjects {
		for _, name := range names {
			for vote := range j.votes {
				out = append(out, j.request(subject, name, lane, vote))
			}
		}
	}
	for _, r := range j.orders.Of(j.stage.Name, lane, it.ID) {
		out = append(out, j.Extra(it, 0, r, turn)...)
	}
	return out
}

// subjects lists the answers of one turn about one item that the stage judges.
func (j *Judge) subjects(it assay.Item, turn int) []assay.Coordinates {
	var out []assay.Coordinates
	if !Keeps(j.stage, it) {
		return nil
	}
	for _, s := range j.sources {
		if ids, part := j.slices[s.input]; !j.reads(s, turn) || part && !ids[it.ID] {
			continue
		}
		out = slices.Grow(out, len(s.Lanes()))
		for _, l := range s.Lanes() {
			if j.stage.Takes(l) {
				out = append(out, s.At(it, 0, l.Name, turn)...)
			}
		}
	}
	return out
}

// request returns the coordinates of one judge's reading of one answer.
func (j *Judge) request(subject assay.Coordinates, prompt, lane string, vote int) assay.Coordinates {
	if len(j.rubric.Prompts) < 2 {
		prompt = j.rubric.First()
	}
	at := subject
	at.Stage, at.Source = j.stage.Name, subject.Stage
	at.Judge, at.Prompt, at.Vote = lane, prompt, vote
	return at
}

func (j *Judge) source(stage string) (*Asking, error) {
	for _, s := range j.sources {
		if s.conversation.Stage.Name == stage {
			return s, nil
		}
	}
	return nil, fmt.Errorf("stage %s does not judge stage %q", j.stage.Name, stage)
}

// read returns the answer that a judge's request reads, and the stage that asked for it.
func (j *Judge) read(at assay.Coordinates) (assay.Coordinates, *Asking, error) {
	s, err := j.source(at.Source)
	return at.Subject(), s, err
}

// Needs lists the answer that is judged, and those before it.
func (j *Judge) Needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	subject, s, err := j.read(at)
	if err != nil {
		return nil, err
	}
	before, err := s.Needs(it, subject)
	return append(before, subject), err
}

// Prompt shows an answer to a judge.
func (j *Judge) Prompt(it assay.Item, at assay.Coordinates, answered Answers) (assay.Prompt, bool, error) {
	if _, done, err := j.Known(at, answered); done || err != nil {
		return assay.Prompt{}, false, err
	}
	shown, ok, err := j.show(it, at.Subject(), answered)
	if err != nil || !ok {
		return assay.Prompt{}, false, err
	}
	p, err := j.rubric.Render(at.Prompt, shown.Values())
	if err == nil {
		err = j.reveal(&p, it, shown.Media)
	}
	return p, err == nil, err
}

// Known returns the verdict that a rule for refused and cut answers gives.
func (j *Judge) Known(at assay.Coordinates, answered Answers) (assay.Verdict, bool, error) {
	a, ok := answered[at.Subject().Key()]
	if !ok {
		return assay.Verdict{}, false, nil
	}
	v, done := j.rubric.Before(counting(j.stage), a.outcome())
	return v, done, nil
}

// Frame returns a verdict on an answer without its content.
func (j *Judge) Frame(at assay.Coordinates) (store.Verdict, error) {
	return store.Verdict{At: again.FirstTry(at), Subject: at.Subject().Key()}, nil
}

// Line appends an answer for a program.
func (j *Judge) Line(dst []byte, it assay.Item, at assay.Coordinates, answered Answers) ([]byte, bool, error) {
	shown, ok, err := j.show(it, at.Subject(), answered)
	if err != nil || !ok {
		return dst, false, err
	}
	dst, err = shown.Line(dst, at.Key())
	return dst, err == nil, err
}

// show gathers an answer and what led to it; false where the answer is not there.
func (j *Judge) show(it assay.Item, subject assay.Coordinates, answered Answers) (judge.Subject, bool, error) {
	answer, ok := answered[subject.Key()]
	if !ok {
		return judge.Subject{}, false, nil
	}
	s, err := j.source(subject.Stage)
	if err != nil {
		return judge.Subject{}, false, err
	}
	asked, ok, err := s.Prompt(it, subject, answered)
	if err != nil || !ok {
		return judge.Subject{}, false, err
	}
	out := judge.Subject{Item: &it, Answer: answer.Text, First: answer.Text, Bare: j.rubric.Bare, Media: plan.MediaOf(asked.Messages)}
	for _, m := range asked.Messages {
		if m.Role == assay.RoleUser {
			out.Message = m.Text
		}
	}
	out.Asked = out.Message
	history, err := s.Needs(it, subject)
	if err != nil {
		return out, false, err
	}
	if len(history) > 0 {
		out.First = answered[history[0].Key()].Text
		first, ok, err := s.origin().Prompt(it, history[0], answered)
		if err != nil || !ok {
			return out, false, err
		}
		out.Asked = first.Messages[len(first.Messages)-1].Text
	}
	out.Conversation = judge.Conversation(append(asked.Messages, assay.Message{Role: assay.RoleAssistant, Text: answer.Text}))
	out.Branch = map[string]any{"name": subject.Branch}
	return out, true, nil
}

// After lists the groups of the answers that are read.
func (j *Judge) After(_ string, turn int) []store.GroupKey {
	var out []store.GroupKey
	for _, s := range j.sources {
		if !j.reads(s, turn) {
			continue
		}
		for _, l := range s.Lanes() {
			out = append(out, store.GroupKey{Stage: s.conversation.Stage.Name, Lane: l.Name, Turn: turn})
		}
	}
	return out
}

// ByRule returns the verdict of the stage's rule about an answer.
func (j *Judge) ByRule(it assay.Item, a Answer) (assay.Verdict, error) {
	expect, err := j.Expected(it)
	if err != nil || j.calls == nil {
		return j.By().Rule(a.Text, expect), err
	}
	calls, err := json.Marshal(append([]assay.ToolCall{}, a.Calls...)) // an empty list where there are none
	return j.By().Rule(string(calls), expect), err
}

// Expected returns what a rule holds an answer about an item against: a text, or the arguments of a call.
func (j *Judge) Expected(it assay.Item) (string, error) {
	values := prompt.Values{Fields: it.Fields, Names: map[string]any{"expect": it.Expect}}
	if j.calls != nil {
		text, err := j.calls.Arguments.Render(values, rubric.MaxPrompt)
		return string(text), err
	}
	if j.expects == nil {
		return it.Expect, nil
	}
	text, err := j.expects.Render(nil, values, rubric.MaxPrompt)
	return string(text), err
}

// Extra lists a judge's further votes on the answers of a turn about an item.
func (j *Judge) Extra(it assay.Item, _ int64, r store.Redo, turn int) []assay.Coordinates {
	var out []assay.Coordinates
	for _, subject := range j.subjects(it, turn) {
		if !again.Redoes(r, subject.Branch, subject.Draw) {
			continue
		}
		for _, p := range j.rubric.Prompts {
			out = append(out, j.request(subject, p.Name, r.Lane, j.votes-1+r.Nth))
		}
	}
	return out
}

// PerAnswer returns how many requests a judge gets for one answer.
func (j *Judge) PerAnswer() int64 { return int64(len(j.rubric.Prompts) * j.votes) }

// OfAnswer returns the request of the rule or program about an answer.
func (j *Judge) OfAnswer(answer assay.Coordinates) assay.Coordinates {
	return j.request(answer, "", j.Judges()[0], 0)
}

// Readings returns the requests whose verdicts together are the verdict of a stage, or of one of its judges, on an answer.
func (j *Judge) Readings(subject assay.Coordinates, by string) []assay.Coordinates {
	var out []assay.Coordinates
	for _, name := range j.Judges() {
		if by != "" && by != name {
			continue
		}
		for _, prompt := range j.rubric.Names() {
			for vote := range j.votes {
				out = append(out, j.request(subject, prompt, name, vote))
			}
		}
	}
	if out == nil && by != "" { // a person, whom no stage waits for
		out = append(out, j.request(subject, j.rubric.First(), by, 0))
	}
	return out
}

// Decide makes one verdict of those of the judges: each judge's votes first, then the jury. The study's check makes sure
// that several judges are a jury where a condition asks for their verdict together.
func (j *Judge) Decide(given map[string][]assay.Verdict) (assay.Verdict, bool) {
	var panel []assay.Verdict
	for _, name := range j.Judges() {
		votes := given[name]
		delete(given, name)
		if reduce := judge.Reduce(j.stage.Repeats.Reduce); len(votes) > 1 && reduce != "" {
			votes = reduce.Of(votes)
		} else if len(votes) > 1 {
			votes = judge.Majority.Decide(votes)
		}
		panel = append(panel, votes...)
	}
	for _, rest := range given {
		panel = append(panel, rest...)
	}
	if jury := judge.Jury(j.stage.Jury); len(panel) > 1 && jury != judge.Each && jury != "" {
		panel = jury.Decide(panel)
	}
	if len(panel) == 0 {
		return assay.Verdict{}, false
	}
	return panel[0], true
}

// Place returns the coordinates of a verdict on an answer.
func (j *Judge) Place(f Foreign) (assay.Coordinates, error) {
	at := assay.Coordinates{Stage: f.Source, Item: f.Item, Lane: f.Lane, Template: f.Template, Turn: f.Turn, Branch: f.Branch, Draw: f.Draw}
	if at.Stage == "" && len(j.sources) == 1 {
		at.Stage = j.sources[0].conversation.Stage.Name
	}
	s, err := j.source(at.Stage)
	if err != nil {
		return at, err
	}
	if !s.has(f.Lane) {
		return at, fmt.Errorf("stage %s has no lane %q", at.Stage, f.Lane)
	}
	if f.Turn < 1 || f.Turn > s.Turns() || f.Draw < 1 || f.Vote < 0 {
		return at, fmt.Errorf("turn %d, draw %d, vote %d: stage %s has no such answer", f.Turn, f.Draw, f.Vote, at.Stage)
	}
	return j.request(at, f.Prompt, f.Judge, f.Vote), nil
}
