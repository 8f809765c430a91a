package bodies

import (
	"cmp"
	"fmt"
	"strings"

	"assay/internal/simulator/dice"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Moderations is the dialect of OpenAI's moderations, which Mistral's are like: nothing is counted, and nothing billed.
type Moderations struct{}

// moderated are the categories there are: what is flagged holds the word itself, else chance decides a low score.
var moderated = []string{"harassment", "hate", "violence"}

// Read takes a body apart.
func (d Moderations) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	q := Request{Question: minds.Question{Vendor: rd.Vendor, Model: cmp.Or(rd.Model, stringOf(b, "model"))}, Vector: 1}
	for _, text := range stringsOf(b.Get("input")) {
		q.addMessage("user", text)
	}
	if len(q.Messages) == 0 {
		return q, rules.Invalid("input", "missing_required_parameter", "'$.input' is invalid.")
	}
	return q, rd.check(rules.Asked{API: "moderations", Model: q.Model})
}

// Write appends the body of a reply.
func (d Moderations) Write(dst []byte, q *Request, r *Reply) []byte {
	results := []any{}
	for _, m := range q.Messages {
		flagged, is, scores := false, map[string]bool{}, map[string]float64{}
		for _, c := range moderated {
			scores[c] = dice.New(dice.Hash(0, c+m.Text)).Float64() / 10
			if is[c] = strings.Contains(m.Text, c); is[c] {
				flagged, scores[c] = true, 0.9+scores[c]
			}
		}
		results = append(results, map[string]any{"flagged": flagged, "categories": is, "category_scores": scores})
	}
	return AppendJSON(dst, map[string]any{"id": fmt.Sprintf("modr-%016x", r.id), "model": q.Model, "results": results})
}
