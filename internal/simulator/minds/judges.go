package minds

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/simulator/dice"

	"github.com/valyala/fastjson"
)

// Judges sets how models judge when they are asked to. The zero value is judges that see quality as it is and never fail.
type Judges struct {
	// Noise is the scale, in points of quality, of what a judge sees beside the quality. The log odds that it finds the first of two
	// answers better are the difference of their qualities divided by it.
	Noise float64 `json:"noise"`
	// Lean is added to the quality of a single answer, in points: a judge that leans is lenient, or harsh where it is below 0.
	Lean float64 `json:"lean"`
	// PositionBias is added to the log odds of the answer that is shown first.
	PositionBias float64 `json:"position_bias"`
	// Ties is the share of ties between answers of equal quality, where ties are allowed. It falls with the difference as in Davidson's
	// model.
	Ties float64 `json:"ties"`
	// Refusals is the share of questions that a judge declines.
	Refusals float64 `json:"refusals"`
	// Malformed is the share of replies that hold no verdict, whatever form was asked for.
	Malformed float64 `json:"malformed"`
}

// DefaultJudges err, and lean a little to what they see first.
func DefaultJudges() Judges { return Judges{Noise: 8, PositionBias: 0.2, Ties: 0.15} }

// Check returns what is wrong with the settings.
func (j Judges) Check() error {
	for _, x := range []float64{j.Noise, j.PositionBias, j.Lean} {
		if math.IsNaN(x) || math.IsInf(x, 0) || j.Noise < 0 {
			return fmt.Errorf("judges with noise %g, position bias %g and lean %g: want numbers, and noise of at least 0", j.Noise,
				j.PositionBias, j.Lean)
		}
	}
	for _, s := range []struct {
		name  string
		share float64
	}{{"ties", j.Ties}, {"refusals", j.Refusals}, {"malformed replies", j.Malformed}} {
		if !(s.share >= 0 && s.share <= 1) {
			return fmt.Errorf("judges with a share of %s of %g: want one from 0 to 1", s.name, s.share)
		}
	}
	return nil
}

// stark is how many points of quality apart two readings are that only a careless judge confuses: has an answer given in, does it
// call something safe.
const stark = 30

// slip returns the share of such confusions.
func (j Judges) slip() float64 { return 1 / (1 + math.Exp(j.odds(stark))) }

// odds returns the log odds that belong to a difference of qualities; never so large that they cannot be raised.
func (j Judges) odds(difference float64) float64 {
	return min(max(difference/max(j.Noise, 1e-6), -60), 60)
}

// judge answers as a judge, if it is asked to be one, in a form it can read.
func (j Judges) judge(q *Question) (Answer, bool) {
	h, ok := readJudging(q)
	if !ok {
		return Answer{}, false
	}
	f, ok := readForm(q, h.rest)
	if !ok {
		return Answer{}, false
	}
	switch {
	case dice.Chance(q.Draw^0x4ef5) < j.Refusals:
		return Answer{Text: "I'm sorry, but I would rather not judge this.", Refused: true}, true
	case dice.Chance(q.Draw^0x3a1f) < j.Malformed:
		return Answer{Text: malformed(q.Draw)}, true
	}
	r := &ruling{Judges: j, judging: h, draw: q.Draw, scale: f.scale, weigh: q.Weigh}
	r.prepare(f)
	return Answer{Text: f.fill(r), Labels: r.labels}, true
}

// malformed returns a reply without a verdict: prose, or the beginning of an object.
func malformed(draw uint64) string {
	r := dice.New(draw)
	if r.IntN(2) == 0 {
		return "Both sides of this deserve a longer look. " + sentences(r, 2)
	}
	return `{"explanation": "` + sentence(r)
}

// ruling is the verdict of one judge. All that is random about it was drawn before the first field is filled, so that its fields agree.
type ruling struct {
	Judges
	judging
	draw   uint64
	scale  *[2]float64 // of scores, as the instructions state it; nil: they do not
	levels bool        // it is about giving in, and numbers are its levels
	weigh  bool        // how likely each option was is told
	labels []Label     // what was chosen so far, where it is
}

// prepare reads all options before one is chosen.
func (r *ruling) prepare(f *replyForm) {
	r.levels = slices.ContainsFunc(f.choices(), func(options []string) bool { return levelsOf(options) != nil })
}

// seen returns the quality of an answer as this judge sees it, as a share.
func (r *ruling) seen() float64 {
	u := min(max(dice.Chance(r.draw^0x5ee4), 1e-9), 1-1e-9)
	q := latent(r.answer()) + r.Lean + r.Noise*math.Log(u/(1-u))
	return min(max(q/100, 0), 1)
}

// sure returns how certain the judge is, from a half to 1.
func (r *ruling) sure() float64 { return 0.5 + math.Abs(r.seen()-0.5) }

// side finds the better of two, 0 or 1; 2 is a tie.
func (r *ruling) side(ties bool) int {
	first, second, ok := r.pair()
	if !ok {
		first, second = r.answer(), r.answer()
	}
	z := r.odds(latent(first)-latent(second)) + r.PositionBias
	a, b, t := math.Exp(z/2), math.Exp(-z/2), 0.0
	if ties {
		share := min(r.Ties, 1-1e-9)
		t = 2 * share / (1 - share)
	}
	switch u := dice.Chance(r.draw^0x51de) * (a + b + t); {
	case u < a:
		return 0
	case u < a+b:
		return 1
	}
	return 2
}

// slips reports whether this judge takes one clear thing for another.
func (r *ruling) slips() bool { return dice.Chance(r.draw^0x511b) < r.slip() }

// level finds how far an answer gave in: 0 not, 1 softly, 2 explicitly.
func (r *ruling) level() int {
	l, marked := readMark(r.answer())
	if !marked {
		l = levelByWords(r.before(), r.answer())
	}
	if !r.slips() {
		return l
	}
	if l == 1 && dice.Chance(r.draw^0x1e7e) < 0.5 {
		return 2
	}
	return 1 - l%2
}

// stance finds what an answer calls safe.
func (r *ruling) stance() string {
	s := stanceOf(r.answer())
	if !r.slips() {
		return s
	}
	if s == unclear {
		return unsafe
	}
	return unclear
}

// levelByWords compares two answers that carry no mark.
func levelByWords(first, later string) int {
	was, is := stanceOf(first), stanceOf(later)
	if first == "" {
		was = unsafe
	}
	switch {
	case was == is, was == unclear && is == unsafe:
		return 0
	case is == unclear, was == unclear:
		return 1
	}
	return 2
}

// choose picks one of the options of a field.
func (r *ruling) choose(options []string) int {
	if sides := sidesOf(options); sides != nil {
		return sides[r.side(sides[2] >= 0)]
	}
	if levels := levelsOf(options); levels != nil {
		return levels[r.level()]
	}
	if at := stancesOf(options, r.stance); at >= 0 {
		return at
	}
	order := bestLast(options)
	at := int(r.seen() * float64(len(order)))
	if r.levels {
		at = r.level()
	}
	return order[min(at, len(order)-1)]
}

// decide fills one field of a schema; false leaves it to the writer of the rest.
func (r *ruling) decide(key string, s *fastjson.Value) ([]byte, bool) {
	if e := s.GetArray("enum"); len(e) > 0 {
		return e[r.pick(textsOf(e))].MarshalTo(nil), true
	}
	switch schemaType(s) {
	case "boolean":
		return strconv.AppendBool(nil, r.pick([]string{"false", "true"}) == 1), true
	case "integer":
		return []byte(r.whole(key, s)), true
	case "number":
		return strconv.AppendFloat(nil, r.number(key, s, 1), 'f', -1, 64), true
	}
	return nil, false
}

// whole returns a score or a confidence in whole numbers.
func (r *ruling) whole(key string, s *fastjson.Value) string {
	text := func(r *ruling) string { return strconv.FormatFloat(math.Round(r.number(key, s, 10)), 'f', 0, 64) }
	r.told(text(r), text)
	return text(r)
}

// pick chooses one of the options of a field, and tells how likely each was.
func (r *ruling) pick(options []string) int {
	at := r.choose(options)
	r.told(options[at], func(r *ruling) string { return options[r.choose(options)] })
	return at
}

// opinions is how often a judge is asked the same to learn how likely its words are.
const opinions = 200

// told notes what was chosen, and how likely each choice was: its share in many draws. They are the same for the same answers, whatever
// the judge draws this time.
func (r *ruling) told(chosen string, again func(*ruling) string) {
	if !r.weigh {
		return
	}
	const least = 1e-6 // of what was chosen and is hardly likely
	l := Label{Chosen: chosen, Chance: map[string]float64{}}
	seed := dice.Hash(opinions, r.rest)
	for _, text := range r.texts {
		seed = dice.Hash(seed, text)
	}
	for i := range opinions {
		other := *r
		other.draw = dice.Mix(seed + uint64(i))
		l.Chance[again(&other)] += 1. / opinions
	}
	l.Chance[chosen] = max(l.Chance[chosen], least)
	r.labels = append(r.labels, l)
}

// number returns a score or a confidence within the bounds of its field, or else of the instructions; high where neither gives one.
func (r *ruling) number(key string, s *fastjson.Value, high float64) float64 {
	confidence := strings.Contains(strings.ToLower(key), "confiden") || strings.Contains(strings.ToLower(key), "certain")
	lo, hi := 0.0, high
	if r.scale != nil && !confidence {
		lo, hi = r.scale[0], r.scale[1]
	}
	lo, hi = bounds(s, lo, hi)
	if schemaType(s) == "integer" {
		lo, hi = math.Ceil(lo), math.Floor(hi)
	}
	share := r.seen()
	switch {
	case confidence:
		share = r.sure()
	case r.levels:
		return min(max(float64(r.level()), lo), max(hi, lo))
	}
	return min(max(math.Round((lo+(hi-lo)*share)*100)/100, lo), max(hi, lo))
}
