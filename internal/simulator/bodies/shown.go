package bodies

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"strings"

	"assay/internal/simulator/eyes"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Uploads finds a file that a client has uploaded, by the id or the address that a request names it by.
type Uploads func(id string) (eyes.Thing, *rules.Rejection)

// viewer reads what a request shows. The first thing that is wrong with it stays.
type viewer struct {
	rd  Reading
	q   *Request
	rej *rules.Rejection
}

// add shows a thing, unless the model is blind: such a server drops what it cannot read, and answers.
func (v *viewer) add(t eyes.Thing) {
	if !strings.Contains(v.q.Model, "text-only") {
		v.q.Shown = append(v.q.Shown, t)
	}
}

func (v *viewer) fail(r *rules.Rejection) {
	if v.rej == nil {
		v.rej = r
	}
}

// inline shows what stands in the request in base64; declared is the type that it claims to have.
func (v *viewer) inline(kind eyes.Kind, declared, data, detail string) {
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil || len(raw) == 0 {
		v.fail(rules.Invalid("", "invalid_base64_image", "The data is not valid base64."))
		return
	}
	v.inspect(kind, declared, raw, len(data), detail)
}

// inspect shows bytes.
func (v *viewer) inspect(kind eyes.Kind, declared string, raw []byte, encoded int, detail string) {
	v.judge(kind, declared, eyes.Look(raw), encoded, detail)
}

// judge shows a thing that was looked at.
func (v *viewer) judge(kind eyes.Kind, declared string, t eyes.Thing, encoded int, detail string) {
	t.Detail = detail
	switch {
	case t.Kind != kind:
		v.fail(rules.Invalid("", "invalid_image_format", "The %s could not be read: its bytes are of another type.", kind))
	case kind == eyes.Picture && t.Type != "image/other" && t.Width == 0:
		v.fail(rules.Invalid("", "image_parse_error", "Could not process image"))
	case t.Locked:
		v.fail(rules.Invalid("", "", "The PDF specified is password protected."))
	case kind == eyes.Document && t.Pages == 0:
		v.fail(rules.Invalid("", "", "The document has no pages."))
	default:
		v.fail(rules.Refuses(v.rd.Vendor, &t, declared, encoded))
	}
	v.add(t)
}

// link shows what a data URL or an address leads to. Addresses are not fetched: what is behind one is made up.
func (v *viewer) link(kind eyes.Kind, url, detail string) {
	head, data, embedded := strings.Cut(url, ",")
	switch {
	case strings.HasPrefix(url, "data:") && embedded && strings.HasSuffix(head, ";base64"):
		if v.rd.Batch && v.rd.Vendor == "openrouter" {
			v.fail(rules.Invalid("", "invalid_request_error", "Base64 content is not supported in batches: use a public URL."))
			return
		}
		v.inline(kind, strings.TrimSuffix(strings.TrimPrefix(head, "data:"), ";base64"), data, detail)
	case strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "gs://") ||
		strings.HasPrefix(url, "s3://"):
		v.visit(kind, url, detail)
	default:
		v.fail(rules.Invalid("", "invalid_image_url", "Invalid URL: expected https or a base64-encoded data URL."))
	}
}

// visit plays a download. One of an address with "gone" in it fails.
func (v *viewer) visit(kind eyes.Kind, url, detail string) {
	switch {
	case strings.Contains(url, "gone"):
		v.fail(&rules.Rejection{Status: http.StatusBadRequest, Code: "invalid_image_url", Param: "url",
			Message: "Timeout while downloading " + url + "."})
	case v.rd.Vendor == "ollama":
		v.fail(rules.Invalid("", "", "invalid image input"))
	}
	t := eyes.Behind(kind, url)
	t.Detail = detail
	v.add(t)
}

// upload shows a file that was uploaded before.
func (v *viewer) upload(kind eyes.Kind, id, detail string) {
	if v.rd.Uploads == nil {
		v.fail(rules.NotFound("No such File object: %s", id))
		return
	}
	t, rej := v.rd.Uploads(id)
	if rej != nil {
		v.fail(rej)
		return
	}
	v.judge(kind, "", t, 0, detail)
}

// end returns what is wrong with what a request shows.
func (v *viewer) end() *rules.Rejection {
	return cmp.Or(v.rej, rules.Together(v.rd.Vendor, v.q.Model, v.q.Shown))
}

// chatParts shows the parts of a message of chat completions.
func (v *viewer) chatParts(content *fastjson.Value) {
	if content == nil {
		return
	}
	for _, p := range content.GetArray() {
		switch stringOf(p, "type") {
		case "image_url":
			u := p.Get("image_url")
			if u != nil && u.Type() == fastjson.TypeString {
				v.link(eyes.Picture, stringOf(u), "")
			} else {
				v.link(eyes.Picture, stringOf(p, "image_url", "url"), stringOf(p, "image_url", "detail"))
			}
		case "document_url":
			v.link(eyes.Document, stringOf(p, "document_url"), "")
		case "file":
			switch id := stringOf(p, "file", "file_id") + stringOf(p, "file_id"); {
			case id != "":
				v.upload(eyes.Document, id, "")
			default:
				v.link(eyes.Document, stringOf(p, "file", "file_data"), "")
			}
		case "input_audio":
			data := stringOf(p, "input_audio", "data")
			if a := p.Get("input_audio"); a != nil && a.Type() == fastjson.TypeString {
				data = stringOf(a)
			}
			if strings.HasPrefix(data, "http") {
				v.visit(eyes.Sound, data, "")
			} else {
				v.inline(eyes.Sound, "", data, "")
			}
		}
	}
}

// responsesParts shows the parts of an item of responses.
func (v *viewer) responsesParts(content *fastjson.Value) {
	if content == nil {
		return
	}
	for _, p := range content.GetArray() {
		detail := stringOf(p, "detail")
		kind, link := eyes.Picture, stringOf(p, "image_url")
		switch stringOf(p, "type") {
		case "input_image":
		case "input_file":
			kind, link = eyes.Document, stringOf(p, "file_data")+stringOf(p, "file_url")
		case "input_audio":
			v.inline(eyes.Sound, "", stringOf(p, "input_audio", "data"), "")
			continue
		default:
			continue
		}
		if id := stringOf(p, "file_id"); id != "" {
			v.upload(kind, id, detail)
		} else {
			v.link(kind, link, detail)
		}
	}
}

// block shows a block of Anthropic's messages, and returns the text of a document that is nothing else.
func (v *viewer) block(b *fastjson.Value) string {
	kind := eyes.Picture
	switch stringOf(b, "type") {
	case "image":
	case "document":
		kind = eyes.Document
	case "tool_result":
		for _, inner := range b.GetArray("content") {
			v.block(inner)
		}
		return ""
	default:
		return ""
	}
	s := b.Get("source")
	switch stringOf(s, "type") {
	case "base64":
		v.inline(kind, stringOf(s, "media_type"), stringOf(s, "data"), "")
	case "url":
		v.visit(kind, stringOf(s, "url"), "")
	case "file":
		v.upload(kind, stringOf(s, "file_id"), "")
	case "text":
		return stringOf(s, "data")
	default:
		v.fail(rules.Invalid("", "", "messages: image.source: Input tag does not match any of the expected tags: 'base64', 'url', 'file'"))
	}
	return ""
}

// generateParts shows the parts of a content of Gemini's. usual is the level of the whole request.
func (v *viewer) generateParts(content *fastjson.Value, usual string) {
	for _, p := range content.GetArray("parts") {
		level := strings.ToLower(strings.TrimPrefix(stringOf(either2(either2(p, "mediaResolution"), "level")), "MEDIA_RESOLUTION_"))
		if level == "" {
			level = strings.ToLower(strings.TrimPrefix(usual, "MEDIA_RESOLUTION_"))
		}
		if d := either(p, "inlineData"); d != nil {
			mime := stringOf(either2(d, "mimeType"))
			if strings.HasPrefix(mime, "text/") {
				continue
			}
			v.inline(kindOf(mime), mime, stringOf(d, "data"), level)
		}
		if d := either(p, "fileData"); d != nil {
			mime, uri := stringOf(either2(d, "mimeType")), stringOf(either2(d, "fileUri"))
			if at := strings.Index(uri, "/v1beta/files/"); at >= 0 {
				v.upload(kindOf(mime), uri[at+len("/v1beta/files/"):], level)
			} else {
				v.link(kindOf(mime), uri, level)
			}
		}
	}
}

// kindOf returns the kind that goes with a MIME type.
func kindOf(mime string) eyes.Kind {
	switch {
	case strings.HasPrefix(mime, "audio/"):
		return eyes.Sound
	case strings.HasPrefix(mime, "image/"):
		return eyes.Picture
	}
	return eyes.Document
}

// converseBlocks shows the blocks of a message of Converse.
func (v *viewer) converseBlocks(content []*fastjson.Value) {
	words := false
	for _, b := range content {
		words = words || stringOf(b, "text") != ""
	}
	for _, b := range content {
		for name, kind := range map[string]eyes.Kind{"image": eyes.Picture, "document": eyes.Document, "audio": eyes.Sound} {
			one := b.Get(name)
			if one == nil {
				continue
			}
			switch raw := stringOf(one, "source", "bytes"); {
			case raw != "":
				v.inline(kind, map[eyes.Kind]string{eyes.Picture: "image/", eyes.Document: "application/",
					eyes.Sound: "audio/"}[kind]+stringOf(one, "format"), raw, "")
			case strings.HasPrefix(stringOf(one, "source", "s3Location", "uri"), "s3://"):
				v.visit(kind, stringOf(one, "source", "s3Location", "uri"), "")
			default:
				v.fail(rules.Invalid("", "", "The %s block has no source of bytes or of a bucket.", name))
			}
			if kind != eyes.Document {
				continue
			}
			if strings.ContainsAny(stringOf(one, "name"), "._/") || !words {
				v.fail(rules.Invalid("", "", "The document file name can only contain alphanumeric characters, whitespace characters, "+
					"hyphens, parentheses, and square brackets, and a text block must stand beside it."))
			}
			if n := len(v.q.Shown); n > 0 && !one.GetBool("citations", "enabled") {
				v.q.Shown[n-1].TextOnly = true
			}
		}
	}
}
