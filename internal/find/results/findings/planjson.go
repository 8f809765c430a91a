package findings

import "assay/internal/study/declare"

// planDocument is when a study declared what, for programs.
type planDocument struct {
	Declared []declare.Entry `json:"declared"`
	Locked   *declare.Lock   `json:"locked,omitempty"`
}

func planOf(p *declare.Plan) *planDocument {
	if p == nil || !p.Known {
		return nil
	}
	return &planDocument{Declared: append([]declare.Entry{}, p.Entries...), Locked: p.Lock}
}
