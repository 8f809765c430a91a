package minds

import (
	"math"
	"math/rand/v2"
	"strings"

	"assay/internal/simulator/dice"
)

// Writer is a model that writes a few sentences, or JSON for a schema. Its answers carry a code word for their latent
// quality: the model's own, plus noise. Shown such answers between fences and asked for a verdict, it judges by those words;
// nothing else should read them. When its answer is doubted it may give in.
type Writer struct {
	Quality map[string]float64 // by model, from 0 to 99; a model that is not named gets one from its name
	Yield   map[string]float64 // by model, the chance to give in to a push back; likewise
	Judges  *Judges            // nil: DefaultJudges
}

// qualityNoise is how much answers of one model differ among themselves.
const qualityNoise = 12

// Respond answers by the question's draw alone.
func (w Writer) Respond(q *Question) Answer {
	a, ok := w.judges().judge(q)
	if !ok {
		a = w.write(q)
	}
	if q.Thinks {
		r := dice.New(q.Draw ^ 0x7400)
		a.Thoughts = "Let me think. " + sentences(r, 1+r.IntN(3))
	}
	return a
}

func (w Writer) judges() Judges {
	if w.Judges == nil {
		return DefaultJudges()
	}
	return *w.Judges
}

// write answers as a model that is asked something.
func (w Writer) write(q *Question) Answer {
	r := dice.New(q.Draw)
	m := w.Model(q.Model)
	if calls := w.calls(q); len(calls) > 0 {
		return Answer{Calls: calls, Text: beside(q)}
	}
	code := coded(CodeWord(level(m.Quality, r)))
	own := follow(q).answer(m.Yield, r)
	if own != "" {
		code = own + " " + code
	}
	said, colours := w.seen(q)
	if said != "" {
		code = said + " " + code
	}
	switch {
	case q.Schema != nil:
		return Answer{Text: schemaAnswer(q.Schema, r, code, matching(colours))}
	case q.JSON || strings.Contains(q.System, "JSON object and nothing else"): // a model does as it is told
		return Answer{Text: `{"answer":"` + sentence(r) + " " + code + `"}`}
	}
	return Answer{Text: sentences(r, 1+r.IntN(3)) + " " + code + " " + sentences(r, 1+r.IntN(2))}
}

func level(mean float64, r *rand.Rand) int {
	return int(math.Round(min(max(mean+qualityNoise*r.NormFloat64(), 0), 99)))
}

const (
	codePrefix    = "vel"
	codeSyllables = "bacodifugahokilumone"
	codeWordLen   = len(codePrefix) + 4
)

// CodeWord hides a quality from 0 to 99 in a word that looks like a name.
func CodeWord(quality int) string {
	q := min(max(quality, 0), 99)
	a, b := q/10*2, q%10*2
	return codePrefix + codeSyllables[a:a+2] + codeSyllables[b:b+2]
}

// ReadCodeWord finds the first code word in a text and the quality it hides.
func ReadCodeWord(text string) (quality int, found bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], codePrefix)
		if i < 0 || len(text)-(at+i) < codeWordLen {
			return 0, false
		}
		word := text[at+i+len(codePrefix) : at+i+codeWordLen]
		a, b := syllable(word[:2]), syllable(word[2:])
		if a >= 0 && b >= 0 {
			return a*10 + b, true
		}
		at += i + 1
	}
}

// lastCodeWord returns the quality that the last code word in a text hides: of a conversation, that of its last answer.
func lastCodeWord(text string) (quality int, found bool) {
	for end := len(text); ; {
		at := strings.LastIndex(text[:end], codePrefix)
		if at < 0 {
			return 0, false
		}
		if q, ok := ReadCodeWord(text[at:min(at+codeWordLen, len(text))]); ok {
			return q, true
		}
		end = at
	}
}

func syllable(s string) int {
	for i := 0; i < len(codeSyllables); i += 2 {
		if codeSyllables[i:i+2] == s {
			return i / 2
		}
	}
	return -1
}

// codedAs precedes every code word.
const codedAs = "In short, the matter rests on "

func coded(word string) string { return codedAs + word + "." }

func sentences(r *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = sentence(r)
	}
	return strings.Join(out, " ")
}

// sentence fills one of a few frames with words.
func sentence(r *rand.Rand) string {
	frames := [...]string{
		"The % % of the % is mostly a % of %.", "Most people % the % before they % the %.",
		"A % % tends to % when the % is %.", "It is % to % a % without a % %.",
		"On balance, the % % seems % enough to %.", "Before you %, check that the % is %.",
	}
	kinds := [...]string{"anvna", "vnvn", "anvna", "avnan", "anav", "vna"}
	at := r.IntN(len(frames))
	var b strings.Builder
	slot := 0
	for i := range len(frames[at]) {
		if frames[at][i] != '%' {
			b.WriteByte(frames[at][i])
			continue
		}
		kind := byte('n')
		if slot < len(kinds[at]) {
			kind = kinds[at][slot]
		}
		b.WriteString(pick(r, kind))
		slot++
	}
	return b.String()
}

func pick(r *rand.Rand, kind byte) string {
	nouns := [...]string{"harbour", "method", "ladder", "garden", "signal", "market", "river", "letter", "engine", "custom", "record",
		"bridge", "measure", "storm", "kitchen", "theory"}
	adjectives := [...]string{"plain", "careful", "uneven", "public", "early", "robust", "narrow", "quiet", "costly", "common", "honest",
		"gradual", "rare", "steady"}
	verbs := [...]string{"weigh", "repair", "follow", "question", "compare", "settle", "gather", "release", "measure", "trust",
		"delay", "improve"}
	switch kind {
	case 'a':
		return adjectives[r.IntN(len(adjectives))]
	case 'v':
		return verbs[r.IntN(len(verbs))]
	}
	return nouns[r.IntN(len(nouns))]
}
