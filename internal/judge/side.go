package judge

import "assay/internal/assay"

const tie = assay.LabelTie

// Side is who a comparison was won by, as the judge saw the two.
type Side string

// The sides.
const (
	SideA   Side = assay.LabelA
	SideB   Side = assay.LabelB
	SideTie Side = assay.LabelTie
)

// SideOf returns the side of a verdict; false where the verdict is none of a comparison, or is not valid.
func SideOf(v assay.Verdict) (Side, bool) {
	s := Side(v.Label)
	return s, v.State == assay.VerdictValid && (s == SideA || s == SideB || s == SideTie)
}
