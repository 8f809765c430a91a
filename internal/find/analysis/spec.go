package analysis

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/declare"
)

// Verb is the subject of a stage's verdicts.
type Verb string

// The verbs of stages that give verdicts.
const (
	Judged   Verb = "judge"   // single answers
	Compared Verb = "compare" // pairs
)

// Label is one label of a rubric.
type Label struct {
	Name  string
	Score *float64 // nil: none
}

// Stage describes the stage whose verdicts an analysis reads.
type Stage struct {
	Name            string
	Verb            Verb
	Items           bool     // items are compared with each other, not lanes
	Within          string   // of items: only those with the same value of this field met
	Flips           bool     // its verdicts are whether a later answer took back the first
	Weighed         bool     // its scores are means by how likely each label was: they count, and no label
	Labels          []Label  // in the order of the rubric; labels that rows have besides follow
	Low, High       *float64 // range of the score; nil: open
	Whole           bool     // scores are whole numbers
	Worst           *float64 // the bad end of the score; nil: none
	Judges          []string // the lanes that judge, as the study names them
	Ruled           bool     // a rule judges, or a program
	People          []string // the people who have given labels
	Unclear         int      // labels of theirs on two of which it was not clear which is better, and which were chosen for it
	Jury            string   // how judges decide together: majority, mean or unanimous; empty: they do not
	Decided         bool     // numbers rest on the joint decision of a jury or several draws; agreement, on each judge's
	Families        map[string]string
	Control         string              // what the branch that is a neutral re-ask is called; empty: there is none
	Gold, Validated bool                // the study has a file of gold labels; the judge is a rule
	Draw            *Draw               // the items that people are asked about; nil: nobody was asked
	Checked         *Checked            // how far they have; nil: not at all
	CheckedBy       map[string]*Checked // by judge
	Each            bool                // it judges the first answers of conversations and later ones alike
	Draws           int                 // how often the same question was drawn; 0 and 1: once
	Templates       int                 // in how many ways each item was asked; 0 and 1: in one
	Spent           *Spent              // on its answers and verdicts; nil: not known
	Lengths         bool                // rows have the lengths of answers
	Selected        string              // the stage after whose results the lanes were chosen; empty: none
	Rule            string              // how refused and cut answers count; empty: as answers
	Looked          *Looked             // earlier looks at fewer items; nil: there were none
	Rounds          *Rounds             // of a stage that buys its pairs in rounds; nil: it does not

	Baselines map[string]Baseline // by name, of those that analyses hold lanes against

	Known map[string]map[string]string // of items that are compared: by field and item, as far as an analysis asks
}

// Baseline is an earlier run that lanes are held against.
type Baseline struct {
	Run  string // its id
	Left int    // items that both runs have and that were changed in between: they are left out
	Why  string // why it cannot be read; empty: it can
}

// WorstLabel returns the label at the bad end; empty: none.
func (s *Stage) WorstLabel() string {
	for _, l := range s.Labels {
		if s.Worst != nil && l.Score != nil && *l.Score == *s.Worst {
			return l.Name
		}
	}
	return ""
}

// Machines reports whether any judge is not a person.
func (s *Stage) Machines() bool { return len(s.Judges) > 0 || s.Ruled }

// IsControl reports whether a branch is a neutral re-ask: where conversations branch more than once, the control is the
// last part of its branch.
func (s *Stage) IsControl(branch string) bool {
	return s.Control != "" && (branch == s.Control || strings.HasSuffix(branch, "/"+s.Control))
}

// Yes returns the labels that the rate of the stage counts: a flip of any kind, or the one label of two that scores 1.
func (s *Stage) Yes() []string {
	var out []string
	for _, l := range s.Labels {
		switch {
		case s.Weighed, l.Score == nil, !s.Flips && *l.Score != 0 && *l.Score != 1:
			return nil
		case *l.Score > 0:
			out = append(out, l.Name)
		}
	}
	return out
}

// Method is a way to analyse.
type Method string

// The methods, as studies name them.
const (
	Rates       Method = "rate"
	Flips       Method = "flips"
	BradleyT    Method = "bradley-terry"
	Davidson    Method = "davidson"
	Elo         Method = "elo"
	WinRate     Method = "win-rate"
	Agreement   Method = "agreement"
	Validity    Method = "validity"
	Length      Method = "length"
	Variance    Method = "variance"
	Position    Method = "positional-bias"
	Consistency Method = "consistency"
	Ranking     Method = "ranking"      // places with their errors, best first
	Stances     Method = "stances"      // flips by conversation, from stances or from verdicts on flips
	FlipCounts  Method = "flip-counts"  // how often each question held, was weakened, was taken back
	Correlation Method = "correlation"  // of what was found with what is known
	Items       Method = "items"        // which items discriminate between lanes
	SideBySide  Method = "side-by-side" // lanes of all stages that push back
	JudgeBias   Method = "judge-bias"   // what is known of the bias of each judge
	NoWorse     Method = "no-worse"     // whether lanes are no worse than a baseline, by a margin
)

// Methods lists the methods that suit a verb, the usual one first.
func Methods(v Verb) []Method {
	if v == Compared {
		return []Method{BradleyT, Davidson, Elo, WinRate, Position, Consistency, JudgeBias, Agreement, Validity, Length, Ranking,
			Correlation, Items}
	}
	return []Method{Rates, Flips, JudgeBias, Agreement, Validity, Length, Variance, NoWorse, Ranking, Stances, FlipCounts,
		SideBySide, Correlation, Items}
}

// Spec is one analysis to do.
type Spec struct {
	Stage    string
	Method   Method          // empty: the usual one of the stage
	By       []string        // fields; empty: lane for rates, none for comparisons
	Primary  bool            // declared before the data
	Explores bool            // it is primary in the study, and asked for otherwise here
	Late     *declare.Moment // when it was declared primary, where verdicts were there by then; nil: it was not
	Keep     func(*Row) bool // nil: all rows
	Firsts   bool            // Keep leaves the first answers of conversations, and nothing else
	Gates    bool            // for conditions alone: its tables are not shown
	Settings

	Entrants string // of comparisons: the setting of lanes that is ranked in place of lanes; empty: lanes

	ForLeaderboard bool // for the leaderboard of the stage alone: its tables are not shown
	ForSides       bool // for what is put side by side alone: its tables are not shown
}

// EachJudge reports whether the analysis is about each judge, not about what a jury decides.
func (s *Spec) EachJudge() bool {
	return s.Method == Agreement || s.Method == Validity || s.Method == JudgeBias
}

// EachVerdict reports whether the analysis reads each verdict, not what a jury or several draws decide.
func (s *Spec) EachVerdict() bool { return s.EachJudge() || s.Method == Variance }

// ungrouped reports whether a method has groups of its own, and no others.
func (s *Spec) ungrouped() bool { return s.EachJudge() || s.Method == SideBySide }

// whole is no field at all: the stage is reported as a whole.
func whole() []string { return []string{} }

// Default returns the analyses of a stage for which the study declares none.
func Default(s Stage) []Spec {
	var out []Spec
	if s.Verb == Compared {
		for _, m := range []Method{BradleyT, WinRate, Elo, Consistency} {
			out = append(out, Spec{Stage: s.Name, Method: m})
		}
	} else {
		out = append(out, Spec{Stage: s.Name, Method: Rates})
	}
	if s.Flips {
		out = append(out, Spec{Stage: s.Name, Method: Flips})
	}
	if (s.Draws > 1 || s.Templates > 1) && s.Verb == Judged {
		out = append(out, Spec{Stage: s.Name, Method: Variance})
	}
	if s.Machines() && (s.Gold || len(s.People) > 0) {
		out = append(out, Spec{Stage: s.Name, Method: Validity})
	}
	if len(s.Judges)+len(s.People) > 1 {
		out = append(out, Spec{Stage: s.Name, Method: Agreement})
	}
	if len(s.Judges) > 0 || s.Verb == Compared {
		out = append(out, Spec{Stage: s.Name, Method: JudgeBias})
	}
	return out
}

// Check reports what is wrong with an analysis of a stage.
func (s Spec) Check(stage *Stage) error {
	_, err := s.Filled(stage)
	return err
}

// Filled returns the spec with its defaults, or what is wrong with it.
func (s Spec) Filled(stage *Stage) (Spec, error) {
	usual := Methods(stage.Verb)
	s.Method = s.method(stage)
	if !slices.Contains(usual, s.Method) {
		var names []string
		for _, m := range usual {
			names = append(names, string(m))
		}
		return s, fmt.Errorf("analyse stage %s: %q does not suit a stage that %ss (%s)", s.Stage, s.Method, stage.Verb,
			assay.ThereAre(names))
	}
	if why := stage.lacks(s.Method); why != "" {
		return s, fmt.Errorf("analyse stage %s: %s", s.Stage, why)
	}
	if why := s.Settings.suit(s.Method, stage.Verb); why != "" {
		return s, fmt.Errorf("analyse stage %s: %s", s.Stage, why)
	}
	if s.Method == Items {
		s.By = withoutLane(s.By)
		return s, nil
	}
	if len(s.By) > 0 && s.ungrouped() {
		return s, fmt.Errorf("analyse stage %s: %s by %s: it is not grouped; a condition (where) leaves rows out", s.Stage, s.Method,
			strings.Join(s.By, ", "))
	}
	if s.Method == SideBySide {
		s.By = []string{ByLane, BySource}
	}
	if s.By == nil && s.Method == FlipCounts {
		s.By = []string{ByItem}
	}
	if s.By == nil && s.Method != Length && stage.Verb == Judged {
		s.By = []string{ByLane}
		if s.Method == Flips {
			s.By = append(s.By, ByBranch)
		}
	}
	if s.Method == NoWorse && !slices.Contains(s.By, ByLane) {
		s.By = append([]string{ByLane}, s.By...)
	}
	if stage.Verb == Compared && slices.Contains(s.By, ByLane) {
		s.By = slices.DeleteFunc(slices.Clone(s.By), func(f string) bool { return f == ByLane }) // its lanes are ranked
	}
	return s.ranked(stage)
}

// Suits reports whether a stage has what a method needs.
func (s *Stage) Suits(m Method) bool { return slices.Contains(Methods(s.Verb), m) && s.lacks(m) == "" }

// lacks returns what a method needs and a stage does not have; empty: nothing.
func (s *Stage) lacks(m Method) string {
	switch m {
	case Items:
		if s.Items {
			return "items needs lanes that are compared on them (compare: STAGE): here items compete"
		}
	case Correlation:
		if s.Verb == Compared && !s.Items {
			return "a correlation needs items that are compared (compare: INPUT): lanes have no field of items"
		}
	case Stances, FlipCounts, SideBySide:
		if !s.Flips && !slices.ContainsFunc(s.Labels, func(l Label) bool { return l.Name == StanceOpen }) {
			return fmt.Sprintf("%s needs verdicts on flips (rubric: flip), or stances with the label %s (rubric: stance or "+
				"stance_keywords)", m, StanceOpen)
		}
	}
	return ""
}

// method returns the one that is asked for, else the usual one of the stage.
func (s Spec) method(stage *Stage) Method {
	switch {
	case s.Method != "":
		return s.Method
	case stage.Flips:
		return Flips
	}
	return Methods(stage.Verb)[0]
}

// ranked returns the spec of a stage that compares, with what it ranks: a setting of the lanes where it is grouped by
// one.
func (s Spec) ranked(stage *Stage) (Spec, error) {
	if stage.Verb != Compared || s.EachJudge() || s.Method == Length {
		return s, nil
	}
	if s.Method == Position || s.Method == Consistency {
		return s, s.ofJudges(stage)
	}
	if stage.Within != "" && !slices.Contains(s.By, stage.Within) { // groups that never met have no ranking in common
		s.By = append(slices.Clone(s.By), stage.Within)
	}
	for _, f := range s.By {
		setting, ok := settingOf(f)
		switch {
		case !ok, f == stage.Within:
		case stage.Items:
			return s, fmt.Errorf("analyse stage %s: by %s: items are compared there, not answers of lanes", s.Stage, f)
		case s.Entrants != "":
			return s, fmt.Errorf("analyse stage %s: by %s and %s: comparisons rank one of them at a time", s.Stage, s.Entrants, f)
		default:
			s.Entrants = setting
		}
	}
	s.By = slices.DeleteFunc(slices.Clone(s.By), func(f string) bool { setting, ok := settingOf(f); return ok && setting == s.Entrants })
	return s, nil
}

// ofJudges returns what is wrong with the groups of an analysis about judges: they see both of a pair, and of consistency both
// orders. A field of the items may have the name of a setting.
func (s Spec) ofJudges(stage *Stage) error {
	for _, f := range s.By {
		setting, ok := settingOf(f)
		switch {
		case f == ByDirection && s.Method == Consistency:
			return fmt.Errorf("analyse stage %s: %s by %s: it holds the two directions against each other", s.Stage, s.Method, f)
		case ok && !(stage.Items && f == setting):
			return fmt.Errorf("analyse stage %s: %s by %s: a pair has two lanes; judge.%s is the judge's", s.Stage, s.Method, f, setting)
		}
	}
	return nil
}

// withoutLane are fields to group by, lanes left out: items discriminate between them.
func withoutLane(by []string) []string {
	out := slices.DeleteFunc(slices.Clone(by), func(f string) bool { return f == ByLane || f == ByItem })
	if out == nil {
		return whole()
	}
	return out
}

// RanksLanes reports whether the table of a spec ranks what its stage is about.
func (s *Spec) RanksLanes(stage *Stage) bool {
	switch s.Method {
	case BradleyT, Davidson, Ranking:
		return true
	case Rates:
		return slices.Equal(s.By, []string{ByLane}) && (!stage.Each || s.ForLeaderboard)
	case Flips:
		return stage.Flips && slices.Equal(FlipGroups(s.By), []string{ByLane})
	}
	return false
}

// ByAnswers reports whether flips are reported branch by branch and turn by turn, not of all answers under pressure together.
func (s *Spec) ByAnswers() bool {
	return slices.Contains(s.By, ByBranch) || slices.Contains(s.By, ByTurn)
}

// FlipGroups returns the fields that conversations are grouped by.
func FlipGroups(by []string) []string {
	return slices.DeleteFunc(slices.Clone(by), func(name string) bool { return name == ByBranch || name == ByTurn })
}

// LeaderboardSpec returns an analysis that ranks the lanes of a stage, for a stage of which no analysis does; its tables
// are not shown.
func LeaderboardSpec(stage *Stage, specs []Spec) Spec {
	out := Spec{Stage: stage.Name, Method: Rates, ForLeaderboard: true}
	switch {
	case stage.Verb == Compared:
		out.Method = BradleyT
	case stage.Flips:
		out.Method = Flips
	}
	out = out.like(specs)
	if stage.Each && out.Method == Rates { // first, pressed and control answers are three questions: lanes are ranked by the first
		out.Keep, out.Firsts = firstAnswers(out.Keep), out.Keep == nil
	}
	return out
}

// LessIsBetter reports whether a low value is the good one.
func (s *Stage) LessIsBetter() bool {
	return s.Flips || s.Worst != nil && s.High != nil && *s.Worst == *s.High && (s.Low == nil || *s.Low < *s.High)
}

// The stances that a flip goes from and to, where items name no expected one, and the one between.
const (
	StanceHeld = "unsafe"
	StanceOpen = "unclear"
)

// CountingRule returns how refused and cut answers count, in words.
func (s *Stage) CountingRule() string {
	if s.Rule == "" {
		return "refused and cut answers count as answers"
	}
	return s.Rule
}
