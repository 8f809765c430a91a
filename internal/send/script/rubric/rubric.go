// Package rubric renders the prompts of a rubric.
package rubric

import (
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study/prompt"
)

// Rubric is a rubric with its templates parsed.
type Rubric struct {
	judge.Rubric
	Command []string      // of a program that judges
	Limit   time.Duration // of the program; 0: the usual
	system  *prompt.Template
	prompts map[string]*prompt.Template
}

// Parse parses the templates of a rubric.
func Parse(r judge.Rubric) (*Rubric, error) {
	out := &Rubric{Rubric: r, prompts: map[string]*prompt.Template{}}
	parse := prompt.Parse
	if r.Bare {
		parse = prompt.ParseExact
	}
	for _, p := range r.Prompts {
		t, problems := parse(assay.Place{File: r.Name}, p.Text)
		if t == nil {
			return nil, problems
		}
		out.prompts[p.Name] = t
	}
	if r.System == "" {
		return out, nil
	}
	t, problems := parse(assay.Place{File: r.Name}, r.System)
	if t == nil {
		return nil, problems
	}
	out.system = t
	return out, nil
}

// MaxPrompt bounds a judge's prompt.
const MaxPrompt = 32 << 20

// Render makes the prompt of a name from what it shows.
func (r *Rubric) Render(name string, values prompt.Values) (assay.Prompt, error) {
	t, ok := r.prompts[name]
	if !ok {
		return assay.Prompt{}, fmt.Errorf("rubric %s has no prompt %q", r.Name, name)
	}
	text, err := t.Render(nil, values, MaxPrompt)
	if err != nil {
		return assay.Prompt{}, err
	}
	p := assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: string(text)}}}
	if r.system != nil {
		system, err := r.system.Render(nil, values, MaxPrompt)
		if err != nil {
			return p, err
		}
		p.System = string(system)
	}
	return p, nil
}

// NeedsNoModel reports whether verdicts come without requests.
func (r *Rubric) NeedsNoModel() bool { return len(r.Prompts) == 0 }

// First returns the name of the first prompt; empty where there is none.
func (r *Rubric) First() string {
	if r.NeedsNoModel() {
		return ""
	}
	return r.Prompts[0].Name
}

// Names returns the names of its prompts; one without a name where a rule or a program judges.
func (r *Rubric) Names() []string {
	if r.NeedsNoModel() {
		return []string{""}
	}
	out := make([]string, len(r.Prompts))
	for i, p := range r.Prompts {
		out[i] = p.Name
	}
	return out
}

// ForPeople returns the prompt that a label is filed under: the only one, else none, for people read no prompt.
func (r *Rubric) ForPeople() string {
	if len(r.Prompts) == 1 {
		return r.First()
	}
	return ""
}

// Told holds the words around the texts that a judge reads, and which parts of them the item brings.
type Told struct {
	Text      string
	Expect    string // what the item expects
	Statement string // the rule that it is about
}

// Told returns what a judge is told; nothing where no model judges.
func (r *Rubric) Told(it assay.Item, around func(*assay.Item) prompt.Values) (out Told, err error) {
	if r.NeedsNoModel() {
		return out, nil
	}
	if out.Text, err = r.text(around(&it)); err != nil {
		return out, err
	}
	out.Statement = judge.Statement(it.Fields, out.Text)
	if it.Expect == "" {
		return out, nil
	}
	expect := it.Expect
	it.Expect = ""
	without, err := r.text(around(&it))
	if without != out.Text {
		out.Expect = expect
	}
	return out, err
}

// text returns the system text and the first prompt.
func (r *Rubric) text(values prompt.Values) (string, error) {
	p, err := r.Render(r.First(), values)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(p.System + "\n\n" + p.Messages[0].Text), nil
}
