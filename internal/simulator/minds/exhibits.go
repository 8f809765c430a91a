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

// exhibits takes a prompt apart: the texts between fences, in order, and the judge's instructions around them. Only the line with
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

// judging is a question to a judge, with the texts that it shows.
type judging struct {
	shown []string // every fenced text, in order
	texts []string // those among them that a model of the simulator wrote
	rest  string   // the instructions
}

// quoted returns the texts of a prompt without fences that a model of the simulator wrote: each ends with its quality.
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

// readJudging reads a question as a judge's. It is one where the last message shows something between fences, or quotes answers of models
// without any.
func readJudging(q *Question) (judging, bool) {
	if len(q.Messages) == 0 {
		return judging{}, false
	}
	last := q.Messages[len(q.Messages)-1]
	if last.Role != assay.RoleUser {
		return judging{}, false
	}
	if !strings.Contains(last.Text, fenceOpen) {
		texts := quoted(last.Text)
		return judging{shown: texts, texts: texts, rest: last.Text}, len(texts) > 0
	}
	var h judging
	h.shown, h.rest = exhibits(last.Text)
	for _, text := range h.shown {
		if _, coded := lastCodeWord(text); coded {
			h.texts = append(h.texts, text)
		}
	}
	return h, len(h.shown) > 0
}

// answer returns the text that is judged by itself: the last one that a model wrote, or else the last one.
func (h judging) answer() string {
	if n := len(h.texts); n > 0 {
		return h.texts[n-1]
	}
	return h.shown[len(h.shown)-1]
}

// pair returns the two texts that are compared: those that models wrote if there are just two, or else the last two.
func (h judging) pair() (first, second string, ok bool) {
	from := h.shown
	if len(h.texts) == 2 {
		from = h.texts
	}
	if len(from) < 2 {
		return "", "", false
	}
	return from[len(from)-2], from[len(from)-1], true
}

// before returns the first answer of the same model; "" where it is not shown.
func (h judging) before() string {
	if len(h.texts) > 1 {
		return h.texts[0]
	}
	if len(h.texts) == 0 && len(h.shown) > 2 { // question, answer, …, later answer
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
