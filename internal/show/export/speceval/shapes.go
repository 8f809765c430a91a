package speceval

type generation struct {
	Statement string  `json:"statement_id"`
	Index     *int64  `json:"original_index"`
	Input     *string `json:"input_text"`
	Output    *string `json:"output_text"`
	Ending    string  `json:"ending"`
}

type readingsFile struct {
	Metadata struct {
		ModelA string `json:"model_a"`
		ModelB string `json:"model_b"`
	} `json:"metadata"`
	Results  []reading `json:"results"`
	Rankings []ranking `json:"rankings"`
}
