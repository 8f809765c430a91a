// Package rows reads the answers, verdicts and items of a run as rows, and one request with its whole life.
//
// A row is one type wherever it is shown: `assay results`, exports, the JSON API and imports use the same fields under
// the same names.
package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"assay/internal/assay"
)

// Raw is a JSON value inside a row: itself in JSON lines, its text in CSV and parquet. Empty: there is none.
type Raw string

// MarshalJSON writes the value itself.
func (r Raw) MarshalJSON() ([]byte, error) {
	if r == "" {
		return []byte("null"), nil
	}
	return []byte(r), nil
}

// UnmarshalJSON keeps the value verbatim.
func (r *Raw) UnmarshalJSON(text []byte) error {
	*r = ""
	if !bytes.Equal(text, []byte("null")) {
		*r = Raw(text)
	}
	return nil
}

// At holds the coordinates of a row's subject, common to answers and verdicts. Types embedded in rows have no pointers:
// the parquet writer would fill them.
type At struct {
	Study     string `json:"study" parquet:"study,dict"`
	Run       string `json:"run" parquet:"run,dict"`
	Rehearsal bool   `json:"rehearsal" parquet:"rehearsal"`
	Key       string `json:"key" parquet:"key"`
	Stage     string `json:"stage" parquet:"stage,dict"`
	Verb      string `json:"verb" parquet:"verb,dict"`
	Source    string `json:"source" parquet:"source,dict"` // of a judge: the stage whose answers it reads; empty: items were compared
	Input     string `json:"input" parquet:"input,dict"`   // whose items the stage is about
	Item      string `json:"item" parquet:"item"`
	Lane      string `json:"lane" parquet:"lane,dict"` // whose answer it is, or is read; of a verdict on a pair, empty
	Template  string `json:"template" parquet:"template,dict"`
	Turn      int64  `json:"turn" parquet:"turn"`
	Branch    string `json:"branch" parquet:"branch,dict"`
	Draw      int64  `json:"draw" parquet:"draw"`
	Pair      string `json:"pair" parquet:"pair,dict"`
	First     string `json:"first" parquet:"first,dict"` // of a pair: who was shown first
	Second    string `json:"second" parquet:"second,dict"`
}

// JudgedIn returns the coordinates of a verdict that a judge stage gives on the answer of a row. Its run and key are
// its own.
func (a *At) JudgedIn(stage string) At {
	at := *a
	at.Study, at.Run, at.Key = "", "", ""
	at.Stage, at.Verb, at.Source = stage, "judge", a.Stage
	return at
}

// Judging holds the coordinates that a judge adds to those of the answer it reads; all are empty where nobody judges.
type Judging struct {
	Judge  string `json:"judge" parquet:"judge,dict"`
	Prompt string `json:"prompt" parquet:"prompt,dict"` // of a judge: the name of its prompt
	Trait  string `json:"trait" parquet:"trait,dict"`
}

// Named returns the coordinates by their names in JSON.
func (j *Judging) Named() map[string]*string {
	return map[string]*string{"judge": &j.Judge, "prompt": &j.Prompt, "trait": &j.Trait}
}

// Try identifies the try of a judge that gave a verdict.
type Try struct {
	Fallback  string `json:"fallback" parquet:"fallback,dict"` // the lane that gave it in the judge's place; empty: the judge did
	SecondTry bool   `json:"second_try" parquet:"second_try"`
}

// Answer is one request and its outcome: one row of the table of requests. A pointer that is nil, or a text that
// is empty, is not known or does not apply; it is never 0.
type Answer struct {
	At
	Judging
	Vote      int64 `json:"vote" parquet:"vote"`
	SecondTry bool  `json:"second_try" parquet:"second_try"` // of a judge's request: asked once more after a malformed verdict

	AskedLane    string   `json:"asked_lane" parquet:"asked_lane,dict"` // who was asked; the parameters are its own
	Provider     string   `json:"provider" parquet:"provider,dict"`
	Model        string   `json:"model" parquet:"model,dict"`
	Temperature  *float64 `json:"temperature" parquet:"temperature,optional"`
	TopP         *float64 `json:"top_p" parquet:"top_p,optional"`
	TopK         *int64   `json:"top_k" parquet:"top_k,optional"`
	MaxTokens    *int64   `json:"max_tokens" parquet:"max_tokens,optional"`
	Effort       string   `json:"effort" parquet:"effort,dict"`
	Thinking     string   `json:"thinking" parquet:"thinking,dict"`
	WithThoughts bool     `json:"with_thoughts" parquet:"with_thoughts"`
	Stop         Raw      `json:"stop" parquet:"stop,dict"`
	Seed         *int64   `json:"seed" parquet:"seed,optional"`
	Schema       Raw      `json:"schema" parquet:"schema,dict"`
	ServiceTier  string   `json:"service_tier" parquet:"service_tier,dict"`
	Logprobs     *int64   `json:"logprobs" parquet:"logprobs,optional"`
	ServerTools  Raw      `json:"server_tools" parquet:"server_tools,dict"`
	Extra        Raw      `json:"extra" parquet:"extra,dict"`

	Mode          string   `json:"mode" parquet:"mode,dict"`
	Job           string   `json:"job" parquet:"job,dict"`
	Attempts      int64    `json:"attempts" parquet:"attempts"`
	Ending        string   `json:"ending" parquet:"ending,dict"` // empty: open, which is staged or sent; unasked: never made
	Text          string   `json:"text" parquet:"text"`
	Thoughts      string   `json:"thoughts" parquet:"thoughts"`
	ToolCalls     Raw      `json:"tool_calls" parquet:"tool_calls"` // the calls of tools that the answer makes, as a list; empty: none
	Likely        Raw      `json:"likely" parquet:"likely"`         // what it might have begun with, as a list; empty: not asked for
	Finish        string   `json:"finish" parquet:"finish,dict"`
	AnsweredModel string   `json:"answered_model" parquet:"answered_model,dict"` // as the reply names it
	RequestID     string   `json:"request_id" parquet:"request_id"`
	UsedTier      string   `json:"used_tier" parquet:"used_tier,dict"`
	FaultClass    string   `json:"fault_class" parquet:"fault_class,dict"`
	FaultStatus   *int64   `json:"fault_status" parquet:"fault_status,optional"`
	FaultCode     string   `json:"fault_code" parquet:"fault_code,dict"`
	FaultMessage  string   `json:"fault_message" parquet:"fault_message"`
	InputTokens   *int64   `json:"input_tokens" parquet:"input_tokens,optional"`
	CachedTokens  *int64   `json:"cached_tokens" parquet:"cached_tokens,optional"`
	Write5m       *int64   `json:"cache_write_5m_tokens" parquet:"cache_write_5m_tokens,optional"`
	Write1h       *int64   `json:"cache_write_1h_tokens" parquet:"cache_write_1h_tokens,optional"`
	OutputTokens  *int64   `json:"output_tokens" parquet:"output_tokens,optional"`
	Reasoning     *int64   `json:"reasoning_tokens" parquet:"reasoning_tokens,optional"`
	WebSearches   *int64   `json:"web_searches" parquet:"web_searches,optional"` // that the provider made for the answer
	FileSearches  *int64   `json:"file_searches" parquet:"file_searches,optional"`
	CodeRuns      *int64   `json:"code_containers" parquet:"code_containers,optional"` // in which it ran code
	Cost          *float64 `json:"cost_usd" parquet:"cost_usd,optional"`
	Price         *float64 `json:"price_usd" parquet:"price_usd,optional"` // what it cost where it was paid for: in the run it came from
	SettledAt     string   `json:"settled_at" parquet:"settled_at"`
	ReusedFrom    string   `json:"reused_from" parquet:"reused_from,dict"` // the run whose answer it is
	Imported      bool     `json:"imported" parquet:"imported"`

	Segment int64 `json:"segment" parquet:"segment"` // its number in the ledger: requests of one segment travelled together

	Verdicts []AnswerVerdict `json:"verdicts" parquet:"verdicts"` // on this answer; of a judge's request, the one it gave
}

// AnswerVerdict is a verdict inside the row of the answer it is about.
type AnswerVerdict struct {
	Stage string `json:"stage" parquet:"stage,dict"`
	Judging
	First      string             `json:"first" parquet:"first,dict"`
	Second     string             `json:"second" parquet:"second,dict"`
	Vote       int64              `json:"vote" parquet:"vote"`
	State      assay.VerdictState `json:"state" parquet:"state,dict"`
	Label      string             `json:"label" parquet:"label,dict"`
	Score      *float64           `json:"score" parquet:"score,optional"`
	Confidence *float64           `json:"confidence" parquet:"confidence,optional"`
	Reason     string             `json:"reason" parquet:"reason"`
	Try
}

// Unasked is the ending of a question that was never sent: what it follows has no answer, or its turn has not come.
const Unasked = "unasked"

// Verdict is one verdict: one row of the table of verdicts, with everything that identifies it.
type Verdict struct {
	At
	Direction string `json:"direction" parquet:"direction,dict"`
	Judging
	Vote       int64              `json:"vote" parquet:"vote"`
	State      assay.VerdictState `json:"state" parquet:"state,dict"`
	Label      string             `json:"label" parquet:"label,dict"`
	Score      *float64           `json:"score" parquet:"score,optional"`
	Confidence *float64           `json:"confidence" parquet:"confidence,optional"`
	// Probability is the chance with which the answer of a person's label was drawn; nil: it was not, or nobody knows.
	Probability *float64 `json:"probability" parquet:"probability,optional"`
	Reason      string   `json:"reason" parquet:"reason"`
	Fields      Raw      `json:"fields" parquet:"fields"`   // further fields of the judge's reply
	Subject     string   `json:"subject" parquet:"subject"` // key of the answer it is about
	Against     string   `json:"against" parquet:"against"` // of a pair: of the other answer
	Try
	GivenAt string `json:"given_at" parquet:"given_at"`
}

// Item is one item of an input: one row of the table of items.
type Item struct {
	Study   string `json:"study" parquet:"study,dict"`
	Run     string `json:"run" parquet:"run,dict"`
	Input   string `json:"input" parquet:"input,dict"`
	Item    string `json:"item" parquet:"item"`
	Cluster string `json:"cluster" parquet:"cluster"`
	Expect  string `json:"expect" parquet:"expect"`
	Fields  Raw    `json:"fields" parquet:"fields"` // of the row, as a JSON object
	Files   Raw    `json:"files" parquet:"files"`   // that requests about it show, with their hashes, as a JSON list
}

// SetParams writes the parameters of a lane into the row.
func (r *Answer) SetParams(p assay.Params) error {
	r.Temperature, r.TopP, r.Seed = p.Temperature, p.TopP, p.Seed
	if p.TopK != nil {
		k := int64(*p.TopK)
		r.TopK = &k
	}
	if p.MaxTokens != 0 {
		n := int64(p.MaxTokens)
		r.MaxTokens = &n
	}
	if p.Logprobs != 0 {
		n := int64(p.Logprobs)
		r.Logprobs = &n
	}
	r.Effort, r.Thinking, r.WithThoughts, r.ServiceTier = p.Effort, ThinkingText(p.Thinking), p.Thoughts, p.ServiceTier
	r.Schema = Raw(p.Schema)
	if string(p.Schema) == "null" {
		r.Schema = ""
	}
	var err error
	if r.Stop, err = RawJSON(p.Stop, len(p.Stop)); err != nil {
		return err
	}
	if p.ServerTools.Any() {
		if r.ServerTools, err = RawJSON(p.ServerTools, 1); err != nil {
			return err
		}
	}
	r.Extra, err = RawJSON(p.Extra, len(p.Extra))
	return err
}

func RawJSON(v any, n int) (Raw, error) {
	if n == 0 {
		return "", nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write a parameter: %w", err)
	}
	return Raw(text), nil
}

// ThinkingText returns a wish for thinking as a study writes it.
func ThinkingText(t assay.Thinking) string {
	switch t.Mode {
	case assay.ThinkingTokens:
		return strconv.Itoa(t.Tokens)
	case assay.ThinkingLevel:
		return t.Level
	}
	return string(t.Mode)
}
