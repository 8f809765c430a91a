package tokens

import (
	_ "embed"
	"encoding/binary"
)

// table holds the vocabulary as it is looked up, so that nothing is read or unpacked at the start and only what is used comes into
// memory: for each slot the rank + 1 of a token at its hash or after it, 0 where it is free; for each rank where the token ends in
// the text; and the text, all tokens in the order of their ranks. The test of it writes it anew: go test ./internal/study/tokens -update.
//
//go:embed o200k.bin
var table []byte

const (
	vocabularySize = 199_998 // tokens of o200k, the special ones aside
	slotBits       = 19      // more than twice as many slots as tokens

	endsAt = 4 << slotBits
	textAt = endsAt + 4*vocabularySize
)

var (
	slots = (*[endsAt]byte)(table)
	ends  = (*[4 * vocabularySize]byte)(table[endsAt:])
	text  = table[textAt:]
)

// token returns the token of a rank.
func token(rank uint32) []byte {
	start := uint32(0)
	if rank > 0 {
		start = binary.LittleEndian.Uint32(ends[4*rank-4:])
	}
	return text[start:binary.LittleEndian.Uint32(ends[4*rank:])]
}

// rankOf returns the rank of a token, or noRank.
func rankOf(piece []byte) uint32 {
	for at := hash(piece); ; at = (at + 1) % (1 << slotBits) {
		switch rank := binary.LittleEndian.Uint32(slots[4*at:]); {
		case rank == 0:
			return noRank
		case string(token(rank-1)) == string(piece):
			return rank - 1
		}
	}
}

// hash is FNV-1a, folded to the number of slots.
func hash(token []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range token {
		h = (h ^ uint32(c)) * 16777619
	}
	return h>>(32-slotBits) ^ h&(1<<slotBits-1)
}
