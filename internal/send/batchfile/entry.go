// Package batchfile reads, checks and writes the files that the providers' batch APIs take, as streams.
package batchfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect"
	"assay/internal/study/catalog"
)

// Shape is the form of a request line, known by the fields it has.
type Shape string

// The shapes there are.
const (
	ShapeCall    Shape = "call"    // {"custom_id","method","url","body"}
	ShapeBare    Shape = "bare"    // {"custom_id","body"}
	ShapeParams  Shape = "params"  // {"custom_id","params"}
	ShapeRequest Shape = "request" // {"key","request"}, or {"request"} alone
	ShapeRecord  Shape = "record"  // {"recordId","modelInput"}
)

// words returns a shape as messages show it.
func (s Shape) words() string {
	switch s {
	case ShapeCall:
		return `{"custom_id","method","url","body"}`
	case ShapeBare:
		return `{"custom_id","body"}`
	case ShapeParams:
		return `{"custom_id","params"}`
	case ShapeRecord:
		return `{"recordId","modelInput"}`
	}
	return `{"key","request"}`
}

// ShapeOf returns the shape of a vendor's lines. A vendor without batches takes those of a server that is called live.
func ShapeOf(v catalog.Vendor) Shape {
	fields := dialect.LineFields(v.Carrier)
	switch {
	case slices.Contains(fields, "params"):
		return ShapeParams
	case slices.Contains(fields, "request"):
		return ShapeRequest
	case slices.Contains(fields, "modelInput"):
		return ShapeRecord
	case slices.Contains(fields, "body") && !slices.Contains(fields, "url"):
		return ShapeBare
	}
	return ShapeCall
}

// nameless reports whether a carrier's lines have no field for an id.
func nameless(c assay.Carrier) bool {
	fields := dialect.LineFields(c)
	return len(fields) > 0 && !slices.Contains(fields, "custom_id") && !slices.Contains(fields, "key") &&
		!slices.Contains(fields, "recordId")
}

// Entry is one request of a file.
type Entry struct {
	Line    int    // from 1
	ID      string // its author's; the number of the line in a file without ids
	Shape   Shape
	Model   string          // as the line names it, else the file's
	API     string          // chat, responses, messages, generate, converse, embeddings, moderations or ocr
	Lane    string          // among the file's lanes
	Body    json.RawMessage // until the next entry is asked for
	Offset  int64           // of the body's first byte in the file
	Prompt  int             // bytes of what the model is shown
	Params  assay.Params    // as far as rules and prices need them
	several bool            // it asks for more than one answer

	oldLimit bool // the output limit is written as max_tokens in a chat body
}

// flaw is a problem of a line.
type flaw struct {
	what, hint  string
	code, param string // in OpenAI's terms
	body        bool   // only this request is wrong, and the file can be read
}

func flawf(hint, format string, args ...any) *flaw {
	return &flaw{what: fmt.Sprintf(format, args...), hint: hint}
}

// read takes one line apart.
func read(l line) (Entry, *flaw) {
	e := Entry{Line: l.no}
	if l.long {
		return e, flawf("", "the line has more than %d MB", maxLine>>20).as("line_too_long", "")
	}
	var raw rawLine
	if !jsontext.Members(l.text, raw.take) {
		return e, notJSON(l).as("invalid_json_line", "")
	}
	if f := raw.shape(&e); f != nil {
		return e, f.as("missing_required_parameter", "body")
	}
	if f := raw.id(&e); f != nil {
		return e, f.as("missing_required_parameter", "custom_id")
	}
	if f := raw.api(&e); f != nil {
		return e, f.as("invalid_url", "url")
	}
	if len(e.Body) == 0 || e.Body[0] != '{' {
		return e, flawf("", "its %s is not an object", raw.bodyName(e.Shape)).as("invalid_request", "body")
	}
	// The same bytes may also be elsewhere in the line: equal bytes are as good.
	e.Offset = l.offset + int64(bytes.Index(l.text, e.Body))
	f := readBody(&e)
	if f != nil {
		f.body = f.code != streamingCode
	}
	return e, f
}

// as gives a flaw its name in OpenAI's terms.
func (f *flaw) as(code, param string) *flaw {
	f.code, f.param = code, param
	return f
}

// notJSON returns why a line cannot be read, with the common causes.
func notJSON(l line) *flaw {
	err := json.Unmarshal(l.text, &struct{}{})
	switch {
	case err == nil:
		return flawf("", "its JSON is nested too deep")
	case l.no == 1 && bytes.HasPrefix(l.text, []byte{0x1f, 0x8b}):
		return flawf("unpack it first: gunzip FILE", "the file is compressed")
	case l.no == 1 && (bytes.HasPrefix(l.text, []byte{0xff, 0xfe}) || bytes.HasPrefix(l.text, []byte{0xfe, 0xff})):
		return flawf("write it as UTF-8", "the file is UTF-16")
	case l.no == 1 && l.text[0] == '[':
		return flawf("write one request per line: jq -c '.[]' FILE", "the file is one JSON list, not lines")
	case l.no == 1 && len(l.text) == 1 && l.text[0] == '{':
		return flawf("write each request on one line: jq -c . FILE", "the JSON goes over several lines")
	case l.open:
		return flawf("write the file anew: its end is missing", "the last line is cut off")
	case strings.HasPrefix(err.Error(), "unexpected end"):
		return flawf("the end of its JSON is missing", "the line is cut off")
	case l.text[0] != '{' && json.Valid(l.text):
		return flawf("", "the line is not a JSON object")
	}
	return flawf("each line is one JSON object; `assay batch write` makes such a file of a table", "not JSON")
}

// shape finds the line's form and takes its body.
func (r *rawLine) shape(e *Entry) *flaw {
	switch {
	case r.Requests != nil:
		return flawf("write one request per line: jq -c '.requests[]' FILE", "this is the document of a create call, not lines")
	case r.Result != nil || r.Response != nil || r.ModelOutput != nil:
		return flawf("", "this is a line of results, not of requests")
	case r.Params != nil && r.Body == nil && r.Request == nil:
		e.Shape, e.Body = ShapeParams, r.Params
	case r.Request != nil && r.Body == nil && r.Params == nil:
		e.Shape, e.Body = ShapeRequest, r.Request
	case r.ModelInput != nil && r.Body == nil && r.Params == nil && r.Request == nil:
		e.Shape, e.Body = ShapeRecord, r.ModelInput
	case r.Body != nil && r.Params == nil && r.Request == nil:
		e.Shape, e.Body = ShapeBare, r.Body
		if r.URL != nil || r.Method != nil {
			e.Shape = ShapeCall
		}
	case r.Messages != nil || r.Contents != nil || r.Prompt != nil:
		return flawf("`assay batch write` makes lines from questions", "this is a bare body without an id around it")
	default:
		return flawf("want body, params, request or modelInput", "not a line of any provider's batch file")
	}
	return nil
}

func (r *rawLine) bodyName(s Shape) string {
	switch s {
	case ShapeParams:
		return "params"
	case ShapeRequest:
		return "request"
	case ShapeRecord:
		return "modelInput"
	}
	return "body"
}

// maxID is the longest id that is kept.
const maxID = 1024

// id takes the author's id. Lines of one shape may have none; others must.
func (r *rawLine) id(e *Entry) *flaw {
	name, raw := "custom_id", r.CustomID
	switch e.Shape {
	case ShapeRequest:
		name, raw = "key", r.Key
	case ShapeRecord:
		name, raw = "recordId", r.RecordID
	}
	if raw == nil {
		if e.Shape == ShapeRequest {
			return nil
		}
		return flawf("give every line its own "+name, "the line has no %s", name)
	}
	if json.Unmarshal(raw, &e.ID) != nil || raw[0] != '"' {
		return flawf("write it in quotes", "its %s is not a text", name)
	}
	switch {
	case strings.TrimSpace(e.ID) == "":
		return flawf("give every line its own "+name, "its %s is empty", name)
	case len(e.ID) > maxID:
		return flawf("", "its %s has %d bytes, more than %d", name, len(e.ID), maxID)
	}
	return nil
}

// api finds which API the line wants.
func (r *rawLine) api(e *Entry) *flaw {
	switch e.Shape {
	case ShapeParams:
		e.API = "messages"
		return nil
	case ShapeRequest:
		e.API = "generate"
		return nil
	case ShapeRecord:
		e.API = "converse"
		return nil
	case ShapeBare:
		e.API = bareAPI(e.Body)
		return nil
	}
	var method, url string
	if r.Method != nil && (json.Unmarshal(r.Method, &method) != nil || method != "POST") {
		return flawf(`write "method":"POST"`, "its method is not POST")
	}
	if r.URL == nil || json.Unmarshal(r.URL, &url) != nil {
		return flawf(`write "url":"/v1/chat/completions"`, "the line has no url")
	}
	switch url {
	case "/v1/chat/completions", "/v4/chat/completions", "/chat/completions":
		e.API = "chat"
	case "/v1/responses", "/responses":
		e.API = "responses"
	case "/v1/embeddings", "/v4/embeddings", "/embeddings":
		e.API = "embeddings"
	case "/v1/moderations", "/moderations":
		e.API = "moderations"
	case "/v1/ocr":
		e.API = "ocr"
	default:
		return flawf("assay carries chat/completions, responses, embeddings, moderations and ocr", "its url is %q", url)
	}
	return nil
}

// bareAPI tells from a body which API it is for: the job names that, and not the line.
func bareAPI(body []byte) string {
	api, model := "chat", ""
	jsontext.Members(body, func(name, value []byte) {
		switch string(name) {
		case "document":
			api = "ocr"
		case "input":
			api = "embeddings"
		case "model":
			model = string(value)
		}
	})
	if api == "embeddings" && strings.Contains(model, "moderation") {
		api = "moderations"
	}
	return api
}

// rawLine is the members of a line; slices of the line itself.
type rawLine struct {
	CustomID, Key, RecordID, Method, URL, Body, Params, Request, ModelInput json.RawMessage

	// Beginnings of files that are something else.
	Requests, Response, Result, ModelOutput, Messages, Contents, Prompt json.RawMessage
}

func (r *rawLine) take(name, value []byte) {
	if string(value) == "null" {
		return
	}
	switch string(name) {
	case "custom_id":
		r.CustomID = value
	case "key":
		r.Key = value
	case "recordId":
		r.RecordID = value
	case "modelInput":
		r.ModelInput = value
	case "modelOutput":
		r.ModelOutput = value
	case "method":
		r.Method = value
	case "url":
		r.URL = value
	case "body":
		r.Body = value
	case "params":
		r.Params = value
	case "request":
		r.Request = value
	case "requests":
		r.Requests = value
	case "response":
		r.Response = value
	case "result":
		r.Result = value
	case "messages":
		r.Messages = value
	case "contents":
		r.Contents = value
	case "prompt":
		r.Prompt = value
	}
}
