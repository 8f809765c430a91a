package judge

import (
	"bytes"
	"encoding/json"
	"strings"

	"assay/internal/assay"
)

// Call is the call of a tool that an answer has to make.
type Call struct {
	Name  string // empty: none may be called
	Whole bool   // it has no arguments but the expected ones
}

// Calls returns a rule that labels an answer right if one of its calls has the name and the expected arguments. It is given the calls
// of an answer as JSON, and the expected arguments as a JSON object; nothing: any. Objects within arguments may have more members
// than expected ones unless the call has to be whole; lists have to be equal. A text matches a number or a truth value written so.
func Calls(want Call) Rule {
	return func(answer, expect string) assay.Verdict {
		var calls []assay.ToolCall
		if err := json.Unmarshal([]byte(answer), &calls); err != nil {
			return without(assay.VerdictMalformed, "the calls cannot be read: %s", err)
		}
		expected, err := arguments(expect)
		if err != nil {
			return without(assay.VerdictMalformed, "the expected arguments cannot be read: %s", err)
		}
		right := want.Name == "" && len(calls) == 0
		for _, c := range calls {
			given, err := arguments(string(c.Arguments))
			right = right || want.Name != "" && c.Name == want.Name && c.Broken == "" && err == nil && want.fits(expected, given)
		}
		v := rightIf(right)
		if v.Explanation = assay.CallsText(calls); len(calls) == 0 {
			v.Explanation = "no tool is called"
		}
		return v
	}
}

// arguments reads a JSON object, numbers as they are written; an empty text is an empty one.
func arguments(text string) (map[string]any, error) {
	out := map[string]any{}
	if strings.TrimSpace(text) == "" {
		return out, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	return out, d.Decode(&out)
}

// fits reports whether a value is the expected one.
func (c Call) fits(want, given any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := given.(map[string]any)
		if !ok || c.Whole && len(g) != len(w) {
			return false
		}
		for name, value := range w {
			if has, ok := g[name]; !ok || !c.fits(value, has) {
				return false
			}
		}
		return true
	case []any:
		g, ok := given.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !c.fits(w[i], g[i]) {
				return false
			}
		}
		return true
	}
	return want == given || sameNumber(want, given) || writtenSo(want, given)
}

func sameNumber(want, given any) bool {
	w, ok := want.(json.Number)
	g, also := given.(json.Number)
	if !ok || !also {
		return false
	}
	a, err := w.Float64()
	b, failed := g.Float64()
	return err == nil && failed == nil && a == b
}

// writtenSo reports whether a text is how a number or a truth value is written.
func writtenSo(want, given any) bool {
	text, ok := want.(string)
	switch g := given.(type) {
	case json.Number:
		return ok && (text == g.String() || sameNumber(json.Number(text), g))
	case bool:
		return ok && (text == "true") == g && (text == "true" || text == "false")
	}
	return false
}
