package parts

import (
	"cmp"
	"strings"

	"assay/internal/assay"
)

// Chat writes a message that has parts. Results of tools are messages of their own, in front.
func (w *Writer) Chat(m *assay.Message, context string) {
	content, calls := w.sorted(m.Parts, w.chatResult)
	if len(content)+len(calls) == 0 {
		return
	}
	w.item()
	w.raw(`{"role":"` + string(m.Role) + `","content":`)
	switch {
	case len(content) == 0 && context == "":
		w.raw("null")
	case len(content) == 1 && content[0].Media == nil && context == "":
		w.quoted(content[0].Text)
	default:
		w.raw("[")
		w.textPart("text", context)
		for _, p := range content {
			w.chatPart(p)
		}
		w.raw("]")
	}
	w.chatCalls(calls)
	w.raw("}")
}

// sorted returns the texts and media of parts, and their calls; it writes their results.
func (w *Writer) sorted(parts []assay.Part, result func(*assay.ToolResult)) (content []assay.Part, calls []*assay.ToolCall) {
	for _, p := range parts {
		switch {
		case p.Result != nil:
			result(p.Result)
		case p.Call != nil:
			calls = append(calls, p.Call)
		default:
			content = append(content, p)
		}
	}
	return content, calls
}

// textPart writes a text of a list of parts, unless it is empty.
func (w *Writer) textPart(kind, text string) {
	if text != "" {
		w.item()
		w.raw(`{"type":"` + kind + `","text":`)
		w.quoted(text)
		w.raw("}")
	}
}

func (w *Writer) chatPart(p assay.Part) {
	m := p.Media
	if m == nil {
		w.textPart("text", p.Text)
		return
	}
	w.item()
	switch {
	case m.Kind == assay.MediaImage && (m.Open != nil || m.URL != ""):
		w.raw(`{"type":"image_url","image_url":{"url":`)
		w.dataURL(m)
		w.member("detail", m.Detail)
		w.raw("}}")
	case m.Kind == assay.MediaImage:
		w.noMedia(m, "uploads")
	case w.Wire.Media == assay.MediaWireImages:
		w.noMedia(m, "parts")
	case m.Kind == assay.MediaDocument:
		w.chatDocument(m)
	default:
		w.chatAudio(m)
	}
}

func (w *Writer) chatDocument(m *assay.Media) {
	switch {
	case w.Wire.Media == assay.MediaWireMistral && m.Open == nil && m.File != "":
		w.raw(`{"type":"file","file_id":`)
		w.quoted(m.File)
		w.raw("}")
	case w.Wire.Media == assay.MediaWireMistral:
		w.raw(`{"type":"document_url","document_url":`)
		w.dataURL(m)
		w.raw("}")
	case m.Open == nil && m.File != "":
		w.raw(`{"type":"file","file":{"file_id":`)
		w.quoted(m.File)
		w.raw("}}")
	case m.Open != nil || w.Wire.Media == assay.MediaWireOpenRouter:
		w.raw(`{"type":"file","file":{`)
		w.member("filename", fileName(m))
		w.name("file_data")
		w.dataURL(m)
		w.raw("}}")
	default:
		w.noMedia(m, "URLs")
	}
}

// fileName returns the name of a document where an API demands one.
func fileName(m *assay.Media) string {
	if m.Name == "" && m.Type == "application/pdf" {
		return "document.pdf"
	}
	return cmp.Or(m.Name, "document")
}

func (w *Writer) chatAudio(m *assay.Media) {
	format := audioFormat(m.Type)
	switch {
	case m.Open == nil && w.Wire.Media == assay.MediaWireMistral && m.URL != "":
		w.raw(`{"type":"input_audio","input_audio":`)
		w.quoted(m.URL)
	case m.Open == nil:
		w.noMedia(m, "URLs and uploads")
		return
	case w.Wire.Media == assay.MediaWireMistral:
		w.raw(`{"type":"input_audio","input_audio":"`)
		w.base64(m)
		w.raw(`"`)
	case format != "wav" && format != "mp3" && w.Wire.Media != assay.MediaWireOpenRouter:
		w.noMedia(m, "of the type "+m.Type)
		return
	default:
		w.raw(`{"type":"input_audio","input_audio":{"data":"`)
		w.base64(m)
		w.raw(`"`)
		w.member("format", format)
		w.raw("}")
	}
	w.raw("}")
}

// audioFormat returns the short name of a sound's type.
func audioFormat(kind string) string {
	switch _, name, _ := strings.Cut(kind, "/"); name {
	case "mpeg":
		return "mp3"
	case "x-wav", "wave", "vnd.wave":
		return "wav"
	case "mp4", "x-m4a":
		return "m4a"
	case "x-flac":
		return "flac"
	case "x-aiff":
		return "aiff"
	default:
		return name
	}
}

// Responses writes a message that has parts; calls and results are items of their own.
func (w *Writer) Responses(m *assay.Message, context string) {
	content, calls := w.sorted(m.Parts, w.responsesResult)
	kind := "input_text"
	if m.Role == assay.RoleAssistant {
		kind = "output_text"
	}
	if len(content) > 0 || context != "" {
		w.item()
		w.raw(`{"role":"` + string(m.Role) + `","content":[`)
		w.textPart(kind, context)
		for _, p := range content {
			w.responsesPart(p, kind)
		}
		w.raw("]}")
	}
	for _, c := range calls {
		w.item()
		w.raw(`{"type":"function_call"`)
		w.member("call_id", c.ID)
		w.name("name")
		w.quoted(c.Name)
		w.name("arguments")
		w.quoted(argumentsOf(c))
		w.raw("}")
	}
}

func (w *Writer) responsesPart(p assay.Part, kind string) {
	m := p.Media
	if m == nil {
		w.textPart(kind, p.Text)
		return
	}
	w.item()
	switch {
	case m.Kind == assay.MediaAudio:
		w.chatAudio(m)
		return
	case m.Kind == assay.MediaImage:
		w.raw(`{"type":"input_image"`)
		if m.Open == nil && m.File != "" {
			w.member("file_id", m.File)
		} else {
			w.name("image_url")
			w.dataURL(m)
		}
	default:
		w.raw(`{"type":"input_file"`)
		switch {
		case m.Open != nil:
			w.member("filename", fileName(m))
			w.name("file_data")
			w.dataURL(m)
		case m.File != "":
			w.member("file_id", m.File)
		default:
			w.member("file_url", m.URL)
		}
	}
	w.member("detail", m.Detail)
	w.raw("}")
}
