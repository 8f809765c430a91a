package formats_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/find/stats"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/formats"
	"assay/internal/show/export/studyfolder"
	"assay/internal/simulator"
	"assay/internal/simulator/minds"
)

// writeLogs writes a run as logs of Inspect in one of their forms; it returns the folder.
func (r *rig) writeLogs(t *testing.T, run export.Run, asJSON bool) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "logs")
	tree, err := folder.NewTree(out, folder.Keep)
	ok(t, err)
	f := formatNamed(t, "inspect")
	if asJSON {
		f.Write = f.WriteJSON
	}
	ok(t, f.Write(context.Background(), tree, []export.Run{run}))
	ok(t, tree.Commit())
	return out
}

// inspected is a log as a reader of its own sees it: NaN is null.
type inspected struct {
	Version int
	Status  string
	Eval    struct {
		Task, Model string
		Args        map[string]string `json:"task_args"`
		Config      struct{ Epochs int }
	}
	Results struct {
		Total     int `json:"total_samples"`
		Completed int `json:"completed_samples"`
		Scores    []struct {
			Name     string
			Scored   int `json:"scored_samples"`
			Unscored int `json:"unscored_samples"`
			Metrics  map[string]struct{ Value float64 }
		}
	}
	Stats struct {
		Models map[string]inspectedUsage `json:"model_usage"`
	}
	Samples []inspectedSample
}

type inspectedUsage struct {
	Total int64    `json:"total_tokens"`
	Cost  *float64 `json:"total_cost"`
}

type inspectedSample struct {
	ID       string
	Epoch    int
	UUID     string
	Messages []struct{ ID, Role string }
	Metadata map[string]any
	Scores   map[string]struct {
		Value  any
		Reason string
	}
	Error *struct{ Message string }
}

// readLogs reads the logs of a folder without the code that wrote them.
func readLogs(t *testing.T, dir string) map[string]inspected {
	t.Helper()
	out := map[string]inspected{}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	ok(t, err)
	for _, name := range names {
		var log inspected
		if filepath.Ext(name) == ".json" {
			text, err := os.ReadFile(name)
			ok(t, err)
			decode(t, text, &log)
		} else {
			z, err := zip.OpenReader(name)
			ok(t, err)
			decode(t, member(t, z, "header.json"), &log)
			var summaries []inspectedSample
			decode(t, member(t, z, "summaries.json"), &summaries)
			for _, f := range z.File[:len(z.File)-2] {
				var s inspectedSample
				decode(t, member(t, z, f.Name), &s)
				if want := fmt.Sprintf("samples/%s_epoch_%d.json", s.ID, s.Epoch); f.Name != want {
					t.Errorf("sample %s is called %s", want, f.Name)
				}
				log.Samples = append(log.Samples, s)
			}
			for i, s := range summaries {
				if s.UUID != log.Samples[i].UUID || len(s.Scores) != len(log.Samples[i].Scores) {
					t.Errorf("summary %d is not of sample %s", i, log.Samples[i].ID)
				}
			}
			if len(summaries) != len(log.Samples) {
				t.Errorf("%d summaries of %d samples", len(summaries), len(log.Samples))
			}
			ok(t, z.Close())
		}
		out[filepath.Base(name)] = log
	}
	return out
}

func member(t *testing.T, z *zip.ReadCloser, name string) []byte {
	t.Helper()
	f, err := z.Open(name)
	if err != nil { // a name that package fs does not take
		for _, m := range z.File {
			if m.Name == name {
				f2, err := m.Open()
				ok(t, err)
				text, err := io.ReadAll(f2)
				ok(t, err)
				return text
			}
		}
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	ok(t, err)
	return text
}

func decode(t *testing.T, text []byte, to any) {
	t.Helper()
	text = bytes.ReplaceAll(text, []byte(`"value":NaN`), []byte(`"value":null`))
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
}

// Every request of a run is in one log, with its cost and the verdicts on it: all logs together cost what the run did.
func TestLogsOfInspectHoldTheRun(t *testing.T) {
	t.Parallel()
	judges := minds.DefaultJudges()
	judges.Malformed = 0.4
	r := newRig(t, simulator.Options{Judges: &judges})
	run := r.run(fstest.MapFS{studyfolder.StudyFile: {Data: []byte(branched)}}, "run1")
	dir := r.writeLogs(t, run, false)
	logs := readLogs(t, dir)
	if diff := cmp.Diff(listed(t, r, run), listedIn(logs)); diff != "" {
		t.Errorf("samples (-in the ledger +in the logs):\n%s", diff)
	}
	var cost assay.Money
	ids, unscored := map[string]bool{}, 0
	for name, l := range logs {
		if l.Version != 2 || l.Status != "success" || l.Results.Total != len(l.Samples) || !strings.HasPrefix(l.Eval.Task, "s.") {
			t.Errorf("%s: %+v", name, l.Eval)
		}
		for _, u := range l.Stats.Models {
			if u.Cost == nil {
				t.Fatalf("%s: a cost is not known", name)
			}
			cost += assay.Dollars(*u.Cost)
		}
		for _, s := range l.Samples {
			for _, m := range s.Messages {
				if ids[m.ID] {
					t.Errorf("message %s stands in two samples", m.ID)
				}
				ids[m.ID] = true
			}
			for _, v := range s.Scores {
				if v.Value == nil {
					unscored++
					if v.Reason == "" {
						t.Errorf("%s: sample %s has no value and no reason", name, s.ID)
					}
				}
			}
		}
	}
	if cost != run.Spent || cost == 0 {
		t.Errorf("all logs cost %v, the run %v", cost, run.Spent)
	}
	if unscored == 0 {
		t.Error("no verdict is without a value: the judges reply too well for this test")
	}
	wholeMeans(t, run, logs)
	again := r.writeLogs(t, run, false)
	if flat(t, dir) != flat(t, again) {
		t.Error("the same ledger gave other bytes")
	}
	if diff := cmp.Diff(bare(logs), bare(readLogs(t, r.writeLogs(t, run, true)))); diff != "" {
		t.Errorf("the two forms differ (-.eval +.json):\n%s", diff)
	}
}

// bare are logs by name without an ending.
func bare(logs map[string]inspected) map[string]inspected {
	out := map[string]inspected{}
	for name, l := range logs {
		out[strings.TrimSuffix(strings.TrimSuffix(name, ".eval"), ".json")] = l
	}
	return out
}

// listed returns the answers and comparisons of a run, as the ledger has them.
func listed(t *testing.T, r *rig, run export.Run) (out []string) {
	t.Helper()
	rows, err := rows.Of(context.Background(), run.Results, run.Run)
	ok(t, err)
	for a, err := range rows.All(context.Background()) {
		ok(t, err)
		if a.Judge == "" {
			scores := 0
			for _, v := range a.Verdicts {
				if v.Second == "" {
					scores++
				}
			}
			out = append(out, fmt.Sprint("s.", a.Stage, " ", a.Lane, " ", a.Key, " ", a.Draw, " ", scores))
		}
	}
	for v, err := range rows.Verdicts(context.Background()) {
		ok(t, err)
		if v.Verb == "compare" {
			out = append(out, fmt.Sprint("s.", v.Stage, " ", v.Judge, " ", v.Key, " ", max(1, v.Draw), " ", 1))
		}
	}
	slices.Sort(out)
	return out
}

func listedIn(logs map[string]inspected) (out []string) {
	for _, l := range logs {
		for _, s := range l.Samples {
			out = append(out, fmt.Sprint(l.Eval.Task, " ", l.Eval.Args["lane"], " ", s.Metadata["key"], " ", s.Epoch, " ", len(s.Scores)))
		}
	}
	slices.Sort(out)
	return out
}

// wholeMeans computes the mean of every score, and its error by items, again from the rows of verdicts.
func wholeMeans(t *testing.T, run export.Run, logs map[string]inspected) {
	t.Helper()
	type at struct{ source, lane, stage string }
	sums := map[at]map[string][]float64{}
	rows, err := rows.Of(context.Background(), run.Results, run.Run)
	ok(t, err)
	for v, err := range rows.Verdicts(context.Background()) {
		ok(t, err)
		if v.State != "valid" {
			continue
		}
		k, value := at{v.Source, v.Lane, v.Stage}, v.Score
		if v.Verb == "compare" {
			won := map[string]float64{"a": 1, "b": 0, "tie": 0.5}[v.Label]
			k, value = at{v.Stage, v.Judge, v.Stage}, &won
		}
		if value != nil {
			if sums[k] == nil {
				sums[k] = map[string][]float64{}
			}
			sums[k][v.Item] = append(sums[k][v.Item], *value)
		}
	}
	checked := 0
	for name, l := range logs {
		for _, s := range l.Results.Scores {
			k := at{strings.TrimPrefix(l.Eval.Task, "s."), l.Eval.Args["lane"], s.Name}
			if k.source != k.stage { // single answers: each item of equal weight
				for item, values := range sums[k] {
					sums[k][item] = []float64{stats.Mean(values).Value}
				}
			}
			mean, stderr := byHand(sums[k])
			if got := s.Metrics["mean"].Value; math.Abs(got-mean) > 1e-12 {
				t.Errorf("%s, %s: mean %v, want %v", name, s.Name, got, mean)
			}
			if got := s.Metrics["stderr"].Value; math.Abs(got-stderr) > 1e-12 {
				t.Errorf("%s, %s: error %v, want %v", name, s.Name, got, stderr)
			}
			checked++
		}
	}
	if checked < 5 {
		t.Errorf("only %d scores", checked)
	}
}

// byHand returns a mean and its error by leaving out one item after the other.
func byHand(items map[string][]float64) (mean, stderr float64) {
	sum, n := 0.0, 0.0
	for _, values := range items {
		for _, v := range values {
			sum, n = sum+v, n+1
		}
	}
	mean = sum / n
	var left []float64
	for _, values := range items {
		s, m := sum, n
		for _, v := range values {
			s, m = s-v, m-1
		}
		left = append(left, s/m)
	}
	squares := 0.0
	for _, m := range left {
		squares += (m - mean) * (m - mean)
	}
	g := float64(len(left))
	return mean, math.Sqrt((g - 1) / g * squares)
}

// imported returns what a format makes of files: rows in words, and what was wrong.
func imported(t *testing.T, format string, files fstest.MapFS, from export.From) (lines, bad []string, err error) {
	t.Helper()
	all := formats.All()
	f := all[slices.IndexFunc(all, func(f export.Format) bool { return f.Import == format })]
	number := func(n *float64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	tokens := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	from.Files = files
	err = f.Read(t.Context(), from, &export.Sink{
		Item: func(it *rows.Item) error {
			lines = append(lines, fmt.Sprintf("item %s %s expect %q %s", it.Input, it.Item, it.Expect, it.Fields))
			return nil
		},
		Answer: func(a *rows.Answer) error {
			lines = append(lines, fmt.Sprintf("answer %s %s %s %s %d %d %s %q %q %q in %s out %s cost %s", a.Stage, a.Item, a.Lane,
				a.Template, a.Turn, a.Draw, a.Ending, a.Text, a.Thoughts, a.FaultMessage, tokens(a.InputTokens), tokens(a.OutputTokens),
				number(a.Cost)))
			return nil
		},
		Verdict: func(v *rows.Verdict) error {
			lines = append(lines, fmt.Sprintf("verdict %s on %s %s %s %d %d by %s %s %q %s %q", v.Stage, v.Source, v.Item, v.Lane, v.Turn,
				v.Draw, v.Judge, v.State, v.Label, number(v.Score), v.Reason))
			return nil
		},
		Bad:  func(p assay.Problem) { bad = append(bad, p.String()) },
		Note: func(text string) { bad = append(bad, "note: "+text) },
	})
	return lines, bad, err
}
