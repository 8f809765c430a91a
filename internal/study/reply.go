package study

import (
	"regexp"

	"assay/internal/study/decode"
)

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

// Sent returns the text as a stage sends it: exactly as it was written where nothing is wrapped.
func (t Text) Sent(bare bool) string {
	if bare {
		return t.Raw
	}
	return t.Text
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
