package assay

import (
	"encoding/json"
	"io"
	"strings"
	"time"
)

// Part is one piece of a message; exactly one of its members is set.
type Part struct {
	Text   string
	Media  *Media
	Call   *ToolCall
	Result *ToolResult
}

// MediaKind is the kind of a medium.
type MediaKind string

// The kinds of media that models read.
const (
	MediaImage    MediaKind = "image"
	MediaDocument MediaKind = "document"
	MediaAudio    MediaKind = "audio"
)

// Media is a picture, a document or a sound in a message. Its bytes come from Open; without it a provider takes them from
// URL, or has them under File.
type Media struct {
	Kind   MediaKind
	Type   string // MIME type, as its first bytes say
	Name   string // neutral file name, for providers that want one
	Detail string // of an image: low, high, …; empty: the provider's default
	URL    string // the provider fetches it from there
	File   string // the provider's id of an upload
	Size   int64  // bytes; 0 where only a URL or id is known
	Sum    [32]byte
	Width  int                           // of an image, in pixels; 0: not known
	Height int                           // likewise
	Pages  int                           // of a document; 0: not known
	Length time.Duration                 // of a sound
	Open   func() (io.ReadCloser, error) `json:"-"` // its bytes; nil: URL or File
}

// Base64 returns how many bytes the medium has in a body where it stands in base64.
func (m *Media) Base64() int64 { return (m.Size + 2) / 3 * 4 }

// ToolCall is a model's wish to call a tool. Arguments is a JSON object; Broken holds what the model wrote in its place.
type ToolCall struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Broken    string          `json:"broken,omitempty"`
	Signature string          `json:"signature,omitempty"` // the provider's seal on the thoughts behind it, sent back with it
}

// Given returns the arguments as the model wrote them.
func (c *ToolCall) Given() string {
	if c.Broken != "" {
		return c.Broken
	}
	return string(c.Arguments)
}

// ToolResult is the result of a tool: a text, or parts in its place.
type ToolResult struct {
	ID, Name, Text string
	Parts          []Part
	Failed         bool
}

// Tool is a function that a model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema of its arguments; nil: it has none
	Strict      *bool           `json:"strict,omitempty"` // nil: the provider's default
}

// ToolChoice is which tools a model may or must call. The zero value is not sent.
type ToolChoice struct {
	Mode ToolMode `json:"mode,omitempty"`
	Name string   `json:"name,omitempty"` // with ToolNamed
}

// ToolMode is the form of a choice of tools.
type ToolMode string

// The forms of a choice.
const (
	ToolAuto  ToolMode = "auto" // the model decides
	ToolNone  ToolMode = "none" // it calls none
	ToolAny   ToolMode = "any"  // it calls one or more
	ToolNamed ToolMode = "tool" // it calls the one that is named
)

// Words returns the words of a message: its text, or those of its parts.
func (m *Message) Words() string {
	if len(m.Parts) == 0 {
		return m.Text
	}
	return wordsOf(m.Parts)
}

func wordsOf(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
		if p.Result != nil && p.Result.Words() != "" {
			texts = append(texts, p.Result.Words())
		}
	}
	return strings.Join(texts, "\n\n")
}

// Words returns the words of a result.
func (r *ToolResult) Words() string {
	if len(r.Parts) == 0 {
		return r.Text
	}
	return wordsOf(r.Parts)
}

// bytes returns how much text parts have: words, calls and results, not media.
func bytesOf(parts []Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text)
		if p.Call != nil {
			n += len(p.Call.Name) + len(p.Call.Given())
		}
		if p.Result != nil {
			n += len(p.Result.Text) + bytesOf(p.Result.Parts)
		}
	}
	return n
}

// hashParts writes parts into a digest. A medium is its bytes where they are known, and else its place.
func hashParts(text func(string), parts []Part) {
	for _, p := range parts {
		switch {
		case p.Media != nil:
			m := p.Media
			for _, s := range []string{"media", string(m.Kind), m.Type, m.Name, m.Detail} {
				text(s)
			}
			if m.Sum != [32]byte{} {
				text(string(m.Sum[:]))
			} else {
				text(m.URL)
				text(m.File)
			}
		case p.Call != nil:
			for _, s := range []string{"call", p.Call.ID, p.Call.Name, p.Call.Given(), p.Call.Signature} {
				text(s)
			}
		case p.Result != nil:
			failed := ""
			if p.Result.Failed {
				failed = "failed"
			}
			for _, s := range []string{"result", p.Result.ID, p.Result.Name, p.Result.Text, failed} {
				text(s)
			}
			hashParts(text, p.Result.Parts)
			text("end")
		default:
			text("text")
			text(p.Text)
		}
	}
}
