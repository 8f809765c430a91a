package worlds

import (
	"fmt"
	"hash/fnv"
	"strings"

	"assay/internal/simulator/minds"
)

// steadfast gives the same answer to the same question, however it is asked: what a world ends with then does not depend on how
// often a reply was lost. Some answers are hostile.
type steadfast struct{ minds.Writer }

// Respond answers by what is asked alone.
func (w steadfast) Respond(q *minds.Question) minds.Answer {
	asked := *q
	h := fnv.New64a()
	fmt.Fprintln(h, q.Model, q.System, q.Messages)
	asked.Draw = h.Sum64()
	a := w.Writer.Respond(&asked)
	if n := asked.Draw >> 8 % 16; n < uint64(len(hostile)) && !strings.Contains(a.Text, "{") {
		a.Text += " " + hostile[n]
	}
	return a
}
