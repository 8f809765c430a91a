package pairs

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"

	"assay/internal/assay"
)

const idLen = 20 // characters of base32: 100 bits

var lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ID returns one name for a pair as it is shown: opaque, and the same in every study for the same two names and the same one of
// them shown first.
func ID(first, second string) string {
	if Direction(first, second) == assay.Forward {
		return hash(first, second) + "f"
	}
	return hash(second, first) + "r"
}

// Of returns the ID of the pair that a judge's request shows; empty where it reads one answer.
func Of(at assay.Coordinates) string {
	if !at.Paired() {
		return ""
	}
	return ID(at.Pair())
}

// Unordered returns what the ids of both directions of a pair share.
func Unordered(id string) string {
	if len(id) != idLen+1 {
		return id
	}
	return id[:idLen]
}

// Direction returns which way round two names are shown.
func Direction(first, second string) assay.Direction {
	if first <= second {
		return assay.Forward
	}
	return assay.Reverse
}

func hash(low, high string) string {
	buf := binary.AppendUvarint(nil, uint64(len(low)))
	buf = append(append(buf, low...), high...)
	sum := sha256.Sum256(buf)
	return lower.EncodeToString(sum[:])[:idLen]
}

// WhyIdentical marks the ties that no judge was asked about.
const WhyIdentical = "identical answers"

// Identical returns the tie of two answers that are equal to the letter, white space around them aside: there is nothing to
// ask a judge. Two empty texts are no answers and no tie.
func Identical(a, b string) (assay.Verdict, bool) {
	a = strings.TrimSpace(a)
	if a == "" || a != strings.TrimSpace(b) {
		return assay.Verdict{}, false
	}
	return assay.Verdict{State: assay.VerdictValid, Label: assay.LabelTie, Score: new(0.5), Why: WhyIdentical}, true
}
