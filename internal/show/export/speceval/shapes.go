package speceval

import (
	"assay/internal/assay"
	"assay/internal/keep/store"
)

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

// requestOf returns the key of the request whose reply a verdict was read from: the last try, or that of the judge in its place.
func requestOf(v *store.Verdict) assay.Ref {
	at := v.At
	at.Again, at.By = v.Again, v.By
	return at.Ref()
}
