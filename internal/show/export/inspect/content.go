package inspect

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"assay/internal/assay"
)

// part is one piece of a message's content, as Inspect has it: a text, thoughts, or a medium by its file's name or URL.
type part struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`

	Image    string `json:"image,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Document string `json:"document,omitempty"`
	Filename string `json:"filename,omitempty"`
	MIME     string `json:"mime_type,omitempty"`
	Audio    string `json:"audio,omitempty"`
	Format   string `json:"format,omitempty"`
}

// contentOf returns the parts of a message, with a context in front of its first text. Files are named from the study's folder.
func contentOf(context string, parts []assay.Part, files []assay.File) []part {
	var out []part
	for _, p := range parts {
		switch {
		case p.Media != nil:
			out = append(out, partOf(p.Media, files))
		case p.Text != "" && context != "":
			out, context = append(out, part{Type: "text", Text: context + "\n\n" + p.Text}), ""
		case p.Text != "":
			out = append(out, part{Type: "text", Text: p.Text})
		}
	}
	if context != "" {
		out = append(out, part{Type: "text", Text: context})
	}
	return out
}

// partOf returns a medium. One that no file of the item is has the name of its hash.
func partOf(m *assay.Media, files []assay.File) part {
	name := m.URL
	for i := range files {
		if f := &files[i]; name == "" && !f.Remote() && f.Sum == assay.Sum(m.Sum) {
			name = f.Name
		}
	}
	name = cmp.Or(name, "sha256:"+assay.Sum(m.Sum).String())
	switch m.Kind {
	case assay.MediaDocument:
		return part{Type: "document", Document: name, Filename: m.Name, MIME: m.Type}
	case assay.MediaAudio:
		return part{Type: "audio", Audio: name, Format: map[bool]string{true: "wav", false: "mp3"}[m.Type == "audio/wav"]}
	}
	detail := m.Detail
	if detail != "low" && detail != "high" { // it knows no other
		detail = "auto"
	}
	return part{Type: "image", Image: name, Detail: detail}
}

// shown returns the names of what a message shows: files and URLs as they are, and what is embedded by its hash, since its bytes are
// not kept.
func (m *readMessage) shown(attached map[string]string) []string {
	var parts []part
	if json.Unmarshal(m.Content, &parts) != nil {
		return nil
	}
	var names []string
	for _, p := range parts {
		name := cmp.Or(p.Image, p.Document, p.Audio)
		if key, ok := strings.CutPrefix(name, "attachment://"); ok {
			name = cmp.Or(attached[key], name)
		}
		if _, data, ok := strings.Cut(name, ";base64,"); ok && strings.HasPrefix(name, "data:") {
			if raw, err := base64.StdEncoding.DecodeString(data); err == nil {
				name = "sha256:" + assay.Sum(sha256.Sum256(raw)).String()
			}
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
