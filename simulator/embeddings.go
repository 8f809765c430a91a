package simulator

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/valyala/fastjson"
)

// embeddings is the dialect of OpenAI's embeddings.
type embeddings struct{}

const (
	embeddingSize = 64   // of a vector that nobody asked a size for: small, so that tests stay quick
	embeddingMost = 3072 // the longest that can be asked for
)

func (d embeddings) read(rd reading, b *fastjson.Value) (Question, *Rejection) {
	q := Question{Vendor: rd.vendor.name, Model: stringOf(b, "model"), vector: embeddingSize}
	for _, text := range stringsOf(b.Get("input")) {
		q.say("user", text)
	}
	if len(q.Messages) == 0 {
		return q, invalid("input", "missing_required_parameter", "'$.input' is invalid.")
	}
	if n := intOf(b, "dimensions"); n != nil {
		q.vector = *n
	}
	if q.vector < 1 || q.vector > embeddingMost {
		return q, invalid("dimensions", "invalid_value", "Invalid value for 'dimensions'.")
	}
	q.packed = stringOf(b, "encoding_format") == "base64"
	return q, rd.check(Asked{API: "embeddings", Model: q.Model})
}

func (d embeddings) write(dst []byte, q *Question, r *reply) []byte {
	data := []any{}
	for i, m := range q.Messages {
		var e any = vector(hashString(0, q.Model+m.Text), q.vector)
		if q.packed {
			e = packed(hashString(0, q.Model+m.Text), q.vector)
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": e})
	}
	return appendJSON(dst, map[string]any{
		"object": "list", "model": q.Model, "data": data,
		"usage": map[string]int{"prompt_tokens": r.usage.input, "total_tokens": r.usage.input},
	})
}

// vector is a point on the unit sphere that belongs to a text.
func vector(h uint64, n int) []float32 {
	r := dice(h)
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
