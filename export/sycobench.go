package export

// The files of the sycophancy system: one folder for each experiment, with the conversations of each model, the scores of
// each judge, metadata and a summary.

// ModelFile is what stands in model_responses/{model_key}.json beside its conversations.
type ModelFile struct {
	Key       string  `json:"model_key"`
	Name      string  `json:"model_name"`
	Provider  string  `json:"provider"`
	Questions int     `json:"total_questions"`
	Completed int     `json:"completed_questions"`
	Cost      *Number `json:"total_cost"`
	Metrics   Metrics `json:"aggregate_metrics"`
}

// Number is a sum; nil where a part is not known.
type Number = float64

// Metrics are the sums of a model.
type Metrics struct {
	Questions int     `json:"total_questions"`
	Input     *int64  `json:"total_input_tokens"`
	Output    *int64  `json:"total_output_tokens"`
	Cost      *Number `json:"total_cost"`
}

// Conversation is one question and what followed.
type Conversation struct {
	ID       int64   `json:"question_id"`       // from 1
	Item     string  `json:"item"`              // ours: the item's id
	Draw     int64   `json:"draw"`              // ours
	Expect   string  `json:"expect,omitempty"`  // ours: the right answer
	Cluster  string  `json:"cluster,omitempty"` // ours: what the item belongs to, where that is not itself
	Question string  `json:"question"`
	Initial  Initial `json:"initial_response"`
	Rounds   []Round `json:"pressure_rounds"`
	Cost     *Number `json:"total_cost"`
}

// Initial is the first answer. Two versions of the old program call it response and content.
type Initial struct {
	Response   string `json:"response"`
	Content    string `json:"content,omitempty"`
	Assessment string `json:"safety_assessment"`
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	Ending     string `json:"ending,omitempty"` // ours: an answer that was cut or refused, or why there is none
}

// Round is one pressure and the answer to it.
type Round struct {
	Level    int64  `json:"level"`
	Pressure string `json:"pressure"`
	Response string `json:"response"`
	Content  string `json:"content,omitempty"`
	Turn     int64  `json:"turn"`   // ours
	Branch   string `json:"branch"` // ours
	Input    *int64 `json:"input_tokens"`
	Output   *int64 `json:"output_tokens"`
	Ending   string `json:"ending,omitempty"` // ours
}

// Experiment is metadata.json.
type Experiment struct {
	ID        string   `json:"experiment_id"`
	Dataset   string   `json:"dataset"`
	Size      int      `json:"dataset_size"`
	Models    []string `json:"models_tested"`
	Pressure  string   `json:"pressure_type"`
	Phrases   []string `json:"pressure_phrases"`
	Scorers   []string `json:"scorers"`
	Date      string   `json:"test_date"`
	Start     string   `json:"start_time"`
	End       string   `json:"end_time"`
	Seconds   *Number  `json:"duration_seconds"`
	Testing   *Number  `json:"testing_cost"`
	Scoring   *Number  `json:"scoring_cost"`
	Cost      *Number  `json:"total_cost"`
	Rehearsal bool     `json:"rehearsal,omitempty"` // ours
}

// Summary is summary.json: what became of each model's questions.
type Summary struct {
	ID     string      `json:"experiment_id"`
	Models []ModelFile `json:"models"`
}

// Score is one row of a judge's CSV file. The columns after scored_at are ours.
type Score struct {
	Model          string   `json:"model"`
	Question       int64    `json:"question_id"`
	Level          int64    `json:"pressure_level"`
	Asked          string   `json:"question"`
	Pressure       string   `json:"pressure"`
	Response       string   `json:"response"`
	Score          *float64 `json:"score"` // empty: the judge gave none, which is not 0
	Classification string   `json:"classification"`
	Reasoning      string   `json:"reasoning"`
	Judge          string   `json:"judge_model"`
	At             string   `json:"scored_at"`
	Stage          string   `json:"stage"`
	Item           string   `json:"item"`
	Turn           int64    `json:"turn"`
	Branch         string   `json:"branch"`
	Draw           int64    `json:"draw"`
	State          string   `json:"state"`
}

// Tracked is one batch in batch_tracking.json.
type Tracked struct {
	Provider string `json:"provider"`
	Batch    string `json:"batch_id"`
	Model    string `json:"model"`
	Created  string `json:"created"`
	Status   string `json:"status"`
}

// Logged is one row of batch_log.csv.
type Logged struct {
	Date     string `json:"date"`
	Provider string `json:"provider"`
	Batch    string `json:"batch_id"`
	Model    string `json:"model"`
	Event    string `json:"created"`
}
