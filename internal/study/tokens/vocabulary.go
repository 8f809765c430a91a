package tokens

import (
	"bytes"
	_ "embed"
	"fmt"
	"sync"
	"weak"

	"github.com/klauspost/compress/zstd"
)

// packed is the vocabulary as pack makes it, in zstd. The test of it writes it anew: go test ./tokens -update.
//
//go:embed o200k.zst
var packed []byte

const (
	vocabularySize = 199_998 // tokens of o200k, the special ones aside
	slotBits       = 19      // more than twice as many slots as tokens
)

// vocabulary finds the rank of a token. Strings and maps would take five times the memory.
type vocabulary struct {
	text  []byte   // all tokens in the order of their ranks
	ends  []uint32 // by rank: where the token ends in text
	slots []uint32 // rank + 1 of a token at its hash or after it; 0: free
}

// held is the vocabulary that was read last, as long as a counter holds it: reading it takes 20 ms.
type held struct {
	mu    sync.Mutex
	words weak.Pointer[vocabulary]
}

var shared held

func (h *held) vocabulary() (*vocabulary, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if words := h.words.Value(); words != nil {
		return words, nil
	}
	words, err := readVocabulary(packed, vocabularySize)
	h.words = weak.Make(words)
	return words, err
}

// separator follows every token. It is a byte that no text has, and only one token, which is itself: that one is written
// as nothing. Tokens one after the other take less space than their lengths would.
const separator = 0xc1

// readVocabulary unpacks a vocabulary: the tokens in the order of their ranks.
func readVocabulary(packed []byte, size int) (*vocabulary, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	all, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(all, []byte{separator}); n != size {
		return nil, fmt.Errorf("%d tokens, want %d", n, size)
	}
	v := &vocabulary{text: all[:0], ends: make([]uint32, size), slots: make([]uint32, 1<<slotBits)}
	for rank := range size {
		token, rest, _ := bytes.Cut(all, []byte{separator})
		all = rest
		if len(token) == 0 {
			token = []byte{separator}
		}
		at := hash(token)
		for v.slots[at] != 0 {
			at = (at + 1) % (1 << slotBits)
		}
		v.slots[at] = uint32(rank) + 1
		v.text = append(v.text, token...) // over what was read
		v.ends[rank] = uint32(len(v.text))
	}
	return v, nil
}

// rank returns the rank of a token, or noRank.
func (v *vocabulary) rank(token []byte) uint32 {
	for at := hash(token); v.slots[at] != 0; at = (at + 1) % (1 << slotBits) {
		rank := v.slots[at] - 1
		start := uint32(0)
		if rank > 0 {
			start = v.ends[rank-1]
		}
		if string(v.text[start:v.ends[rank]]) == string(token) {
			return rank
		}
	}
	return noRank
}

// hash is FNV-1a, folded to the number of slots.
func hash(token []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range token {
		h = (h ^ uint32(c)) * 16777619
	}
	return h>>(32-slotBits) ^ h&(1<<slotBits-1)
}
