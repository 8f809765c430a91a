package wire

import (
	"strings"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// bedrockInvoke is the dialect of Bedrock's InvokeModel: a body as the model's own vendor has it. Of Claude that is Messages, of all others
// Converse.
type bedrockInvoke struct{}

// Read takes a body apart.
func (bedrockInvoke) Read(rd bodies.Reading, b *fastjson.Value) (bodies.Request, *rules.Rejection) {
	at := strings.Index(rd.Model, "claude-")
	if at < 0 { // tools are taken in batches, too
		return bodies.Converse{}.Read(bodies.Reading{Vendor: rd.Vendor, Model: rd.Model, Rules: rd.Rules}, b)
	}
	named := rd.Model
	rd.Model = rd.Model[at:]
	q, rej := bodies.Messages{}.Read(rd, b)
	q.Model = named
	switch {
	case string(b.GetStringBytes("anthropic_version")) != "bedrock-2023-05-31":
		return q, rules.Invalid("", "", "anthropic_version: Field required")
	case b.Get("model") != nil || b.Get("stream") != nil:
		return q, rules.Invalid("", "", "model, stream: Extra inputs are not permitted")
	}
	return q, rej
}

// Write appends the body of a reply.
func (bedrockInvoke) Write(dst []byte, q *bodies.Request, r *bodies.Reply) []byte {
	if strings.Contains(q.Model, "claude-") {
		return bodies.Messages{}.Write(dst, q, r)
	}
	return bodies.Converse{}.Write(dst, q, r)
}
