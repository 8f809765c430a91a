package worlds

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync"

	"assay/internal/simulator/minds"
)

// steadfast gives the same answer to the same question, however it is asked: what a world ends with then does not depend on how
// often a reply was lost. Some answers are hostile, and some have no end. It remembers what it replied to first questions.
type steadfast struct {
	minds.Writer

	mu    sync.Mutex
	given map[string]bool // by model, question and answer
}

// noVerdict is what a judge replies that does not do what it was asked for.
const noVerdict = "Both have their merits, and I would rather not say."

// Respond answers by what is asked alone.
func (w *steadfast) Respond(q *minds.Question) minds.Answer {
	asked := *q
	h, shown := fnv.New64a(), ""
	for _, thing := range q.Shown {
		shown += thing.Sum
	}
	fmt.Fprintln(h, q.Model, q.System, q.Messages, shown)
	asked.Draw = h.Sum64()
	a := w.Writer.Respond(&asked)
	if n := asked.Draw >> 8 % 16; n < uint64(len(hostile)) && !strings.Contains(a.Text, "{") {
		a.Text += " " + hostile[n]
	} else if n == 15 && !strings.Contains(a.Text, "{") && !strings.HasSuffix(thinker, q.Model) { // it may think for longer, and write less
		a.Text += strings.Repeat(" and so on", q.MaxTokens) // as far as it may
	}
	if strings.HasPrefix(a.Text, "{") && asked.Draw>>16%12 == 0 {
		a.Text = noVerdict
	}
	if len(q.Messages) == 1 {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.given == nil {
			w.given = map[string]bool{}
		}
		text := a.Text
		for _, c := range a.Calls {
			text += "[calls " + c.Name + " " + string(c.Arguments) + "]"
		}
		w.given[exchange(q.Model, q.Messages[0].Text+shown, text)] = true
	}
	return a
}

// gave reports whether a model replied with a text to a question.
func (w *steadfast) gave(model, question, answer string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.given[exchange(model, question, answer)]
}

func exchange(model, question, answer string) string {
	return strings.Join([]string{model, strings.TrimSpace(question), strings.Join(strings.Fields(answer), "")}, "\x00")
}
