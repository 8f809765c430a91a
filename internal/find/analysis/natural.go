package analysis

import (
	"cmp"
	"math"
	"strconv"
)

// Natural orders numbers by size, before everything else, which is ordered as text.
func Natural(a, b string) int { return KeyOf(a).Compare(KeyOf(b)) }

// SizeOf returns the number that a text is in that order; NaN: it is none.
func SizeOf(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// SortKey is a text, and the number that it is; NaN: it is none.
type SortKey struct {
	text string
	size float64
}

// KeyOf returns the key by which Natural orders a text.
func KeyOf(text string) SortKey { return Sized(text, SizeOf(text)) }

// Sized is KeyOf of a text whose size is known.
func Sized(text string, size float64) SortKey { return SortKey{text, size} }

// Compare orders two keys as Natural orders their texts.
func (k SortKey) Compare(l SortKey) int {
	switch number, other := !math.IsNaN(k.size), !math.IsNaN(l.size); {
	case number && other:
		return cmp.Or(cmp.Compare(k.size, l.size), cmp.Compare(k.text, l.text))
	case number:
		return -1
	case other:
		return 1
	}
	return cmp.Compare(k.text, l.text)
}
