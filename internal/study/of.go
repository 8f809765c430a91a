package study

import (
	"strconv"

	"assay/internal/study/decode"
)

// Of is the value of `of:`, the answers of a conversation that a judge or compare stage reads: a turn by its number, or
// a word. The zero value: not set.
type Of struct {
	Which Which
	Turn  int // from 1; 0: Which is set
}

// Which is a word for the answers that a stage reads.
type Which string

// The words. Later cannot be written: it is for rubrics that compare answers with the first.
const (
	OfLast         Which = "last"
	OfFirst        Which = "first"
	OfEach         Which = "each"
	OfConversation Which = "conversation" // the last answer, with all that led to it
	OfLater        Which = "later"
)

// Read takes a word, or the number of a turn.
func (o *Of) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Number && n.Number >= 1 && n.Number == float64(int(n.Number)) {
		*o = Of{Turn: int(n.Number)}
		return
	}
	*o = Of{Which: Which(d.OneOf(n, string(OfLast), string(OfFirst), string(OfEach), string(OfConversation), "TURN NUMBER"))}
}

// String returns the value as a study writes it; empty: not set.
func (o Of) String() string {
	if o.Turn > 0 {
		return strconv.Itoa(o.Turn)
	}
	return string(o.Which)
}

// Turns are those of a conversation that are asked.
type Turns struct {
	N      int
	GoesOn bool // with an earlier conversation: all its answers are later ones
}

// Reads reports whether the answers of a turn, counted from 1, are among those read.
func (o Of) Reads(turn int, in Turns) bool {
	switch {
	case turn < 1 || turn > in.N:
		return false
	case o.Turn > 0:
		return turn == o.Turn
	case o.Which == OfFirst:
		return turn == 1
	case o.Which == OfEach:
		return true
	case o.Which == OfLater:
		return turn > 1 || in.GoesOn
	}
	return turn == in.N
}

// One returns the one turn whose answers are compared: the last of those read, and the last of all where there are
// none.
func (o Of) One(in Turns) int {
	for turn := in.N; turn > 0; turn-- {
		if o.Reads(turn, in) {
			return turn
		}
	}
	return in.N
}

// GoesOn reports whether the conversations of an ask stage were opened elsewhere: by another stage, or before an
// import.
func (s *Stage) GoesOn() bool {
	return s.Verb() == VerbContinue || s.Taken != nil && s.Taken.Goes
}
