package judge

import (
	"regexp"
	"strings"
)

// Reply is the form of a judge's reply as a study declares it.
type Reply struct {
	Form  Form
	Field string // the tag or the field that holds the label; empty: the rubric's own
}

// Replying returns the rubric whose judges reply in a declared form. A reply in any other is malformed.
func (r Rubric) Replying(in Reply) Rubric {
	r.Form, r.Declared = in.Form, true
	switch {
	case in.Field == "":
	case r.Label == "" && len(r.Labels) == 0:
		r.Score = in.Field
	default:
		r.Label = in.Field
	}
	return r
}

// word reads the text in the place of the verdict: a label, or a number where the rubric has none.
func (r Rubric) word(text string) (reading, string) {
	if len(r.Labels) > 0 || r.Score == "" {
		return r.readingOf(text, nil)
	}
	points, ok := scoreOf(text)
	if !ok {
		return reading{}, "the score is " + clip(quoted(strings.TrimSpace(text))) + ", which is not a number"
	}
	return r.readingOf(nil, points)
}

var bracketed = regexp.MustCompile(`\[+([^\[\]]+)\]+`)

// lastLine reads the last line: a label and nothing else, one in brackets, or one after the last colon. A line with more than that is not
// guessed at. Of a reply that was cut, the last line is not known.
func (f *finder) lastLine() {
	text := strings.TrimRight(f.text, " \t\r\n`")
	start := strings.LastIndexByte(text, '\n') + 1
	if f.cut {
		return
	}
	line := text[start:]
	words := []string{line}
	if in := bracketed.FindAllStringSubmatch(line, -1); in != nil {
		words = nil
		for _, m := range in {
			words = append(words, m[1])
		}
	} else if at := strings.LastIndexAny(line, ":="); at >= 0 {
		words = append(words, line[at+1:])
	}
	problem := ""
	for _, w := range words {
		r, why := f.rubric.word(w)
		if problem = why; why != "" {
			continue
		}
		r.at = span{start, len(f.text)}
		f.found = append(f.found, r)
		if len(words) > 1 && w == line { // the whole line is a label, colon and all
			return
		}
	}
	if len(f.found) == 0 {
		f.problem = problem
	}
}
