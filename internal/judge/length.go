package judge

import (
	"encoding/json"
	"strings"
)

// Length is how many tokens a verdict takes, thoughts aside: the least, and what is to be expected.
type Length struct{ Low, Expected int }

// What the parts of a verdict take. Names of fields and the signs around values are counted with each.
const (
	fieldTokens  = 8  // a label, a score or a confidence
	wordsLow     = 15 // an explanation: prompts ask for one or two sentences
	wordsTokens  = 60
	frameTokens  = 4   // of the object
	tagTokens    = 20  // <FIELD>label</FIELD>
	arguedTokens = 300 // what comes before the tag where the prompt asks for an argument
	arguedLow    = 60
)

// Length estimates how long the verdicts of a rubric are, by the form that its prompts ask for. Its zero value: no judge is
// asked.
func (r Rubric) Length() Length {
	if len(r.Prompts) == 0 {
		return Length{}
	}
	if r.Weighed {
		return Length{Low: 1, Expected: fieldTokens / 2}
	}
	if r.Form == FormTag || r.Form == FormLine {
		return r.tagLength()
	}
	var shape struct{ Properties map[string]schemaShape }
	if err := json.Unmarshal(r.Answer(), &shape); err != nil || len(shape.Properties) == 0 {
		return Length{Low: frameTokens + fieldTokens, Expected: frameTokens + fieldTokens + wordsTokens}
	}
	out := Length{Low: frameTokens, Expected: frameTokens}
	for _, p := range shape.Properties {
		l := p.length(0)
		out.Low, out.Expected = out.Low+l.Low, out.Expected+l.Expected
	}
	return out
}

// tagLength returns the mean over the prompts: one that wants nothing but the tag gets nothing else.
func (r Rubric) tagLength() Length {
	var sum Length
	for _, p := range r.Prompts {
		sum.Low, sum.Expected = sum.Low+tagTokens/2, sum.Expected+tagTokens
		if !strings.Contains(p.Text, "nothing else") {
			sum.Low, sum.Expected = sum.Low+arguedLow, sum.Expected+arguedTokens
		}
	}
	return Length{Low: sum.Low / len(r.Prompts), Expected: sum.Expected / len(r.Prompts)}
}

// schemaShape holds the parts of a JSON Schema that bound the length of a value.
type schemaShape struct {
	Type       any
	Enum       []any
	Properties map[string]schemaShape
	Items      *schemaShape
}

// maxNested bounds how deep a schema is looked into.
const maxNested = 8

func (s schemaShape) length(depth int) Length {
	switch {
	case depth > maxNested || len(s.Enum) > 0:
		return Length{Low: fieldTokens / 2, Expected: fieldTokens}
	case len(s.Properties) > 0:
		out := Length{Low: frameTokens, Expected: frameTokens}
		for _, p := range s.Properties {
			l := p.length(depth + 1)
			out.Low, out.Expected = out.Low+l.Low, out.Expected+l.Expected
		}
		return out
	case s.Items != nil: // a few
		l := s.Items.length(depth + 1)
		return Length{Low: frameTokens, Expected: frameTokens + 3*l.Expected}
	case s.Type == "string":
		return Length{Low: wordsLow, Expected: wordsTokens}
	}
	return Length{Low: fieldTokens / 2, Expected: fieldTokens}
}
