package study

import (
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
)

// Lane is one lane of the study, expanded from its grid.
type Lane struct {
	assay.Lane
	decode.Where
	Live   Live   // caps of this lane alone
	StopIf StopIf // over the study's; 0: the study's
	Group  string // the name under `lanes:` it came from
}

// LaneSpecs are the lanes as written: a map, or a file that holds one.
type LaneSpecs struct {
	File string
	At   assay.Place
	List []LaneSpec
}

// Read takes a map of lanes, or the name of a file that holds one.
func (l *LaneSpecs) Read(d *decode.Decoder, n *decode.Node) {
	l.At = n.At
	switch n.Kind {
	case decode.Text:
		l.File = n.Text
	case decode.Map:
		for _, p := range n.Pairs {
			at := p.At
			if at.Line == 0 {
				at = p.Value.At
			}
			l.List = append(l.List, LaneSpec{Name: p.Key, At: at, Node: p.Value})
		}
	default:
		d.Wrong(n, "a map of lanes, or the name of a file that holds one")
	}
}

// LaneSpec is one lane as written; it is read when its grid is expanded.
type LaneSpec struct {
	Name string // empty: lane_defaults
	At   assay.Place
	Node *decode.Node
}

// Read takes anything: lanes are read when their grids are expanded.
func (l *LaneSpec) Read(_ *decode.Decoder, n *decode.Node) { l.Node = n }

// LaneKeys are the parameters of a lane as a study writes them. Every one but stop, extra and schema may be a list,
// which makes a grid.
type LaneKeys struct {
	decode.Where
	Model       string              `json:"model" jsonschema:"provider/model"`
	Temperature *float64            `json:"temperature,omitempty"`
	TopP        *float64            `json:"top_p,omitempty"`
	TopK        *int                `json:"top_k,omitempty"`
	MaxTokens   int                 `json:"max_tokens,omitempty" jsonschema:"most output tokens, thinking included"`
	Effort      string              `json:"effort,omitempty" jsonschema:"reasoning effort by the provider's own word"`
	Thinking    Thinking            `json:"thinking,omitempty" jsonschema:"off, on, a number of tokens, or a level"`
	Thoughts    bool                `json:"thoughts,omitempty" jsonschema:"ask for the thoughts too; they are kept apart"`
	Stop        Names               `json:"stop,omitzero" jsonschema:"texts that end the answer"`
	Seed        *int64              `json:"seed,omitempty"`
	Schema      RawSchema           `json:"schema,omitzero" jsonschema:"JSON Schema of the answer"`
	ServiceTier string              `json:"service_tier,omitempty"`
	Logprobs    int                 `json:"logprobs,omitempty" jsonschema:"tell how likely each token was, and so many likely ones beside it (1 to 20)"`
	ServerTools ServerTools         `json:"server_tools,omitzero" jsonschema:"tools that the provider runs for an answer"`
	API         API                 `json:"api,omitempty" jsonschema:"chat or responses, where a provider has both"`
	Extra       decode.Ordered[Any] `json:"extra,omitempty" jsonschema:"further body fields, sent as they are"`
	Mode        Mode                `json:"mode,omitempty"`
	Concurrency int                 `json:"concurrency,omitempty" jsonschema:"live requests in flight"`
	Pause       Duration            `json:"pause,omitempty" jsonschema:"between two live requests"`
	Rate        Rate                `json:"rate,omitempty" jsonschema:"live requests, such as 10/s"`
	StopIf      StopIf              `json:"stop_if,omitempty" jsonschema:"stops the lane when its requests fail: error_rate > 0.1"`
	Label       string              `json:"label,omitempty" jsonschema:"for people"`
	Notes       string              `json:"notes,omitempty" jsonschema:"for people"`
}

// Thinking is `thinking:` of a lane.
type Thinking struct{ assay.Thinking }

// Read takes a word, a number of tokens, or a level.
func (t *Thinking) Read(d *decode.Decoder, n *decode.Node) {
	switch {
	case n.Kind == decode.Null:
	case n.Kind == decode.Bool && n.Bool, n.Text == "on", n.Text == "yes":
		t.Mode = assay.ThinkingOn
	case n.Kind == decode.Bool, n.Text == "off", n.Text == "no":
		t.Mode = assay.ThinkingOff
	case n.Kind == decode.Number && n.Number >= 1 && n.Number == float64(int(n.Number)):
		t.Mode, t.Tokens = assay.ThinkingTokens, int(n.Number)
	case n.Kind == decode.Text && n.Text != "":
		t.Mode, t.Level = assay.ThinkingLevel, n.Text
	default:
		d.Wrong(n, "off, on, a number of tokens, or a level")
	}
}

// Lane returns the lane of a name.
func (s *Study) Lane(name string) (*Lane, bool) {
	for i := range s.Lanes {
		if s.Lanes[i].Name == name {
			return &s.Lanes[i], true
		}
	}
	return nil, false
}

// ImportedJudge begins the name of a judge that is no person, and whose verdicts were made elsewhere: nothing is sent for it.
const ImportedJudge = "imported:"

// ImportedJudges returns the judges of a stage whose verdicts were made elsewhere.
func (s *Stage) ImportedJudges() (out []string) {
	for _, name := range s.Judges.List {
		if strings.HasPrefix(name, ImportedJudge) {
			out = append(out, name)
		}
	}
	return out
}

// LanesNamed returns the lanes that names and globs pick, in the order of the study. A group's name picks all its
// lanes.
func (s *Study) LanesNamed(names []string) []*Lane {
	var out []*Lane
	for i := range s.Lanes {
		l := &s.Lanes[i]
		if slices.ContainsFunc(names, func(n string) bool { return Picks(n, l) }) {
			out = append(out, l)
		}
	}
	return out
}

// Takes reports whether the answers of a lane are among those that a stage judges or compares.
func (st *Stage) Takes(l *Lane) bool {
	return len(st.Among.List) == 0 || slices.ContainsFunc(st.Among.List, func(name string) bool { return Picks(name, l) })
}

// Picks reports whether a name means a lane: its own, its group's, the beginning of it up to a dot, or a glob.
func Picks(name string, l *Lane) bool {
	if name == l.Name || name == l.Group || strings.HasPrefix(l.Name, name+".") {
		return true
	}
	ok, err := path.Match(name, l.Name)
	return err == nil && ok
}

// judging reports whether a lane is named as a judge anywhere.
func (s *Study) judging(l *Lane) bool {
	for _, st := range s.Stages {
		if st.Fallback != "" && Picks(st.Fallback, l) ||
			slices.ContainsFunc(st.Judges.List, func(n string) bool { return n != "*" && Picks(n, l) }) {
			return true
		}
	}
	return false
}

// Contestants returns the lanes whose answers a stage gives: those it names, or all that judge nowhere; those of the
// stage it goes on with; those that its rows name.
func (s *Study) Contestants(st *Stage) []*Lane {
	for range s.Stages { // in a circle there is no end
		from, ok := s.Stage(st.Continue)
		if !ok || st.Import != nil || len(st.Lanes.Among.List) > 0 {
			break
		}
		st = from
	}
	if st.Import != nil {
		return s.imported(st)
	}
	if len(st.Lanes.Among.List) > 0 {
		return s.LanesNamed(st.Lanes.Among.List)
	}
	var out []*Lane
	for i := range s.Lanes {
		if !s.judging(&s.Lanes[i]) {
			out = append(out, &s.Lanes[i])
		}
	}
	return out
}

// Undeclared returns the lane of a name whose answers are imported and which the study does not declare; nil where there
// is none.
func (s *Study) Undeclared(name string) *Lane {
	for i := range s.Elsewhere {
		if s.Elsewhere[i].Name == name {
			return &s.Elsewhere[i]
		}
	}
	return nil
}

// imported returns the lanes of an import stage, in the order of its rows.
func (s *Study) imported(st *Stage) []*Lane {
	if st.Taken == nil {
		return nil
	}
	var out []*Lane
	for _, l := range st.Taken.Lanes {
		if lane, ok := s.Lane(l.Name); ok {
			out = append(out, lane)
		} else if lane := s.Undeclared(l.Name); lane != nil {
			out = append(out, lane)
		}
	}
	return out
}
