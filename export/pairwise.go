package export

import (
	"regexp"
	"strings"
)

// Comparison is one row of the results of the pairwise system. The columns after reasoning_tokens are ours.
type Comparison struct {
	CustomID     string `json:"custom_id"`
	ID1          string `json:"ID1"`
	ID2          string `json:"ID2"`
	Model        string `json:"model"`
	ObjectType   string `json:"object_type"`
	StatusCode   *int64 `json:"status_code"`
	ErrorMessage string `json:"error_message"`
	Thoughts     string `json:"thoughts"`
	Content      string `json:"content"`
	BetterSample string `json:"better_sample"` // SAMPLE_1, SAMPLE_2 or TIE; empty: nothing could be read
	BetterID     string `json:"better_id"`
	Prompt       *int64 `json:"prompt_tokens"`
	Completion   *int64 `json:"completion_tokens"`
	Total        *int64 `json:"total_tokens"`
	Cached       *int64 `json:"prompt_cached_tokens"`
	Reasoning    *int64 `json:"reasoning_tokens"`
	Stage        string `json:"stage"`
	Item         string `json:"item"` // on which two lanes met; empty: the two are items
	Trait        string `json:"trait"`
	State        string `json:"state"`
	Reason       string `json:"reason"`
}

// SamplePair is one row of batch_NN_pairs.csv: two samples as they were shown.
type SamplePair struct {
	ID1   string `json:"ID1"`
	Text1 string `json:"text1"`
	ID2   string `json:"ID2"`
	Text2 string `json:"text2"`
	Item  string `json:"item"` // ours: on which two lanes met; empty: the two are items
}

// MergedComparison is a row of the merged table over all runs.
type MergedComparison struct {
	CustomID     string `json:"custom_id"`
	ID1          string `json:"ID1"`
	ID2          string `json:"ID2"`
	Model        string `json:"model"`
	ObjectType   string `json:"object_type"`
	StatusCode   *int64 `json:"status_code"`
	ErrorMessage string `json:"error_message"`
	Thoughts     string `json:"thoughts"`
	Content      string `json:"content"`
	BetterSample string `json:"better_sample"`
	BetterID     string `json:"better_id"`
	Prompt       *int64 `json:"prompt_tokens"`
	Completion   *int64 `json:"completion_tokens"`
	Total        *int64 `json:"total_tokens"`
	Cached       *int64 `json:"prompt_cached_tokens"`
	Reasoning    *int64 `json:"reasoning_tokens"`
	Stage        string `json:"stage"`
	Item         string `json:"item"`
	Trait        string `json:"trait"`
	State        string `json:"state"`
	Reason       string `json:"reason"`
	TemplateID   string `json:"template_id"`
	Provider     string `json:"provider"`
	Judge        string `json:"judge"`
	Thinking     string `json:"thinking"`
	Direction    string `json:"direction"`
	RunID        string `json:"run_id"`
}

// RegistryJob is one row of jobs_registry.csv.
type RegistryJob struct {
	Segment    int64  `json:"segment_index"`
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	BatchID    string `json:"batch_id"`
	InputPath  string `json:"batch_input_path"`
	OutputPath string `json:"batch_output_path"`
	CSVPath    string `json:"csv_path"`
	PairsPath  string `json:"pairs_path"`
	Done       string `json:"done"` // TRUE or FALSE
}

// ManifestRun is one row of run_manifest.csv: one cell of template, judge, thinking and direction.
type ManifestRun struct {
	RunID      string `json:"run_id"`
	TemplateID string `json:"template_id"`
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	Thinking   string `json:"thinking"`
	Direction  string `json:"direction"`
	RunDir     string `json:"run_dir"`
	Registry   string `json:"registry_path"`
	Study      string `json:"study"`
	Run        string `json:"run"`
	Stage      string `json:"stage"`
	Judge      string `json:"judge"`
}

// The words of the pairwise system.
const (
	Sample1      = "SAMPLE_1"
	Sample2      = "SAMPLE_2"
	SampleTie    = "TIE"
	WithThinking = "with_thinking"
	NoThinking   = "no_thinking"
)

var unsafeInRunID = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// CellID is the id of a cell of the grid, which is also its folder: safe as a file name, its parts apart by two underscores.
func CellID(parts ...string) string {
	return strings.TrimLeft(unsafeInRunID.ReplaceAllString(strings.Join(parts, "__"), "-"), ".-")
}
