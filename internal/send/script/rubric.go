package script

import (
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study/prompt"
)

// rubric is a rubric with its templates parsed.
type rubric struct {
	judge.Rubric
	command []string      // of a program that judges
	limit   time.Duration // of the program; 0: the usual
	system  *prompt.Template
	prompts map[string]*prompt.Template
}

func newRubric(r judge.Rubric) (*rubric, error) {
	out := &rubric{Rubric: r, prompts: map[string]*prompt.Template{}}
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

// only returns the name of the only prompt; empty where there is none.
func (r *rubric) only() string {
	if len(r.Prompts) == 0 {
		return ""
	}
	return r.Prompts[0].Name
}

// names returns those of its prompts; one without a name where a rule or a program judges.
func (r *rubric) names() []string {
	if len(r.Prompts) == 0 {
		return []string{""}
	}
	out := make([]string, len(r.Prompts))
	for i, p := range r.Prompts {
		out[i] = p.Name
	}
	return out
}
