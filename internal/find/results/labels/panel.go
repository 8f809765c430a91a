package labels

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/people"
	"assay/internal/study/adaptive"
	"assay/internal/study/plan"
)

// personName matches the names of people, which occur in keys and file names.
const personName = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`

// Person returns the judge that a person of a name is.
func Person(name string) (string, error) {
	name = strings.TrimPrefix(name, people.Prefix)
	if !regexp.MustCompile(personName).MatchString(name) {
		return "", results.NewMistake("--as NAME, of letters, digits, . _ and -", "%q cannot be a person's name", name)
	}
	return people.Prefix + name, nil
}

// Stages returns the stages of a run that people may judge.
func Stages(ctx context.Context, r *results.Reader, run store.Run) ([]string, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range plan.InOrder(st) {
		if results.GivesVerdicts(s) {
			out = append(out, s.Name)
		}
	}
	return out, nil
}

// Panel is a stage that people judge: their next task, what they are shown, and how their labels are kept. It is
// the same for a terminal and for pages.
type Panel struct {
	People  *people.Stage
	rubric  judge.Rubric
	choices []Choice
}

// Open opens a stage of a run for people.
func Open(ctx context.Context, r *results.Reader, run store.Run, stage string) (*Panel, error) {
	people, err := r.Scripts.People(ctx, run, stage)
	if err != nil {
		return nil, err
	}
	rubric := people.Rubric()
	return &Panel{people, rubric, choicesOf(rubric)}, nil
}

// Pairs reports whether two answers are shown side by side.
func (p *Panel) Pairs() bool { return p.rubric.Kind == judge.Pairs }

// Choices returns the labels that people choose from; nil where there are none.
func (p *Panel) Choices() []Choice { return p.choices }

// Question returns what a person is asked about a single answer.
func (p *Panel) Question() string {
	var scale []Choice
	for _, c := range p.choices {
		if !c.Quiet {
			scale = append(scale, c)
		}
	}
	if len(scale) < 3 || scale[0].Text == "" || scale[1].Text != "" {
		return "Judge this answer"
	}
	first, last := scale[0], scale[len(scale)-1]
	return fmt.Sprintf("Rate this answer: %s (%s) to %s (%s)", first.Key, first.Text, last.Key, last.Text)
}

// Choice is a label that a person can choose.
type Choice struct {
	Key   string `json:"key"` // of a keyboard
	Text  string `json:"text"`
	Quiet bool   `json:"-"` // it is no label of the answer
	said  judge.Given
}

// choicesOf returns the keys of a rubric; nil where it has none, or too many.
func choicesOf(r judge.Rubric) []Choice {
	var out []Choice
	if r.Kind == judge.Pairs {
		out = []Choice{{Key: "a", Text: "A is better", said: judge.Given{Label: assay.LabelA}},
			{Key: "b", Text: "B is better", said: judge.Given{Label: assay.LabelB}}}
		if r.Ties() {
			out = append(out, Choice{Key: "t", Text: "tie", said: judge.Given{Label: assay.LabelTie}})
		}
		return append(out, cannotTell())
	}
	for _, l := range r.Labels {
		if !l.Abstain {
			out = append(out, Choice{Key: strconv.Itoa(len(out) + 1), Text: l.Name, said: judge.Given{Label: l.Name}})
		}
	}
	if low, high := r.Range.Low, r.Range.High; len(out) == 0 && low != nil && high != nil && *low >= 0 && *high <= 9 && r.Range.Whole {
		for x := *low; x <= *high; x++ {
			score := x
			out = append(out, Choice{Text: strconv.Itoa(int(x)), said: judge.Given{Score: &score}})
		}
	}
	scaled := scale(r, out)
	if len(out) == 0 || len(out) > 9 && !scaled {
		return nil
	}
	return append(out, cannotTell())
}

// scale has the digits of a scale as its keys, and words at both of its ends, if the choices are one.
func scale(r judge.Rubric, choices []Choice) bool {
	digit := func(c Choice) bool { return len(c.Text) == 1 && c.Text >= "0" && c.Text <= "9" && c.score(r) != nil }
	if len(choices) < 2 || slices.ContainsFunc(choices, func(c Choice) bool { return !digit(c) }) {
		return false
	}
	slices.SortFunc(choices, func(a, b Choice) int { return cmp.Compare(a.Text, b.Text) })
	for i := range choices {
		choices[i].Key, choices[i].Text = choices[i].Text, ""
	}
	first, last := &choices[0], &choices[len(choices)-1]
	first.Text, last.Text = "worst", "best"
	if (*first.score(r) > *last.score(r)) != (r.Worse == judge.High) {
		first.Text, last.Text = last.Text, first.Text
	}
	first.Text, last.Text = cmp.Or(r.Range.Ends[0], first.Text), cmp.Or(r.Range.Ends[1], last.Text)
	return true
}

// score returns what a choice scores; nil: nothing.
func (c *Choice) score(r judge.Rubric) *float64 {
	for _, l := range r.Labels {
		if l.Name == c.said.Label {
			return l.Score
		}
	}
	return c.said.Score
}

func cannotTell() Choice { return Choice{Key: "n", Text: "cannot tell", Quiet: true} }

// Sheet is a task as a person sees it. No name of a lane or a model is on it.
type Sheet struct {
	Asked       string `json:"asked"`
	First       string `json:"first_answer,omitempty"` // what was answered before Said
	Message     string `json:"said,omitempty"`
	Answer      string `json:"answer,omitempty"`
	A           string `json:"a,omitempty"`
	B           string `json:"b,omitempty"`
	Trait       string `json:"trait,omitempty"`
	Description string `json:"description,omitempty"`
	Statement   string `json:"statement,omitempty"`     // that it is held against, where the other judges are told it too
	Expected    string `json:"expected,omitempty"`      // likewise
	People      string `json:"people_said,omitempty"`   // where they differ, and one decides
	Told        string `json:"judge_is_told,omitempty"` // around the texts that it reads
}

// Sheet returns what a task shows; false where there is nothing to see.
func (p *Panel) Sheet(ctx context.Context, t analysis.Task) (Sheet, bool, error) {
	s, ok, err := p.People.Show(ctx, t)
	if err != nil || !ok {
		return Sheet{}, false, err
	}
	if a := s.Answer; a != nil {
		out := Sheet{Asked: a.Asked, Answer: a.Answer, Statement: s.Told.Statement, Expected: s.Told.Expect, People: t.Said,
			Told: s.Told.Text}
		if a.First != a.Answer {
			out.First, out.Message = a.First, a.Message
		}
		return out, true, nil
	}
	return Sheet{
		Asked: s.Pair.Message, A: s.Pair.A, B: s.Pair.B, Trait: s.Pair.Trait.Name, Description: s.Pair.Trait.Description,
		Statement: s.Told.Statement, Expected: s.Told.Expect, Told: s.Told.Text,
	}, true, nil
}

// Prompt returns what the judge is told without what the sheet shows by itself: where it is as before, nobody has to read it again.
func (s *Sheet) Prompt() string {
	text := s.Told
	for _, shown := range []string{s.Statement, s.Expected} {
		if shown != "" {
			text = strings.ReplaceAll(text, shown, "")
		}
	}
	return text
}

// Say stores a person's label of a task, by the key of a choice.
func (p *Panel) Say(ctx context.Context, t analysis.Task, person, key string) error {
	i := slices.IndexFunc(p.choices, func(c Choice) bool { return c.Key == key })
	if i < 0 {
		return fmt.Errorf("there is no choice %q", key)
	}
	said := assay.Verdict{State: assay.VerdictAbstained, Why: "cannot tell"}
	if !p.choices[i].Quiet {
		said = p.rubric.Take(p.choices[i].said)
	}
	v, err := p.People.Verdict(t, person, said)
	if err != nil {
		return err
	}
	return p.People.Label(ctx, v)
}

// Withdraw takes back a person's label.
func (p *Panel) Withdraw(ctx context.Context, t analysis.Task, person string) error {
	v, err := p.People.Verdict(t, person, assay.Verdict{State: assay.VerdictMissing})
	if err == nil {
		_, err = p.People.Withdraw(ctx, v)
	}
	return err
}

// Clear reports which of two lanes is clearly the better one, from all verdicts of a stage so far. Groups are named as
// tasks name them.
func Clear(ctx context.Context, r *results.Reader, run store.Run, stage string) (func(group string, pairs int) bool, error) {
	wins := map[string]*[2]float64{}
	for v, err := range r.Ledger.Verdicts(ctx, run.No, stage) {
		if err != nil {
			return nil, err
		}
		two := script.ReadingOf(v.At)
		if two.Second == "" || two.Items || v.State != assay.VerdictValid {
			continue
		}
		group := min(two.First, two.Second) + "\x00" + max(two.First, two.Second)
		w := wins[group]
		if w == nil {
			w = &[2]float64{}
			wins[group] = w
		}
		first := firstShare(v.Label)
		if two.First > two.Second {
			first = 1 - first
		}
		w[0], w[1] = w[0]+first, w[1]+1-first
	}
	return func(group string, pairs int) bool {
		w := wins[group]
		return w != nil && adaptive.Clear(w[0], w[1], pairs)
	}, nil
}

// firstShare returns how much of a comparison the one shown first has won.
func firstShare(label string) float64 {
	switch label {
	case assay.LabelA:
		return 1
	case assay.LabelB:
		return 0
	}
	return 0.5
}
