package study

import (
	"slices"

	"assay/internal/study/decode"
	"assay/internal/study/expr"
)

// Verb is the kind of a stage.
type Verb string

// The verbs. Each stage has exactly one.
const (
	VerbAsk      Verb = "ask"
	VerbContinue Verb = "continue"
	VerbImport   Verb = "import"
	VerbJudge    Verb = "judge"
	VerbCompare  Verb = "compare"
)

// Stage is one verb over data.
type Stage struct {
	decode.Where
	Name     string  `json:"name" jsonschema:"small letters, digits and _"`
	Ask      string  `json:"ask,omitempty" jsonschema:"asks the lanes about every item of this input"`
	Continue string  `json:"continue,omitempty" jsonschema:"goes on with the conversations of this stage"`
	Import   *Import `json:"import,omitempty" jsonschema:"takes answers made elsewhere"`
	Judge    Names   `json:"judge,omitzero" jsonschema:"judges the answers of these stages"`
	Compare  string  `json:"compare,omitempty" jsonschema:"compares the answers of a stage, or the items of an input, in pairs"`

	System   Text       `json:"system,omitzero"`
	Context  Text       `json:"context,omitzero" jsonschema:"the long shared text in front of the question, covered by prompt caching"`
	Prompt   Prompts    `json:"prompt,omitempty" jsonschema:"the question: a text, a file, or several by name"`
	Media    Media      `json:"media,omitempty" jsonschema:"pictures, documents and sounds in front of the question: files, folders or URLs, as templates; of a stage that judges: in place of what was shown"`
	Turns    []Turn     `json:"turns,omitempty" jsonschema:"user messages, each after the model's real answer to the one before"`
	Messages string     `json:"messages,omitempty" jsonschema:"the field that holds a prepared conversation"`
	Control  *Control   `json:"control,omitempty" jsonschema:"a neutral re-ask beside the pressure"`
	Lanes    LaneChoice `json:"lanes,omitzero" jsonschema:"which lanes; globs allowed; all that do not judge when omitted"`
	Repeats  Repeats    `json:"repeats,omitzero" jsonschema:"independent draws of the same question"`
	Filter   Expression `json:"where,omitzero" jsonschema:"which items or conversations; may look at verdicts of earlier stages"`
	When     Expression `json:"when,omitzero" jsonschema:"a gate on earlier findings for the whole stage"`
	Mode     Mode       `json:"mode,omitempty"`
	Batch    Batch      `json:"batch,omitzero"`

	Tools      []Tool     `json:"tools,omitempty" jsonschema:"functions that the lanes may call; a call is the answer, and nothing runs it"`
	ToolChoice ToolChoice `json:"tool_choice,omitzero" jsonschema:"auto, none, any, or {name: TOOL}"`

	Rubric    RubricRef `json:"rubric,omitzero" jsonschema:"built-in or own rubric by name, or one written here"`
	Judges    Names     `json:"judges,omitzero" jsonschema:"lanes that judge, human:NAME or human:*, or imported:NAME for verdicts made elsewhere"`
	Jury      Jury      `json:"jury,omitempty" jsonschema:"each (the default), majority, mean or unanimous"`
	Gold      string    `json:"gold,omitempty" jsonschema:"human labels: sensitivity, specificity, corrected rates"`
	Of        Of        `json:"of,omitzero" jsonschema:"which answer: last, first, each, conversation or a turn's number"`
	Among     Names     `json:"among,omitzero" jsonschema:"the contestants"`
	Pairs     *Pairs    `json:"pairs,omitempty"`
	Trait     Names     `json:"trait,omitzero" jsonschema:"traits to compare under"`
	Ties      *bool     `json:"ties,omitempty" jsonschema:"may a judge call a tie (true)"`
	Identical Identical `json:"identical,omitempty" jsonschema:"identical answers: tie (the default) or ask"`
	Count     Count     `json:"count,omitzero" jsonschema:"how refused and cut answers count"`
	Wrap      Wrap      `json:"wrap,omitempty" jsonschema:"off: the judge's prompt is sent byte for byte, with nothing added; on when omitted"`
	Reply     Reply     `json:"reply,omitzero" jsonschema:"the form of the judge's reply: json, tag, last-line, {json: FIELD} or {tag: NAME}"`
	Fallback  string    `json:"fallback,omitempty" jsonschema:"the lane that is asked in a judge's place where the judge refused, or nothing could be read"`
	SecondTry *bool     `json:"second_try,omitempty" jsonschema:"ask again, once, after a malformed verdict (false)"`

	Keep     *expr.Program `json:"-"` // `where`, compiled
	Gate     *expr.Program `json:"-"` // `when`, compiled
	LaneGate *expr.Program `json:"-"` // the `where` of its lanes, compiled
	Taken    *Imported     `json:"-"` // of an import stage: the shape of its rows
	Guessed  bool          `json:"-"` // of an import stage: what was asked is not recorded, its turns are those of the rows
}

// Verb returns the stage's verb, or "" when it has none.
func (s Stage) Verb() Verb {
	switch {
	case s.Ask != "":
		return VerbAsk
	case s.Continue != "":
		return VerbContinue
	case s.Import != nil:
		return VerbImport
	case len(s.Judge.List) > 0:
		return VerbJudge
	case s.Compare != "":
		return VerbCompare
	}
	return ""
}

// Turn is one message of a conversation. Exactly one of its forms is filled.
type Turn struct {
	decode.Where
	User      Text    // a user message
	Assistant Text    // a given answer, not asked
	Branches  []Named // each: several user messages that all follow the same answer
	Each      string  // each: an input whose items are branches
	Match     string  // with Each: the field that joins its items to the asked item
	Say       Text    // with Each: the message
	Media     Media   // that the message shows
}

type turnMap struct {
	decode.Where
	User      Text    `json:"user,omitzero"`
	Assistant Text    `json:"assistant,omitzero" jsonschema:"a given answer, not asked"`
	Each      Prompts `json:"each,omitempty" jsonschema:"several messages by name that all follow the same answer, or an input"`
	Match     string  `json:"match,omitempty" jsonschema:"with an input: the field that joins its items to the asked item"`
	Say       Text    `json:"say,omitzero" jsonschema:"with an input: the message"`
	Media     Media   `json:"media,omitempty" jsonschema:"pictures, documents and sounds in front of the message: files, folders or URLs"`
}

// Read takes a text, or a map with one of user, assistant, each.
func (t *Turn) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind != decode.Map {
		t.Where = decode.Where{At: n.At}
		t.User.Read(d, n)
		return
	}
	var m turnMap
	d.Fields(n, &m)
	*t = Turn{Where: m.Where, User: m.User, Assistant: m.Assistant, Match: m.Match, Say: m.Say, Media: m.Media}
	forms := 0
	for _, key := range []string{"user", "assistant", "each"} {
		if m.Has(key) {
			forms++
		}
	}
	if forms != 1 {
		d.Problems.Add(n.At, "", "a turn is a text, or has one of user, assistant, each")
	}
	if m.Has("media") && m.Has("assistant") {
		d.Problems.Add(m.Where.Key("media"), "put it into a turn of the user",
			"a given answer shows nothing: models read media in user messages alone")
	}
	switch {
	case len(m.Each) == 1 && m.Each[0].Name == "":
		t.Each = m.Each[0].Text.Text
		if t.Say.Empty() {
			d.Problems.Add(n.At, "add `say:` with the message, such as \"{{ branch.text }}\"",
				"branches from input %q have nothing to say", t.Each)
		}
	case m.Has("match") || m.Has("say"):
		d.Problems.Add(n.At, "", "`match` and `say` belong to branches from an input")
		fallthrough
	default:
		t.Branches = m.Each
	}
}

// Asked reports whether the turn's message is sent to the model.
func (t Turn) Asked() bool { return t.Assistant.Empty() }

// Control is the neutral re-ask beside the pressure.
type Control struct {
	On    bool
	Say   Text
	Draws int
}

// Read takes true, false, or a map.
func (c *Control) Read(d *decode.Decoder, n *decode.Node) {
	switch n.Kind {
	case decode.Bool:
		c.On, c.Draws = n.Bool, 1
	case decode.Map:
		m := struct {
			Say   Text `json:"say"`
			Draws int  `json:"draws"`
		}{Draws: 1}
		d.Fields(n, &m)
		*c = Control{On: true, Say: m.Say, Draws: m.Draws}
		if m.Draws < 1 {
			d.Problems.Add(n.At, "", "control draws: want at least 1, got %d", m.Draws)
		}
	default:
		d.Wrong(n, "true, false, or {say: TEXT, draws: N}")
	}
}

// LaneChoice selects the lanes of a stage.
type LaneChoice struct {
	Among Names
	Only  Expression // a gate per lane
}

// Read takes names, or a map.
func (c *LaneChoice) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.List && len(n.List) == 0 {
		d.Problems.Add(n.At, "leave it out for all lanes that do not judge", "lanes: the list is empty")
	}
	if n.Kind != decode.Map {
		c.Among.Read(d, n)
		return
	}
	var m struct {
		Among Names      `json:"among"`
		Where Expression `json:"where"`
	}
	d.Fields(n, &m)
	*c = LaneChoice{Among: m.Among, Only: m.Where}
}

// Repeats is how many independent draws a question gets, and how they are combined.
type Repeats struct {
	N      int
	Reduce string // mean, majority, any or all; empty: kept apart
}

// Read takes a number, or a map.
func (r *Repeats) Read(d *decode.Decoder, n *decode.Node) {
	before := len(*d.Problems)
	switch n.Kind {
	case decode.Map:
		var m struct {
			N      int    `json:"n"`
			Reduce Reduce `json:"reduce"`
		}
		d.Fields(n, &m)
		*r = Repeats{N: m.N, Reduce: string(m.Reduce)}
	default:
		d.Into(n, &r.N)
	}
	if n.Kind != decode.Null && (r.N < 1 || r.N > 1000) && len(*d.Problems) == before {
		d.Problems.Add(n.At, "", "repeats: want 1 to 1000, got %d", r.N)
		r.N = 1
	}
}

// Stage returns the stage of a name.
func (s *Study) Stage(name string) (*Stage, bool) {
	for i := range s.Stages {
		if s.Stages[i].Name == name {
			return &s.Stages[i], true
		}
	}
	return nil, false
}

// Controlled reports whether some conversations of a stage are a control: its own, or that of a stage which it
// continues.
func (s *Study) Controlled(st *Stage) bool {
	for range s.Stages { // in a circle there is no end
		if st.Control != nil && st.Control.On {
			return true
		}
		from, ok := s.Stage(st.Continue)
		if !ok {
			break
		}
		st = from
	}
	return false
}

// Needs returns the stages that must give something before this one can go on.
func (s *Stage) Needs() []string {
	var names []string
	if s.Continue != "" {
		names = append(names, s.Continue)
	}
	names = append(names, s.Judge.List...)
	if s.Compare != "" {
		names = append(names, s.Compare) // where it is an input, no stage has the name
	}
	for _, p := range []*expr.Program{s.Keep, s.Gate, s.LaneGate} {
		if p == nil {
			continue
		}
		for _, ref := range p.Stages() {
			names = append(names, ref.Stage)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// GoesOn reports whether the conversations of an ask stage were opened elsewhere: by another stage, or before an
// import.
func (s *Stage) GoesOn() bool {
	return s.Verb() == VerbContinue || s.Taken != nil && s.Taken.Goes
}
