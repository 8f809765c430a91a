package judge

import "assay"

const tie = assay.LabelTie

// Side is who a comparison was won by, as the judge saw the two.
type Side string

// The sides.
const (
	SideA   Side = assay.LabelA
	SideB   Side = assay.LabelB
	SideTie Side = assay.LabelTie
)

// SideOf is the side of a verdict; false where the verdict is none of a comparison, or is not valid.
func SideOf(v assay.Verdict) (Side, bool) {
	s := Side(v.Label)
	return s, v.State == assay.VerdictValid && (s == SideA || s == SideB || s == SideTie)
}

// Winner is the one that the side names, when first was shown as A and second as B; empty: a tie.
func (s Side) Winner(first, second string) string {
	switch s {
	case SideA:
		return first
	case SideB:
		return second
	}
	return ""
}

// Turned is the side after the two have changed places.
func (s Side) Turned() Side {
	switch s {
	case SideA:
		return SideB
	case SideB:
		return SideA
	}
	return s
}

// ForPair is a verdict as if the pair had been shown forward: its label no longer says what stood first, but who won. A verdict
// without a side is as it was.
func ForPair(v assay.Verdict, shown assay.Direction) assay.Verdict {
	side, ok := SideOf(v)
	if !ok || shown != assay.Reverse {
		return v
	}
	v.Label = string(side.Turned())
	if v.Score != nil {
		v.Score = num(1 - *v.Score)
	}
	return v
}
