package parts

import (
	"cmp"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// Messages writes parts as blocks of Anthropic's.
func (w *Writer) Messages(parts []assay.Part) {
	for _, p := range parts {
		switch {
		case p.Media != nil:
			w.messagesMedia(p.Media)
		case p.Call != nil:
			w.item()
			w.raw(`{"type":"tool_use","id":`)
			w.quoted(p.Call.ID)
			w.name("name")
			w.quoted(p.Call.Name)
			w.name("input")
			w.arguments(p.Call)
			w.raw("}")
		case p.Result != nil:
			w.item()
			w.raw(`{"type":"tool_result","tool_use_id":`)
			w.quoted(p.Result.ID)
			w.name("content")
			w.raw("[")
			w.Messages(contentOf(p.Result))
			w.raw("]")
			if p.Result.Failed {
				w.raw(`,"is_error":true`)
			}
			w.raw("}")
		default:
			w.textPart("text", p.Text)
		}
	}
}

// contentOf returns what a result says as parts.
func contentOf(r *assay.ToolResult) []assay.Part {
	if len(r.Parts) > 0 {
		return r.Parts
	}
	return []assay.Part{{Text: r.Text}}
}

func (w *Writer) messagesMedia(m *assay.Media) {
	text := m.Kind == assay.MediaDocument && strings.HasPrefix(m.Type, "text/")
	switch {
	case m.Kind == assay.MediaAudio:
		w.noMedia(m, "parts")
		return
	case m.Detail == "low":
		w.fail(noPlace("detail low"))
		return
	case m.Open != nil && m.Kind == assay.MediaDocument && !text && m.Type != "application/pdf":
		w.noMedia(m, "of the type "+m.Type)
		return
	}
	w.item()
	w.raw(`{"type":"` + string(m.Kind) + `","source":{"type":`)
	switch {
	case m.Open != nil && text:
		w.raw(`"text","media_type":"text/plain","data":`)
		w.wholeText(m)
	case m.Open != nil:
		w.raw(`"base64","media_type":`)
		w.quoted(m.Type)
		w.raw(`,"data":"`)
		w.base64(m)
		w.raw(`"`)
	case m.File != "":
		w.raw(`"file","file_id":`)
		w.quoted(m.File)
	default:
		w.raw(`"url","url":`)
		w.quoted(m.URL)
	}
	w.raw("}")
	if m.Kind == assay.MediaDocument {
		w.member("title", m.Name)
	}
	w.raw("}")
}

// wholeText appends the text of a document as a JSON string.
func (w *Writer) wholeText(m *assay.Media) {
	var text strings.Builder
	w.fail(w.read(m, &text))
	w.quoted(strings.ToValidUTF8(text.String(), "\ufffd"))
}

// Generate writes parts in Gemini's form.
func (w *Writer) Generate(parts []assay.Part) {
	for _, p := range parts {
		switch {
		case p.Media != nil:
			w.generateMedia(p.Media)
		case p.Call != nil:
			w.item()
			w.raw(`{"functionCall":{"name":`)
			w.quoted(p.Call.Name)
			w.name("args")
			w.arguments(p.Call)
			w.raw("}")
			w.member("thoughtSignature", p.Call.Signature)
			w.raw("}")
		case p.Result != nil:
			w.generateResult(p.Result)
		case p.Text != "":
			w.item()
			w.raw(`{"text":`)
			w.quoted(p.Text)
			w.raw("}")
		}
	}
}

// generateResult writes what a tool gave back. The API knows it by the tool's name, and takes an object; media follow it.
func (w *Writer) generateResult(r *assay.ToolResult) {
	if r.Name == "" {
		w.fail(fmt.Errorf("the result of the call %s does not name its tool", r.ID))
	}
	member := "result"
	if r.Failed {
		member = "error"
	}
	w.item()
	w.raw(`{"functionResponse":{"name":`)
	w.quoted(r.Name)
	w.raw(`,"response":{"` + member + `":`)
	w.quoted(r.Words())
	w.raw("}}}")
	for _, p := range r.Parts {
		if p.Media != nil {
			w.generateMedia(p.Media)
		}
	}
}

func (w *Writer) generateMedia(m *assay.Media) {
	w.item()
	if m.Open != nil {
		w.raw(`{"inlineData":{"mimeType":`)
		w.quoted(m.Type)
		w.raw(`,"data":"`)
		w.base64(m)
		w.raw(`"}`)
	} else {
		w.raw(`{"fileData":{`)
		w.member("mimeType", m.Type)
		w.name("fileUri")
		w.quoted(cmp.Or(m.File, m.URL))
		w.raw("}")
	}
	switch m.Detail {
	case "", "auto":
	case "low", "medium", "high", "ultra_high":
		w.raw(`,"mediaResolution":{"level":"MEDIA_RESOLUTION_`)
		w.B = AppendUpper(w.B, m.Detail)
		w.raw(`"}`)
	default:
		w.fail(noPlace("detail " + m.Detail))
	}
	w.raw("}")
}

// Converse writes parts as blocks of Bedrock's Converse.
func (w *Writer) Converse(parts []assay.Part) {
	for i, p := range parts {
		switch {
		case p.Media != nil:
			w.converseMedia(p.Media, i)
		case p.Call != nil:
			w.item()
			w.raw(`{"toolUse":{"toolUseId":`)
			w.quoted(p.Call.ID)
			w.name("name")
			w.quoted(p.Call.Name)
			w.name("input")
			w.arguments(p.Call)
			w.raw("}}")
		case p.Result != nil:
			w.item()
			w.raw(`{"toolResult":{"toolUseId":`)
			w.quoted(p.Result.ID)
			w.raw(`,"content":[`)
			w.Converse(contentOf(p.Result))
			w.raw("]")
			if p.Result.Failed {
				w.raw(`,"status":"error"`)
			}
			w.raw("}}")
		case p.Text != "":
			w.item()
			w.raw(`{"text":`)
			w.quoted(p.Text)
			w.raw("}")
		}
	}
}

// converseMedia writes a medium: its bytes, or its place in a bucket. Nothing else is fetched.
func (w *Writer) converseMedia(m *assay.Media, at int) {
	format := converseFormat(m)
	switch {
	case m.Detail == "low":
		w.fail(noPlace("detail low"))
	case m.Open == nil && !strings.HasPrefix(m.URL, "s3://"):
		w.noMedia(m, "URLs and uploads")
	case format == "":
		w.noMedia(m, "of the type "+m.Type)
	}
	w.item()
	w.raw(`{"` + string(m.Kind) + `":{"format":"` + format + `"`)
	if m.Kind == assay.MediaDocument {
		w.name("name")
		w.quoted(neutral(m.Name, at))
	}
	w.raw(`,"source":{`)
	if m.Open != nil {
		w.raw(`"bytes":"`)
		w.base64(m)
		w.raw(`"`)
	} else {
		w.raw(`"s3Location":{"uri":`)
		w.quoted(m.URL)
		w.raw("}")
	}
	w.raw("}}}")
}

// converseFormat returns the word for a medium's type; empty: there is none.
func converseFormat(m *assay.Media) string {
	_, name, _ := strings.Cut(m.Type, "/")
	switch m.Kind {
	case assay.MediaImage:
		switch name {
		case "png", "jpeg", "gif", "webp":
			return name
		}
		return ""
	case assay.MediaAudio:
		return audioFormat(m.Type)
	}
	switch name {
	case "pdf", "csv", "html":
		return name
	case "plain":
		return "txt"
	case "markdown":
		return "md"
	case "msword":
		return "doc"
	case "vnd.openxmlformats-officedocument.wordprocessingml.document":
		return "docx"
	case "vnd.ms-excel":
		return "xls"
	case "vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return "xlsx"
	}
	return ""
}

// neutral returns a document's name as Converse takes it: letters, digits, hyphens and brackets, one space at a time.
func neutral(name string, at int) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && letter(byte(r)), '0' <= r && r <= '9', strings.ContainsRune("-()[]", r):
			return r
		}
		return ' '
	}, name)
	if name = strings.Join(strings.Fields(name), " "); name != "" {
		return name
	}
	return fmt.Sprintf("document %d", at+1)
}

// Ollama writes a message that has parts: pictures stand beside the text.
func (w *Writer) Ollama(m *assay.Message, context string) {
	content, calls := w.sorted(m.Parts, w.ollamaResult)
	var pictures []*assay.Media
	var texts []string
	if context != "" {
		texts = append(texts, context)
	}
	for _, p := range content {
		switch {
		case p.Media == nil:
			texts = append(texts, p.Text)
		case p.Media.Kind != assay.MediaImage || p.Media.Open == nil:
			w.noMedia(p.Media, "other than bytes of images")
		case p.Media.Detail != "" && p.Media.Detail != "auto":
			w.fail(noPlace("detail"))
		default:
			pictures = append(pictures, p.Media)
		}
	}
	if len(content)+len(calls) == 0 {
		return
	}
	w.item()
	w.raw(`{"role":"` + string(m.Role) + `","content":"`)
	w.B = jsontext.AppendText(w.B, strings.Join(texts, between))
	w.raw(`"`)
	if len(pictures) > 0 {
		w.raw(`,"images":[`)
		for _, p := range pictures {
			w.item()
			w.raw(`"`)
			w.base64(p)
			w.raw(`"`)
		}
		w.raw("]")
	}
	if len(calls) > 0 {
		w.raw(`,"tool_calls":[`)
		for _, c := range calls {
			w.item()
			w.raw(`{"function":{"name":`)
			w.quoted(c.Name)
			w.name("arguments")
			w.arguments(c)
			w.raw("}}")
		}
		w.raw("]")
	}
	w.raw("}")
}

func (w *Writer) ollamaResult(r *assay.ToolResult) {
	w.item()
	w.raw(`{"role":"tool","content":`)
	w.quoted(r.Words())
	w.member("tool_name", r.Name)
	w.raw("}")
}

const between = "\n\n" // as between a context and its question
