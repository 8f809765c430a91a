// Package likely reads from replies what an answer might have begun with, and how likely that was.
package likely

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// most bounds what is kept of one place of an answer. No provider tells more.
const most = 20

// Open reads what an answer might have begun with, in OpenAI's form: its tokens, each with the likeliest at its place.
func Open(places jsontext.Value) []assay.Likely {
	for place := range places.All() {
		chosen, ok := token(place, "logprob")
		if !ok || strings.TrimSpace(chosen.Token) == "" {
			continue
		}
		return likeliest(place.Get("top_logprobs"), "logprob", chosen)
	}
	return nil
}

// Generate reads the same in Gemini's form: the tokens of the answer, and beside them a list of the likeliest for each place.
func Generate(result jsontext.Value) []assay.Likely {
	n := 0
	for place := range result.Get("chosenCandidates").All() {
		chosen, ok := token(place, "logProbability")
		if n++; !ok || strings.TrimSpace(chosen.Token) == "" {
			continue
		}
		at := 0
		for top := range result.Get("topCandidates").All() {
			if at++; at == n {
				return likeliest(top.Get("candidates"), "logProbability", chosen)
			}
		}
		return []assay.Likely{chosen}
	}
	return nil
}

// likeliest returns the tokens of a place, the likeliest first, with the chosen one among them.
func likeliest(all jsontext.Value, name string, chosen assay.Likely) []assay.Likely {
	out := []assay.Likely{chosen}
	for v := range all.All() {
		if l, ok := token(v, name); ok && l.Token != chosen.Token && len(out) < most {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b assay.Likely) int {
		switch {
		case a.Logprob > b.Logprob:
			return -1
		case a.Logprob < b.Logprob:
			return 1
		}
		return 0
	})
	return out
}

// token reads a token and its logarithm, which is at most 0: a provider's rounding may lift it a little above.
func token(v jsontext.Value, name string) (assay.Likely, bool) {
	const rounding = 0.01
	l := v.Get(name)
	x, err := strconv.ParseFloat(string(l.Source()), 64)
	if !l.Is(jsontext.Number) || err != nil || math.IsNaN(x) || x > rounding {
		return assay.Likely{}, false
	}
	return assay.Likely{Token: text(v.Get("token")), Logprob: min(x, 0)}, true
}

// text returns the text of a token, however long a server says that it is, up to a bound. Broken UTF-8 becomes U+FFFD.
func text(v jsontext.Value) string {
	const longest = 200
	if !v.Is(jsontext.Text) {
		return ""
	}
	b := v.Source()
	b = jsontext.AppendUnescaped(nil, b[:min(len(b), 6*longest)])
	return string(bytes.ToValidUTF8(b[:min(len(b), longest)], []byte("\ufffd")))
}
