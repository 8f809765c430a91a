package assay

// Dialect names the shape of a request body and of the reply to it.
type Dialect string

// The dialects. Every provider uses one of them, some two.
const (
	DialectChat      Dialect = "chat"      // OpenAI chat completions and its many relatives
	DialectResponses Dialect = "responses" // OpenAI responses
	DialectMessages  Dialect = "messages"  // Anthropic messages
	DialectGenerate  Dialect = "generate"  // Gemini generateContent
	DialectOllama    Dialect = "ollama"    // Ollama's own chat call
	DialectConverse  Dialect = "converse"  // Bedrock Converse
	DialectData      Dialect = "data"      // endpoints whose replies are no text: embeddings, moderations, OCR
)

// Carrier names the line (or the element of a document) in which a batch carries one body.
type Carrier string

// The carriers that exist.
const (
	CarrierOpenAI     Carrier = "openai"     // {"custom_id","method","url","body"}
	CarrierBare       Carrier = "bare"       // {"custom_id","body"}: Together, Mistral, Fireworks
	CarrierAnthropic  Carrier = "anthropic"  // {"custom_id","params"} inside {"requests":[…]}
	CarrierGemini     Carrier = "gemini"     // {"key","request"}
	CarrierVertex     Carrier = "vertex"     // {"request"} with the id among the request's labels
	CarrierOpenRouter Carrier = "openrouter" // {"custom_id","body"} inside a document that names endpoint and model first
	CarrierBedrock    Carrier = "bedrock"    // {"recordId","modelInput"}
)

// Wire is the way one lane's requests are written for its provider. The catalogue resolves it once per lane; a dialect
// obeys it for every request.
type Wire struct {
	Dialect Dialect
	Carrier Carrier
	URL     string // the endpoint named in each OpenAI-style line, such as /v1/responses

	MaxTokensField string       // the name of the output limit: max_tokens, max_completion_tokens, …
	SystemRole     string       // the role of the system text in chat: "system" or "developer"
	EffortField    string       // the name of a flat effort field, such as reasoning_effort; empty: the dialect's own place
	Thinking       ThinkingWire // how thinking is written
	Schema         SchemaWire   // how an answer schema is written
	Media          MediaWire    // how media are written, where a relative of a dialect has forms of its own
	SeedField      string       // "seed" or "random_seed"; empty: the dialect's own place
	ModelInBody    bool         // false where the job, not the line, names the model
	StoreFalse     bool         // write store:false where the API would else keep the answer
	CacheMarks     bool         // write cache marks on the context, where the dialect has them
	CacheTTL       string       // "1h" in batches, "5m" live; empty: the provider's default
	CacheKey       bool         // write a prompt_cache_key derived from the shared prefix
	Tier           string       // the service tier to ask for in place of the lane's; empty: the lane's
	Version        string       // anthropic_version, which bodies of that kind name at another vendor
	ReasoningApart bool         // replies count reasoning beside the output tokens, not among them
}

// ThinkingWire is a way to write a wish for thinking.
type ThinkingWire string

// The ways to write thinking.
const (
	ThinkingWireNone       ThinkingWire = ""            // the model has no such field
	ThinkingWireBudget     ThinkingWire = "budget"      // Anthropic before 4.7: {"type":"enabled","budget_tokens":n}
	ThinkingWireAdaptive   ThinkingWire = "adaptive"    // Anthropic from 4.6: {"type":"adaptive"} and output_config.effort
	ThinkingWireGemBudget  ThinkingWire = "gem-budget"  // Gemini 2.5: thinkingConfig.thinkingBudget
	ThinkingWireGemLevel   ThinkingWire = "gem-level"   // Gemini 3: thinkingConfig.thinkingLevel
	ThinkingWireReasoning  ThinkingWire = "reasoning"   // OpenRouter: reasoning{effort|max_tokens}
	ThinkingWireThink      ThinkingWire = "think"       // Ollama: think
	ThinkingWireEnableFlag ThinkingWire = "enable-flag" // Together: reasoning{enabled}
)

// SchemaWire is a way to ask for structured output.
type SchemaWire string

// The ways to write an answer schema.
const (
	SchemaWireNone       SchemaWire = ""            // the model has no structured output: the prompt must ask, the parser tolerate
	SchemaWireStrict     SchemaWire = "json_schema" // the dialect's own schema field
	SchemaWireJSONObject SchemaWire = "json_object" // JSON is promised, the schema is not
)

// MediaWire is a way to write media in chat completions.
type MediaWire string

// The ways to write media.
const (
	MediaWireOwn        MediaWire = ""           // the dialect's own
	MediaWireImages     MediaWire = "images"     // images alone
	MediaWireMistral    MediaWire = "mistral"    // document_url, and audio as a text
	MediaWireOpenRouter MediaWire = "openrouter" // a document's URL in the place of its data
)
