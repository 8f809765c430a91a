package plan

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/prompt"
)

// Names returns what an entry of `media` names for an item: one name, several where a field is a list, or none where it is empty.
func Names(s *study.Shown, it *assay.Item) ([]string, error) {
	text := s.Text
	if s.Template != nil {
		out, err := s.Template.Render(nil, prompt.Values{Fields: it.Fields}, maxName)
		if err != nil {
			return nil, err
		}
		text = string(out)
	}
	text = strings.TrimSpace(text)
	var list []string
	if !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &list) != nil {
		list = []string{text}
	}
	var names []string
	for _, name := range list {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !IsURL(name) {
			if !inside(s.Text, name) {
				return nil, fmt.Errorf("%q leads out of the folder that the study names", name)
			}
			name = path.Clean(name)
		}
		names = append(names, name)
	}
	return names, nil
}

// maxName bounds what the template of a name renders to.
const maxName = 64 << 10

// IsURL reports whether a provider is to fetch what a name means.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://")
}

// inside reports whether a name stays in the folder that the template writes before its first field: rows of data choose files there, and
// nowhere else.
func inside(template, name string) bool {
	written, _, variable := strings.Cut(template, "{")
	if !variable {
		return true
	}
	if i := strings.LastIndexByte(written, '/'); i >= 0 {
		written = path.Clean(written[:i+1])
	} else {
		written = "."
	}
	name = path.Clean(name)
	if written == "." {
		return !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
	}
	return strings.HasPrefix(name, strings.TrimSuffix(written, "/")+"/")
}

// ShownIn lists the entries of `media` of all stages whose items an input has. Stages that leave an item out by `where` show nothing of it.
func (d *Input) ShownIn(input string, it *assay.Item) ([]*study.Shown, error) {
	var out []*study.Shown
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		if !st.Shows() || d.Root(st) != input && !d.readBeside(st.Name, input) {
			continue
		}
		kept, err := Keeps(st, *it)
		if err != nil {
			return nil, err
		}
		if !kept {
			continue
		}
		for k := range st.Media {
			out = append(out, &st.Media[k])
		}
		for k := range st.Turns {
			for n := range st.Turns[k].Media {
				out = append(out, &st.Turns[k].Media[n])
			}
		}
	}
	return out, nil
}

// readBeside reports whether a stage that goes by the items of an input judges the answers of another, which may ask a slice of them.
func (d *Input) readBeside(name, input string) bool {
	return slices.ContainsFunc(d.Study.Stages, func(st study.Stage) bool {
		return slices.Contains(st.Judge.List, name) && d.Root(&st) == input
	})
}

// Attach adds to an item of an input what requests about it show, as find finds it. Each name is looked for once.
func (d *Input) Attach(find func(name string) ([]assay.File, error), input string, it *assay.Item) assay.Problems {
	var problems assay.Problems
	shown, err := d.ShownIn(input, it)
	if err != nil {
		return nil // reported where the stage is planned
	}
	it.Files = nil
	for _, s := range shown {
		names, err := Names(s, it)
		if err != nil {
			problems.Add(it.Place, "write the folder in the study, such as media: [\"../pictures/{{ picture }}\"]", "item %q: media: %s",
				it.ID, err)
			continue
		}
		for _, name := range names {
			if slices.ContainsFunc(it.Files, func(f assay.File) bool { return f.As == name }) {
				continue
			}
			files, err := find(name)
			if err != nil {
				problems.Add(it.Place,
					"names are looked up in the study's folder; files are known by their content: png, jpeg, gif, webp, pdf, wav, mp3",
					"item %q: media: %s", it.ID, err)
				continue
			}
			it.Files = append(it.Files, files...)
		}
	}
	return problems
}

// Shown returns the parts of a message that shows something of an item, in the order in which it is written.
func (d *Input) Shown(media study.Media, it *assay.Item) ([]assay.Part, error) {
	var parts []assay.Part
	for i := range media {
		names, err := Names(&media[i], it)
		if err != nil {
			return nil, fmt.Errorf("media: %w", err)
		}
		for _, name := range names {
			n := len(parts)
			for k := range it.Files {
				if f := &it.Files[k]; f.As == name {
					parts = append(parts, assay.Part{Media: f.Media(string(media[i].Detail), d.Open)})
				}
			}
			if len(parts) == n {
				return nil, fmt.Errorf("media: nothing is kept of %q", name)
			}
		}
	}
	return parts, nil
}

// Showing returns a user's message with what it shows in front of its text.
func Showing(text string, parts []assay.Part) assay.Message {
	m := assay.Message{Role: assay.RoleUser, Text: text}
	if len(parts) > 0 {
		m.Parts = parts
		if text != "" {
			m.Parts = append(m.Parts, assay.Part{Text: text})
		}
	}
	return m
}

// MediaOf returns all that the messages of a prompt show, in their order.
func MediaOf(messages []assay.Message) []*assay.Media {
	var out []*assay.Media
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Media != nil {
				out = append(out, p.Media)
			}
		}
	}
	return out
}

// message returns a message of the user with what it shows.
func (t *Conversation) message(text string, it assay.Item, shown ...study.Media) (assay.Message, error) {
	var parts []assay.Part
	for _, media := range shown {
		more, err := t.in.Shown(media, &it)
		if err != nil {
			return assay.Message{}, err
		}
		parts = append(parts, more...)
	}
	return Showing(text, parts), nil
}

// prepared returns the conversation that an item brings; what the stage shows stands before its last message.
func (t *Conversation) prepared(it assay.Item) (assay.Prompt, error) {
	p, err := prepared(it, t.Stage.Messages)
	if err != nil {
		return p, err
	}
	last := &p.Messages[len(p.Messages)-1]
	*last, err = t.message(last.Text, it, t.Stage.Media)
	return p, err
}
