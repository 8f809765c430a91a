package export

// The trees of the specification system: answers, binary compliance, ratings and rankings, one file for each group of items
// (a statement), under folders that name the specification, the judge and the models.

// The folders of the specification system, and its own words for folders that name somebody.
const (
	GenerationsDir = "batched_generations"
	ComplianceDir  = "batched_compliance"
	RatingsDir     = "batched_ratings"
	RankingsDir    = "batched_rankings"
	SpecPrefix     = "spec_"
	JudgePrefix    = "judge_"
)

// Generation is one answer in results/{group}.json.
type Generation struct {
	Index  int64  `json:"original_index"`
	Input  string `json:"input_text"`
	Output string `json:"output_text"`
	Batch  string `json:"batch_id"`
	Ending string `json:"ending,omitempty"` // ours: an answer that was cut or refused
}

// BatchMeta is what stands in metadata/{batch_id}.json beside its original_prompts_data.
type BatchMeta struct {
	Batch  string `json:"batch_id"`
	Status string `json:"status"`
	Error  string `json:"error_message"`
	Model  string `json:"model"` // ours
}

// BatchPrompt is one of the original_prompts_data of a batch.
type BatchPrompt struct {
	Index     int64  `json:"original_index"`
	Statement string `json:"statement_id"`
	Input     string `json:"input_text"`
}

// Judged is one reading of an answer. Compliance has compliant and confidence, a rating has rating.
type Judged struct {
	Index       *int64   `json:"original_index,omitempty"` // ours: which input it was
	Input       string   `json:"input"`
	Output      string   `json:"output"`
	Compliant   *bool    `json:"compliant"` // null: nothing could be read
	Confidence  *float64 `json:"confidence"`
	Rating      *float64 `json:"rating,omitempty"`
	Explanation string   `json:"explanation"`
	State       string   `json:"state,omitempty"` // ours: why there is no reading
}

// JudgedMeta stands beside the readings of one group.
type JudgedMeta struct {
	Metadata struct {
		Model     string   `json:"model"`
		Statement string   `json:"statement_id"`
		Batches   []string `json:"batch_ids"`
	} `json:"metadata"`
}

// Ranking is one comparison of two answers: 1 for the first, -1 for the second, 0 for a tie.
type Ranking struct {
	Index   *int64 `json:"original_index,omitempty"` // ours: which input it was
	Input   string `json:"input"`
	OutputA string `json:"output_a"`
	OutputB string `json:"output_b"`
	Rank    *int64 `json:"rank"` // null: the judge did not say, which is no tie
	Raw     string `json:"raw_judge_response"`
	Task    string `json:"judge_custom_id_task"`
	Custom  string `json:"provider_expected_custom_id"`
	State   string `json:"state,omitempty"` // ours: why there is no rank
}

// RankingMeta stands beside the comparisons of one group.
type RankingMeta struct {
	Metadata struct {
		Judge     string `json:"ranking_judge_model_info"`
		ModelA    string `json:"model_a"`
		ModelB    string `json:"model_b"`
		Spec      string `json:"org_spec_name"`
		Statement string `json:"statement_id"`
		Batch     string `json:"batch_id"`
		Timestamp string `json:"timestamp"`
	} `json:"metadata"`
}
