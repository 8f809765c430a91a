package plan

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/prompt"
)

// neutral is the text of a control where the study gives none.
//
//go:embed control.md
var neutral string

// Conversation renders the conversations of an ask or continue stage, turn by turn.
type Conversation struct {
	Stage     *study.Stage
	Steps     []Step
	in        *Input
	from      *Conversation // of a continue stage: the talk it goes on with
	templates []study.Named // of `prompt:`; one without a name for `turns:`
	branches  []branchTable // by step, where its messages come from an input
	control   string        // the neutral text; empty: no control
	draws     int           // control draws
}

// Way is one way through a conversation: which template, which branches, which draw.
type Way struct {
	Template string
	Branches []string // one for each step so far that had several messages; the last one may be ControlBranch
	Draw     int      // from 1; a control's further draws follow those of the repeats
}

// Conversation prepares the conversations of a stage.
func (d *Input) Conversation(ctx context.Context, st *study.Stage) (*Conversation, error) {
	t := &Conversation{Stage: st, Steps: steps(st), in: d, templates: st.Prompt}
	if len(t.templates) == 0 {
		t.templates = []study.Named{{}}
	}
	if st.Control != nil && st.Control.On {
		t.control, t.draws = st.Control.Say.Text, st.Control.Draws
		if t.control == "" {
			t.control = strings.TrimSpace(neutral)
		}
	}
	t.branches = make([]branchTable, len(t.Steps))
	for k, s := range t.Steps {
		if s.Each == nil {
			continue
		}
		table, err := loadBranches(ctx, d, s.Each)
		if err != nil {
			return nil, err
		}
		t.branches[k] = table
	}
	if st.Continue != "" {
		source, ok := d.Study.Stage(st.Continue)
		if !ok {
			return nil, fmt.Errorf("stage %s continues %q, which does not exist", st.Name, st.Continue)
		}
		from, err := d.Conversation(ctx, source)
		if err != nil {
			return nil, err
		}
		t.from = from
	}
	return t, nil
}

// Branches returns the items whose rows are the branches of an item at a step.
func (t *Conversation) Branches(k int, it assay.Item) []assay.Item { return t.branches[k].of(it) }

// Repeats returns how many draws every question gets.
func (t *Conversation) Repeats() int { return int(Draws(t.Stage)) }

// Ways lists the ways that reach step k (from 0) of the conversations about an item, for one draw of the repeats.
func (t *Conversation) Ways(k int, it assay.Item, draw int) []Way {
	var ways []Way
	if t.from != nil {
		for d := range t.from.Repeats() {
			for _, w := range t.from.Ways(len(t.from.Steps)-1, it, d+1) {
				w.Draw += (draw - 1) * t.from.maxDraw()
				ways = append(ways, w)
			}
		}
	} else {
		for _, tmpl := range t.templates {
			ways = append(ways, Way{Template: tmpl.Name, Draw: draw})
		}
	}
	for s := 0; s <= k; s++ {
		ways = t.fork(ways, s, it)
	}
	return ways
}

// AllWays lists the ways that reach step k, all draws of a way together.
func (t *Conversation) AllWays(k int, it assay.Item) []Way {
	if t.Repeats() == 1 {
		return t.Ways(k, it, 1)
	}
	byDraw := make([][]Way, t.Repeats())
	for d := range byDraw {
		byDraw[d] = t.Ways(k, it, d+1)
	}
	var all []Way
	for i := range byDraw[0] {
		for d := range byDraw {
			all = append(all, byDraw[d][i])
		}
	}
	return all
}

// maxDraw returns the highest draw that any way has.
func (t *Conversation) maxDraw() int { return t.Repeats() * max(1, t.draws) }

// Draws returns the highest draw that a way of the plan can have; what is asked again later counts on from there.
func (t *Conversation) Draws() int {
	if t.from != nil {
		return t.maxDraw() * t.from.Draws()
	}
	return t.maxDraw()
}

// fork multiplies the ways at a step.
func (t *Conversation) fork(ways []Way, s int, it assay.Item) []Way {
	names := t.messages(s, it)
	starts := t.control != "" && s == t.firstPressure()
	if len(names) == 1 && names[0] == "" && !starts {
		return ways
	}
	var out []Way
	for _, w := range ways {
		if w.isControl() {
			out = append(out, w)
			continue
		}
		for _, name := range names {
			out = append(out, w.with(name))
		}
		if starts {
			for c := range t.draws {
				control := w.with(ControlBranch)
				control.Draw += c * t.Repeats()
				out = append(out, control)
			}
		}
	}
	return out
}

// messages names what may be said at a step; "" where there is only one message.
func (t *Conversation) messages(s int, it assay.Item) []string {
	step := t.Steps[s]
	if step.Each == nil {
		names := make([]string, len(step.Says))
		for i, b := range step.Says {
			names[i] = b.Name
		}
		return names
	}
	var names []string
	for _, b := range t.branches[s].of(it) {
		names = append(names, b.ID)
	}
	return names
}

func (t *Conversation) firstPressure() int {
	for s, step := range t.Steps {
		if step.Pressure {
			return s
		}
	}
	return -1
}

func (w Way) with(name string) Way {
	if name != "" {
		w.Branches = append(w.Branches[:len(w.Branches):len(w.Branches)], name)
	}
	return w
}

func (w Way) isControl() bool {
	return len(w.Branches) > 0 && w.Branches[len(w.Branches)-1] == ControlBranch
}

// Branch returns the way's branches as one coordinate.
func (w Way) Branch() string {
	escaped := make([]string, len(w.Branches))
	for i, b := range w.Branches {
		escaped[i] = url.PathEscape(b)
	}
	return strings.Join(escaped, "/")
}

// ParseWay reads the way out of a request's coordinates.
func ParseWay(at assay.Coordinates) (Way, error) {
	w := Way{Template: at.Template, Draw: at.Draw}
	if at.Branch == "" {
		return w, nil
	}
	for part := range strings.SplitSeq(at.Branch, "/") {
		name, err := url.PathUnescape(part)
		if err != nil {
			return w, fmt.Errorf("branch %q: %w", at.Branch, err)
		}
		w.Branches = append(w.Branches, name)
	}
	return w, nil
}

// At returns the coordinates of the request at step k.
func (t *Conversation) At(k int, lane, item string, w Way) assay.Coordinates {
	return assay.Coordinates{Stage: t.Stage.Name, Item: item, Lane: lane, Template: w.Template, Turn: k + 1, Branch: w.Branch(),
		Draw: w.Draw}
}

// History lists the requests whose answers stand before step k, oldest first.
func (t *Conversation) History(k int, lane string, it assay.Item, w Way) []assay.Coordinates {
	var out []assay.Coordinates
	for _, m := range t.moments(k, it, w) {
		if m.step < len(m.talk.Steps) && !(m.talk == t && m.step == k) {
			out = append(out, m.talk.At(m.step, lane, it.ID, m.way))
		}
	}
	return out
}

// moment is one step of one conversation, with the way as far as that step.
type moment struct {
	talk *Conversation
	step int
	way  Way
	say  string // the branch taken at this step; "" where there is no choice
}

// moments follows a way from the first question to step k.
func (t *Conversation) moments(k int, it assay.Item, w Way) []moment {
	left := w.Branches
	soFar := Way{Template: w.Template, Draw: w.Draw}
	return t.follow(nil, k, it, w, &left, &soFar)
}

func (t *Conversation) follow(out []moment, k int, it assay.Item, w Way, left *[]string, soFar *Way) []moment {
	if t.from != nil {
		soFar.Draw = (w.Draw-1)%t.from.maxDraw() + 1
		out = t.from.follow(out, len(t.from.Steps)-1, it, Way{Template: w.Template, Draw: soFar.Draw}, left, soFar)
		soFar.Draw = w.Draw
	}
	full := soFar.Draw
	for s := 0; s <= k; s++ {
		names := t.messages(s, it)
		say := ""
		choice := len(names) != 1 || names[0] != "" || t.control != "" && s == t.firstPressure()
		if choice && !soFar.isControl() && len(*left) > 0 && (len(names) != 1 || names[0] != "" || (*left)[0] == ControlBranch) {
			say, *left = (*left)[0], (*left)[1:]
			*soFar = soFar.with(say)
		}
		at := *soFar
		at.Draw = full
		if !at.isControl() && t.from == nil {
			at.Draw = (full-1)%t.Repeats() + 1 // before a control begins its draws are one
		}
		out = append(out, moment{talk: t, step: s, way: at, say: say})
	}
	return out
}

// Prompt returns what is sent at step k, given the answers to the steps before it, oldest first.
func (t *Conversation) Prompt(k int, it assay.Item, w Way, answers []string) (assay.Prompt, error) {
	first := t
	for first.from != nil {
		first = first.from
	}
	if first.Stage.Messages != "" && t.from == nil && k == 0 {
		return t.prepared(it)
	}
	values := prompt.Values{Fields: it.Fields}
	var p assay.Prompt
	var err error
	if p.System, err = render(first.Stage.System, values); err != nil {
		return p, err
	}
	if p.Context, err = render(first.Stage.Context, values); err != nil {
		return p, err
	}
	for i, m := range t.moments(k, it, w) {
		if err := m.speak(&p, it, values); err != nil {
			return p, err
		}
		if m.talk == t && m.step == k {
			return p, nil
		}
		if i >= len(answers) {
			return p, fmt.Errorf("the conversation has %d answers, step %d needs more", len(answers), k+1)
		}
		p.Messages = append(p.Messages, assay.Message{Role: assay.RoleAssistant, Text: answers[i]})
	}
	return p, fmt.Errorf("the conversation has no step %d", k+1)
}

// speak adds the user's side of a moment.
func (m moment) speak(p *assay.Prompt, it assay.Item, values prompt.Values) error {
	step := m.talk.Steps[m.step]
	if m.talk.Stage.Messages != "" && m.step == 0 {
		ready, err := m.talk.prepared(it)
		p.System, p.Messages = ready.System, ready.Messages
		return err
	}
	first := study.Media(nil) // what the stage shows stands before its first message
	if m.step == 0 {
		first = m.talk.Stage.Media
	}
	for _, s := range step.Given {
		text, err := render(s.Text, values)
		if err != nil {
			return err
		}
		said := assay.Message{Role: s.Role, Text: text}
		if s.Role == assay.RoleUser {
			if said, err = m.talk.message(text, it, first, s.Media); err != nil {
				return err
			}
			first = nil
		}
		p.Messages = append(p.Messages, said)
	}
	text, err := m.said(it, values)
	if err != nil {
		return err
	}
	own := step.Media
	if m.way.isControl() && step.Pressure {
		own = nil // a control says the neutral text, and nothing else
	}
	said, err := m.talk.message(text, it, first, own)
	p.Messages = append(p.Messages, said)
	return err
}

// neutral returns what a control says. One that began in a stage before stays one: without a text of its own the stage
// says what that one said.
func (t *Conversation) neutral(values prompt.Values) (string, error) {
	if t.control == "" && t.from != nil {
		return t.from.neutral(values)
	}
	if t.Stage.Control == nil || t.Stage.Control.Say.Empty() {
		return t.control, nil
	}
	return render(t.Stage.Control.Say, values)
}

func (m moment) said(it assay.Item, values prompt.Values) (string, error) {
	t, step := m.talk, m.talk.Steps[m.step]
	if t.Stage.Guessed {
		return guessed(it, m.step), nil
	}
	if m.way.isControl() && step.Pressure {
		return t.neutral(values)
	}
	if len(t.Stage.Prompt) > 0 {
		for _, tmpl := range t.templates {
			if tmpl.Name == m.way.Template {
				return render(tmpl.Text, values)
			}
		}
		return "", fmt.Errorf("stage %s has no template %q", t.Stage.Name, m.way.Template)
	}
	if step.Each != nil {
		for _, b := range t.branches[m.step].of(it) {
			if b.ID == m.say {
				values.Names = map[string]any{"branch": b.Fields}
				return render(step.Each.Say, values)
			}
		}
		return "", fmt.Errorf("item %q has no branch %q", it.ID, m.say)
	}
	for _, b := range step.Says {
		if b.Name == m.say {
			return render(b.Text, values)
		}
	}
	return "", fmt.Errorf("stage %s has no branch %q in turn %d", t.Stage.Name, m.say, m.step+1)
}
