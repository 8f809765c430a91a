package minds

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/simulator/dice"

	"github.com/valyala/fastjson"
)

// calls returns the tools that a model calls: one whose words are in the question, with what the question names as arguments; and
// where it joins two names, one call for each.
func (w Writer) calls(q *Question) []assay.ToolCall {
	if len(q.Tools) == 0 || q.Choice.Mode == assay.ToolNone {
		return nil
	}
	asked := lastAsked(q)
	forced := q.Choice.Mode == assay.ToolAny || q.Choice.Mode == assay.ToolNamed
	if !forced && (q.ToldBack || w.errs(q.Model, asked)) {
		return nil
	}
	tool, fits := best(q, asked)
	if !fits && !forced {
		return nil
	}
	names := named(asked)
	var out []assay.ToolCall
	for i := range max(1, len(names)) {
		out = append(out, callOf(tool, asked, names[min(i, len(names)):]))
		if q.OneCall || !joined.MatchString(asked) {
			break
		}
	}
	return out
}

func lastAsked(q *Question) string {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role == assay.RoleUser && q.Messages[i].Text != "" {
			return q.Messages[i].Text
		}
	}
	return ""
}

// best returns the tool that shares most words with a question, and whether it shares any; where one is named, that one.
func best(q *Question, asked string) (assay.Tool, bool) {
	text, most, found := " "+strings.ToLower(asked)+" ", 0, q.Tools[0]
	for _, t := range q.Tools {
		if q.Choice.Mode == assay.ToolNamed && t.Name == q.Choice.Name {
			return t, true
		}
		shared := 0
		for _, word := range wordForm.FindAllString(strings.ToLower(strings.ReplaceAll(t.Name, "_", " ")+" "+t.Description), -1) {
			if len(word) > 3 && strings.Contains(text, strings.TrimSuffix(word, "s")) {
				shared++
			}
		}
		if shared > most {
			most, found = shared, t
		}
	}
	return found, most > 0
}

var (
	wordForm   = regexp.MustCompile(`[a-z]+`)
	quotedForm = regexp.MustCompile(`["“”']([^"“”']+)["“”']`)
	nameForm   = regexp.MustCompile(`[^.?!:\s]\s+((?:[A-Z][\p{L}\d-]*)(?:\s[A-Z][\p{L}\d-]*)*)`)
	numberForm = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
	joined     = regexp.MustCompile(`[A-Z]\pL* and (?:in |of |for )?[A-Z]`)
)

// named returns what a question names: in quotes, or else with a capital inside a sentence.
func named(asked string) []string {
	for _, form := range []*regexp.Regexp{quotedForm, nameForm} {
		var out []string
		for _, m := range form.FindAllStringSubmatch(asked, -1) {
			out = append(out, m[1])
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// callOf fills the arguments of a call.
func callOf(t assay.Tool, asked string, names []string) assay.ToolCall {
	numbers := numberForm.FindAllString(asked, -1)
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	decide := func(_ string, s *fastjson.Value) ([]byte, bool) {
		for _, e := range s.GetArray("enum") {
			if word := string(e.GetStringBytes()); word != "" && strings.Contains(strings.ToLower(asked), strings.ToLower(word)) {
				return e.MarshalTo(nil), true
			}
		}
		switch kind := schemaType(s); {
		case s.Get("enum") != nil:
		case (kind == "integer" || kind == "number") && len(numbers) > 0:
			first, err := strconv.ParseFloat(numbers[0], 64)
			numbers = numbers[1:]
			if kind == "integer" {
				first = math.Trunc(first)
			}
			return strconv.AppendFloat(nil, first, 'f', -1, 64), err == nil
		case kind == "string" && s.Get("format") == nil && len(names) > 0:
			first := names[0]
			if len(names) > 1 {
				names = names[1:]
			}
			return appendText(nil, first), true
		}
		return nil, false
	}
	r := dice.New(dice.Hash(dice.Hash(0xca11, t.Name), asked))
	return assay.ToolCall{Name: t.Name, Arguments: json.RawMessage(schemaAnswer(schema, r, "", decide))}
}

// beside returns what a model says beside its calls: mostly nothing.
func beside(q *Question) string {
	if dice.Hash(0xbe51de, q.Model+lastAsked(q))%4 == 0 {
		return "Let me look that up."
	}
	return ""
}
