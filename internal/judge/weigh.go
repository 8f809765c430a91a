package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/internal/assay"
)

// ScoreLogprobs is what a study writes in the place of a field, for a score that is the mean of those of the labels, each weighed by
// how likely it was as the first token of the judge's answer.
const ScoreLogprobs = "logprobs"

// leastPlaced is the probability that the labels together must have: below it, the judge was about to say something else.
const leastPlaced = 0.5

// mostPlaced is 1 and what providers' rounding may add: beyond, the numbers are no probabilities.
const mostPlaced = 1.05

// weighing makes a rubric one that is read from probabilities, or returns why it cannot be.
func (r *Rubric) weighing() error {
	switch {
	case len(r.Prompts) == 0:
		return fmt.Errorf("score: %s needs a model that judges, and a prompt", ScoreLogprobs)
	case r.Schema != nil:
		return fmt.Errorf("score: %s reads the first token, and the answer to a schema begins with a bracket", ScoreLogprobs)
	case len(r.Labels) < 2:
		return fmt.Errorf("score: %s needs two labels or more", ScoreLogprobs)
	}
	for i, a := range r.Labels {
		for j, b := range r.Labels {
			if i != j && strings.HasPrefix(fold(b.word()), fold(a.word())) {
				return fmt.Errorf("labels %q and %q begin alike: the first token cannot tell them apart", a.word(), b.word())
			}
		}
	}
	r.Weighed, r.Score = true, ""
	for _, l := range r.Labels {
		if l.Score == nil {
			continue
		}
		if r.Range.Low == nil {
			r.Range = Range{Low: l.Score, High: l.Score}
		}
		r.Range.Low, r.Range.High = num(min(*r.Range.Low, *l.Score)), num(max(*r.Range.High, *l.Score))
	}
	return nil
}

// weights are what a judge's first token tells of the labels.
type weights struct {
	of     []float64 // of each label of the rubric
	placed float64   // of all labels together
}

// weigh returns the verdict of an answer by how likely each label was. Where that is not known, or the answer begins with no label, the
// verdict is malformed.
func (r Rubric) weigh(o assay.Outcome) assay.Verdict {
	text := withoutThoughts(o.Text)
	switch {
	case text == "":
		return without(assay.VerdictMalformed, "the judge's answer is empty")
	case len(o.Likely) == 0:
		return without(assay.VerdictMalformed, "the answer came without log probabilities")
	case !r.begins(text, o.Ending == assay.Cut):
		return without(assay.VerdictMalformed, "the judge's answer begins with no label: %s", clip(quoted(text)))
	}
	w := r.weights(o.Likely)
	if w.placed < leastPlaced {
		return without(assay.VerdictMalformed, "the labels have %s of the first token's probability together, which is less than half",
			number(rounded(w.placed)))
	}
	if w.placed > mostPlaced {
		return without(assay.VerdictMalformed, "the probabilities of the first token add up to %s", number(rounded(w.placed)))
	}
	best := 0
	for i := range w.of {
		if w.of[i] > w.of[best] {
			best = i
		}
	}
	v := valid(r.Labels[best].Name, r.mean(w))
	if r.Labels[best].Abstain {
		v = without(assay.VerdictAbstained, "%s", r.Labels[best].Name)
	}
	v.Explanation, v.Fields = r.inWords(w), r.told(w, best)
	return v
}

// begins reports whether an answer begins with a label, or was cut within one.
func (r Rubric) begins(text string, cut bool) bool {
	text = strings.TrimLeftFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' && c != '+' })
	for _, l := range r.Labels {
		for _, word := range append([]string{l.Name, l.word()}, l.Also...) {
			if cut && len(fold(text)) > 0 && strings.HasPrefix(fold(word), fold(text)) {
				return true
			}
			if len(text) < len(word) || fold(text[:len(word)]) != fold(word) {
				continue
			}
			next, _ := utf8.DecodeRuneInString(text[len(word):])
			if !unicode.IsLetter(next) && !unicode.IsDigit(next) {
				return true
			}
		}
	}
	return false
}

// weights adds up the probabilities of the tokens that mean a label: those that spell it, and those that only one begins with.
func (r Rubric) weights(likely []assay.Likely) weights {
	w := weights{of: make([]float64, len(r.Labels))}
	for _, t := range likely {
		if i, ok := r.meant(t.Token); ok {
			w.of[i] += math.Exp(t.Logprob)
			w.placed += math.Exp(t.Logprob)
		}
	}
	return w
}

// meant returns the label that a token spells or begins. A single letter begins a label only where it is written alike: "I" begins
// many sentences.
func (r Rubric) meant(token string) (int, bool) {
	folded, found := fold(token), -1
	if folded == "" {
		return 0, false
	}
	for i, l := range r.Labels {
		for _, word := range append([]string{l.Name, l.word()}, l.Also...) {
			if fold(word) == folded {
				return i, true
			}
			alike := utf8.RuneCountInString(folded) > 1 || strings.HasPrefix(word, strings.TrimSpace(token))
			if !alike || !strings.HasPrefix(fold(word), folded) {
				continue
			}
			if found >= 0 && found != i {
				return 0, false
			}
			found = i
		}
	}
	return found, found >= 0
}

// mean returns the mean score of the labels; nil: they have none.
func (r Rubric) mean(w weights) *float64 {
	sum, of := 0.0, 0.0
	for i, l := range r.Labels {
		if l.Score != nil {
			sum, of = sum+w.of[i]**l.Score, of+w.of[i]
		}
	}
	if of == 0 {
		return nil
	}
	return num(rounded(sum / of))
}

// inWords returns the probabilities for people, in the place of a judge's own words: it gives none.
func (r Rubric) inWords(w weights) string {
	var all []string
	for i, l := range r.Labels {
		all = append(all, fmt.Sprintf("%s %.1f%%", l.Name, 100*w.of[i]))
	}
	return strings.Join(all, ", ") + fmt.Sprintf(", other tokens %.1f%%", 100*max(0, 1-w.placed))
}

// told returns what a verdict keeps of the probabilities: that of its label as its confidence, that of every label, and what is left for
// all other tokens.
func (r Rubric) told(w weights, best int) json.RawMessage {
	each := object{}
	for i, l := range r.Labels {
		each = append(each, member{l.Name, rounded(w.of[i])})
	}
	b, err := json.Marshal(object{
		{"confidence", rounded(w.of[best])}, {"probabilities", each}, {"other", rounded(max(0, 1-w.placed))},
	})
	if err != nil {
		return nil // names and numbers can always be written
	}
	return b
}

// rounded keeps six digits after the point: providers' own digits differ from there on.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }
