package study

import (
	"math"
	"regexp"
	"strconv"

	"assay/internal/assay"
	"assay/internal/study/decode"
)

// Rubric is a way to judge: prompt, form of the answer, score.
type Rubric struct {
	decode.Where
	Name    string    `json:"-"`
	Prompt  Prompts   `json:"prompt,omitempty" jsonschema:"the judge's prompt: a text, a file, or several by name"`
	System  Text      `json:"system,omitzero"`
	Labels  Labels    `json:"labels,omitempty" jsonschema:"the labels a judge may give; with scores as {label: score}"`
	Schema  RawSchema `json:"schema,omitempty" jsonschema:"JSON Schema of the judge's answer"`
	Label   string    `json:"label,omitempty" jsonschema:"the field of the answer that holds the label (label)"`
	Score   string    `json:"score,omitempty" jsonschema:"the field of the answer that holds the score; logprobs: the scores of the labels, weighed by how likely each was as the first token"`
	Wrap    Wrap      `json:"wrap,omitempty" jsonschema:"off: the prompt is sent byte for byte, with nothing added"`
	Reply   Reply     `json:"reply,omitzero" jsonschema:"the form of the judge's reply: json, tag, last-line, {json: FIELD} or {tag: NAME}"`
	Command []string  `json:"command,omitempty" jsonschema:"a program: JSON lines in and out"`
	Limit   Duration  `json:"limit,omitempty" jsonschema:"time limit of the program"`
	Rule    *Rule     `json:"rule,omitempty" jsonschema:"a rule that needs no model"`
}

// Rule is a judge without a model.
type Rule struct {
	decode.Where
	Exact    Phrase                `json:"exact,omitzero" jsonschema:"the whole answer equals this template"`
	Contains Names                 `json:"contains,omitzero" jsonschema:"the answer contains one of these"`
	Regex    decode.Ordered[Names] `json:"regex,omitempty" jsonschema:"label: patterns; the first label with a match wins"`
	JSON     bool                  `json:"json,omitempty" jsonschema:"the answer is JSON that fits the rubric's schema"`
	Tool     *ToolRule             `json:"tool,omitempty" jsonschema:"the answer calls this tool, with these arguments"`
}

// RubricRef names a rubric or holds one.
type RubricRef struct {
	Name string
	At   assay.Place
	Own  *Rubric
}

// Read takes a name, or a rubric.
func (r *RubricRef) Read(d *decode.Decoder, n *decode.Node) {
	r.At = n.At
	if n.Kind != decode.Map {
		if n.Kind != decode.Text || n.Text == "" {
			d.Wrong(n, "the name of a rubric, or a rubric of its own")
			return
		}
		r.Name = n.Text
		return
	}
	r.Own = new(Rubric)
	d.Into(n, r.Own)
}

// Label is one label of a rubric and its score.
type Label struct {
	Name  string
	Score *float64
}

// Labels is a list of labels, or a map from label to score. Those of a list that are numbers, all of them, are their own scores.
type Labels []Label

// Read takes names, or a map from label to score.
func (l *Labels) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Map {
		for _, p := range n.Pairs {
			var f float64
			d.Into(p.Value, &f)
			*l = append(*l, Label{Name: p.Key, Score: &f})
		}
		return
	}
	var names Names
	names.Read(d, n)
	numbers := true
	for _, name := range names.List {
		score, err := strconv.ParseFloat(name, 64)
		numbers = numbers && err == nil && !math.IsInf(score, 0) && !math.IsNaN(score)
		*l = append(*l, Label{Name: name, Score: &score})
	}
	for i := range *l {
		if !numbers {
			(*l)[i].Score = nil
		}
	}
}

// RubricOf returns the rubric that a judge or compare stage defines or that the study defines by its name; nil where it
// names a built-in one.
func (s *Study) RubricOf(st *Stage) *Rubric {
	if st.Rubric.Own != nil {
		return st.Rubric.Own
	}
	for i := range s.Rubrics {
		if s.Rubrics[i].Name == st.Rubric.Name {
			return &s.Rubrics[i].Value
		}
	}
	return nil
}

// JudgedByPrograms names the stages whose judge is a program.
func (s *Study) JudgedByPrograms() []string {
	var names []string
	for i := range s.Stages {
		if r := s.RubricOf(&s.Stages[i]); r != nil && len(r.Command) > 0 {
			names = append(names, s.Stages[i].Name)
		}
	}
	return names
}

// Trait is a criterion by which two texts are compared.
type Trait struct {
	decode.Where
	Name        string `json:"name"`
	Description Text   `json:"description,omitzero"`
}

// Count is how missing answers count in a judge stage.
type Count struct {
	Refused CountAs `json:"refused,omitempty"`
	Cut     CountAs `json:"cut,omitempty"`
}

// Of is the value of `of:`, the answers of a conversation that a judge or compare stage reads: a turn by its number, or
// a word. The zero value: not set.
type Of struct {
	Which Which
	Turn  int // from 1; 0: Which is set
}

// Which is a word for the answers that a stage reads.
type Which string

// The words. Later cannot be written: it is for rubrics that compare answers with the first.
const (
	OfLast         Which = "last"
	OfFirst        Which = "first"
	OfEach         Which = "each"
	OfConversation Which = "conversation" // the last answer, with all that led to it
	OfLater        Which = "later"
)

// Read takes a word, or the number of a turn.
func (o *Of) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Number && n.Number >= 1 && n.Number == float64(int(n.Number)) {
		*o = Of{Turn: int(n.Number)}
		return
	}
	*o = Of{Which: Which(d.OneOf(n, string(OfLast), string(OfFirst), string(OfEach), string(OfConversation), "TURN NUMBER"))}
}

// String returns the value as a study writes it; empty: not set.
func (o Of) String() string {
	if o.Turn > 0 {
		return strconv.Itoa(o.Turn)
	}
	return string(o.Which)
}

// Turns are those of a conversation that are asked.
type Turns struct {
	N      int
	GoesOn bool // with an earlier conversation: all its answers are later ones
}

// Reads reports whether the answers of a turn, counted from 1, are among those read.
func (o Of) Reads(turn int, in Turns) bool {
	switch {
	case turn < 1 || turn > in.N:
		return false
	case o.Turn > 0:
		return turn == o.Turn
	case o.Which == OfFirst:
		return turn == 1
	case o.Which == OfEach:
		return true
	case o.Which == OfLater:
		return turn > 1 || in.GoesOn
	}
	return turn == in.N
}

// One returns the one turn whose answers are compared: the last of those read, and the last of all where there are
// none.
func (o Of) One(in Turns) int {
	for turn := in.N; turn > 0; turn-- {
		if o.Reads(turn, in) {
			return turn
		}
	}
	return in.N
}

const wrapOff = "off"

// Bare reports whether the prompts of a judge or compare stage are sent byte for byte: as set by the stage, else by its
// rubric.
func (s *Study) Bare(st *Stage) bool {
	wrap := st.Wrap
	if own := s.RubricOf(st); wrap == "" && own != nil {
		wrap = own.Wrap
	}
	return wrap == wrapOff
}

// ReplyOf returns the form of reply that a judge or compare stage declares, else its rubric; the zero value: none does.
func (s *Study) ReplyOf(st *Stage) Reply {
	if own := s.RubricOf(st); st.Reply.Form == "" && own != nil {
		return own.Reply
	}
	return st.Reply
}

// The forms of a reply that a study may declare.
const (
	ReplyJSON = "json"
	ReplyTag  = "tag"
	ReplyLine = "last-line"
)

// Reply is how a judge's reply is read.
type Reply struct {
	Form  string // json, tag or last-line; empty: as the rubric is read
	Field string // the field or the tag; empty: the rubric's own
}

type replyMap struct {
	decode.Where
	JSON string `json:"json,omitempty" jsonschema:"the field of a JSON object that holds the label"`
	Tag  string `json:"tag,omitempty" jsonschema:"the tag around the label"`
}

var tagName = regexp.MustCompile(`^[\w-]+$`)

// Read takes a form, or a map from form to field.
func (r *Reply) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind != decode.Map {
		r.Form = d.OneOf(n, ReplyJSON, ReplyTag, ReplyLine)
		return
	}
	var m replyMap
	d.Fields(n, &m)
	if m.Has("json") == m.Has("tag") {
		d.Problems.Add(n.At, "such as {tag: VERDICT}", "reply: want one of json, tag")
		return
	}
	*r = Reply{Form: ReplyJSON, Field: m.JSON}
	if m.Has("tag") {
		*r = Reply{Form: ReplyTag, Field: m.Tag}
	}
	switch {
	case r.Field == "":
		d.Problems.Add(n.At, "such as {tag: VERDICT}", "reply: the %s has no name", r.Form)
	case r.Form == ReplyTag && !tagName.MatchString(r.Field):
		d.Problems.Add(m.Key("tag"), "such as {tag: VERDICT}, for <VERDICT>…</VERDICT>", "reply: %s is not a name of a tag",
			decode.Quote(r.Field))
	}
}
