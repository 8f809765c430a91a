package people

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/keep/store"
)

// Differing returns the answers on which people differ and that nobody has decided, with what was said of each. Those that the person
// has labelled are left out: others decide.
func (s *Stage) Differing(ctx context.Context, q analysis.Queue) ([]analysis.Task, error) {
	said, left := map[store.Task]map[string]int{}, map[store.Task]bool{}
	for v, err := range s.Reader.PeopleVerdicts(ctx, s.Run.No, s.Name) {
		if err != nil {
			return nil, err
		}
		about := v.Task()
		if chosen, _ := ChosenAs(&v); chosen == analysis.ChosenAdjudicated || v.At.Judge == q.Person {
			left[about] = true
		}
		if v.State != assay.VerdictValid {
			continue
		}
		if said[about] == nil {
			said[about] = map[string]int{}
		}
		said[about][Word(&v)]++
	}
	var out []analysis.Task
	for t, err := range s.Tasks(ctx) {
		if err != nil {
			return nil, err
		}
		v := store.Verdict{At: t.At}
		if err := s.aim(&v); err != nil {
			return nil, err
		}
		words := said[v.Task()]
		if len(words) < 2 || left[v.Task()] || q.Skip != nil && q.Skip(t.ID) {
			continue
		}
		var all []string
		for _, word := range slices.Sorted(maps.Keys(words)) {
			all = append(all, fmt.Sprintf("%s: %d", word, words[word]))
		}
		t.Chosen, t.Said = analysis.ChosenAdjudicated, strings.Join(all, ", ")
		if out = append(out, t); q.N > 0 && len(out) == q.N {
			break
		}
	}
	return out, nil
}

// Word returns what a person said in a word: the label, else the score.
func Word(v *store.Verdict) string {
	if v.Label == "" && v.Score != nil {
		return fmt.Sprint(*v.Score)
	}
	return v.Label
}
