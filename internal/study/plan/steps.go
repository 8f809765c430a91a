package plan

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/prompt"
)

// maxPrompt bounds what one template may render to; no provider takes more in one request.
const maxPrompt = 32 << 20

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
		return p, fmt.Errorf("field %s is not a list of messages such as {role: user, content: TEXT}", field)
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

func loadBranches(ctx context.Context, d *Input, t *study.Turn) (branchTable, error) {
	b := branchTable{match: t.Match, rows: map[string][]assay.Item{}}
	n := 0
	for it, err := range d.Rows.Items(ctx, t.Each) {
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

// Step is one asked turn: what is said before it without asking, and the messages that may follow.
type Step struct {
	Given    []Message // user and assistant messages in front of it that are not asked
	Says     []Branch  // one, or several that all follow the same answer
	Each     *study.Turn
	Media    study.Media
	Pressure bool // not the first question: a control may stand beside it
}

// Message is one given message.
type Message struct {
	Role  assay.Role
	Text  study.Text
	Media study.Media
}

// Branch is one of the messages of a step; its name is empty where there is only one.
type Branch struct {
	Name string
	Text study.Text
}

// Steps returns the asked turns of a stage.
func Steps(st *study.Stage) []Step { return steps(st) }

// steps reads the turns of a stage. A user message that is followed by a given answer is not asked.
func steps(st *study.Stage) []Step {
	var all []Step
	var given []Message
	if len(st.Turns) == 0 { // one question: the prompt; its templates are coordinates of their own
		return []Step{{Says: []Branch{{}}}}
	}
	for i, t := range st.Turns {
		switch {
		case !t.Asked():
			given = append(given, Message{Role: assay.RoleAssistant, Text: t.Assistant})
			continue
		case i+1 < len(st.Turns) && !st.Turns[i+1].Asked() && len(t.Branches) == 0 && t.Each == "":
			given = append(given, Message{Role: assay.RoleUser, Text: t.User, Media: t.Media})
			continue
		}
		step := Step{Given: given, Media: t.Media, Pressure: len(all) > 0 || st.GoesOn()}
		given = nil
		switch {
		case t.Each != "":
			step.Each = &st.Turns[i]
		case len(t.Branches) > 0:
			for _, b := range t.Branches {
				step.Says = append(step.Says, Branch{Name: b.Name, Text: b.Text})
			}
		default:
			step.Says = []Branch{{Text: t.User}}
		}
		all = append(all, step)
	}
	return all
}

// ControlBranch is the name under which a neutral re-ask stands among the branches.
const ControlBranch = "control"

func Draws(st *study.Stage) int64 { return int64(max(1, st.Repeats.N)) }

// guessed returns what was asked in a conversation that was made elsewhere, where it is not recorded: first the item's text, then
// nothing that is known.
func guessed(it assay.Item, step int) string {
	if text, ok := it.Fields["text"].(string); ok && step == 0 {
		return text
	}
	return ""
}
