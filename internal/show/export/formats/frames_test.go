package formats_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export/studyfolder"
	"assay/internal/simulator"
)

// readParquet opens a table of an export.
func readParquet(t *testing.T, dir, table string) *parquet.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, table+".parquet"))
	ok(t, err)
	f, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	ok(t, err)
	return f
}

// In parquet money is a decimal that adds up to what the run spent, times are timestamps, and what is not known is null.
func TestParquetHasTypesForTimeAndMoney(t *testing.T) {
	t.Parallel()
	r := newRig(t, simulator.Options{})
	run := r.run(fstest.MapFS{studyfolder.StudyFile: {Data: []byte(branched)}}, "run1")
	dir := r.write(t, "parquet", run)
	answers, verdicts := readParquet(t, dir, "answers"), readParquet(t, dir, "verdicts")
	for f, want := range map[*parquet.File][]string{
		answers:  {"optional int64 cost_usd (DECIMAL(18,9));", "optional int64 settled_at (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));"},
		verdicts: {"optional int64 given_at (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));"},
	} {
		for _, line := range want {
			if !strings.Contains(f.Schema().String(), line) {
				t.Errorf("no %q in %s", line, f.Schema())
			}
		}
	}
	var cost assay.Money
	times := 0
	for _, c := range columns(t, answers, "cost_usd", "settled_at") {
		cost += assay.Money(c[0].Int64())
		if at := c[1].Int64(); at >= run.Created.UnixMilli() && at <= run.Closed.UnixMilli() {
			times++
		}
	}
	if cost != run.Spent || cost == 0 || times != int(answers.NumRows()) {
		t.Errorf("%v and %d times in %d rows; the run spent %v", cost, times, answers.NumRows(), run.Spent)
	}
}

// columns returns the values of some columns, row by row.
func columns(t *testing.T, f *parquet.File, names ...string) (out [][]parquet.Value) {
	t.Helper()
	rows := parquet.NewReader(f)
	buf := make([]parquet.Row, 1)
	for {
		n, err := rows.ReadRows(buf)
		if n == 0 {
			if len(out) != int(f.NumRows()) {
				t.Fatalf("%d rows of %d: %v", len(out), f.NumRows(), err)
			}
			return out
		}
		var one []parquet.Value
		for _, name := range names {
			leaf, there := f.Schema().Lookup(name)
			if !there {
				t.Fatalf("no column %s", name)
			}
			for _, v := range buf[0] {
				if v.Column() == leaf.ColumnIndex {
					one = append(one, v.Clone())
				}
			}
		}
		out = append(out, one)
	}
}

// The table of findings has the mean of every lane, which is computed here again from the verdicts; by judge there is another grouping.
func TestTheTableOfFindingsSaysWhatTheVerdictsDo(t *testing.T) {
	t.Parallel()
	r := newRig(t, simulator.Options{})
	run := r.run(fstest.MapFS{studyfolder.StudyFile: {Data: []byte(branched)}}, "run1")
	sums := map[string][]float64{}
	rows, err := rows.Of(context.Background(), run.Results, run.Run)
	ok(t, err)
	for v, err := range rows.Verdicts(context.Background()) {
		ok(t, err)
		if v.Stage == "rated" && v.Score != nil {
			sums[v.Lane] = append(sums[v.Lane], *v.Score)
		}
	}
	found := map[string]float64{}
	for _, c := range columns(t, readParquet(t, r.write(t, "parquet", run), "findings"), "stage", "what", "lane", "value") {
		if c[0].String() == "rated" && c[1].String() == "mean" && !c[3].IsNull() {
			found[c[2].String()] = c[3].Double()
		}
	}
	for lane, all := range sums {
		sum := 0.0
		for _, x := range all {
			sum += x
		}
		if got, there := found[lane]; !there || math.Abs(got-sum/float64(len(all))) > 1e-12 {
			t.Errorf("lane %s: %v, want %v", lane, got, sum/float64(len(all)))
		}
	}
	if len(sums) != 2 {
		t.Errorf("lanes %v", sums)
	}
	text, err := os.ReadFile(filepath.Join(r.write(t, "csv", run), "findings.csv"))
	ok(t, err)
	if n := bytes.Count(text, []byte("\n")); n < 10 || !bytes.HasPrefix(text, []byte("study,run,rehearsal,stage,title,method,")) {
		t.Errorf("%d lines: %.100s", n, text)
	}
}

// What docs/data.md shows for DuckDB, pandas, polars and R names files and columns that an export has.
func TestSnippetsForDataFramesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docs/data.md")
	ok(t, err)
	r := newRig(t, simulator.Options{})
	dir := r.write(t, "parquet", r.run(fstest.MapFS{studyfolder.StudyFile: {Data: []byte(branched)}}, "run1"))
	// of the languages, and values
	words := []string{"select", "count", "as", "n", "sum", "usd", "from", "where", "group", "by", "order", "desc", "answered",
		"valid", "mean"}
	tools := map[string]int{}
	for _, m := range regexp.MustCompile("(?s)```(sql|python|r)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		tools[m[1]]++
		file := regexp.MustCompile(`tables/(\w+)\.parquet`).FindStringSubmatch(m[2])
		if file == nil || strings.Count(strings.TrimSpace(m[2]), "\n") != 2 {
			t.Errorf("not three lines about a table: %s", m[2])
			continue
		}
		schema := readParquet(t, dir, file[1]).Schema()
		body := strings.Replace(m[2], file[0], "", 1)
		named := regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(body, -1)
		if m[1] == "sql" {
			named = regexp.MustCompile(`(\w+)`).FindAllStringSubmatch(body, -1)
		}
		for _, n := range named {
			if _, there := schema.Lookup(n[1]); !there && !slices.Contains(words, strings.ToLower(n[1])) {
				t.Errorf("table %s has no column %s", file[1], n[1])
			}
		}
		if len(named) < 3 {
			t.Errorf("only %v in %s", named, body)
		}
	}
	if fmt.Sprint(tools) != "map[python:2 r:1 sql:1]" {
		t.Errorf("snippets: %v", tools)
	}
}
