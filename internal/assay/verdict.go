package assay

import "encoding/json"

// VerdictState is how far a judge's reading can be used. The states are never merged.
type VerdictState string

// The states of a verdict.
const (
	VerdictValid     VerdictState = "valid"     // a label (a tie is one), a score, or both
	VerdictAbstained VerdictState = "abstained" // the judge read it and declined to answer
	VerdictMalformed VerdictState = "malformed" // the judge answered, and nothing can be read from it
	VerdictFailed    VerdictState = "failed"    // the judge did not answer
	VerdictMissing   VerdictState = "missing"   // there was nothing to judge
	VerdictExcluded  VerdictState = "excluded"  // the stage's rule for refused and cut answers leaves it out
)

// VerdictStates lists every state, in the order tables show them.
func VerdictStates() []VerdictState {
	return []VerdictState{VerdictValid, VerdictAbstained, VerdictMalformed, VerdictFailed, VerdictMissing, VerdictExcluded}
}

// Verdict is a judge's reading of an answer or a pair. Label and score belong to valid verdicts alone.
type Verdict struct {
	State       VerdictState
	Label       string          // empty: the rubric gives scores only
	Score       *float64        // nil: the label has none
	Confidence  *float64        // from 0 to 1; nil: the judge gave none
	Explanation string          // the judge's own words
	Why         string          // why there is no label and no score; with a valid verdict, what made it without a judge
	Fields      json.RawMessage // further fields of the judge's reply, as a JSON object; nil: none
}

// The labels of a comparison: which of the two texts it shows is better.
const (
	LabelA   = "a"
	LabelB   = "b"
	LabelTie = "tie"
)

// Direction is which of a pair was shown first. It belongs to the names of the two, not to their order in a study, so
// that reordering a study changes nothing.
type Direction string

// The directions of a pair.
const (
	Forward Direction = "forward" // the name that sorts first was shown as A
	Reverse Direction = "reverse" // the name that sorts first was shown as B
)
