package minds

import (
	"slices"
	"strings"

	"assay/internal/simulator/dice"
	"assay/internal/simulator/eyes"

	"github.com/valyala/fastjson"
)

// mistakes is the share of colours and calls that a model of no quality gets wrong.
const mistakes = 0.4

// errs reports whether a model is wrong about something. It depends on the model and the thing alone, so that a question asked live
// and one in a batch end alike.
func (w Writer) errs(model, about string) bool {
	return dice.Chance(dice.Hash(dice.Hash(0xe77, model), about)) < mistakes*(1-w.Model(model).Quality/100)
}

// seen returns what a model says of all that it is shown, and the colours that it takes pictures for.
func (w Writer) seen(q *Question) (said string, colours []string) {
	var words []string
	for i := range q.Shown {
		t := &q.Shown[i]
		colour := t.Colour
		if colour != "" && w.errs(q.Model, t.Sum) {
			all := eyes.Colours()
			colour = all[(slices.Index(all, colour)+1+int(dice.Hash(0xc0, t.Sum)%uint64(len(all)-1)))%len(all)]
		}
		words = append(words, t.Words(colour))
		if colour != "" {
			colours = append(colours, colour)
		}
	}
	return strings.Join(words, " "), colours
}

// matching fills choices that have one of these words.
func matching(words []string) decider {
	if len(words) == 0 {
		return nil
	}
	return func(_ string, s *fastjson.Value) ([]byte, bool) {
		for _, e := range s.GetArray("enum") {
			if slices.Contains(words, strings.ToLower(string(e.GetStringBytes()))) {
				return e.MarshalTo(nil), true
			}
		}
		return nil, false
	}
}
