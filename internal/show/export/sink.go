package export

import (
	"assay/internal/find/results"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Sink is what files of another program are read into, as they are read: items, answers and verdicts, in the form of our
// own tables. Nothing is held but a hash for each item and answer.
type Sink struct {
	Item    func(*results.Item) error
	Answer  func(*results.Answer) error
	Verdict func(*results.Verdict) error
	Bad     Bad
	Note    func(string) // takes what is worth a word and no problem; nil: nothing does

	items   map[[16]byte]bool
	answers map[[16]byte]bool
}

// maxDocument bounds a JSON file that is read whole.
const maxDocument = 256 << 20

// item hands an item on, once.
func (s *Sink) item(it *results.Item) error {
	if !fresh(&s.items, it.Input, it.Item) {
		return nil
	}
	return s.Item(it)
}

// answer hands an answer on; false where there is one to the same question.
func (s *Sink) answer(r *results.Answer) (bool, error) {
	if !fresh(&s.answers, r.Stage, r.Item, r.Lane, r.Template, r.Branch, fmt.Sprint(r.Turn, r.Draw)) {
		return false, nil
	}
	return true, s.Answer(r)
}

func (s *Sink) note(format string, args ...any) {
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

// filesUnder lists the files of a tree with a suffix, by path. Links are not followed.
func filesUnder(tree fs.FS, suffix string) ([]string, error) {
	var out []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && strings.EqualFold(path.Ext(name), suffix) {
			out = append(out, name)
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}

// readDocument reads a JSON file whole.
func readDocument(tree fs.FS, name string) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = fmt.Errorf("it has more than %d MB", maxDocument>>20)
	}
	return text, err
}

// nameOf is the name that a file or folder is spelt after.
func nameOf(spelt string) string {
	if name, err := url.PathUnescape(spelt); err == nil {
		return name
	}
	return spelt
}

// stageName makes a stage's name out of any text.
func stageName(text, otherwise string) string {
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

func valid(label string, score float64) *results.Verdict {
	return &results.Verdict{State: string(assay.VerdictValid), Label: label, Score: &score}
}

func without(s assay.VerdictState, why string) *results.Verdict {
	if !slices.Contains(assay.VerdictStates(), s) || s == assay.VerdictValid { // a label that has no score, or a word of another program
		s, why = assay.VerdictMalformed, strings.TrimSpace(fmt.Sprintf("%q is not a reading; %s", string(s), why))
	}
	return &results.Verdict{State: string(s), Reason: why}
}
