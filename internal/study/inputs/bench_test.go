package inputs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/assay"
)

// prose is text as questions and contexts have it: quotes, line ends and some letters beyond ASCII.
const prose = "She said: \"it's safe\", and (naïvely) went on.\nNobody asked why; the answer – so they thought – was known. "

const benchRows = 10_000

func benchRow(i int) map[string]any {
	return map[string]any{"id": fmt.Sprintf("item-%06d", i), "text": strings.Repeat(prose, 15), "topic": "safety", "level": i % 7,
		"score": 0.25, "tags": []string{"a", "b"}}
}

func benchJSONL(b *testing.B) []byte {
	b.Helper()
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	for i := range benchRows {
		if err := e.Encode(benchRow(i)); err != nil {
			b.Fatal(err)
		}
	}
	return buf.Bytes()
}

func benchCSV(b *testing.B) []byte {
	b.Helper()
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	_ = w.Write([]string{"id", "text", "topic", "level"})
	for i := range benchRows {
		_ = w.Write([]string{fmt.Sprintf("item-%06d", i), strings.Repeat(prose, 15), "safety", fmt.Sprint(i % 7)})
	}
	w.Flush()
	return buf.Bytes()
}

func benchItems(b *testing.B, name string, data []byte) {
	b.Helper()
	s := Open(fstest.MapFS{name: {Data: data}}, map[string]Spec{"in": {File: name}})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n, err := s.Count(b.Context(), "in")
		if err != nil || n != benchRows {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkJSONL(b *testing.B) { benchItems(b, "a.jsonl", benchJSONL(b)) }

func BenchmarkJSONArray(b *testing.B) {
	lines := bytes.TrimSpace(benchJSONL(b))
	benchItems(b, "a.json", append(append([]byte("["), bytes.ReplaceAll(lines, []byte("\n"), []byte(",\n"))...), ']'))
}

func BenchmarkCSV(b *testing.B) { benchItems(b, "a.csv", benchCSV(b)) }

// BenchmarkCSVByStandard makes the same maps with encoding/csv, for comparison.
func BenchmarkCSVByStandard(b *testing.B) {
	data := benchCSV(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := csv.NewReader(bytes.NewReader(data))
		r.ReuseRecord = true
		heading, err := r.Read()
		if err != nil {
			b.Fatal(err)
		}
		names := append([]string(nil), heading...)
		for {
			record, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			fields := make(map[string]any, len(names))
			for i, name := range names {
				fields[name] = record[i]
			}
		}
	}
}

func BenchmarkLines(b *testing.B) {
	benchItems(b, "a.txt", []byte(strings.Repeat("Is it safe to mix bleach with vinegar in a closed room?\n", benchRows)))
}

func BenchmarkParquet(b *testing.B) {
	rows := make([]plainRow, benchRows)
	size := 0
	for i := range rows {
		rows[i] = plainRow{fmt.Sprint(i, strings.Repeat(prose, 15)), int64(i)}
		size += len(rows[i].Text) + 8
	}
	data := written(b, 1000, rows...)
	s := Open(fstest.MapFS{"a.parquet": {Data: data}}, map[string]Spec{"in": {File: "a.parquet"}})
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if n, err := s.Count(b.Context(), "in"); err != nil || n != benchRows {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	data := benchJSONL(b)
	s := Open(fstest.MapFS{"a.jsonl": {Data: data}}, map[string]Spec{"in": {File: "a.jsonl"}})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if problems := s.Check(b.Context()); problems != nil {
			b.Fatal(problems)
		}
	}
}

func benchItem() assay.Item {
	fields := map[string]any{"text": strings.Repeat(prose, 15), "topic": "safety", "level": int64(3), "score": 0.25,
		"tags": []any{"a", "b"}}
	return assay.Item{ID: "item-000007", Cluster: "item-000007", Fields: fields, Place: assay.Place{File: "a.jsonl", Line: 8}}
}

func BenchmarkEncode(b *testing.B) {
	it := benchItem()
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if line, err = Encode(line[:0], it); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(line)))
}
