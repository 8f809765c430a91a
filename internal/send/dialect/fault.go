package dialect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

const (
	maxMessage  = 500
	maxCode     = 100
	maxFault    = 1 << 20 // a longer error body is not parsed
	maxRetry    = 24 * time.Hour
	maxHTTPCode = 599
)

// Classify reads an error reply of any provider. The delay it returns is the one given in the body; the caller adds
// that of the headers.
func Classify(status int, body []byte) assay.Fault { return ClassifyAs(status, "", body) }

// ClassifyAs is Classify for a reply whose headers name the type of the error.
func ClassifyAs(status int, kind string, body []byte) assay.Fault {
	var d Decoder
	kind = exceptionName(kind)
	if len(body) <= maxFault {
		if v, err := d.parse(body); err == nil {
			c := d.complaint(v)
			c.kind = cmp.Or(c.kind, kind)
			return c.fault(status)
		}
	}
	text := strings.TrimSpace(head(body))
	c := complaint{message: text, kind: kind}
	if c.code = xmlText(text, "Code"); c.code != "" { // S3: other members may hold what was signed
		c.message = xmlText(text, "Message")
		return c.fault(status)
	}
	c.status = leadingWord(c.message)
	return c.fault(status)
}

// exceptionName returns the name of one of Amazon's errors without the namespace before it and the address behind it.
func exceptionName(kind string) string {
	kind, _, _ = strings.Cut(kind, ":")
	return kind[strings.LastIndexByte(kind, '#')+1:]
}

// xmlText returns the text of an element of an error in XML; empty: it has none.
func xmlText(doc, name string) string {
	_, rest, ok := strings.Cut(doc, "<"+name+">")
	text, _, closed := strings.Cut(rest, "</"+name+">")
	if !ok || !closed || doc[0] != '<' || strings.Contains(text, "<") {
		return ""
	}
	return text
}

// leadingWord returns the name that plain words may begin with, as in "RESOURCE_EXHAUSTED: …" or "Bad Request: …".
func leadingWord(s string) string {
	name, _, found := strings.Cut(s, ":")
	if !found || len(name) > maxCode ||
		strings.ContainsFunc(name, func(r rune) bool { return r > 'z' || !isLetter(byte(r)) && r != ' ' && r != '_' }) {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(name, " ", "_"))
}

// EndingOf returns how an attempt ended that met a fault instead of an answer.
func EndingOf(f assay.Fault) assay.Ending {
	switch {
	case f.Code == "content_filter" || f.Code == "content_policy_violation":
		return assay.Refused
	case f.Class == assay.FaultInvalid || f.Class == assay.FaultLarge:
		return assay.Rejected
	}
	return assay.Errored
}

// complaint is the content of an error reply, whatever its shape.
type complaint struct {
	code, kind, status string // the provider's words: OpenAI's code, everybody's type, Google's status
	reason             string // Google's finer word, among the details
	message, param     string
	number             int // a code that is a number: HTTP's or gRPC's
	delay              time.Duration
	daily              bool // the quota that is spent is one of a day
	requestID          string
}

// fault reads an error out of a reply: under "error" (once or twice), or at the top.
func (d *Decoder) fault(status int, v jsontext.Value) assay.Fault {
	c := d.complaint(v)
	return c.fault(status)
}

// complaint collects what an error reply names: codes, words, delays.
func (d *Decoder) complaint(v jsontext.Value) complaint {
	if v.Is(jsontext.Array) { // Google wraps some errors in a list
		v = v.First()
	}
	c := complaint{message: d.text(v), requestID: d.text(v.Get("request_id"))}
	e := v.Get("error")
	if e.Is(jsontext.Array) {
		e = e.First()
	}
	if inner := e.Get("error"); inner.Is(jsontext.Object) {
		c.requestID = cmp.Or(c.requestID, d.text(e.Get("request_id")))
		e = inner
	}
	if e.Is(jsontext.Object) {
		d.complain(&c, e)
	} else {
		d.complain(&c, v)
		c.message = cmp.Or(d.text(e), c.message)
	}
	return c
}

// complain reads the fields of one error object.
func (d *Decoder) complain(c *complaint, e jsontext.Value) {
	c.kind, c.status, c.param = d.text(e.Get("type")), d.text(e.Get("status")), d.text(e.Get("param"))
	c.kind = cmp.Or(c.kind, exceptionName(d.text(e.Get("__type"))))
	c.code = d.text(e.Get("code"))
	c.number, _ = strconv.Atoi(cmp.Or(c.code, string(cmp.Or(e.Get("code"), e.Get("errorCode")).Source()))) // not a number: 0
	for _, name := range []string{"message", "detail", "error_message", "msg", "errors", "errorMessage", "Message"} {
		if c.message != "" {
			break
		}
		d.words(c, e.Get(name))
	}
	if raw := d.text(e.Get("metadata").Get("raw")); raw != "" { // OpenRouter: the error of the provider behind it
		c.message += ": " + raw
	}
	for detail := range e.Get("details").All() {
		d.detail(c, detail)
	}
}

// words reads a message: a text, FastAPI's list of what is wrong where, or an object around either.
func (d *Decoder) words(c *complaint, v jsontext.Value) {
	if v.Is(jsontext.Array) {
		first := v.First()
		c.message = cmp.Or(d.text(first), d.text(first.Get("msg")), d.text(first.Get("message")))
		for step := range first.Get("loc").All() {
			name := cmp.Or(d.text(step), string(cut(step.Source(), maxCode)))
			c.param = strings.TrimPrefix(c.param+"."+name, ".")
			if len(c.param) > maxCode {
				break
			}
		}
		return
	}
	if v.Is(jsontext.Object) {
		if v.Get("detail").Present() {
			d.nested(c, v.Get("detail"))
			return
		}
		d.nested(c, v.Get("message"))
		return
	}
	c.message = d.text(v)
}

// nested reads the message inside a message, one level down and no further.
func (d *Decoder) nested(c *complaint, v jsontext.Value) {
	if !v.Is(jsontext.Object) {
		d.words(c, v)
	}
}

// detail reads one of Google's details: when to come back, which quota is spent, which field is wrong.
func (d *Decoder) detail(c *complaint, v jsontext.Value) {
	if delay, err := time.ParseDuration(d.text(v.Get("retryDelay"))); err == nil && delay > 0 {
		c.delay = min(delay, maxRetry)
	}
	c.reason = cmp.Or(c.reason, d.text(v.Get("reason")))
	for q := range v.Get("violations").All() {
		c.daily = c.daily || strings.Contains(d.text(q.Get("quotaId")), "PerDay")
	}
	c.param = cmp.Or(c.param, d.text(v.Get("fieldViolations").First().Get("field")))
}

// fault returns the complaint under a status as a fault, with its class.
func (c *complaint) fault(status int) assay.Fault {
	if status < 300 && c.number >= 100 && c.number <= maxHTTPCode { // an error that came as a success
		status = c.number
	}
	number := ""
	if c.number != 0 {
		number = strconv.Itoa(c.number)
	}
	code := cmp.Or(c.code, c.status, c.kind, number)
	f := assay.Fault{
		Class:      c.class(status),
		Status:     status,
		Code:       assay.Clean(code, maxCode),
		Message:    assay.Clean(withoutSecrets(cut(c.message, 4*maxMessage)), maxMessage),
		Param:      assay.Clean(c.param, maxCode),
		RetryAfter: c.delay,
		RequestID:  assay.Clean(c.requestID, maxCode),
	}
	if f.Code == "" && f.Message == "" {
		f.Message = "the provider gave no reason"
	}
	return f
}

func cut[S ~string | ~[]byte](s S, n int) S { return s[:min(len(s), n)] }

// class decides by the most specific evidence: a specific word first, then the HTTP status, then a broad word.
func (c *complaint) class(status int) assay.FaultClass {
	words := []string{c.code, c.reason, c.status, c.kind}
	for _, w := range words {
		if class := tellingWord(w); class != "" {
			return class
		}
	}
	message := strings.ToLower(cut(c.message, maxMessage))
	soon := c.delay > 0 && !c.daily // Google says "quota" of a limit by the minute too, and when to come back
	if class := tellingPhrase(message); class != "" && !(class == assay.FaultQuota && soon) {
		return class
	}
	class := statusClass(status)
	for _, w := range words {
		class = cmp.Or(class, broadWord(w))
	}
	class = cmp.Or(class, grpcClass(c.number), assay.FaultUnknown)
	switch {
	case class == assay.FaultGone && strings.Contains(message, "model"):
		return assay.FaultInvalid // the request names a model that is not there
	case class == assay.FaultBusy && c.daily:
		return assay.FaultQuota
	}
	return class
}

// tellingPhrase returns the class of a message that contradicts the status it comes with; empty: it does not.
func tellingPhrase(message string) assay.FaultClass {
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(message, s) })
	}
	switch {
	case has("credit balance is too low", "insufficient balance", "exceeded your current quota", "invalid_payment_instrument"):
		return assay.FaultQuota
	case has("incorrect api key", "invalid api key", "api key not valid"):
		return assay.FaultDenied
	}
	return ""
}

// statusClass returns the class of a fault of which the HTTP status alone is known.
func statusClass(status int) assay.FaultClass {
	switch status {
	case 401, 403, 407, 451:
		return assay.FaultDenied
	case 402:
		return assay.FaultQuota
	case 404, 410:
		return assay.FaultGone
	case 408, 409, 423, 425, 429, 498, 499:
		return assay.FaultBusy
	case 413, 414:
		return assay.FaultLarge
	case 501, 505:
		return assay.FaultInvalid
	}
	switch {
	case status >= 400 && status < 500:
		return assay.FaultInvalid
	case status >= 500 && status <= maxHTTPCode:
		return assay.FaultBusy
	}
	return ""
}
