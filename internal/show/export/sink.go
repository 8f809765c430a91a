package export

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export/table"
)

// Sink takes the content of files of another program, as they are read: items, answers and verdicts, in the form of our
// own tables. Nothing is held but a hash for each item and answer.
type Sink struct {
	Item    func(*rows.Item) error
	Answer  func(*rows.Answer) error
	Verdict func(*rows.Verdict) error
	Bad     table.Report
	Note    func(string) // takes remarks that are no problems; nil: they are dropped

	items   map[[16]byte]bool
	answers map[[16]byte]bool
}

// AddItem hands an item on, once.
func (s *Sink) AddItem(it *rows.Item) error {
	if !fresh(&s.items, it.Input, it.Item) {
		return nil
	}
	return s.Item(it)
}

// AddAnswer hands an answer on; false where there is one to the same question.
func (s *Sink) AddAnswer(r *rows.Answer) (bool, error) {
	if !fresh(&s.answers, r.Stage, r.Item, r.Lane, r.Template, r.Branch, fmt.Sprint(r.Turn, r.Draw)) {
		return false, nil
	}
	return true, s.Answer(r)
}

// Notef hands on a note that is no problem.
func (s *Sink) Notef(format string, args ...any) {
	if s.Note != nil {
		s.Note(fmt.Sprintf(format, args...))
	}
}

// fresh notes names by their hash; it reports whether they are new.
func fresh(seen *map[[16]byte]bool, names ...string) bool {
	if *seen == nil {
		*seen = map[[16]byte]bool{}
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	key := [16]byte(sum[:16])
	if (*seen)[key] {
		return false
	}
	(*seen)[key] = true
	return true
}

// NameOf returns the name that was escaped to name a file or folder.
func NameOf(spelt string) string {
	if name, err := url.PathUnescape(spelt); err == nil {
		return name
	}
	return spelt
}

// StageName makes a stage's name out of any text.
func StageName(text, otherwise string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case c >= 'a' && c <= 'z', b.Len() > 0 && (c >= '0' && c <= '9' || c == '_'):
			b.WriteRune(c)
		case b.Len() > 0:
			b.WriteByte('_')
		}
	}
	if name := strings.Trim(b.String(), "_"); name != "" {
		return name
	}
	return otherwise
}

// ValidVerdict returns a verdict with a label and a score.
func ValidVerdict(label string, score float64) *rows.Verdict {
	return &rows.Verdict{State: assay.VerdictValid, Label: label, Score: &score}
}

// InvalidVerdict returns a verdict without a score, and why it has none.
func InvalidVerdict(s assay.VerdictState, why string) *rows.Verdict {
	if !slices.Contains(assay.VerdictStates(), s) || s == assay.VerdictValid { // a label that has no score, or a word of another program
		s, why = assay.VerdictMalformed, strings.TrimSpace(fmt.Sprintf("%q is not a reading; %s", string(s), why))
	}
	return &rows.Verdict{State: s, Reason: why}
}

// LaneOfModel returns a model's name as the name of a lane.
func LaneOfModel(model string) string { return cmp.Or(LaneName(path.Base(model)), "model") }

// LaneName spells any text as a lane's name is spelt.
func LaneName(text string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c) {
			return c
		}
		return '-'
	}, text), "-._")
}

// MaxShown is how many bytes of an id a message shows.
const MaxShown = 80

// Plural returns a number with the noun for one or for many.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return assay.Thousands(n) + " " + many
}
