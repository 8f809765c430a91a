package batchfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// readBody takes from a body what rules and prices need. What it does not know goes out all the same.
func readBody(e *Entry) *flaw {
	b := shown{lower: e.API == "chat" || e.API == "responses"}
	b.small = append(b.small, '{')
	jsontext.Members(e.Body, b.take)
	b.small = append(b.small, '}')
	var err error
	var f *flaw
	switch e.API {
	case "embeddings", "moderations", "ocr":
		m := dataBody{shown: &b}
		if err = json.Unmarshal(b.small, &m); err == nil {
			f = m.into(e)
		}
	case "messages":
		m := messagesBody{shown: &b}
		if err = json.Unmarshal(b.small, &m); err == nil {
			f = m.into(e)
		}
	case "generate":
		m := generateBody{shown: &b}
		if err = json.Unmarshal(b.small, &m); err == nil {
			f = m.into(e)
		}
	case "converse":
		m := converseBody{shown: &b}
		if err = json.Unmarshal(b.small, &m); err == nil {
			f = m.into(e)
		}
	default: // chat and responses share most of their names
		m := openBody{shown: &b}
		if err = json.Unmarshal(b.small, &m); err == nil {
			f = m.into(e)
		}
	}
	if err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return flawf("", "%s is a %s, want a %s", wrong.Field, wrong.Value, kindOf(wrong)).as("invalid_type", wrong.Field)
		}
		return flawf("", "its body cannot be read: %s", err)
	}
	return f
}

// shown is a body in two parts: what the model is shown, which may be long and is not looked into, and the rest.
type shown struct {
	messages, input, instructions, system, contents []byte
	small                                           []byte // an object of the other members
	lower                                           bool   // the API has names in small letters only, and no other letters mean the same
}

// maxSmall is the longest member that is looked into; parameters are short.
const maxSmall = 4096

func (b *shown) take(name, value []byte) {
	switch string(name) {
	case "messages":
		b.messages = value
	case "input":
		b.input = value
	case "instructions":
		b.instructions = value
	case "system", "systemInstruction", "system_instruction":
		b.system = value
	case "contents":
		b.contents = value
	default:
		if len(value) > maxSmall || b.lower && bytes.ContainsFunc(name, unicode.IsUpper) {
			return
		}
		if len(b.small) > 1 {
			b.small = append(b.small, ',')
		}
		b.small = append(append(append(append(b.small, '"'), name...), '"', ':'), value...)
	}
}

// kindOf returns the type that a field wants, in JSON's words.
func kindOf(e *json.UnmarshalTypeError) string {
	switch k := e.Type.Kind().String(); {
	case strings.HasPrefix(k, "int"), strings.HasPrefix(k, "float"):
		return "number"
	case k == "slice":
		return "list"
	case k == "struct":
		return "object"
	default:
		return k
	}
}

// list reports whether raw is a list with something in it.
func list(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 2 && raw[0] == '[' && len(bytes.TrimSpace(raw[1:len(raw)-1])) > 0
}

// present reports whether a field is there and not null.
func present(raw []byte) bool { return len(raw) > 0 && string(raw) != "null" }

const (
	streaming     = "a batch does not stream: remove stream"
	streamingCode = "streaming_unsupported"
)

func (b *openBody) into(e *Entry) *flaw {
	e.Model, e.several = b.Model, b.N > 1
	p := assay.Params{Temperature: b.Temperature, TopP: b.TopP, TopK: b.TopK, Effort: b.ReasoningEffort, Seed: b.Seed,
		ServiceTier: b.ServiceTier}
	if b.RandomSeed != nil {
		p.Seed = b.RandomSeed
	}
	p.Stop = stops(b.Stop)
	if b.Stream {
		return flawf(streaming, "stream is on").as(streamingCode, "body.stream")
	}
	if b.Reasoning != nil && p.Effort == "" {
		p.Effort = b.Reasoning.Effort
	}
	if e.API == "responses" {
		if !present(b.input) {
			return flawf("", "the body has no input").as("missing_required_parameter", "input")
		}
		if b.Background {
			return flawf("remove background", "background is on")
		}
		p.MaxTokens, e.Prompt = b.MaxOutputTokens, len(b.input)+len(b.instructions)
		e.Params = p
		return nil
	}
	if !list(b.messages) {
		return flawf("", "the body has no messages").as("missing_required_parameter", "messages")
	}
	p.MaxTokens = b.MaxCompletionTokens
	if b.MaxTokens != 0 {
		p.MaxTokens, e.oldLimit = b.MaxTokens, true
	}
	e.Prompt, e.Params = len(b.messages), p
	return nil
}

func (b *messagesBody) into(e *Entry) *flaw {
	e.Model, e.Prompt = b.Model, len(b.messages)+len(b.system)
	p := assay.Params{Temperature: b.Temperature, TopP: b.TopP, TopK: b.TopK, MaxTokens: b.MaxTokens, Stop: b.Stop,
		ServiceTier: b.ServiceTier}
	switch {
	case b.Stream:
		return flawf(streaming, "stream is on")
	case !list(b.messages):
		return flawf("", "params has no messages")
	case b.MaxTokens <= 0:
		return flawf("the messages API demands it", "params has no max_tokens")
	}
	if b.Config != nil {
		p.Effort = b.Config.Effort
	}
	p.Thinking = b.Thinking.wish()
	e.Params = p
	return nil
}

// thinkingBody is thinking as Anthropic's models take it.
type thinkingBody struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

func (t thinkingBody) wish() assay.Thinking {
	switch t.Type {
	case "enabled":
		return assay.Thinking{Mode: assay.ThinkingTokens, Tokens: t.Budget}
	case "adaptive":
		return assay.Thinking{Mode: assay.ThinkingOn}
	case "disabled":
		return assay.Thinking{Mode: assay.ThinkingOff}
	}
	return assay.Thinking{}
}

func (b *generateBody) into(e *Entry) *flaw {
	e.Model = strings.TrimPrefix(b.Model, "models/")
	e.Prompt = len(b.contents) + len(b.system)
	if !list(b.contents) {
		return flawf("", "the request has no contents")
	}
	c := b.Config
	if c == nil {
		c = b.ConfigSnake
	}
	if c == nil {
		return nil
	}
	p := assay.Params{Temperature: c.Temperature, TopP: c.TopP, TopK: c.TopK, MaxTokens: c.MaxTokens, Stop: c.Stop, Seed: c.Seed}
	if t := c.Thinking; t != nil {
		switch {
		case t.Level != "":
			p.Thinking = assay.Thinking{Mode: assay.ThinkingLevel, Level: strings.ToLower(t.Level)}
		case t.Budget == nil:
		case *t.Budget == 0:
			p.Thinking.Mode = assay.ThinkingOff
		case *t.Budget < 0: // as much as the model likes
			p.Thinking.Mode = assay.ThinkingOn
		default:
			p.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: *t.Budget}
		}
	}
	e.Params = p
	return nil
}

func (b *converseBody) into(e *Entry) *flaw {
	e.Prompt = len(b.messages) + len(b.system)
	switch {
	case present(b.Native):
		return flawf("write a body of Converse, which every model takes", "modelInput is a body of InvokeModel")
	case !list(b.messages):
		return flawf("", "modelInput has no messages")
	}
	c := b.Config
	p := assay.Params{Temperature: c.Temperature, TopP: c.TopP, TopK: b.Own.TopK, MaxTokens: c.MaxTokens, Stop: c.Stop,
		Effort: b.Output.Effort, ServiceTier: b.Tier.Type}
	p.Thinking = b.Own.Thinking.wish()
	e.Params = p
	return nil
}

// stops reads one stop text or a list of them.
func stops(raw json.RawMessage) []string {
	var one string
	var many []string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	_ = json.Unmarshal(raw, &many) // another form is for the provider to judge
	return many
}

type openBody struct {
	*shown              `json:"-"`
	Model               string   `json:"model"`
	Temperature         *float64 `json:"temperature"`
	TopP                *float64 `json:"top_p"`
	TopK                *int     `json:"top_k"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	MaxOutputTokens     int      `json:"max_output_tokens"`
	ReasoningEffort     string   `json:"reasoning_effort"`
	Reasoning           *struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Stop        json.RawMessage `json:"stop"`
	Seed        *int64          `json:"seed"`
	RandomSeed  *int64          `json:"random_seed"`
	ServiceTier string          `json:"service_tier"`
	Stream      bool            `json:"stream"`
	Background  bool            `json:"background"`
	N           int             `json:"n"` // answers
}

// dataBody is a body of an endpoint whose replies are no text: its model, and how long what it is given is.
type dataBody struct {
	*shown `json:"-"`
	Model  string `json:"model"`
}

func (b *dataBody) into(e *Entry) *flaw {
	e.Model, e.Prompt = b.Model, len(b.input)
	if e.API != "ocr" && !present(b.input) {
		return flawf("", "the body has no input").as("missing_required_parameter", "input")
	}
	return nil
}

type messagesBody struct {
	*shown      `json:"-"`
	Model       string       `json:"model"`
	Temperature *float64     `json:"temperature"`
	TopP        *float64     `json:"top_p"`
	TopK        *int         `json:"top_k"`
	MaxTokens   int          `json:"max_tokens"`
	Stop        []string     `json:"stop_sequences"`
	ServiceTier string       `json:"service_tier"`
	Stream      bool         `json:"stream"`
	Thinking    thinkingBody `json:"thinking"`
	Config      *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

type converseBody struct {
	*shown `json:"-"`
	Native json.RawMessage `json:"max_tokens"` // of a model's own body
	Config struct {
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"topP"`
		MaxTokens   int      `json:"maxTokens"`
		Stop        []string `json:"stopSequences"`
	} `json:"inferenceConfig"`
	Own struct {
		TopK     *int         `json:"top_k"`
		Thinking thinkingBody `json:"thinking"`
	} `json:"additionalModelRequestFields"`
	Output struct {
		Effort string `json:"effort"`
	} `json:"outputConfig"`
	Tier struct {
		Type string `json:"type"`
	} `json:"serviceTier"`
}

type generateBody struct {
	*shown      `json:"-"`
	Model       string          `json:"model"`
	Config      *generateConfig `json:"generationConfig"`
	ConfigSnake *generateConfig `json:"generation_config"`
}

type generateConfig struct {
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"topP"`
	TopK        *int     `json:"topK"`
	MaxTokens   int      `json:"maxOutputTokens"`
	Stop        []string `json:"stopSequences"`
	Seed        *int64   `json:"seed"`
	Thinking    *struct {
		Budget *int   `json:"thinkingBudget"`
		Level  string `json:"thinkingLevel"`
	} `json:"thinkingConfig"`
}
