package table_test

import (
	"bytes"
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export/table"
)

// hostile are texts that spreadsheets, CSV readers and JSON readers are known to change.
func hostile() []string {
	return []string{
		"", "plain", "=1+1", "'=1+1", "''=1+1", "'quoted'", "-3", "+3", "@sum", "\tx", "\rx", "'", "''", "a,b", `say "so"`, "line\nline",
		"line\r\nline", "\r\n", "tail\r", " spaced ", "ünïcode 🙂", "<script>", "bell\x07inside", "{\"a\":1}", "null", "\"", "\u2028",
	}
}

func someRows() []rows.Answer {
	half, n := 0.5, int64(7)
	var out []rows.Answer
	for i, text := range hostile() {
		r := rows.Answer{At: rows.At{Study: "s", Run: "r", Item: text, Lane: "l", Turn: 1, Draw: 1}, Text: text, Ending: "answered",
			Verdicts: []rows.AnswerVerdict{}}
		if i%2 == 0 {
			r.Temperature, r.TopK, r.Stop, r.Rehearsal = &half, &n, `["\n"]`, true
			r.Verdicts = []rows.AnswerVerdict{{Stage: "j", Label: text, Score: &half, State: "valid", Reason: text}}
		}
		out = append(out, r)
	}
	return out
}

func write[T any](t *testing.T, f table.Form, all []T) []byte {
	t.Helper()
	var b bytes.Buffer
	table, err := table.NewTable[T](f, &b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if err := table.Write(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read[T any](t *testing.T, f table.Form, files fs.FS, name string) ([]T, []string) {
	t.Helper()
	var all []T
	var bad []string
	for row, err := range table.Rows[T](context.Background(), f, files, name, func(p assay.Problem) { bad = append(bad, p.String()) }) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *row)
	}
	return all, bad
}

func TestEveryTableGivesBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, f := range []table.Form{table.CSV, table.JSONL, table.Parquet} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			want := someRows()
			files := fstest.MapFS{"rows": {Data: write(t, f, want)}}
			got, bad := read[rows.Answer](t, f, files, "rows")
			for i := range got {
				if got[i].Verdicts == nil { // an empty cell
					got[i].Verdicts = []rows.AnswerVerdict{}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(bad) > 0 {
				t.Errorf("read back (-wrote +read):\n%s%v", diff, bad)
			}
		})
	}
}

func TestEveryTableHasTheSameColumns(t *testing.T) {
	t.Parallel()
	head, _, _ := strings.Cut(string(write(t, table.CSV, []rows.Answer{{}})), "\n")
	line := string(write(t, table.JSONL, []rows.Answer{{}}))
	for _, name := range strings.Split(head, ",") {
		if name == "" || strings.Count(","+head+",", ","+name+",") != 1 || !strings.Contains(line, `"`+name+`":`) {
			t.Errorf("column %q: not once in CSV and in JSON", name)
		}
	}
}

func TestACellThatLooksLikeAFormulaIsMarked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": "'\ta", "\ra": "'\ra",
		"'=1": "''=1", "a=1": "a=1", "'a": "'a"} {
		if got := assay.SafeCell(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}

func TestABrokenRowDoesNotHarmItsNeighbours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		form table.Form
		text string
		want []string // items
		bad  []string
	}{
		{
			"fields", table.CSV, "\ufeffitem,turn,other\na,1,x\nb,1\nc,one,x\n\r\nd,\"2\",\"x\"y\ne,3,\"x\r\n\"\r\nf,4,x",
			[]string{"a", "e", "f"},
			[]string{"rows:3: the row has 2 fields, the heading 3",
				"rows:4: column turn: strconv.ParseInt: parsing \"one\": invalid syntax",
				"rows:6: text follows a closing quote (a quote inside a quoted field is written twice)"},
		},
		{"open quote", table.CSV, "item\na\n\"b\nc", []string{"a"}, []string{"rows:3: the quote that opens in this row is never closed"}},
		{"empty", table.CSV, "", nil, []string{"rows:1: the file is empty"}},
		{"lines", table.JSONL, "{\"item\":\"a\"}\n\n{\"item\":\n[1]\n{\"item\":\"b\"}", []string{"a", "b"}, []string{
			"rows:3: not a row of JSON: unexpected end of JSON input",
			"rows:4: not a row of JSON: json: cannot unmarshal array into Go value of type rows.Answer",
		}},
		{"parquet", table.Parquet, "PAR1 this is none PAR1", nil, []string{"rows"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, bad := read[rows.Answer](t, c.form, fstest.MapFS{"rows": {Data: []byte(c.text)}}, "rows")
			var items []string
			for _, r := range got {
				items = append(items, r.Item)
			}
			if c.form == table.Parquet {
				if len(bad) != 1 || !strings.HasPrefix(bad[0], "rows") {
					t.Errorf("noted %q", bad)
				}
				return
			}
			if diff := cmp.Diff(c.want, items) + cmp.Diff(c.bad, bad); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzCellsComeBackAsTheyWere(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		want := []rows.Item{{Item: a, Expect: b}, {Item: b, Cluster: a}}
		got, bad := read[rows.Item](t, table.CSV, fstest.MapFS{"x": {Data: write(t, table.CSV, want)}}, "x")
		if diff := cmp.Diff(want, got); diff != "" || len(bad) > 0 {
			t.Errorf("%s%v", diff, bad)
		}
	})
}

func FuzzTablesOfStrangersDoNoHarm(f *testing.F) {
	f.Add([]byte("item,turn\na,1\n"), true)
	f.Add([]byte("{\"item\":\"a\"}\n"), false)
	f.Add([]byte("\"\n\r\"x,"), true)
	f.Fuzz(func(t *testing.T, text []byte, csv bool) {
		form := table.JSONL
		if csv {
			form = table.CSV
		}
		read[rows.Answer](t, form, fstest.MapFS{"x": {Data: text}}, "x")
	})
}
