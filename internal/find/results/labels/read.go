package labels

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/csvtext"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
)

// Label is one row of a table of people's labels. What the row does not have is nil or empty.
type Label struct {
	At           assay.Place
	Stage, Judge string

	key                     *assay.Key
	item, lane, a, b        string
	branch, template, trait *string
	turn, draw              *int
	label                   string
	score, confidence       *float64
	probability             *float64 // with which the answer was drawn
	state                   assay.VerdictState
	explanation             string
	task                    analysis.Task
	found                   int // tasks that it may mean
}

// Read reads a CSV table with a heading, or JSON Lines: the name of the file decides which, and problems refer to it.
// All problems are returned together.
func Read(f io.Reader, name string) ([]Label, error) {
	read := labelsOfCSV
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		read = labelsOfLines
	case ".csv", ".tsv":
	default:
		return nil, results.NewMistake("a name that ends in .csv, .tsv or .jsonl", "%s: what kind of file is this?", name)
	}
	return read(name, f)
}

// MaxProblems is as many problems of one table as a person reads.
const MaxProblems = 50

func labelsOfCSV(name string, r io.Reader) ([]Label, error) {
	in := csvtext.NewReader(r)
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		in.Discard(3)
	}
	table := csv.NewReader(in)
	table.Comma = '\t'
	if !strings.EqualFold(filepath.Ext(name), ".tsv") {
		table.Comma = rune(csvtext.Separator(in))
	}
	head, err := table.Read()
	if err != nil {
		return nil, results.NewMistake("a heading line such as item,lane,label", "%s has no heading: %s", name, err)
	}
	head = slices.Clone(head)
	for i, h := range head {
		head[i] = strings.ToLower(strings.TrimSpace(h))
	}
	if !aboutSomething(head) {
		return nil, results.NewMistake(assay.ThereAre(head),
			"%s: no column says what a row is about: key, or item and lane, or a and b", name)
	}
	var problems assay.Problems
	var out []Label
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, results.NewMistake("", "read labels: %s: %s", name, err)
		}
		line, _ := table.FieldPos(0)
		values := map[string]string{}
		for i, c := range cells {
			values[head[i]] = c
		}
		out = append(out, labelOf(assay.Place{File: name, Line: line, Col: 1}, values, &problems))
		if len(problems) >= MaxProblems {
			break
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return out, nil
}

// aboutSomething reports whether the columns of a table can say what its rows are about.
func aboutSomething(head []string) bool {
	has := func(name string) bool { return slices.Contains(head, name) }
	return has("key") || has("item") || has("a") && has("b")
}

func labelsOfLines(name string, r io.Reader) ([]Label, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	var problems assay.Problems
	var out []Label
	for line := 1; in.Scan() && len(problems) < MaxProblems; line++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		at := assay.Place{File: name, Line: line, Col: 1}
		d := json.NewDecoder(bytes.NewReader(in.Bytes()))
		d.UseNumber()
		var object map[string]any
		if err := d.Decode(&object); err != nil {
			problems.Add(at, "one JSON object per line", "%s", err)
			continue
		}
		values := map[string]string{}
		for k, v := range object {
			if v != nil {
				values[strings.ToLower(k)] = fmt.Sprint(v)
			}
		}
		out = append(out, labelOf(at, values, &problems))
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read labels: %s: %w", name, err)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return out, nil
}

// labelOf reads the fields of one row.
func labelOf(at assay.Place, values map[string]string, problems *assay.Problems) Label {
	first := func(names ...string) string {
		for _, n := range names {
			if v := strings.TrimSpace(values[n]); v != "" {
				return v
			}
		}
		return ""
	}
	// A column that is there but empty means the empty branch; one that is not there means any.
	given := func(name string) *string {
		if v, ok := values[name]; ok {
			v = strings.TrimSpace(v)
			return &v
		}
		return nil
	}
	r := Label{
		At: at, Stage: first("stage"), Judge: first("judge"), item: first("item"), lane: first("lane"), a: first("a"), b: first("b"),
		branch: given("branch"), template: given("template"), trait: given("trait"),
		label: first("label", "winner"), state: assay.VerdictState(first("state")), explanation: first("explanation", "reason"),
	}
	r.turn, r.draw = wholeOf(at, "turn", first("turn"), problems), wholeOf(at, "draw", first("draw"), problems)
	r.score, r.confidence = numberOf(at, "score", first("score"), problems), numberOf(at, "confidence", first("confidence"), problems)
	r.probability = numberOf(at, "probability", first("probability"), problems)
	if p := r.probability; p != nil && !(*p > 0 && *p <= 1) {
		problems.Add(at, "with which chance the answer was drawn, such as 0.15",
			"probability is %g, which is not above 0 and at most 1", *p)
	}
	if text := first("key"); text != "" {
		key, err := assay.ParseKey(text)
		if err != nil {
			problems.Add(at, "", "%s", err)
		}
		r.key = &key
	} else if r.item == "" && (r.a == "" || r.b == "") {
		problems.Add(at, "key, or item and lane, or a and b", "the row does not say what it is about")
	}
	if r.state != "" && !slices.Contains(assay.VerdictStates(), r.state) {
		problems.Add(at, "valid, abstained, malformed, failed, missing or excluded", "no state is called %q", r.state)
	}
	return r
}

func wholeOf(at assay.Place, name, text string, problems *assay.Problems) *int {
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		problems.Add(at, "", "%s is %q, which is not a whole number", name, text)
	}
	return &n
}

func numberOf(at assay.Place, name, text string, problems *assay.Problems) *float64 {
	if text == "" {
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != x {
		problems.Add(at, "", "%s is %q, which is not a number", name, text)
	}
	return &x
}
