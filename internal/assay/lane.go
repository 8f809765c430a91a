package assay

import "encoding/json"

// Mode is how requests travel.
type Mode string

// The modes of a study, a stage or a lane.
const (
	ModeBatch         Mode = "batch"
	ModeLive          Mode = "live"
	ModeBatchElseLive Mode = "batch-else-live" // live where the provider has no batches
	ModeFlex          Mode = "flex"            // live in the provider's flex tier
)

// TierFlex is the service tier of live calls that wait until a provider has room, and cost less.
const TierFlex = "flex"

// Modes lists the modes that a study may name.
func Modes() []string {
	return []string{string(ModeBatch), string(ModeLive), string(ModeBatchElseLive), string(ModeFlex)}
}

// Lane is a provider, a model and its parameters under one name: what competes, and also what judges.
type Lane struct {
	Name     string
	Provider string // the name under `providers:` of the study, or a vendor's own
	Model    string // as the provider spells it
	Params   Params
	Mode     Mode   // empty: the stage's, then the study's
	API      string // "chat" or "responses" where a provider has both; empty: the provider's default
	Label    string // for people
	Notes    string // for people
}

// ID returns the provider and the model as a study writes them.
func (l Lane) ID() string { return l.Provider + "/" + l.Model }

// Params are the sampling parameters of a lane. Only what is set is sent; nothing is ever dropped in silence.
type Params struct {
	Temperature *float64
	TopP        *float64
	TopK        *int
	MaxTokens   int    // 0: not set
	Effort      string // reasoning effort by the provider's own word; empty: not set
	Thinking    Thinking
	Thoughts    bool // ask the provider to hand out its thoughts (kept apart from the answer)
	Stop        []string
	Seed        *int64
	Schema      json.RawMessage `json:",omitempty"` // JSON Schema of the answer; nil: free text, also after a way through JSON
	ServiceTier string

	// Each of these is written to JSON only where it is set, so that the digests of lanes without them never change.
	Tools      []Tool     `json:",omitempty"`
	ToolChoice ToolChoice `json:",omitzero"`
	Parallel   *bool      `json:",omitempty"` // whether several tools may be called at once; nil: the provider's default
	JSON       bool       `json:",omitempty"` // the answer is a JSON object of any form
	N          int        `json:",omitempty"` // answers to one request; 0: one
	Logprobs   int        `json:",omitempty"` // likeliest tokens of each place, with their probabilities; 0: none

	ServerTools ServerTools `json:",omitzero"` // that the provider runs for an answer

	Headers map[string]string `json:",omitempty"` // of its provider's calls: they change what a request means there

	Extra map[string]json.RawMessage // further body fields, sent as they are
}

// ServerTools are tools that a provider runs while its model answers. One that is nil is not given.
type ServerTools struct {
	WebSearch     *ServerTool `json:"web_search,omitempty"`
	CodeExecution bool        `json:"code_execution,omitempty"` // in a container of its own for each answer
}

// ServerTool is one of them.
type ServerTool struct {
	MaxUses int `json:"max_uses,omitempty"` // calls of it for an answer; 0: as many as the model likes
}

// Any reports whether one is given.
func (s ServerTools) Any() bool { return s != ServerTools{} }

// Thinking is a lane's wish for extended thinking. The zero value leaves the provider's default.
type Thinking struct {
	Mode   ThinkingMode
	Tokens int    // with ThinkingTokens
	Level  string // with ThinkingLevel
}

// ThinkingMode is the form in which a study asked for thinking.
type ThinkingMode string

// The forms of `thinking:` in a study.
const (
	ThinkingUnset  ThinkingMode = ""
	ThinkingOff    ThinkingMode = "off"
	ThinkingOn     ThinkingMode = "on"
	ThinkingTokens ThinkingMode = "tokens"
	ThinkingLevel  ThinkingMode = "level"
)

// Enabled reports whether the lane asks for thinking in any form.
func (t Thinking) Enabled() bool { return t.Mode != ThinkingUnset && t.Mode != ThinkingOff }
