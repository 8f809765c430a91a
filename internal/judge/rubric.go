// Package judge turns the reply of a judge about an answer or a pair into a verdict.
//
// A rubric is a prompt, the form of the reply, and how the reply is read. Models, rules and programs judge by one; the verdict is the
// same. Whatever a judge is shown was written by others: it goes into prompts fenced, and whatever a judge replies is read as
// foreign text. A reply that cannot be read is malformed; it is never guessed at, and never counts as a label.
package judge

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Kind is whether a rubric reads answers or pairs.
type Kind string

// The kinds of rubrics.
const (
	Answers Kind = "answers" // one answer, with what led to it
	Pairs   Kind = "pairs"   // two texts, of which one may be better
)

// Form is how a judge writes its reply.
type Form string

// The forms. In each of them, prose before the label does no harm. Where a study does not declare the form, a line "field: value" is
// taken for an object, and the bare label for either.
const (
	FormJSON Form = "json"      // an object with the fields of the rubric
	FormTag  Form = "tag"       // <FIELD>label</FIELD>
	FormLine Form = "last-line" // the last line is the label, or ends with it after a colon or in brackets
)

// NotInFiles begins a prompt that stands for one which results of another program do not have: nothing may be sent with it.
const NotInFiles = "The prompt is not in the files."

// Rubric is a way to judge. The built-in ones come from Builtin, those of a study from New.
type Rubric struct {
	Name    string
	Kind    Kind
	System  string   // a template; empty: none
	Prompts []Prompt // one request each; none where a rule or a program judges

	Form        Form
	Labels      []Label // those a judge may give; none: the rubric is a score, or any text is a label
	Label       string  // the field of the reply that holds the label; empty: none
	Score       string  // the field that holds the score; empty: the label's own
	Range       Range   // of the score
	Explanation string  // the field for the judge's own words
	Confidence  string  // the field for its confidence; empty: none
	Schema      json.RawMessage

	Bare     bool // its prompts are sent as they are: nothing is fenced, and no form is asked for but that of the study's own schema
	Weighed  bool // the verdict is read from how likely each label was as the first token of the answer, which is a label and nothing else
	Declared bool // the study declares the form of the reply: it is read in no other

	Worse        Worse    // which end of the score is the bad one
	AgainstFirst bool     // it holds a later answer of a conversation against the first
	Needs        []string // the item must have one of these fields, or `expect`; empty: nothing is needed
	Rule         Rule     // judges without a model; nil: a model or a program does
}

// Prompt is one template of a rubric under a name; a rubric with a single one may leave the name empty.
type Prompt struct {
	Name string
	Text string
}

// Label is one of the labels that a judge may give.
type Label struct {
	Name    string   // as verdicts hold it
	Word    string   // as the judge writes it; empty: the name
	Also    []string // further spellings that are taken
	Score   *float64 // nil: none
	Abstain bool     // it declines to judge
}

func (l Label) word() string {
	if l.Word != "" {
		return l.Word
	}
	return l.Name
}

// Range bounds a score.
type Range struct {
	Low, High *float64 // nil: open
	Whole     bool     // whole numbers only
	// Ends tell the meaning of the lowest and the highest score in a few words; empty: the worst and the best.
	Ends [2]string
}

func (r Range) holds(x float64) bool {
	return (r.Low == nil || x >= *r.Low) && (r.High == nil || x <= *r.High) && (!r.Whole || x == math.Trunc(x))
}

// Worse is the bad end of a score.
type Worse string

// The bad ends. The zero value is Low.
const (
	Low  Worse = "low"
	High Worse = "high"
)

// WithoutTies returns the rubric with its tie taken away: a judge that calls one all the same gave a malformed verdict.
func (r Rubric) WithoutTies() Rubric {
	r.Labels = slices.DeleteFunc(slices.Clone(r.Labels), func(l Label) bool { return l.Name == tie })
	return r
}

// Ties reports whether a judge may call a tie.
func (r Rubric) Ties() bool {
	return slices.ContainsFunc(r.Labels, func(l Label) bool { return l.Name == tie })
}

// Has reports whether a word means one of the labels.
func (r Rubric) Has(word string) bool {
	_, ok := r.find(word)
	return ok
}

// find returns the label that a word means. Case, white space, quotes, emphasis and the marks between words do not matter.
func (r Rubric) find(word string) (*Label, bool) {
	folded := fold(word)
	for i := range r.Labels {
		l := &r.Labels[i]
		if folded == fold(l.Name) || folded == fold(l.word()) {
			return l, true
		}
		for _, also := range l.Also {
			if folded == fold(also) {
				return l, true
			}
		}
	}
	return nil, false
}

// fold makes spellings of one word equal: lower case, no marks around it, one _ between its parts.
func fold(word string) string {
	parts := strings.FieldsFunc(strings.ToLower(strings.ToValidUTF8(word, "")), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune("_-*`\"'“”‘’", c)
	})
	return strings.Trim(strings.Join(parts, "_"), "_.,:;!()[]{}<>")
}

func num(x float64) *float64 { return &x }
