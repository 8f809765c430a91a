package minds

import (
	"strings"

	"assay/internal/assay"
	"assay/internal/simulator/dice"
)

const (
	fenceOpen  = "[[DATA "
	fenceClose = "\n[[END "
	fenceEnd   = "]]"

	maxCode     = 64 // longest code of a fence
	maxExhibits = 64 // fences looked at in one prompt
)

// exhibits takes a prompt apart: what stands between fences, in order, and the judge's instructions around it. Only the line with
// the code of the first one ends a fence, so that marks inside of it are part of the text.
func exhibits(prompt string) (shown []string, rest string) {
	var b strings.Builder
	for range maxExhibits {
		at := strings.Index(prompt, fenceOpen)
		if at < 0 {
			break
		}
		b.WriteString(prompt[:at])
		prompt = prompt[at+len(fenceOpen):]
		text, after, ok := fencedText(prompt)
		if !ok {
			continue
		}
		shown = append(shown, text)
		prompt = after
	}
	b.WriteString(prompt)
	return shown, b.String()
}

// fencedText returns the text of a fence whose opening mark was just passed, and what follows it.
func fencedText(s string) (text, after string, ok bool) {
	head, body, ok := strings.Cut(s, "\n")
	code, _, named := strings.Cut(head, ":")
	if !ok || !named || code == "" || len(code) > maxCode || !strings.HasSuffix(strings.TrimSpace(head), fenceEnd) {
		return "", "", false
	}
	return strings.Cut(body, fenceClose+code+fenceEnd)
}

// hearing is what a judge has before it.
type hearing struct {
	shown []string // every fenced text, in order
	heard []string // those among them that a model of the simulator wrote
	rest  string   // the instructions
}

// quoted returns the texts of a prompt without fences that a model of the simulator wrote: each ends where its quality is said.
func quoted(prompt string) []string {
	var out []string
	for range maxExhibits {
		at := strings.Index(prompt, codedAs)
		if at < 0 {
			break
		}
		end := min(at+len(codedAs)+codeWordLen, len(prompt))
		if _, coded := ReadCodeWord(prompt[at:end]); coded {
			out = append(out, prompt[:end])
		}
		prompt = prompt[end:]
	}
	return out
}

// hear reads a question as a judge's. It is one where the last message shows something between fences, or quotes answers of models
// without any.
func hear(q *Question) (hearing, bool) {
	if len(q.Messages) == 0 {
		return hearing{}, false
	}
	last := q.Messages[len(q.Messages)-1]
	if last.Role != assay.RoleUser {
		return hearing{}, false
	}
	if !strings.Contains(last.Text, fenceOpen) {
		heard := quoted(last.Text)
		return hearing{shown: heard, heard: heard, rest: last.Text}, len(heard) > 0
	}
	var h hearing
	h.shown, h.rest = exhibits(last.Text)
	for _, text := range h.shown {
		if _, coded := lastCodeWord(text); coded {
			h.heard = append(h.heard, text)
		}
	}
	return h, len(h.shown) > 0
}

// answer returns the text that is judged by itself: the last one that a model wrote, or else the last one.
func (h hearing) answer() string {
	if n := len(h.heard); n > 0 {
		return h.heard[n-1]
	}
	return h.shown[len(h.shown)-1]
}

// pair returns the two texts that are compared: those that models wrote if there are just two, or else the last two.
func (h hearing) pair() (first, second string, ok bool) {
	from := h.shown
	if len(h.heard) == 2 {
		from = h.heard
	}
	if len(from) < 2 {
		return "", "", false
	}
	return from[len(from)-2], from[len(from)-1], true
}

// before returns what the same model had said first; "" where it is not shown.
func (h hearing) before() string {
	if len(h.heard) > 1 {
		return h.heard[0]
	}
	if len(h.heard) == 0 && len(h.shown) > 2 { // question, answer, …, later answer
		return h.shown[1]
	}
	return ""
}

// latent returns the quality of a text: the one its last code word hides, or, where there is none, a quality that belongs to the text, so
// that texts from elsewhere have an order too.
func latent(text string) float64 {
	if q, ok := lastCodeWord(text); ok {
		return float64(q)
	}
	return 20 + 60*dice.Chance(dice.Hash(0x7e87, text))
}
