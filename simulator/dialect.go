package simulator

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"assay"

	"github.com/valyala/fastjson"
)

// dialect is a shape of request and reply bodies.
type dialect interface {
	// read takes a body apart. A rejection comes with as much of the question as was understood.
	read(rd reading, body *fastjson.Value) (Question, *Rejection)
	// write appends the reply's body.
	write(dst []byte, q *Question, r *reply) []byte
}

// reading is where a body is read.
type reading struct {
	vendor *vendor
	model  string // named by the job or the path; "": by the body
	rules  Rules
	batch  bool
}

func (s *Server) reading(j *job, in carried) reading {
	return reading{vendor: j.vendor, model: in.model, rules: s.opts.Rules, batch: true}
}

// check holds the parameters against the rules.
func (rd reading) check(a Asked) *Rejection {
	a.Vendor = rd.vendor.name
	if a.Model == "" {
		return invalid("model", "missing_required_parameter", "you must provide a model parameter")
	}
	if strings.HasPrefix(a.Model[strings.LastIndex(a.Model, "/")+1:], "missing-") {
		return &Rejection{Status: http.StatusNotFound, Code: "model_not_found", Message: "The model `" + a.Model + "` does not exist or you do not have access to it."}
	}
	return rd.rules.Check(a)
}

// maxLive bounds the body of a live call.
const maxLive = 32 << 20

// ask answers a live call. model is given where the path names it.
func (c *call) ask(d dialect, model string) {
	arrived := time.Now()
	raw := c.bytes(maxLive)
	if raw == nil {
		return
	}
	body, err := fastjson.ParseBytes(raw)
	if err != nil || body.Type() != fastjson.TypeObject {
		c.fail(invalid("", "invalid_json", "We could not parse the JSON body of your request."))
		return
	}
	q, rej := d.read(reading{vendor: c.v, model: model, rules: c.s.opts.Rules}, body)
	if rej != nil {
		c.fail(rej)
		return
	}
	if body.GetBool("stream") {
		c.fail(invalid("stream", "unsupported_value", "The simulator answers whole: streaming is not simulated."))
		return
	}
	if !c.metered(promptTokens(&q) + q.MaxTokens) {
		return
	}
	c.wait(c.s.opts.Latency - time.Since(arrived))
	if err := c.draw(&q, raw); err != nil {
		c.trouble(err)
		return
	}
	r := c.s.complete(&q, c.s.warm.known(c.account, c.now), c.now)
	c.send(http.StatusOK, "application/json", d.write(nil, &q, r))
}

// draw bills a live question and tells where its answer comes from. A body asked again gets another answer.
func (c *call) draw(q *Question, raw []byte) error {
	sum := sha256.Sum256(raw)
	before, err := c.s.live.add(asked{vendor: vendorNumber(c.v.name), digest: [16]byte(sum[:16])})
	if err != nil {
		return fmt.Errorf("count a live call: %w", err)
	}
	q.Draw = mix(hashBytes(hashString(c.s.opts.Seed, q.Model), raw) ^ mix(uint64(before)))
	if e, ok := c.effect("refuse"); ok {
		q.Refuse = chance(e.roll^0x4ef) < e.share
	}
	return nil
}

// contentText is the text of a content field: a string, or an array of parts with texts.
func contentText(v *fastjson.Value) string {
	if v == nil {
		return ""
	}
	if v.Type() == fastjson.TypeString {
		return string(v.GetStringBytes())
	}
	var b strings.Builder
	for _, p := range v.GetArray() {
		b.Write(p.GetStringBytes("text"))
	}
	return b.String()
}

// floatOf is an optional number.
func floatOf(v *fastjson.Value, key ...string) *float64 {
	n := v.Get(key...)
	if n == nil || n.Type() != fastjson.TypeNumber {
		return nil
	}
	f := n.GetFloat64()
	return &f
}

func intOf(v *fastjson.Value, key ...string) *int {
	f := floatOf(v, key...)
	if f == nil {
		return nil
	}
	n := int(*f)
	return &n
}

func stringOf(v *fastjson.Value, key ...string) string { return string(v.GetStringBytes(key...)) }

// stringsOf is a list of strings, or one alone.
func stringsOf(v *fastjson.Value) []string {
	if v == nil {
		return nil
	}
	if v.Type() == fastjson.TypeString {
		return []string{string(v.GetStringBytes())}
	}
	var out []string
	for _, s := range v.GetArray() {
		out = append(out, string(s.GetStringBytes()))
	}
	return out
}

// say adds a message, joining the system's texts in one place.
func (q *Question) say(role, text string) {
	switch role {
	case "system", "developer":
		if q.System != "" {
			q.System += "\n"
		}
		q.System += text
	case "assistant", "model":
		q.Messages = append(q.Messages, assay.Message{Role: assay.RoleAssistant, Text: text})
	default:
		q.Messages = append(q.Messages, assay.Message{Role: assay.RoleUser, Text: text})
	}
}

// schemaOf is a schema as JSON; nil where there is none.
func schemaOf(v *fastjson.Value) []byte {
	if v == nil || v.Type() != fastjson.TypeObject {
		return nil
	}
	return v.MarshalTo(nil)
}
