package script

import (
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/plan"
	"assay/internal/study/prompt"
)

// judging is a judge stage: every judge reads every answer the stage is about. A group of turn t reads the
// answers of turn t, so that judging starts as soon as they are there.
type judging struct {
	stage   *study.Stage
	rubric  *rubric
	sources []*asking
	chosen  []*study.Lane
	others  []*study.Lane // that are asked in their place
	input   string
	votes   int
	redone  *redone
	expects *prompt.Template           // what a rule expects of an answer; nil: what the item says
	slices  map[string]map[string]bool // of sources that ask a slice of the input: its items
}

func (j *judging) lanes() []*study.Lane {
	if len(j.rubric.Prompts) == 0 {
		return nil
	}
	return slices.Concat(j.chosen, j.others)
}

func (j *judging) items() string { return j.input }

func (j *judging) tries() []int { return triesOf(j.stage, j.rubric, j.redone) }

func (j *judging) turns() int {
	n := 0
	for _, s := range j.sources {
		n = max(n, s.turns())
	}
	return n
}

func (j *judging) voices() []string { return voices(j.rubric, j.chosen) }

func (j *judging) by() (*rubric, judge.Counting) { return j.rubric, counting(j.stage) }

func (j *judging) conditional() bool {
	return conditional(j.stage) || len(j.tries()) > 1 || slices.ContainsFunc(j.sources, func(s *asking) bool { return s.conditional() })
}

// trials of a judgement are those of the answer it reads, and its own.
func (j *judging) trials(it assay.Item, at assay.Coordinates) ([]trial, error) {
	subject, s, err := j.read(at)
	if err != nil {
		return nil, err
	}
	out, err := s.trials(it, subject)
	if err != nil || !conditional(j.stage) {
		return out, err
	}
	before, err := s.needs(it, subject)
	talk := latestFirst(append(before, subject))
	return append(out, trial{stage: j.stage, item: &it, lane: subject.Lane, talks: [][]assay.Coordinates{talk}}), err
}

// reads reports whether the stage is about the answers of a turn of a source.
func (j *judging) reads(s *asking, turn int) bool {
	return plan.Of(j.stage, j.rubric.Rubric).Reads(turn, s.span())
}

func (j *judging) at(it assay.Item, _ int64, lane string, turn int) []assay.Coordinates {
	var out []assay.Coordinates
	for _, subject := range j.subjects(it, turn) {
		for _, name := range j.rubric.names() {
			for vote := range j.votes {
				out = append(out, j.request(subject, name, lane, vote))
			}
		}
	}
	for _, r := range j.redone.of(j.stage.Name, lane, it.ID) {
		out = append(out, j.extra(it, 0, r, turn)...)
	}
	return out
}

// subjects lists the answers of one turn about one item that the stage judges.
func (j *judging) subjects(it assay.Item, turn int) []assay.Coordinates {
	var out []assay.Coordinates
	if !keeps(j.stage, it) {
		return nil
	}
	for _, s := range j.sources {
		if ids, part := j.slices[s.input]; !j.reads(s, turn) || part && !ids[it.ID] {
			continue
		}
		for _, l := range s.lanes() {
			if j.picks(l) {
				out = append(out, s.at(it, 0, l.Name, turn)...)
			}
		}
	}
	return out
}

// picks reports whether the stage is about a lane's answers.
func (j *judging) picks(l *study.Lane) bool {
	return len(j.stage.Among.List) == 0 || slices.ContainsFunc(j.stage.Among.List, func(n string) bool { return study.Picks(n, l) })
}

// request returns the coordinates of one judge's reading of one answer.
func (j *judging) request(subject assay.Coordinates, prompt, lane string, vote int) assay.Coordinates {
	if len(j.rubric.Prompts) < 2 {
		prompt = j.rubric.only()
	}
	at := subject
	at.Stage, at.Source = j.stage.Name, subject.Stage
	at.Judge, at.Prompt, at.Vote = lane, prompt, vote
	return at
}

func (j *judging) source(stage string) (*asking, error) {
	for _, s := range j.sources {
		if s.talk.Stage.Name == stage {
			return s, nil
		}
	}
	return nil, fmt.Errorf("stage %s does not judge stage %q", j.stage.Name, stage)
}

// read returns the answer that a judge's request reads, and the stage that asked for it.
func (j *judging) read(at assay.Coordinates) (assay.Coordinates, *asking, error) {
	s, err := j.source(at.Source)
	return at.Subject(), s, err
}

func (j *judging) needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	subject, s, err := j.read(at)
	if err != nil {
		return nil, err
	}
	before, err := s.needs(it, subject)
	return append(before, subject), err
}

func (j *judging) prompt(it assay.Item, at assay.Coordinates, answered answers) (assay.Prompt, bool, error) {
	if _, done, err := j.known(at, answered); done || err != nil {
		return assay.Prompt{}, false, err
	}
	shown, ok, err := j.show(it, at.Subject(), answered)
	if err != nil || !ok {
		return assay.Prompt{}, false, err
	}
	p, err := j.rubric.render(at.Prompt, shown.Values(at.Key()))
	return p, err == nil, err
}

// known returns the verdict that a rule for refused and cut answers gives.
func (j *judging) known(at assay.Coordinates, answered answers) (assay.Verdict, bool, error) {
	a, ok := answered[at.Subject().Key()]
	if !ok {
		return assay.Verdict{}, false, nil
	}
	v, done := j.rubric.Before(counting(j.stage), a.outcome())
	return v, done, nil
}

func (j *judging) frame(at assay.Coordinates) (store.Verdict, error) {
	return store.Verdict{At: firstTry(at), Subject: at.Subject().Key()}, nil
}

func (j *judging) line(dst []byte, it assay.Item, at assay.Coordinates, answered answers) ([]byte, bool, error) {
	shown, ok, err := j.show(it, at.Subject(), answered)
	if err != nil || !ok {
		return dst, false, err
	}
	dst, err = shown.Line(dst, at.Key())
	return dst, err == nil, err
}

// show gathers an answer and what led to it; false where the answer is not there.
func (j *judging) show(it assay.Item, subject assay.Coordinates, answered answers) (judge.Subject, bool, error) {
	answer, ok := answered[subject.Key()]
	if !ok {
		return judge.Subject{}, false, nil
	}
	s, err := j.source(subject.Stage)
	if err != nil {
		return judge.Subject{}, false, err
	}
	talked, ok, err := s.prompt(it, subject, answered)
	if err != nil || !ok {
		return judge.Subject{}, false, err
	}
	out := judge.Subject{Item: &it, Answer: answer.text, First: answer.text, Bare: j.rubric.Bare}
	for _, m := range talked.Messages {
		if m.Role == assay.RoleUser {
			out.Said = m.Text
		}
	}
	out.Asked = out.Said
	history, err := s.needs(it, subject)
	if err != nil {
		return out, false, err
	}
	if len(history) > 0 {
		out.First = answered[history[0].Key()].text
		first, ok, err := s.origin().prompt(it, history[0], answered)
		if err != nil || !ok {
			return out, false, err
		}
		out.Asked = first.Messages[len(first.Messages)-1].Text
	}
	out.Conversation = judge.Conversation(append(talked.Messages, assay.Message{Role: assay.RoleAssistant, Text: answer.text}))
	out.Branch = map[string]any{"name": subject.Branch}
	return out, true, nil
}

func (j *judging) after(_ string, turn int) []store.GroupKey {
	var out []store.GroupKey
	for _, s := range j.sources {
		if !j.reads(s, turn) {
			continue
		}
		for _, l := range s.lanes() {
			out = append(out, store.GroupKey{Stage: s.talk.Stage.Name, Lane: l.Name, Turn: turn})
		}
	}
	return out
}

// expected returns what a rule holds an answer about an item against.
func (j *judging) expected(it assay.Item) (string, error) {
	if j.expects == nil {
		return it.Expect, nil
	}
	text, err := j.expects.Render(nil, prompt.Values{Fields: it.Fields, Names: map[string]any{"expect": it.Expect}}, maxPrompt)
	return string(text), err
}

// origin returns the stage whose first turn began the conversation.
func (a *asking) origin() *asking {
	for a.from != nil {
		a = a.from
	}
	return a
}
