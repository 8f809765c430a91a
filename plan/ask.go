package plan

import (
	"context"
	"fmt"

	"assay"
	"assay/prompt"
	"assay/study"
)

// maxPrompt bounds what one template may render to; no provider takes more in one request.
const maxPrompt = 32 << 20

// asking renders the first step of an ask stage: what goes out before any answer is there.
type asking struct {
	stage     *study.Stage
	step      Step
	templates []study.Named // of `prompt:`; one without a name for `turns:`
	branches  branchTable   // where the step's messages come from an input
}

// asked is one rendered question, before lanes and draws multiply it.
type asked struct {
	Template string
	Branch   string
	Prompt   assay.Prompt
}

func newAsking(ctx context.Context, d *Desk, st *study.Stage) (*asking, error) {
	a := &asking{stage: st, step: ScriptOf(st).Steps[0], templates: st.Prompt}
	if len(a.templates) == 0 {
		a.templates = []study.Named{{}}
	}
	if a.step.Each != nil {
		table, err := loadBranches(ctx, d, a.step.Each)
		if err != nil {
			return nil, err
		}
		a.branches = table
	}
	return a, nil
}

// questions renders every question about one item into out, which is reused.
func (a *asking) questions(out []asked, it assay.Item) ([]asked, error) {
	out = out[:0]
	if a.stage.Messages != "" {
		p, err := prepared(it, a.stage.Messages)
		if err != nil {
			return out, err
		}
		return append(out, asked{Prompt: p}), nil
	}
	values := prompt.Values{Fields: it.Fields}
	var base assay.Prompt
	var err error
	if base.System, err = render(a.stage.System, values); err != nil {
		return out, err
	}
	if base.Context, err = render(a.stage.Context, values); err != nil {
		return out, err
	}
	for _, t := range a.templates {
		q := asked{Template: t.Name, Prompt: base}
		for _, s := range a.step.Given {
			text, err := render(s.Text, values)
			if err != nil {
				return out, err
			}
			q.Prompt.Messages = append(q.Prompt.Messages, assay.Message{Role: s.Role, Text: text})
		}
		if out, err = a.says(out, q, t, it, values); err != nil {
			return out, err
		}
	}
	return out, nil
}

// says adds one question for every message that the step may end with.
func (a *asking) says(out []asked, q asked, t study.Named, it assay.Item, values prompt.Values) ([]asked, error) {
	end := func(branch string, text study.Text, values prompt.Values) error {
		said, err := render(text, values)
		if err != nil {
			return err
		}
		q := q
		q.Branch = branch
		q.Prompt.Messages = append(q.Prompt.Messages[:len(q.Prompt.Messages):len(q.Prompt.Messages)], assay.Message{Role: assay.RoleUser, Text: said})
		out = append(out, q)
		return nil
	}
	switch {
	case len(a.stage.Prompt) > 0:
		return out, end("", t.Text, values)
	case a.step.Each != nil:
		for _, b := range a.branches.of(it) {
			values.Names = map[string]any{"branch": b.Fields}
			if err := end(b.ID, a.step.Each.Say, values); err != nil {
				return out, err
			}
		}
		return out, nil
	}
	for _, b := range a.step.Says {
		if err := end(b.Name, b.Text, values); err != nil {
			return out, err
		}
	}
	return out, nil
}

func render(t study.Text, values prompt.Values) (string, error) {
	if t.Template == nil {
		return t.Text, nil
	}
	if text, ok := t.Template.Static(); ok {
		return text, nil
	}
	text, err := t.Template.Render(nil, values, maxPrompt)
	return string(text), err
}

// prepared reads a conversation that an item brings ready made: a list of {role, content}.
func prepared(it assay.Item, field string) (assay.Prompt, error) {
	var p assay.Prompt
	list, ok := it.Fields[field].([]any)
	if !ok || len(list) == 0 {
		return p, fmt.Errorf("field %s is no list of messages such as {role: user, content: TEXT}", field)
	}
	for i, e := range list {
		m, _ := e.(map[string]any)
		role, _ := m["role"].(string)
		text, ok := m["content"].(string)
		if !ok {
			return p, fmt.Errorf("message %d in field %s has no text under content", i+1, field)
		}
		switch role {
		case "system", "developer":
			if i > 0 {
				return p, fmt.Errorf("message %d in field %s: the system text comes first", i+1, field)
			}
			p.System = text
		case "user", "assistant":
			p.Messages = append(p.Messages, assay.Message{Role: assay.Role(role), Text: text})
		default:
			return p, fmt.Errorf("message %d in field %s has role %q, want system, user or assistant", i+1, field, role)
		}
	}
	if n := len(p.Messages); n == 0 || p.Messages[n-1].Role != assay.RoleUser {
		return p, fmt.Errorf("the conversation in field %s does not end with the user", field)
	}
	return p, nil
}

// branchTable holds the items of an input whose rows are branches, by the value that joins them to the asked item.
type branchTable struct {
	match string
	rows  map[string][]assay.Item
	all   []assay.Item // where nothing is matched, every item has every branch
}

// maxBranches bounds the branches that are held in memory.
const maxBranches = 200_000

func loadBranches(ctx context.Context, d *Desk, t *study.Turn) (branchTable, error) {
	b := branchTable{match: t.Match, rows: map[string][]assay.Item{}}
	n := 0
	for it, err := range d.Items.Items(ctx, t.Each) {
		if err != nil {
			return b, err
		}
		if n++; n > maxBranches {
			return b, fmt.Errorf("input %s has more than %d branches", t.Each, maxBranches)
		}
		if t.Match == "" {
			b.all = append(b.all, it)
			continue
		}
		key := fmt.Sprint(it.Fields[t.Match])
		b.rows[key] = append(b.rows[key], it)
	}
	return b, nil
}

func (b branchTable) of(it assay.Item) []assay.Item {
	if b.match == "" {
		return b.all
	}
	v, ok := it.Fields[b.match]
	if !ok {
		v = it.ID
	}
	return b.rows[fmt.Sprint(v)]
}
