package minds

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/internal/simulator/dice"
)

// Token is a piece of an answer.
type Token struct {
	Text    string
	Logprob float64
	Others  []Token // the likeliest at its place, itself among them
}

// pieceMost is how many letters a token has at most.
const pieceMost = 4

// Tokens returns the pieces of an answer with how likely each was, and at most so many others at each place. Labels that a judge
// weighed have the chances that it gave them.
func (a *Answer) Tokens(most int) []Token {
	var out []Token
	labels := a.Labels
	for text := a.Text; text != ""; {
		piece := pieceOf(text)
		var chance map[string]float64
		if len(labels) > 0 && strings.HasPrefix(text, labels[0].Chosen) && bounded(a.Text, text, labels[0].Chosen) {
			chance, piece = map[string]float64{}, pieceOf(labels[0].Chosen)
			for label, share := range labels[0].Chance {
				chance[pieceOf(label)] += share
			}
			labels = labels[1:]
		} else {
			share := 0.6 + 0.39*dice.Chance(dice.Hash(uint64(len(out)), text))
			chance = map[string]float64{piece: share, " the": (1 - share) / 2, " a": (1 - share) / 3}
		}
		out = append(out, tokenOf(piece, chance, most))
		text = text[len(piece):]
	}
	return out
}

// bounded reports whether a label at the beginning of the rest of a text is a word of its own.
func bounded(whole, rest, label string) bool {
	before, _ := utf8.DecodeLastRuneInString(whole[:len(whole)-len(rest)])
	after, _ := utf8.DecodeRuneInString(rest[len(label):])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) && !unicode.IsLetter(after) && !unicode.IsDigit(after)
}

// pieceOf returns the first token of a text: a few letters, with a blank before them, or one sign.
func pieceOf(text string) string {
	letters := 0
	for i, c := range text {
		switch {
		case i == 0 && c == ' ':
		case (unicode.IsLetter(c) || unicode.IsDigit(c)) && letters < pieceMost:
			letters++
		case i == 0:
			return text[:utf8.RuneLen(c)]
		default:
			return text[:i]
		}
	}
	return text
}

func tokenOf(text string, chance map[string]float64, most int) Token {
	t := Token{Text: text, Logprob: math.Log(chance[text])}
	for other, share := range chance {
		t.Others = append(t.Others, Token{Text: other, Logprob: math.Log(share)})
	}
	slices.SortFunc(t.Others, func(a, b Token) int {
		if a.Logprob != b.Logprob {
			return int(math.Copysign(1, b.Logprob-a.Logprob))
		}
		return strings.Compare(a.Text, b.Text)
	})
	t.Others = t.Others[:min(len(t.Others), most)]
	return t
}
