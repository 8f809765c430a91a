package bodies

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"assay/internal/simulator/dice"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Embeddings is the dialect of OpenAI's embeddings.
type Embeddings struct {
	Named bool // a reply has an id (Mistral)
}

const (
	embeddingSize = 64   // of a vector whose size was not asked for: small, so that tests stay quick
	embeddingMost = 3072 // the longest that can be asked for
)

// Read takes a body apart.
func (d Embeddings) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	q := Request{Question: minds.Question{Vendor: rd.Vendor, Model: cmp.Or(rd.Model, stringOf(b, "model"))}, Vector: embeddingSize}
	for _, text := range stringsOf(b.Get("input")) {
		q.addMessage("user", text)
	}
	if len(q.Messages) == 0 {
		return q, rules.Invalid("input", "missing_required_parameter", "'$.input' is invalid.")
	}
	if n := intOf(b, "dimensions"); n != nil {
		q.Vector = *n
	}
	if q.Vector < 1 || q.Vector > embeddingMost {
		return q, rules.Invalid("dimensions", "invalid_value", "Invalid value for 'dimensions'.")
	}
	q.packed = stringOf(b, "encoding_format") == "base64"
	return q, rd.check(rules.Asked{API: "embeddings", Model: q.Model})
}

// Write appends the body of a reply.
func (d Embeddings) Write(dst []byte, q *Request, r *Reply) []byte {
	data := []any{}
	for i, m := range q.Messages {
		var e any = vector(dice.Hash(0, q.Model+m.Text), q.Vector)
		if q.packed {
			e = packed(dice.Hash(0, q.Model+m.Text), q.Vector)
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": e})
	}
	out := map[string]any{
		"object": "list", "model": q.Model, "data": data,
		"usage": map[string]int{"prompt_tokens": r.Usage.Input, "total_tokens": r.Usage.Input},
	}
	if d.Named {
		out["id"] = fmt.Sprintf("embd-%016x", r.id)
	}
	return AppendJSON(dst, out)
}

// vector returns a point on the unit sphere that belongs to a text.
func vector(h uint64, n int) []float32 {
	r := dice.New(h)
	out := make([]float32, n)
	var sum float64
	for i := range out {
		x := r.NormFloat64()
		out[i] = float32(x)
		sum += x * x
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(sum))
	}
	return out
}

func packed(h uint64, n int) string {
	var b []byte
	for _, x := range vector(h, n) {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}
