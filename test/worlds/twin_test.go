package worlds

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/test/worlds/recount"
)

// findings are what a history ended with: answers and verdicts by what they are about.
type findings struct {
	answers, verdicts map[string]string
}

// calm returns the world without anything that goes wrong: no fault, no kill, no second process.
func (w World) calm() World {
	w.Faults, w.Actions = nil, slices.Clone(w.Actions)
	for i := range w.Actions {
		w.Actions[i].End, w.Actions[i].Aside = ending{}, nil
	}
	return w
}

// comparable reports whether the person does the same however things go: what is edited while a run is open is another story than
// what is edited after it, and so is what is cancelled or asked again.
func (w World) comparable() bool {
	return !slices.ContainsFunc(w.Actions, func(a Action) bool {
		return !slices.Contains([]string{"run", "resume", doWait, doRead, doClock}, a.Do)
	})
}

// edited returns the world of somebody who had the study of the end from the beginning, and nothing goes wrong; false: that is another
// story, since something was asked again on purpose, cancelled or held back by a budget.
func (w World) edited(end Study) (World, bool) {
	plain := w.Study.Budget == 0 && end.Budget == 0 && !slices.ContainsFunc(w.Actions, func(a Action) bool {
		return a.Do == "cancel" || a.Do == "redo" || strings.Contains(a.Edit, "budget")
	})
	return World{Seed: w.Seed, Study: end, Queue: w.Queue, Thorough: w.Thorough,
		Actions: []Action{{Do: "run", Args: []string{"run", "study.yaml", "--yes"}}}}, plain
}

// lossy reports whether a fault of the world may leave requests without an answer, or give them another one.
func (w World) lossy() bool {
	return slices.ContainsFunc(w.Faults, func(f string) bool {
		losing := []string{"refuse", "fail-lines", "expire", "missing", "malformed", "error-200 x3", "404 x60", "no-output for"}
		often := strings.Contains(f, " ask ") && strings.Contains(f, "x5") // may hit one request at each of its tries
		return often || slices.ContainsFunc(losing, func(word string) bool { return strings.Contains(f, word) })
	})
}

// export writes the tables of the newest run: in one of three worlds as CSV, in the others as JSON, which checkNumbers reads as well.
func (h *history) export(ctx context.Context) error {
	s := h.assay(ctx, ending{}, "export", "--format", h.format(), "--out", "tables", "--replace")
	if s.code != 0 {
		return breaks(L5, s.String(), "what is kept can be exported", "exit %d", s.code)
	}
	return nil
}

func (h *history) format() string {
	if h.shows(2) {
		return "csv"
	}
	return "jsonl"
}

// table reads one of them as values by keys, both made of columns. A key that is there twice is an error.
func (h *history) table(name, keys, values string) (map[string]string, error) {
	name += "." + h.format()
	file := filepath.Join(h.dir, "tables", name)
	read := csvRows
	if h.format() == "jsonl" {
		read = jsonRows
	}
	rows, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	part := func(row map[string]string, columns string) string {
		var all []string
		for c := range strings.FieldsSeq(columns) {
			all = append(all, row[c])
		}
		return strings.Join(all, "|")
	}
	table := map[string]string{}
	for _, row := range rows {
		k := part(row, keys)
		if _, twice := table[k]; twice {
			return nil, breaks(L8, file, "a row for each answer and verdict", "%s is there twice", k)
		}
		table[k] = part(row, values)
	}
	return table, nil
}

// csvRows reads a table under its heading.
func csvRows(file string) ([]map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("no table: %w", err)
	}
	var all []map[string]string
	for _, row := range rows[1:] {
		one := map[string]string{}
		for i, name := range rows[0] {
			one[name] = row[i]
		}
		all = append(all, one)
	}
	return all, nil
}

// jsonRows reads a table of JSON lines.
func jsonRows(file string) ([]map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := recount.ReadRows[map[string]any](f)
	var all []map[string]string
	for _, row := range rows {
		one := map[string]string{}
		for name, v := range row {
			if v != nil {
				one[name] = fmt.Sprint(v)
			}
		}
		all = append(all, one)
	}
	return all, err
}

// found reads what the newest run has found by models, programs and rules, from its tables.
func (h *history) found() (findings, error) {
	answers, err := h.table("answers", "stage item lane template turn branch draw pair judge vote", "ending text")
	verdicts, more := h.table("verdicts", "stage item lane turn branch draw pair direction judge vote",
		"state label score")
	maps.DeleteFunc(verdicts, func(key, _ string) bool { return strings.Contains(key, "|human:") })
	return findings{answers, verdicts}, errors.Join(err, more)
}

// withoutPairs forgets comparisons.
func (f findings) withoutPairs() {
	of := func(key, _ string) bool { return strings.HasPrefix(key, "arena|") }
	maps.DeleteFunc(f.answers, of)
	maps.DeleteFunc(f.verdicts, of)
}

// likeCalm holds what was found against what the same world finds when nothing goes wrong.
func (got findings) likeCalm(l law, want findings, lossy bool) error {
	other := map[string]bool{} // conversations in which the provider gave another answer, after which all that follows is another
	for k, v := range want.answers {
		if g, there := got.answers[k]; lossy && (!there || strings.SplitAfter(g, "|")[0] != strings.SplitAfter(v, "|")[0]) {
			other[conversation(k, 6)] = true
			other[itemOf(k)] = true
		}
	}
	for _, t := range []struct {
		name      string
		draw      int // its place in a key
		got, want map[string]string
	}{{"answer", 6, got.answers, want.answers}, {"verdict", 5, got.verdicts, want.verdicts}} {
		for _, k := range slices.Sorted(maps.Keys(t.want)) {
			v, there := t.got[k]
			if there && v == t.want[k] || other[conversation(k, t.draw)] || other[itemOf(k)] && ofLanes(k) {
				continue
			}
			if lossy && (!there || !strings.HasPrefix(v, strings.SplitAfter(t.want[k], "|")[0])) {
				continue
			}
			return breaks(l, "", fmt.Sprintf("%s %s is %q", t.name, k, t.want[k]), "%q (there: %t)", v, there)
		}
		for k := range t.got {
			if _, there := t.want[k]; !there && !lossy {
				return breaks(l, "", "no "+t.name+" of "+k, "%q", t.got[k])
			}
		}
	}
	return nil
}

// conversation returns whose turns a key is about: item, lane and draw.
func conversation(key string, draw int) string {
	part := strings.Split(key, "|")
	return part[1] + "|" + part[2] + "|" + part[draw]
}

func itemOf(key string) string { return strings.Split(key, "|")[1] }

// ofLanes reports whether a key is about several lanes: a comparison of what they answered.
func ofLanes(key string) bool { return strings.Split(key, "|")[2] == "" }
