package analysis

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/find/stats"
)

// Settings are the options of one analysis; zero: the usual ones.
type Settings struct {
	Ridge     float64      // of strengths: lambda of the penalty lambda/2 * sum of squares
	Firth     bool         // of strengths: Jeffreys' penalty
	K         float64      // of Elo: what a surprise is worth
	Start     stats.Number // of Elo: where all begin
	Orders    int          // of Elo: random orders
	Bootstrap int          // resamples
	Seed      uint64       // of resamples and orders
	Level     float64      // of intervals
	With      string       // of a correlation: the field of the items that holds what is known
	Control   Controls     // of strengths: the features of style that are taken out
	Margin    float64      // of no-worse: hundredths of what the stage measures that may be lost at most
	Baseline  string       // of no-worse: the run or bundle that lanes are held against; empty: the same run
	Against   string       // of no-worse: the lane that all are held against; empty: each is held against itself
}

// option is one of the settings, by the name that studies and flags use.
type option struct {
	name  string
	set   func(*Settings) bool
	copy  func(to, from *Settings)
	known func(Method, Verb) bool
}

func options() []option {
	strengths := func(m Method, v Verb) bool {
		return v == Compared && slices.Contains([]Method{BradleyT, Davidson, Ranking, Correlation}, m)
	}
	elo := func(m Method, _ Verb) bool { return m == Elo }
	noWorse := func(m Method, _ Verb) bool { return m == NoWorse }
	resampled := func(m Method, v Verb) bool {
		return strengths(m, v) || slices.Contains([]Method{Position, Consistency, Length}, m)
	}
	return []option{
		{"ridge", func(s *Settings) bool { return s.Ridge != 0 }, func(to, from *Settings) { to.Ridge = from.Ridge }, strengths},
		{"firth", func(s *Settings) bool { return s.Firth }, func(to, from *Settings) { to.Firth = from.Firth },
			func(m Method, v Verb) bool { return strengths(m, v) && m != Davidson }},
		{"k", func(s *Settings) bool { return s.K != 0 }, func(to, from *Settings) { to.K = from.K }, elo},
		{"start", func(s *Settings) bool { return s.Start.OK }, func(to, from *Settings) { to.Start = from.Start }, elo},
		{"orders", func(s *Settings) bool { return s.Orders != 0 }, func(to, from *Settings) { to.Orders = from.Orders }, elo},
		{"bootstrap", func(s *Settings) bool { return s.Bootstrap != 0 },
			func(to, from *Settings) { to.Bootstrap = from.Bootstrap }, resampled},
		{"seed", func(s *Settings) bool { return s.Seed != 0 }, func(to, from *Settings) { to.Seed = from.Seed },
			func(m Method, v Verb) bool { return resampled(m, v) || m == Elo }},
		{"level", func(s *Settings) bool { return s.Level != 0 }, func(to, from *Settings) { to.Level = from.Level },
			func(Method, Verb) bool { return true }},
		{"control", func(s *Settings) bool { return s.Control != 0 }, func(to, from *Settings) { to.Control = from.Control },
			func(m Method, v Verb) bool { return v == Compared && (m == BradleyT || m == Davidson) }},
		{"with", func(s *Settings) bool { return s.With != "" }, func(to, from *Settings) { to.With = from.With },
			func(m Method, _ Verb) bool { return m == Correlation }},
		{"margin", func(s *Settings) bool { return s.Margin != 0 }, func(to, from *Settings) { to.Margin = from.Margin }, noWorse},
		{"baseline", func(s *Settings) bool { return s.Baseline != "" }, func(to, from *Settings) { to.Baseline = from.Baseline }, noWorse},
		{"against", func(s *Settings) bool { return s.Against != "" }, func(to, from *Settings) { to.Against = from.Against }, noWorse},
	}
}

// Problem returns what is wrong with a setting by itself; empty: nothing.
func (s Settings) Problem() string {
	switch {
	case s.Ridge < 0 || s.Ridge > 1e9:
		return fmt.Sprintf("ridge %g: want a number above 0, such as 0.5", s.Ridge)
	case s.Ridge > 0 && s.Firth:
		return "ridge and firth are two penalties: want one of them"
	case s.Control != 0 && (s.Ridge > 0 || s.Firth):
		return "control goes without ridge and firth"
	case s.K < 0 || s.K > 1e6:
		return fmt.Sprintf("k %g: want a number above 0, such as 32", s.K)
	case s.Orders < 0 || s.Orders > 100_000:
		return fmt.Sprintf("orders %d: want 1 to 100,000", s.Orders)
	case s.Bootstrap != 0 && (s.Bootstrap < 50 || s.Bootstrap > 1_000_000):
		return fmt.Sprintf("bootstrap %d: want 50 to 1,000,000 resamples", s.Bootstrap)
	case s.Level != 0 && !(s.Level > 0.5 && s.Level < 1):
		return fmt.Sprintf("level %g: want a share between 0.5 and 1, such as 0.95", s.Level)
	case s.Margin != 0 && !(s.Margin >= 0.1 && s.Margin <= 99):
		return fmt.Sprintf("margin %g: want 0.1pt to 99pt", s.Margin)
	}
	return ""
}

// suit returns why a method of a stage does not take one of the settings; empty: it takes them all.
func (s Settings) suit(m Method, v Verb) string {
	for _, o := range options() {
		if o.set(&s) && !o.known(m, v) {
			return fmt.Sprintf("%s does not belong to method %s (it is of %s)", o.name, m, strings.Join(o.methods(), ", "))
		}
	}
	if m == Correlation && s.With == "" {
		return "a correlation needs the field that holds what is known: with: FIELD, or --with FIELD"
	}
	switch {
	case m != NoWorse:
	case s.Margin == 0:
		return "no-worse needs what may be lost at most: margin: 2pt, or --margin 2pt"
	case s.Baseline == "" && s.Against == "":
		return "no-worse needs what lanes are held against: baseline: RUN (or a bundle), against: LANE, or both"
	}
	return s.Problem()
}

// methods returns those that take an option.
func (o option) methods() []string {
	var out []string
	for _, v := range []Verb{Judged, Compared} {
		for _, m := range Methods(v) {
			if o.known(m, v) && !slices.Contains(out, string(m)) {
				out = append(out, string(m))
			}
		}
	}
	return out
}

// Apply sets, in the settings of several analyses, what each of them takes. It returns the name of an option that none
// of them takes, with the methods that would.
func Apply(from Settings, stages []Stage, specs []Spec) (name string, methods []string) {
	verbs := map[string]*Stage{}
	for i := range stages {
		verbs[stages[i].Name] = &stages[i]
	}
	for _, o := range options() {
		if !o.set(&from) {
			continue
		}
		taken := false
		for i := range specs {
			if st := verbs[specs[i].Stage]; st != nil && o.known(specs[i].method(st), st.Verb) {
				o.copy(&specs[i].Settings, &from)
				taken = true
			}
		}
		if !taken {
			return o.name, o.methods()
		}
	}
	return "", nil
}

// With returns the options of one analysis.
func (o Options) With(s Settings) Options {
	if s.Level != 0 {
		o.Level = s.Level
	}
	if s.Bootstrap != 0 {
		o.Resamples = s.Bootstrap
	}
	if s.Seed != 0 {
		o.Seed = s.Seed
	}
	return o
}

// Options are the settings of a report. The zero value is 95% intervals and a thousand resamples.
type Options struct {
	Level     float64
	Resamples int
	Seed      uint64
}

// Filled returns the options with the usual values in place of zeros.
func (o Options) Filled() Options {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Resamples == 0 {
		o.Resamples = 1000
	}
	return o
}

// Spent is what the answers and verdicts of a stage cost, in dollars; a lane or judge whose price is not known is not in it.
type Spent struct {
	Answers  map[string]float64 // by lane, with all that came before in its conversations
	Verdicts map[string]float64 // by judge
}
