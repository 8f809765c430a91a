package study

import (
	"slices"

	"assay/internal/study/decode"
)

// Media are the media of a message, in its order.
type Media []Shown

// Shown is a template that gives a file, a folder or a URL.
type Shown struct {
	Phrase
	Detail Detail
}

// Detail is how closely a model looks at a picture.
type Detail string

// Words lists the levels of all vendors; each has some of them.
func (Detail) Words() []string {
	return []string{"auto", "low", "medium", "high", "ultra_high", "original"}
}

type shownMap struct {
	decode.Where
	File   Phrase `json:"file" jsonschema:"a file, a folder or a URL; a template"`
	Detail Detail `json:"detail,omitempty" jsonschema:"of pictures: how closely a model looks; as the provider has it when omitted"`
}

// Read takes a name, {file: NAME, detail: WORD}, or a list of them.
func (m *Media) Read(d *decode.Decoder, n *decode.Node) {
	list := []*decode.Node{n}
	switch n.Kind {
	case decode.List:
		list = n.List
	case decode.Null:
		return
	}
	for _, c := range list {
		var s shownMap
		switch c.Kind {
		case decode.Map:
			d.Fields(c, &s)
		case decode.Text:
			s.File.Read(d, c)
		default:
			d.Wrong(c, "a file, a folder or a URL, or {file: NAME, detail: low}")
			continue
		}
		if s.File.Text == "" {
			d.Problems.Add(c.At, "such as media: [picture.png] or media: [\"{{ picture }}\"]", "media: a name is empty")
			continue
		}
		*m = append(*m, Shown{Phrase: s.File, Detail: s.Detail})
	}
}

// Shows reports whether some stage shows its models more than words.
func (s *Study) Shows() bool {
	return slices.ContainsFunc(s.Stages, func(st Stage) bool { return st.Shows() })
}

// Shows reports whether a stage shows its models more than words.
func (s *Stage) Shows() bool {
	return len(s.Media) > 0 || slices.ContainsFunc(s.Turns, func(t Turn) bool { return len(t.Media) > 0 })
}
