// Package study has what a study may hold, key by key, in the forms in which it may be written. Package studyfile reads one.
package study

import (
	"time"

	"assay/internal/study/decode"
)

// Study is a study file that was read: what the user wrote, with lanes expanded and texts loaded.
type Study struct {
	decode.Where
	Study        string                              `json:"study" jsonschema:"the study's name: letters, digits, - and _"`
	Description  string                              `json:"description,omitempty" jsonschema:"for people"`
	Providers    decode.Ordered[Provider]            `json:"providers,omitempty" jsonschema:"settings of providers; defaults come from the environment variables each vendor uses"`
	Inputs       decode.Ordered[Input]               `json:"inputs,omitempty" jsonschema:"named sources of items"`
	LaneDefaults LaneSpec                            `json:"lane_defaults,omitzero" jsonschema:"parameters every lane starts from"`
	LaneSpecs    LaneSpecs                           `json:"lanes,omitempty" jsonschema:"what competes and what judges: model and parameters; a list is a grid"`
	Rubrics      decode.Ordered[Rubric]              `json:"rubrics,omitempty" jsonschema:"own rubrics by name"`
	Traits       decode.Ordered[Trait]               `json:"traits,omitempty" jsonschema:"traits that compare stages ask about"`
	Prices       decode.Ordered[PriceRow]            `json:"prices,omitempty" jsonschema:"prices per million tokens by provider/model, over the built-in table"`
	Stages       []Stage                             `json:"stages,omitempty" jsonschema:"what is done, in any order: ask, continue, import, judge, compare"`
	Analyses     []Analysis                          `json:"analyses,omitempty" jsonschema:"findings to compute; sensible defaults without it"`
	Mode         Mode                                `json:"mode,omitempty" jsonschema:"batch (the default), live or batch-else-live"`
	Batch        Batch                               `json:"batch,omitzero" jsonschema:"how segments are cut"`
	LiveBelow    *int                                `json:"live_below,omitempty" jsonschema:"follow-up segments with fewer requests go live (20)"`
	Budget       Amount                              `json:"budget,omitzero" jsonschema:"the most this study may spend, such as 40 USD"`
	Reserve      Reserve                             `json:"reserve,omitempty" jsonschema:"what is reserved before a batch goes out: expected (the default) or high for a hard cap"`
	Unpriced     Unpriced                            `json:"unpriced,omitempty" jsonschema:"allow: lanes without a known price may run under a budget"`
	Deadline     *Deadline                           `json:"deadline,omitempty" jsonschema:"how long a job may take"`
	StopIf       StopIf                              `json:"stop_if,omitempty" jsonschema:"stops a lane whose requests fail: error_rate > 0.1"`
	Canary       *bool                               `json:"canary,omitempty" jsonschema:"one request live before a lane's first batch (true)"`
	PromptCache  *bool                               `json:"prompt_cache,omitempty" jsonschema:"cache marks on the context (true)"`
	Cleanup      *bool                               `json:"cleanup,omitempty" jsonschema:"delete remote files when they are collected (Gemini: true, others: false)"`
	Reuse        *Reuse                              `json:"reuse,omitempty" jsonschema:"take answers to equal requests from earlier runs"`
	Notify       Names                               `json:"notify,omitzero" jsonschema:"notification URLs, as ${VARIABLE}"`
	Require      []Expression                        `json:"require,omitempty" jsonschema:"gates on findings: exit code 6 when one fails"`
	Profiles     decode.Ordered[decode.Ordered[Any]] `json:"profiles,omitempty" jsonschema:"named sets of path: value that --profile applies"`

	Lanes     []Lane   `json:"-"` // the lanes, expanded
	Elsewhere []Lane   `json:"-"` // lanes that only rows of import stages name: they have answers and cannot be asked
	Loaded    []string `json:"-"` // the files that were read besides the data: texts, rubrics, lanes

	Programs map[string]string `json:"-"` // digests of the files among them that commands of rubrics name
}

// Provider is one entry under `providers:`.
type Provider struct {
	decode.Where
	Kind     string                 `json:"kind,omitempty" jsonschema:"which vendor's API it speaks; the entry's own name when omitted"`
	BaseURL  string                 `json:"base_url,omitempty" jsonschema:"where requests go; such a provider gets only the key named here"`
	Key      string                 `json:"key,omitempty" jsonschema:"the environment variable that holds the key, as ${NAME}"`
	Project  string                 `json:"project,omitempty"`
	Location string                 `json:"location,omitempty"`
	Input    string                 `json:"input,omitempty" jsonschema:"Vertex, Bedrock: gs:// or s3:// folder for input files"`
	Output   string                 `json:"output,omitempty" jsonschema:"Vertex, Bedrock: gs:// or s3:// folder for results"`
	Role     string                 `json:"role,omitempty" jsonschema:"Bedrock: the role (its ARN) that jobs read and write files in"`
	Account  string                 `json:"account,omitempty" jsonschema:"Fireworks: the account"`
	Version  string                 `json:"version,omitempty" jsonschema:"the API version to ask for"`
	Headers  decode.Ordered[string] `json:"headers,omitempty" jsonschema:"headers of all its calls, for betas: of the few names that hold no secret"`
	Window   Duration               `json:"window,omitempty" jsonschema:"completion window of a job, where the provider lets one choose"`
	Limits   ProviderLimits         `json:"limits,omitzero" jsonschema:"over the built-in limits"`
	Live     Live                   `json:"live,omitzero" jsonschema:"caps for live calls"`
}

// ProviderLimits override the catalogue's row; 0 leaves it.
type ProviderLimits struct {
	Requests int   `json:"requests,omitempty" jsonschema:"requests a batch"`
	Least    int   `json:"least,omitempty" jsonschema:"requests that a batch must have"`
	Bytes    int64 `json:"bytes,omitempty" jsonschema:"bytes a batch"`
	Line     int64 `json:"line,omitempty" jsonschema:"bytes a request"`
}

// Live are the caps of live calls; 0 leaves a cap away.
type Live struct {
	decode.Where
	Rate        Rate     `json:"rate,omitempty" jsonschema:"requests, such as 10/s or 600/min"`
	Tokens      Rate     `json:"tokens,omitempty" jsonschema:"tokens, such as 200k/min"`
	Concurrency int      `json:"concurrency,omitempty" jsonschema:"requests in flight"`
	Pause       Duration `json:"pause,omitempty" jsonschema:"between two requests"`
	Retries     *int     `json:"retries,omitempty" jsonschema:"tries after the first"`
}

// Takes returns how long so many requests take at least under the rate and the pause.
func (l Live) Takes(requests int64) time.Duration {
	every := time.Duration(l.Pause)
	if l.Rate > 0 {
		every = max(every, time.Duration(float64(time.Second)/float64(l.Rate)))
	}
	const longest = 100 * 365 * 24 * time.Hour
	return time.Duration(min(float64(every)*float64(requests), float64(longest)))
}

// Batch configures how segments are cut, within the provider's limits.
type Batch struct {
	decode.Where
	Size     int `json:"size,omitempty" jsonschema:"requests a segment"`
	Segments int `json:"segments,omitempty" jsonschema:"number of segments a lane, stage and turn"`
}

// Deadline is how long a job may take and what happens then.
type Deadline struct {
	decode.Where
	After Duration     `json:"after" jsonschema:"such as 12h"`
	Then  DeadlineThen `json:"then,omitempty" jsonschema:"live: the rest goes live; flex: in the flex tier; stop: it stays unanswered"`
}

// Reuse configures from where answers to equal requests are taken.
type Reuse struct {
	decode.Where
	Study string   `json:"study,omitempty"`
	Run   string   `json:"run,omitempty"`
	For   Duration `json:"for,omitempty" jsonschema:"how old an answer may be, such as 30d"`
}

// PriceRow is a price the user knows better, in dollars per million tokens.
type PriceRow struct {
	decode.Where
	Input      *float64 `json:"input,omitempty"`
	Cached     *float64 `json:"cached,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
	Output     *float64 `json:"output,omitempty"`
	Batch      *float64 `json:"batch,omitempty" jsonschema:"factor on batch requests, such as 0.5"`
	Search     *float64 `json:"search,omitempty" jsonschema:"a thousand web searches that the provider makes"`
	Code       *float64 `json:"code,omitempty" jsonschema:"a thousand answers for which the provider runs code"`
}

// Analysis is a computation over a stage's verdicts.
type Analysis struct {
	decode.Where
	Of      string     `json:"of" jsonschema:"the stage"`
	By      Names      `json:"by,omitzero" jsonschema:"fields to group by, such as lane, branch or a field of the item"`
	Method  string     `json:"method,omitempty" jsonschema:"rate, flips, bradley-terry, davidson, elo, win-rate, ranking, correlation, agreement, positional-bias, consistency, validity, length, judge-bias, variance, no-worse, stances, flip-counts, side-by-side or items"`
	Filter  Expression `json:"where,omitzero"`
	Primary bool       `json:"primary,omitempty" jsonschema:"a finding declared before the data: corrected together, put into words"`

	With      string   `json:"with,omitempty" jsonschema:"of a correlation: the field of the items that holds what is known"`
	Control   Names    `json:"control,omitzero" jsonschema:"of strengths: features of style to take out: length, markdown (headings, bold and code), lists, headings, bold, code"`
	Ridge     float64  `json:"ridge,omitempty" jsonschema:"of strengths: a penalty of half of it times the sum of their squares"`
	Firth     bool     `json:"firth,omitempty" jsonschema:"of strengths: Jeffreys' penalty, which keeps them finite"`
	K         float64  `json:"k,omitempty" jsonschema:"of Elo: what a surprise is worth; 32 when omitted"`
	Start     *float64 `json:"start,omitempty" jsonschema:"of Elo: where all begin; 1500 when omitted"`
	Orders    int      `json:"orders,omitempty" jsonschema:"of Elo: how many random orders"`
	Bootstrap int      `json:"bootstrap,omitempty" jsonschema:"resamples; strengths then get their errors from them"`
	Seed      uint64   `json:"seed,omitempty" jsonschema:"of resamples and random orders; 1 when omitted"`
	Level     float64  `json:"level,omitempty" jsonschema:"of intervals; 0.95 when omitted"`

	Margin   Points `json:"margin,omitempty" jsonschema:"of no-worse: what may be lost at most, such as 2pt"`
	Baseline string `json:"baseline,omitempty" jsonschema:"of no-worse: the earlier run, or the bundle of one, that lanes are held against"`
	Against  string `json:"against,omitempty" jsonschema:"of no-worse: the lane that all are held against, of the baseline or of the same run"`
}

// FewLive returns of how many requests a follow-up segment goes as a batch; fewer go live.
func (s *Study) FewLive() int {
	if s.LiveBelow != nil {
		return *s.LiveBelow
	}
	return 20
}
