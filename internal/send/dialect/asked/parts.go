package asked

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"assay/internal/assay"
)

// content returns the parts of a message; a text alone, and several texts, are one text and no parts.
func (t *taker) content(what string, raw json.RawMessage, join string, kinds ...string) (text string, parts []assay.Part) {
	var list []map[string]json.RawMessage
	if raw == nil || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	if json.Unmarshal(raw, &list) != nil {
		t.fail(fmt.Errorf("%s is neither a text nor a list of parts", what))
		return "", nil
	}
	plain := true
	for _, m := range list {
		p := t.within(what, m)
		part, ok := p.part(kinds)
		p.raw("annotations", "logprobs") // of answers that are sent back
		if !ok {
			var kind string
			p.take(&kind, "type")
			t.fail(fmt.Errorf("%s has a part that is no text%s", what, quoted(kind)))
			return "", nil
		}
		p.rest()
		plain = plain && part.Media == nil && part.Call == nil && part.Result == nil
		parts = append(parts, part)
	}
	if !plain {
		return "", parts
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, join), nil
}

// part takes one part. It is false for one of no known kind.
func (t *taker) part(kinds []string) (assay.Part, bool) {
	var kind string
	_ = json.Unmarshal(t.from["type"], &kind) // it is taken below
	is := func(name string) bool { return kind == name || kind == "" && t.from[name] != nil }
	switch {
	case kind == "image_url" || kind == "input_image":
		return t.openImage(kind)
	case kind == "file" || kind == "input_file":
		return t.openFile(kind)
	case kind == "input_audio":
		return t.openAudio()
	case kind == "image" || kind == "document":
		return t.source(kind)
	case kind == "tool_use":
		return t.toolUse(t, "id")
	case kind == "tool_result":
		return t.toolResult(t, "tool_use_id")
	case is("toolUse"):
		return t.toolUse(t.inside("toolUse"), "toolUseId")
	case is("toolResult"):
		return t.toolResult(t.inside("toolResult"), "toolUseId")
	case is("functionCall"):
		return t.functionCall()
	case is("functionResponse"):
		return t.functionResponse()
	case is("inlineData"), is("fileData"):
		return t.googleMedia()
	case kind == "" && (t.from["image"] != nil || t.from["document"] != nil || t.from["audio"] != nil):
		return t.block()
	case t.from["text"] != nil && (kind == "" && len(kinds) == 0 || contains(kinds, kind)):
		var text string
		t.raw("type")
		t.take(&text, "text")
		return assay.Part{Text: text}, true
	}
	return assay.Part{}, false
}

func contains(kinds []string, kind string) bool {
	for _, k := range kinds {
		if k == kind {
			return true
		}
	}
	return len(kinds) == 0
}

// media returns a medium whose bytes stand in base64, or whose place is a URL: a data URL is its bytes.
func (t *taker) media(kind assay.MediaKind, mime, url, data string) *assay.Media {
	m := &assay.Media{Kind: kind, Type: mime, URL: url}
	if head, rest, ok := strings.Cut(url, ","); ok && strings.HasPrefix(head, "data:") {
		if !strings.HasSuffix(head, ";base64") {
			t.fail(fmt.Errorf("a data URL of an %s is not in base64", kind))
		}
		m.URL, data = "", rest
		m.Type = strings.TrimSuffix(strings.TrimPrefix(head, "data:"), ";base64")
	}
	if data == "" {
		return m // its place or id says where it is
	}
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.fail(fmt.Errorf("the data of an %s is not base64", kind))
	}
	m.Size = int64(len(content))
	m.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	return m
}

// openImage takes an image of chat completions or of responses: a URL, in an object or not, or an id.
func (t *taker) openImage(kind string) (assay.Part, bool) {
	var url, detail, file string
	t.raw("type")
	if raw := t.from["image_url"]; json.Unmarshal(raw, &url) == nil {
		delete(t.from, "image_url")
	} else {
		in := t.inside("image_url")
		in.take(&url, "url")
		in.take(&detail, "detail")
		in.rest()
	}
	t.take(&detail, "detail")
	t.take(&file, "file_id")
	if url == "" && file == "" {
		t.fail(fmt.Errorf("a part of the type %s has neither a URL nor an id", kind))
	}
	m := t.media(assay.MediaImage, "", url, "")
	m.Detail, m.File = detail, file
	return assay.Part{Media: m}, true
}

// openFile takes a document of chat completions or of responses.
func (t *taker) openFile(kind string) (assay.Part, bool) {
	in := t
	t.raw("type")
	if kind == "file" {
		in = t.inside("file")
	}
	var name, data, id, url, detail string
	in.take(&name, "filename")
	in.take(&data, "file_data")
	in.take(&id, "file_id")
	in.take(&url, "file_url")
	in.take(&detail, "detail")
	if in != t {
		in.rest()
	}
	if strings.HasPrefix(data, "data:") || strings.HasPrefix(data, "http") {
		url, data = data, ""
	}
	m := t.media(assay.MediaDocument, "application/pdf", url, data)
	m.Name, m.File, m.Detail = name, id, detail
	return assay.Part{Media: m}, true
}

func (t *taker) openAudio() (assay.Part, bool) {
	t.raw("type")
	in := t.inside("input_audio")
	var data, format string
	in.take(&data, "data")
	in.take(&format, "format")
	in.rest()
	return assay.Part{Media: t.media(assay.MediaAudio, "audio/"+format, "", data)}, true
}

// source takes an image or a document of Anthropic's.
func (t *taker) source(kind string) (assay.Part, bool) {
	t.raw("type", "cache_control")
	in := t.inside("source")
	var form, mime, data, url, file, title string
	in.take(&form, "type")
	in.take(&mime, "media_type")
	in.take(&data, "data")
	in.take(&url, "url")
	in.take(&file, "file_id")
	in.rest()
	t.take(&title, "title")
	if form == "text" {
		data = base64.StdEncoding.EncodeToString([]byte(data))
	}
	m := t.media(assay.MediaKind(kind), mime, url, data)
	m.File, m.Name = file, title
	return assay.Part{Media: m}, true
}

func (t *taker) googleMedia() (assay.Part, bool) {
	var mime, data, uri string
	in := t.inside("inlineData")
	in.take(&mime, "mimeType")
	in.take(&data, "data")
	in.rest()
	file := t.inside("fileData")
	file.take(&mime, "mimeType")
	file.take(&uri, "fileUri")
	file.rest()
	kind := assay.MediaDocument
	switch head, _, _ := strings.Cut(mime, "/"); head {
	case "image":
		kind = assay.MediaImage
	case "audio":
		kind = assay.MediaAudio
	}
	return assay.Part{Media: t.media(kind, mime, uri, data)}, true
}

// block takes a medium of Bedrock's Converse.
func (t *taker) block() (assay.Part, bool) {
	for _, kind := range []assay.MediaKind{assay.MediaImage, assay.MediaDocument, assay.MediaAudio} {
		if t.from[string(kind)] == nil {
			continue
		}
		in := t.inside(string(kind))
		var format, name, data, uri string
		in.take(&format, "format")
		in.take(&name, "name")
		from := in.inside("source")
		from.take(&data, "bytes")
		at := from.inside("s3Location")
		at.take(&uri, "uri")
		at.rest()
		from.rest()
		in.rest()
		m := t.media(kind, mimeOf(kind, format), uri, data)
		m.Name = name
		return assay.Part{Media: m}, true
	}
	return assay.Part{}, false
}

func mimeOf(kind assay.MediaKind, format string) string {
	switch {
	case kind != assay.MediaDocument:
		return string(kind) + "/" + format
	case format == "txt":
		return "text/plain"
	case format == "md":
		return "text/markdown"
	case format == "csv" || format == "html":
		return "text/" + format
	}
	return "application/" + format
}

// call returns a call whose arguments are an object, or a text with one.
func call(id, name string, arguments json.RawMessage) *assay.ToolCall {
	c := &assay.ToolCall{ID: id, Name: name, Arguments: arguments}
	var text string
	if json.Unmarshal(arguments, &text) == nil {
		c.Arguments = json.RawMessage(strings.TrimSpace(text))
	}
	var object map[string]json.RawMessage
	if len(c.Arguments) > 0 && json.Unmarshal(c.Arguments, &object) != nil {
		c.Arguments, c.Broken = nil, text
	}
	return c
}

func (t *taker) toolUse(in *taker, id string) (assay.Part, bool) {
	var of, name string
	t.raw("type")
	in.take(&of, id)
	in.take(&name, "name")
	input := in.raw("input")
	if in != t {
		in.rest()
	}
	return assay.Part{Call: t.remember(call(of, name, input))}, true
}

func (t *taker) functionCall() (assay.Part, bool) {
	in := t.inside("functionCall")
	var id, name, signature string
	in.take(&id, "id")
	in.take(&name, "name")
	c := call(id, name, in.raw("args"))
	in.rest()
	t.take(&signature, "thoughtSignature")
	c.Signature = signature
	return assay.Part{Call: t.remember(c)}, true
}

// remember notes the tool of a call, which its result may not name.
func (t *taker) remember(c *assay.ToolCall) *assay.ToolCall {
	if t.tools == nil {
		t.tools = map[string]string{}
	}
	t.tools[c.ID] = c.Name
	return c
}

func (t *taker) toolResult(in *taker, id string) (assay.Part, bool) {
	var r assay.ToolResult
	var status string
	t.raw("type", "cache_control")
	in.take(&r.ID, id)
	r.Name = t.tools[r.ID]
	in.take(&r.Failed, "is_error")
	in.take(&status, "status")
	r.Failed = r.Failed || status == "error"
	r.Text, r.Parts = in.content("the result of a tool", in.raw("content"), between)
	if in != t {
		in.rest()
	}
	return assay.Part{Result: &r}, true
}

func (t *taker) functionResponse() (assay.Part, bool) {
	in := t.inside("functionResponse")
	var r assay.ToolResult
	in.take(&r.ID, "id")
	in.take(&r.Name, "name")
	r.Text = string(in.raw("response"))
	in.rest()
	return assay.Part{Result: &r}, true
}
