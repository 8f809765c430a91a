package richtext

import "unicode"

// lettersOf returns a fingerprint of the letters of a text, in their order: signs and digits are left out, as marks of
// lists and emphasis are written anew.
func lettersOf(s string) uint64 { return addLetters(0, s) }

func addLetters(sum uint64, s string) uint64 {
	for _, r := range s {
		if unicode.IsLetter(r) {
			sum = (sum ^ uint64(r)) * 0x100000001b3
			sum ^= sum >> 29
		}
	}
	return sum
}
