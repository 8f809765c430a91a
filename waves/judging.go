package waves

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/judge"
	"assay/prompt"
	"assay/study"
)

// judging is the recipe of a judge stage: every judge reads every answer the stage is about. A group of turn t reads the
// answers of turn t, so that judging starts as soon as they are there.
type judging struct {
	stage   *study.Stage
	rubric  *rubric
	sources []*asking
	chosen  []*study.Lane
	input   string
	votes   int
	redone  *redone
	expects *prompt.Template // what a rule expects of an answer; nil: what the item says
}

// rubric is a rubric with its templates parsed.
type rubric struct {
	judge.Rubric
	system  *prompt.Template
	prompts map[string]*prompt.Template
}

func newRubric(r judge.Rubric) (*rubric, error) {
	out := &rubric{Rubric: r, prompts: map[string]*prompt.Template{}}
	for _, p := range r.Prompts {
		t, problems := prompt.Parse(assay.Place{File: r.Name}, p.Text)
		if t == nil {
			return nil, problems
		}
		out.prompts[p.Name] = t
	}
	if r.System == "" {
		return out, nil
	}
	t, problems := prompt.Parse(assay.Place{File: r.Name}, r.System)
	if t == nil {
		return nil, problems
	}
	out.system = t
	return out, nil
}

// maxPrompt bounds a judge's prompt.
const maxPrompt = 32 << 20

func (r *rubric) render(name string, values prompt.Values) (assay.Prompt, error) {
	t, ok := r.prompts[name]
	if !ok {
		return assay.Prompt{}, fmt.Errorf("rubric %s has no prompt %q", r.Name, name)
	}
	text, err := t.Render(nil, values, maxPrompt)
	if err != nil {
		return assay.Prompt{}, err
	}
	p := assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: string(text)}}}
	if r.system != nil {
		system, err := r.system.Render(nil, values, maxPrompt)
		if err != nil {
			return p, err
		}
		p.System = string(system)
	}
	return p, nil
}

func (j *judging) lanes() []*study.Lane {
	if len(j.rubric.Prompts) == 0 {
		return nil
	}
	return j.chosen
}

func (j *judging) items() string { return j.input }

// form is the schema of the reply that the rubric reads.
func (j *judging) form() json.RawMessage { return j.rubric.Answer() }

func (j *judging) turns() int {
	n := 0
	for _, s := range j.sources {
		n = max(n, s.turns())
	}
	return n
}

// reads tells whether the stage is about the answers of a turn of a source.
func (j *judging) reads(s *asking, turn int) bool {
	switch of := j.stage.Of; {
	case turn > s.turns():
		return false
	case of == "first":
		return turn == 1
	case of == "each":
		return true
	case of == "" && j.stage.Rubric.Name == "flip": // each later answer against the first
		return turn > 1 || s.from != nil
	case of == "" || of == "last" || of == "conversation":
		return turn == s.turns()
	default:
		n, err := strconv.Atoi(string(of))
		return err == nil && n == turn
	}
}

func (j *judging) at(it assay.Item, _ int64, lane string, turn int) []assay.Coordinates {
	var out []assay.Coordinates
	for _, subject := range j.subjects(it, turn) {
		for _, p := range j.rubric.Prompts {
			for vote := range j.votes {
				out = append(out, j.request(subject, p.Name, lane, vote))
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
	for _, s := range j.sources {
		if !j.reads(s, turn) {
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

// picks tells whether the stage is about a lane's answers.
func (j *judging) picks(l *study.Lane) bool {
	return len(j.stage.Among.List) == 0 || slices.ContainsFunc(j.stage.Among.List, func(n string) bool { return study.Picks(n, l) })
}

// request is the coordinates of one judge's reading of one answer.
func (j *judging) request(subject assay.Coordinates, prompt, lane string, vote int) assay.Coordinates {
	at := subject
	at.Stage, at.Judge = j.stage.Name, lane
	if len(j.rubric.Prompts) > 1 {
		at.Template = joined(subject.Template, prompt)
	}
	if len(j.sources) > 1 {
		at.Pair = subject.Stage
	}
	at.Draw += vote * drawStride
	return at
}

// drawStride keeps a judge's further votes apart from the draws of the answers they read.
const drawStride = 1 << 20

// subject is the answer that a judge's request reads, and the name of the prompt it is read with.
func (j *judging) subject(at assay.Coordinates) (assay.Coordinates, string, error) {
	s := at
	s.Judge, s.Pair, s.Stage = "", "", j.sources[0].talk.Stage.Name
	if len(j.sources) > 1 {
		s.Stage = at.Pair
	}
	s.Draw = (at.Draw-1)%drawStride + 1
	name := j.rubric.only()
	if len(j.rubric.Prompts) > 1 {
		parts, err := split(at.Template, 2)
		if err != nil {
			return s, "", err
		}
		s.Template, name = parts[0], parts[1]
	}
	return s, name, nil
}

// only is the name of the only prompt; empty where there is none.
func (r *rubric) only() string {
	if len(r.Prompts) == 0 {
		return ""
	}
	return r.Prompts[0].Name
}

func (j *judging) source(stage string) (*asking, error) {
	for _, s := range j.sources {
		if s.talk.Stage.Name == stage {
			return s, nil
		}
	}
	return nil, fmt.Errorf("stage %s does not judge stage %q", j.stage.Name, stage)
}

func (j *judging) needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	subject, _, err := j.subject(at)
	if err != nil {
		return nil, err
	}
	s, err := j.source(subject.Stage)
	if err != nil {
		return nil, err
	}
	before, err := s.needs(it, subject)
	return append(before, subject), err
}

func (j *judging) prompt(it assay.Item, at assay.Coordinates, answered answers) (assay.Prompt, bool, error) {
	subject, name, err := j.subject(at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	shown, ok, err := j.show(it, subject, answered)
	if err != nil || !ok {
		return assay.Prompt{}, false, err
	}
	p, err := j.rubric.render(name, shown.Values(at.Key()))
	return p, err == nil, err
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
	out := judge.Subject{Item: &it, Answer: answer, First: answer}
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
		out.First = answered[history[0].Key()]
		first, ok, err := s.origin().prompt(it, history[0], answered)
		if err != nil || !ok {
			return out, false, err
		}
		out.Asked = first.Messages[len(first.Messages)-1].Text
	}
	out.Conversation = judge.Conversation(append(talked.Messages, assay.Message{Role: assay.RoleAssistant, Text: answer}))
	out.Branch = map[string]any{"name": subject.Branch}
	return out, true, nil
}

func (j *judging) after(_ string, turn int) []groupKey {
	var out []groupKey
	for _, s := range j.sources {
		if !j.reads(s, turn) {
			continue
		}
		for _, l := range s.lanes() {
			out = append(out, groupKey{s.talk.Stage.Name, l.Name, turn})
		}
	}
	return out
}

// expected is what a rule holds an answer about an item against.
func (j *judging) expected(it assay.Item) (string, error) {
	if j.expects == nil {
		return it.Expect, nil
	}
	text, err := j.expects.Render(nil, prompt.Values{Fields: it.Fields, Names: map[string]any{"expect": it.Expect}}, maxPrompt)
	return string(text), err
}

// origin is the recipe whose first turn began the conversation.
func (a *asking) origin() *asking {
	for a.from != nil {
		a = a.from
	}
	return a
}

// joined puts names into one coordinate; split takes them apart.
func joined(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	return strings.Join(escaped, "/")
}

func split(text string, n int) ([]string, error) {
	parts := strings.Split(text, "/")
	if len(parts) != n {
		return nil, fmt.Errorf("coordinate %q has %d parts, want %d", text, len(parts), n)
	}
	for i, p := range parts {
		var err error
		if parts[i], err = url.PathUnescape(p); err != nil {
			return nil, fmt.Errorf("coordinate %q: %w", text, err)
		}
	}
	return parts, nil
}

// cookJudge makes the recipe of a judge stage.
func (s *script) cookJudge(ctx context.Context, st *study.Stage) (*judging, error) {
	described, err := s.desk.Rubric(st)
	if err != nil {
		return nil, err
	}
	r, err := newRubric(described)
	if err != nil {
		return nil, err
	}
	j := &judging{stage: st, rubric: r, chosen: s.desk.Study.LanesNamed(st.Judges.List), input: s.desk.Root(st), votes: max(1, st.Repeats.N), redone: &s.redone}
	if own := s.desk.Study.RubricOf(st); own != nil && own.Rule != nil && own.Rule.Exact != "" {
		t, problems := prompt.Parse(own.Rule.Key("exact"), own.Rule.Exact)
		if t == nil {
			return nil, problems
		}
		j.expects = t
	}
	for _, name := range st.Judge.List {
		source, ok := s.recipes[name].(*asking)
		if !ok {
			return nil, fmt.Errorf("stage %s judges %s, which has no answers of this run", st.Name, name)
		}
		j.sources = append(j.sources, source)
	}
	return j, ctx.Err()
}
