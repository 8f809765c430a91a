package judge

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// Read returns the verdict that a judge's outcome holds. A judge that refused or gave no answer failed; one whose answer is empty, holds no
// label of the rubric, or holds two different ones, gave a malformed verdict.
func Read(r Rubric, o assay.Outcome) assay.Verdict {
	switch o.Ending {
	case assay.Answered, assay.Cut:
		if r.Weighed {
			return r.weigh(o)
		}
		return r.read(o.Text, o.Ending)
	case assay.Empty:
		return without(assay.VerdictMalformed, "the judge's answer is empty")
	}
	why := string(o.Ending)
	if o.Fault != nil {
		why += ": " + o.Fault.Error()
	}
	return without(assay.VerdictFailed, "%s", why)
}

// Missing returns the verdict where there was nothing to judge: an answer that was not given, or not asked for.
func Missing(why string) assay.Verdict { return without(assay.VerdictMissing, "%s", why) }

// Given is the verdict of a person or a program before it is held against a rubric.
type Given struct {
	Label       string
	Score       *float64
	Confidence  *float64
	Explanation string
}

// Take returns the verdict that a person or a program gives under the rubric; what the rubric does not know is malformed.
func (r Rubric) Take(s Given) assay.Verdict {
	var label any
	if s.Label != "" {
		label = s.Label
	}
	found, problem := r.readingOf(label, s.Score)
	if problem != "" {
		return without(assay.VerdictMalformed, "%s", problem)
	}
	v := found.verdict()
	v.Explanation, v.Confidence = s.Explanation, share(s.Confidence)
	return v
}

// reading is a label or a score, or both, found somewhere in a reply.
type reading struct {
	label   string
	score   *float64
	abstain bool
	from    object // the object around it; nil: a line, a tag or the bare word
	at      span   // the line, the tag or the word
}

func (a reading) same(b reading) bool {
	return a.label == b.label && (a.score == nil) == (b.score == nil) && (a.score == nil || *a.score == *b.score)
}

func (a reading) String() string {
	if a.label != "" {
		return a.label
	}
	return strconv.FormatFloat(*a.score, 'g', -1, 64)
}

func (a reading) verdict() assay.Verdict {
	if a.abstain {
		return without(assay.VerdictAbstained, "%s", a.label)
	}
	return valid(a.label, a.score)
}

func (r Rubric) read(text string, ending assay.Ending) assay.Verdict {
	text = withoutThoughts(text)
	if text == "" {
		return without(assay.VerdictMalformed, "the judge's answer is empty")
	}
	f := &finder{rubric: r, text: text, cut: ending == assay.Cut}
	f.find()
	switch {
	case f.clash != "":
		return without(assay.VerdictMalformed, "%s", f.clash)
	case len(f.found) == 0:
		why := cmp.Or(f.problem, "the judge's answer holds no "+r.wanted())
		if f.cut {
			why += " (it was cut)"
		}
		return without(assay.VerdictMalformed, "%s", why)
	}
	first := f.found[0]
	v := first.verdict()
	v.Explanation = r.explanation(text, first)
	v.Confidence = r.confidence(first.from)
	v.Fields = r.rest(first.from)
	return v
}

// withoutThoughts takes away what some open models think aloud before they answer.
func withoutThoughts(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "<think>") {
		return text
	}
	_, answer, _ := strings.Cut(text, "</think>")
	return strings.TrimSpace(answer)
}

// wanted returns the field that a verdict cannot do without.
func (r Rubric) wanted() string {
	switch {
	case r.Form == FormTag:
		return "<" + cmp.Or(r.Label, r.Score) + ">"
	case r.Form == FormLine:
		return "label in its last line"
	}
	return strconv.Quote(cmp.Or(r.Label, r.Score))
}

// readingOf makes a reading of a label and a score, either of which may be missing, or returns what is wrong with them.
func (r Rubric) readingOf(label any, score *float64) (reading, string) {
	var out reading
	switch {
	case label != nil:
		text, ok := plain(label)
		if !ok {
			return out, "the label is " + clip(quoted(label)) + ", which is no label"
		}
		if len(r.Labels) == 0 { // any text is a label
			if out.label = strings.TrimSpace(text); out.label == "" {
				return out, "the label is empty"
			}
			break
		}
		l, ok := r.find(text)
		if !ok {
			return out, "the label is " + clip(quoted(text)) + ", which is none of the rubric's"
		}
		out.label, out.score, out.abstain = l.Name, l.Score, l.Abstain
	case score != nil:
		if l, ok := r.only(*score); ok {
			out.label, out.score, out.abstain = l.Name, l.Score, l.Abstain
		}
	default:
		return out, "the judge's answer holds no " + r.wanted()
	}
	if score == nil || out.abstain {
		return out, ""
	}
	switch {
	case len(r.Labels) > 0 && out.label == "":
		return out, "the score is " + number(*score) + ", which belongs to no label"
	case math.IsNaN(*score) || math.IsInf(*score, 0) || !r.Range.holds(*score):
		return out, "the score is " + number(*score) + ", which is out of range"
	case out.score != nil && *out.score != *score && len(r.Labels) > 0:
		return out, "the score is " + number(*score) + ", which does not belong to the label " + out.label
	}
	out.score = score
	return out, ""
}

// only returns the label that alone has this score.
func (r Rubric) only(score float64) (*Label, bool) {
	var found *Label
	for i := range r.Labels {
		if l := &r.Labels[i]; l.Score != nil && *l.Score == score {
			if found != nil {
				return nil, false
			}
			found = l
		}
	}
	return found, found != nil
}

// plain returns a value that can be a label, as text.
func plain(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return string(v), true
	}
	return "", false
}

// scoreOf returns a value that can be a score: a number, or one in quotes.
func scoreOf(v any) (*float64, bool) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = string(v)
	case string:
		text = strings.TrimSpace(v)
	}
	if text == "" || strings.Trim(text, "+-.eE0123456789") != "" {
		return nil, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return &x, err == nil
}

// share returns a confidence, if it is one.
func share(x *float64) *float64 {
	if x == nil || !(*x >= 0 && *x <= 1) {
		return nil
	}
	return x
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "unreadable"
	}
	return string(b)
}

// clip keeps foreign text in messages short.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
