package dialect

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

var errNotObject = errors.New("not a JSON object")

// Result is one line of a batch's results.
type Result struct {
	ID        string // the custom id; empty if none could be found
	Outcome   assay.Outcome
	Malformed bool   // the line is broken or nameless: the id, if any, was found by searching
	Note      string // a further note on the line
}

// Line reads one result line, or one element of a result document. A broken line is a result of its own, never an
// error: its neighbours are not to blame.
func (d *Decoder) Line(w assay.Wire, line []byte) Result {
	defer d.release()
	d.note = ""
	v, err := d.parseLine(w, line)
	if err != nil || !v.Is(jsontext.Object) {
		return malformed(line, cmp.Or(err, errNotObject))
	}
	var r Result
	r.ID = d.id(v)
	switch w.Carrier {
	case assay.CarrierAnthropic:
		r.Outcome = d.anthropicLine(w, v)
	case assay.CarrierGemini:
		r.Outcome = d.geminiLine(w, v)
	case assay.CarrierVertex:
		r.Outcome = d.vertexLine(w, v)
	case assay.CarrierBedrock:
		r.Outcome = d.recordLine(w, v)
	default:
		r.Outcome = d.openLine(w, v)
	}
	r.Note = d.note
	if r.ID == "" {
		r.ID, r.Malformed = findID(line), true
		r.Note = cmp.Or(r.Note, "the line has no id in its place")
	}
	return r
}

// parseLine parses a line, without looking into a request that it repeats: that may be much longer than the answer.
func (d *Decoder) parseLine(w assay.Wire, line []byte) (jsontext.Value, error) {
	if w.Carrier != assay.CarrierBedrock {
		return d.parse(line)
	}
	d.tree.Skip = "modelInput"
	return d.tree.Parse(bytes.TrimPrefix(line, []byte("\ufeff")))
}

func malformed(line []byte, err error) Result {
	f := unreadable("malformed_line", err.Error()+": "+assay.Clean(head(line), 200))
	return Result{ID: findID(line), Outcome: failed(assay.Outcome{}, f), Malformed: true, Note: err.Error()}
}

// id returns the custom id in the place where any of the carriers keeps it.
func (d *Decoder) id(v jsontext.Value) string {
	for _, name := range []string{"custom_id", "batch_request_id", "key", "recordId"} {
		if id := d.text(v.Get(name)); id != "" {
			return id
		}
	}
	return d.text(cmp.Or(v.Get("metadata").Get("key"), v.Get("request").Get("labels").Get(labelName)))
}

func reasoningOf(w assay.Wire) reasoning {
	if w.ReasoningApart {
		return reasoningApart
	}
	return reasoningWithin
}

// openLine reads a line of OpenAI or one of its many relatives: response{status_code, body} and error; the response
// itself in the place of the body (Fireworks); or batch_result (xAI).
func (d *Decoder) openLine(w assay.Wire, v jsontext.Value) assay.Outcome {
	if b := v.Get("batch_result"); b.Is(jsontext.Object) {
		return d.xaiLine(w, b)
	}
	response := v.Get("response")
	if !response.Is(jsontext.Object) {
		if !v.Get("error").Present() && !v.Get("error_message").Present() {
			return failed(assay.Outcome{}, unreadable("no_response", "the line has neither response nor error"))
		}
		return unanswered(d.fault(0, v))
	}
	status, body := response.Get("status_code"), response.Get("body")
	if status.Kind() == 0 && body.Kind() == 0 {
		return d.reply(w.Dialect, response, reasoningOf(w))
	}
	code := statusOf(status)
	if code >= 200 && code < 300 || status.Kind() == 0 && body.Is(jsontext.Object) {
		if status.Kind() == 0 {
			d.note = "the line has no status code"
		}
		o := d.reply(w.Dialect, body, reasoningOf(w))
		if o.RequestID == "" {
			o.RequestID = d.word(response.Get("request_id"))
		}
		return o
	}
	f := d.fault(code, cmp.Or(body, v))
	if !body.Present() && v.Get("error").Present() {
		f = d.fault(code, v)
	}
	if code == 0 {
		f.Code = cmp.Or(f.Code, "no_status_code")
	}
	f.RequestID = cmp.Or(f.RequestID, assay.Clean(d.text(response.Get("request_id")), maxCode))
	return failed(assay.Outcome{}, f)
}

// statusOf reads an HTTP status, also one in quotes; 0 if there is none.
func statusOf(v jsontext.Value) int {
	code, ok := wholeNumber(v.Source())
	if !ok || code > maxHTTPCode {
		return 0
	}
	return int(code)
}

// unanswered returns the outcome of a request that never got a reply: out of time, cancelled, or failed.
func unanswered(f assay.Fault) assay.Outcome {
	code := strings.ToLower(f.Code)
	switch code {
	case "expired", "batch_expired", "request_expired", "batch_request_expired":
		f.Class = assay.FaultUnknown
		return assay.Outcome{Ending: assay.Expired, Fault: &f}
	case "cancelled", "canceled", "batch_cancelled", "batch_canceled", "request_cancelled", "request_canceled",
		"batch_request_cancelled", "batch_request_canceled", strconv.Itoa(grpcCancelled):
		f.Class = assay.FaultUnknown
		return assay.Outcome{Ending: assay.Cancelled, Fault: &f}
	}
	return failed(assay.Outcome{}, f)
}

// xaiLine reads xAI's batch_result: a response under the name of the call, or an error with a gRPC code.
func (d *Decoder) xaiLine(w assay.Wire, b jsontext.Value) assay.Outcome {
	response := b.Get("response")
	if body := response.Get("chat_get_completion"); body.Is(jsontext.Object) {
		return d.reply(assay.DialectChat, body, reasoningOf(w))
	}
	if body := response.Get("responses"); body.Is(jsontext.Object) {
		return d.reply(assay.DialectResponses, body, reasoningOf(w))
	}
	if !b.Get("error").Present() && !b.Get("error_message").Present() {
		return failed(assay.Outcome{}, unreadable("no_response", "the line has neither response nor error"))
	}
	return unanswered(d.fault(0, b))
}

func (d *Decoder) anthropicLine(w assay.Wire, v jsontext.Value) assay.Outcome {
	result := v.Get("result")
	switch kind := d.text(result.Get("type")); kind {
	case "succeeded":
		return d.reply(w.Dialect, result.Get("message"), reasoningOf(w))
	case "errored":
		return failed(assay.Outcome{}, d.fault(0, result))
	case "canceled", "cancelled", "expired":
		return unanswered(assay.Fault{Class: assay.FaultUnknown, Code: kind})
	default:
		return failed(assay.Outcome{}, unreadable("no_result", "the line has a result of no known type "+strconv.Quote(cut(kind, maxCode))))
	}
}

func (d *Decoder) geminiLine(w assay.Wire, v jsontext.Value) assay.Outcome {
	response := v.Get("response")
	if response.Present() {
		return d.reply(w.Dialect, response, reasoningOf(w))
	}
	if v.Get("error").Present() {
		return unanswered(d.fault(0, v))
	}
	return failed(assay.Outcome{}, unreadable("no_response", "the line has neither response nor error"))
}

// vertexLine reads a Vertex line, whose failure is a text under "status": plain words, or words with JSON in them.
func (d *Decoder) vertexLine(w assay.Wire, v jsontext.Value) assay.Outcome {
	status := d.text(v.Get("status"))
	if status == "" || v.Get("response").Get("candidates").Present() {
		return d.geminiLine(w, v)
	}
	text := []byte(status)
	if i := bytes.IndexByte(text, '{'); i > 0 {
		if f := Classify(0, text[i:]); f.Class != assay.FaultUnknown {
			return unanswered(f)
		}
	}
	return unanswered(Classify(0, text))
}

// findID searches a broken line for its custom id: under a name that a carrier gives it, or anything of its form.
func findID(line []byte) string {
	for _, name := range []string{`"custom_id"`, `"batch_request_id"`, `"key"`, `"recordId"`, `"` + labelName + `"`} {
		_, rest, found := bytes.Cut(line, []byte(name))
		rest, colon := bytes.CutPrefix(jsontext.SkipSpace(rest), []byte(":"))
		rest = jsontext.SkipSpace(rest)
		if !found || !colon || len(rest) < 2 || rest[0] != '"' {
			continue
		}
		if end := bytes.IndexByte(rest[1:], '"'); end > 0 && end <= maxID {
			return string(bytes.ToValidUTF8(jsontext.AppendUnescaped(nil, rest[1:1+end]), []byte("\ufffd")))
		}
	}
	for at := 0; ; {
		dash := bytes.IndexByte(line[at:], '-')
		if dash < 0 {
			return ""
		}
		at += dash
		if from, to := at-idHead, at+idTail; from >= 0 && to <= len(line) && line[from] == 'a' {
			if _, _, err := assay.ParseCustomID(string(line[from:to])); err == nil {
				return string(line[from:to])
			}
		}
		at++
	}
}

const (
	maxID  = 512
	idHead = 11 // length before the dash of a custom id of ours
	idTail = 27 // length of the dash and the rest
)
