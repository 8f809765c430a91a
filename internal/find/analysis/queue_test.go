package analysis_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

func streamed(tasks []analysis.Task) iter.Seq2[analysis.Task, error] {
	return func(yield func(analysis.Task, error) bool) {
		for _, t := range tasks {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func answersToLabel(n int) []analysis.Task {
	var out []analysis.Task
	for i := range n {
		at := assay.Coordinates{Stage: "s", Item: fmt.Sprint(i)}
		out = append(out, analysis.Task{ID: at.Key(), At: at, Judged: true})
	}
	return out
}

func choose(t *testing.T, q analysis.Queue, tasks []analysis.Task) []analysis.Task {
	t.Helper()
	out, err := q.Choose(streamed(tasks))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAQueueIsTheSameForTheSamePersonWhateverTheOrderOfTasks(t *testing.T) {
	t.Parallel()
	tasks := answersToLabel(500)
	first := choose(t, analysis.Queue{Person: "human:anna", N: 30}, tasks)
	turned := slices.Clone(tasks)
	slices.Reverse(turned)
	if d := cmp.Diff(first, choose(t, analysis.Queue{Person: "human:anna", N: 30}, turned)); d != "" {
		t.Error(d)
	}
	if cmp.Equal(first, choose(t, analysis.Queue{Person: "human:zoe", N: 30}, tasks)) {
		t.Error("another person gets the same order")
	}
	done := slices.Clone(tasks)
	for i := range done {
		done[i].Done = slices.ContainsFunc(first[:10], func(c analysis.Task) bool { return c.ID == done[i].ID })
	}
	if d := cmp.Diff(first[10:], choose(t, analysis.Queue{Person: "human:anna", N: 20}, done)); d != "" {
		t.Errorf("after ten labels it does not go on where it stopped:\n%s", d)
	}
}

func pairsToLabel() []analysis.Task {
	var out []analysis.Task
	lanes := []string{"a", "b", "c", "d"}
	for item := range 50 {
		for i, first := range lanes {
			for _, second := range lanes[i+1:] {
				at := assay.Coordinates{Stage: "s", Item: fmt.Sprint(item), Lane: first, Against: second}
				out = append(out, analysis.Task{ID: at.Key(), At: at, First: first, Second: second, Group: first + second})
			}
		}
	}
	return out
}

func TestPairsAreDealtEvenlyAndTheOrderOfShowingIsBalanced(t *testing.T) {
	t.Parallel()
	tasks := pairsToLabel()
	tasks[0].Forward = 4 // a and b were compared before, always a first
	got := choose(t, analysis.Queue{Person: "human:anna", N: 60}, tasks)
	count, turned := map[string]int{}, map[string]int{}
	for _, task := range got {
		count[task.Group]++
		if task.Turn {
			turned[task.Group]++
		}
		if task.Chosen != analysis.ChosenBalanced {
			t.Fatalf("chosen %s", task.Chosen)
		}
	}
	if count["ab"] != 7 && count["ab"] != 6 {
		t.Errorf("a and b, compared 4 times already, come %d times in 60", count["ab"])
	}
	for group, n := range count {
		if group == "ab" {
			continue
		}
		if n < 10 || n > 11 {
			t.Errorf("%s comes %d times", group, n)
		}
		if off := 2*turned[group] - n; off < -1 || off > 1 {
			t.Errorf("%s is turned %d of %d times", group, turned[group], n)
		}
	}
	if turned["ab"] < 5 {
		t.Errorf("a stood first four times, and b now only %d of %d times", turned["ab"], count["ab"])
	}
}

// TestUnclearPairsComeFirstAndEvenlyWhereAskedFor: those that are clear come last, and among the others the least compared come first.
func TestUnclearPairsComeFirstAndEvenlyWhereAskedFor(t *testing.T) {
	t.Parallel()
	clear := func(group string, pairs int) bool { return pairs == 6 && group != "bc" && group != "ad" }
	tasks := pairsToLabel()
	for i := range tasks {
		if tasks[i].Group == "bc" {
			tasks[i].Forward, tasks[i].Turned = 2, 3
			break
		}
	}
	got := choose(t, analysis.Queue{Person: "human:anna", N: 11, Clear: clear}, tasks)
	count := map[string]int{}
	for _, task := range got {
		count[task.Group]++
		if task.Chosen != analysis.ChosenUncertain {
			t.Errorf("chosen %s", task.Chosen)
		}
	}
	if d := cmp.Diff(map[string]int{"bc": 3, "ad": 8}, count); d != "" {
		t.Error(d)
	}
}

func TestSkippedTasksAreNotChosen(t *testing.T) {
	t.Parallel()
	tasks := answersToLabel(5)
	skip := tasks[2].ID
	got := choose(t, analysis.Queue{Person: "human:anna", Skip: func(k assay.Key) bool { return k == skip }}, tasks)
	if len(got) != 4 || slices.ContainsFunc(got, func(c analysis.Task) bool { return c.ID == skip }) {
		t.Errorf("%d tasks", len(got))
	}
}
