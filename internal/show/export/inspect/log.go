// Package inspect writes and reads the logs of Inspect.
package inspect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/find/stats"
)

// The logs of Inspect: one file for each stage and lane, as a zip (.eval) or as one JSON document. A sample is one answer with the
// conversation before it, its scores are the verdicts on it.

// logVersion is the version of the log's form.
const logVersion = 2

type logHeader struct {
	Version int         `json:"version"`
	Status  string      `json:"status"`
	Eval    evalHeader  `json:"eval"`
	Plan    evalPlan    `json:"plan"`
	Results evalResults `json:"results"`
	Stats   evalStats   `json:"stats"`
}

type evalHeader struct {
	Set      string            `json:"eval_set_id"`
	ID       string            `json:"eval_id"`
	Run      string            `json:"run_id"`
	Created  string            `json:"created"`
	Task     string            `json:"task"`
	TaskID   string            `json:"task_id"`
	Shown    string            `json:"task_display_name"`
	Args     map[string]string `json:"task_args"`
	Tags     []string          `json:"tags"`
	Metadata origin            `json:"metadata"`
	Dataset  dataset           `json:"dataset"`
	Model    string            `json:"model"`
	Config   map[string]any    `json:"model_generate_config"`
	Further  map[string]any    `json:"model_args"`
	Epochs   epochs            `json:"config"`
	Scorers  []namedScorer     `json:"scorers,omitempty"`
	Packages map[string]string `json:"packages,omitempty"`
}

// origin names the run of ours that a log holds.
type origin struct {
	Assay *runMark `json:"assay"`
}

type runMark struct {
	Run       string `json:"run"`
	Study     string `json:"study"`
	Stage     string `json:"stage"`
	Lane      string `json:"lane"` // of comparisons: the judge
	Verb      string `json:"verb"`
	Input     string `json:"input"`
	Source    string `json:"source,omitempty"` // of comparisons: the stage whose answers meet
	Rehearsal bool   `json:"rehearsal"`
	State     string `json:"state"`
	Result    string `json:"result"`
}

type dataset struct {
	Name    string `json:"name"`
	Samples int64  `json:"samples"`
}

type epochs struct {
	Epochs int64 `json:"epochs"`
}

type namedScorer struct {
	Name string `json:"name"`
}

type evalPlan struct {
	Steps  []planStep     `json:"steps"`
	Config map[string]any `json:"config"`
}

type planStep struct {
	Solver string         `json:"solver"`
	Params map[string]any `json:"params"`
}

type evalResults struct {
	Total     int64        `json:"total_samples"`
	Completed int64        `json:"completed_samples"`
	Scores    []scoreTotal `json:"scores"`
}

// scoreTotal sums the scores of a log under one name.
type scoreTotal struct {
	Name     string            `json:"name"`
	Scorer   string            `json:"scorer"`
	Scored   int64             `json:"scored_samples"`
	Unscored int64             `json:"unscored_samples"`
	Params   map[string]any    `json:"params"`
	Metrics  map[string]metric `json:"metrics"`
}

type metric struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

type evalStats struct {
	Started   string      `json:"started_at"`
	Completed string      `json:"completed_at"`
	Models    usageByName `json:"model_usage"`
	Roles     usageByName `json:"role_usage"`
}

// usage counts tokens as Inspect does: those of the cache are beside the input, not in it. What is absent is not known.
type usage struct {
	Input      *int64   `json:"input_tokens"` // these three are always written
	Output     *int64   `json:"output_tokens"`
	Total      int64    `json:"total_tokens"`
	CacheWrite *int64   `json:"input_tokens_cache_write,omitempty"`
	CacheRead  *int64   `json:"input_tokens_cache_read,omitempty"`
	Reasoning  *int64   `json:"reasoning_tokens,omitempty"`
	Cost       *float64 `json:"total_cost,omitempty"`
}

// usageIn returns what a row used; nil where that is not known.
func usageIn(r *rows.Answer) *usage {
	if r.InputTokens == nil || r.OutputTokens == nil {
		return nil
	}
	read, written := known(r.CachedTokens), known(plus(r.Write5m, r.Write1h))
	return &usage{
		Input: new(*r.InputTokens - zeroOr(read) - zeroOr(written)), Output: r.OutputTokens, Total: *r.InputTokens + *r.OutputTokens,
		CacheRead: read, CacheWrite: written, Reasoning: known(r.Reasoning), Cost: r.Price,
	}
}

// known returns a count that a reply gave; nil for 0, which the ledger also holds where the reply gave none.
func known(n *int64) *int64 {
	if zeroOr(n) == 0 {
		return nil
	}
	return n
}

// plus adds counts, as far as they are known; nil where none is.
func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return new(*a + *b)
}

// zeroOr returns a count as a part of a sum.
func zeroOr(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// usageByName is usage by model or role.
type usageByName map[string]*usage

// add counts a usage under a name. A sum whose parts have not all a price has none; tokens are summed as far as they
// are known, as Inspect does.
func (u usageByName) add(name string, one *usage) {
	if one == nil {
		return
	}
	sum, ok := u[name]
	if !ok {
		u[name] = new(*one)
		return
	}
	sum.Input, sum.Output, sum.Total = plus(sum.Input, one.Input), plus(sum.Output, one.Output), sum.Total+one.Total
	sum.CacheWrite, sum.CacheRead, sum.Reasoning = plus(sum.CacheWrite, one.CacheWrite), plus(sum.CacheRead, one.CacheRead),
		plus(sum.Reasoning, one.Reasoning)
	if sum.Cost == nil || one.Cost == nil {
		sum.Cost = nil
		return
	}
	sum.Cost = new((assay.Dollars(*sum.Cost) + assay.Dollars(*one.Cost)).Float())
}

type sample struct {
	ID        string         `json:"id"`
	Epoch     int64          `json:"epoch"`
	Input     []message      `json:"input"`
	Target    string         `json:"target"`
	Messages  []message      `json:"messages"`
	Output    modelOutput    `json:"output"`
	Metadata  map[string]any `json:"metadata"`
	Events    []modelEvent   `json:"events"`
	Models    usageByName    `json:"model_usage"`
	Roles     usageByName    `json:"role_usage"`
	Started   string         `json:"started_at,omitempty"`
	Completed string         `json:"completed_at,omitempty"`
	UUID      string         `json:"uuid"`
	Error     *sampleError   `json:"error,omitempty"`

	scores []score // written last: a value may be NaN, which no encoder of JSON writes
}

// summary is a sample as lists of samples show it.
type summary struct {
	ID        string         `json:"id"`
	Epoch     int64          `json:"epoch"`
	Input     []message      `json:"input"`
	Target    string         `json:"target"`
	Metadata  map[string]any `json:"metadata"`
	Models    usageByName    `json:"model_usage"`
	Roles     usageByName    `json:"role_usage"`
	Started   string         `json:"started_at,omitempty"`
	Completed string         `json:"completed_at,omitempty"`
	UUID      string         `json:"uuid"`
	Error     string         `json:"error,omitempty"`
	Done      bool           `json:"completed"`
	Messages  int            `json:"message_count"`
}

type message struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	Content any    `json:"content"` // a text, or parts
	Source  string `json:"source,omitempty"`
	Model   string `json:"model,omitempty"`
}

type modelOutput struct {
	Model      string   `json:"model"`
	Choices    []choice `json:"choices"`
	Completion string   `json:"completion"`
	Usage      *usage   `json:"usage,omitempty"`
	Response   string   `json:"response_id,omitempty"`
}

type choice struct {
	Message message `json:"message"`
	Stop    string  `json:"stop_reason"`
}

type sampleError struct {
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
	Coloured  string `json:"traceback_ansi"`
}

// modelEvent is the call of a model.
type modelEvent struct {
	Event     string         `json:"event"`
	UUID      string         `json:"uuid"`
	At        string         `json:"timestamp"`
	Working   int            `json:"working_start"`
	Model     string         `json:"model"`
	Input     []message      `json:"input"`
	Tools     []string       `json:"tools"`
	Choice    string         `json:"tool_choice"`
	Config    map[string]any `json:"config"`
	Output    modelOutput    `json:"output"`
	Error     string         `json:"error,omitempty"`
	Completed string         `json:"completed"`
}

// score is one verdict under its name.
type score struct {
	name  string
	value any // a number, a text, or nil: not scored, which Inspect writes as NaN

	Answer   string         `json:"answer,omitempty"`
	Why      string         `json:"explanation,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Metadata map[string]any `json:"metadata"`
}

// scoreSums sums what the samples of a log score in one respect.
type scoreSums struct {
	scored, unscored int64
	items, clusters  map[[16]byte]int
	totals           []stats.Total // by item
	own              []int         // the cluster of each item
}

func (s *scoreSums) add(value any, item, cluster string) {
	if value == nil {
		s.unscored++
		return
	}
	s.scored++
	number, ok := value.(float64)
	if !ok {
		return
	}
	i := place(s.items, item)
	if i == len(s.totals) {
		s.totals, s.own = append(s.totals, stats.Total{}), append(s.own, place(s.clusters, cluster))
	}
	s.totals[i].Add(number)
}

// place returns the number of a name, a new one where it has none.
func place(names map[[16]byte]int, name string) int {
	sum := sha256.Sum256([]byte(name))
	i, met := names[[16]byte(sum[:16])]
	if !met {
		i = len(names)
		names[[16]byte(sum[:16])] = i
	}
	return i
}

// metrics returns the mean over items and its error, by clusters, as analyses compute them.
func (s *scoreSums) metrics() map[string]metric {
	out := map[string]metric{}
	clusters := make([]stats.Total, len(s.clusters))
	for i, t := range s.totals {
		clusters[s.own[i]].Add(t.Sum / float64(t.N))
	}
	m := stats.MeanByCluster(clusters, 0.95)
	if m.Mean.OK {
		out["mean"] = metric{"mean", m.Mean.Value}
	}
	if m.SE.OK && m.SE.Value > 0 { // clusters that are all alike have no error
		out["stderr"] = metric{"stderr", m.SE.Value}
	}
	return out
}

// newID returns an id that no other run, stage or request has.
func newID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:11])
}

// timestamp returns a moment as Inspect writes it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000-07:00") }

// maxSummary bounds a text in a summary: lists load all of them.
const maxSummary = 1024

func thinText(text string) string {
	if len(text) <= maxSummary {
		return text
	}
	return strings.ToValidUTF8(text[:maxSummary-3], "") + "..."
}

// thin cuts what is long in the metadata of a summary.
func thin(metadata map[string]any) map[string]any {
	out := make(map[string]any, len(metadata))
	for name, v := range metadata {
		switch v := v.(type) {
		case string:
			out[name] = thinText(v)
		case map[string]any, []any, json.RawMessage:
			out[name] = v
			if text, err := json.Marshal(v); err != nil || len(text) > maxSummary {
				out[name] = "Key removed from summary (> 1k)"
			}
		default:
			out[name] = v
		}
	}
	return out
}
