package studyfile_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/studyfile"
)

func readImport(t *testing.T, stage, rows string) (*study.Study, string) {
	t.Helper()
	text := "study: s\ninputs: {q: {items: [one, two]}}\nlanes: {known: {model: openai/gpt-5}}\nstages:\n  - " + stage + "\n"
	s, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}, "a.csv": {Data: []byte(rows)}}, "s.yaml",
		studyfile.Options{})
	var reported []string
	for _, p := range problems {
		reported = append(reported, p.String())
	}
	return s, strings.Join(reported, "\n")
}

func TestAnImportTakesItsShapeFromItsRows(t *testing.T) {
	t.Parallel()
	s, problems := readImport(t, "{name: old, import: {file: a.csv, of: q, lane: who}}",
		"item,who,turn,branch,draw,text\n1,known,1,,1,x\n1,new,1,,2,x\n1,new,2,doubt,1,x\n1,new,2,control,4,x\n1,new,3,doubt/why%3F,1,x\n")
	if problems != "" {
		t.Fatal(problems)
	}
	st := &s.Stages[0]
	var turns [][]string
	for _, turn := range st.Turns {
		var names []string
		for _, b := range turn.Branches {
			names = append(names, b.Name)
		}
		turns = append(turns, names)
	}
	if diff := cmp.Diff([][]string{nil, {"doubt"}, {"why?"}}, turns); diff != "" {
		t.Errorf("branches by turn (-want +got):\n%s", diff)
	}
	if st.Repeats.N != 2 || st.Control == nil || st.Control.Draws != 2 {
		t.Errorf("repeats %d, control %+v; want 2 draws and 2 control draws of each", st.Repeats.N, st.Control)
	}
	var lanes []string
	for _, l := range s.Contestants(st) {
		lanes = append(lanes, l.Name+" "+l.Provider)
	}
	if diff := cmp.Diff([]string{"known openai", "new "}, lanes); diff != "" {
		t.Errorf("lanes (-want +got):\n%s", diff)
	}
}

func TestRowsThatCannotBeReadAreReportedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rows, want string }{
		{"item,lane,text\n1,,x\n", `a.csv:2: the row names no lane in field "lane"`},
		{"item,lane,text,turn\n1,a,x,first\n", `turn: want a whole number, got "first"`},
		{"item,lane,text,turn\n1,a,x,0\n", "turn 0 (turns count from 1)"},
		{"item,lane,text,draw\n1,a,x,2000\n", "draw 2000"},
		{"item,lane,text,ending\n1,a,x,fine\n", `no ending is called "fine" (there are answered, cut, empty`},
		{"item,lane,text,cost_usd\n1,a,x,-1\n", "cost_usd: amount"},
		{"item,lane\n1,a\n", `a.csv has no field "text", which ` + "`text` names"},
		{"item,lane,text\n", "a.csv has no rows to import"},
		{"", `a.csv has no field "item"`},
	} {
		if _, got := readImport(t, "{name: old, import: {file: a.csv, of: q}}", c.rows); !strings.Contains(got, c.want) {
			t.Errorf("%q: problems %q, want %q", c.rows, got, c.want)
		}
	}
}

func TestConversationsThatWereOpenedElsewhereHaveTheirControlFromTheFirstTurn(t *testing.T) {
	t.Parallel()
	s, problems := readImport(t, "{name: old, import: {file: a.csv, of: q}}",
		"item,lane,turn,branch,text\n1,a,1,,x\n1,a,1,control,x\n1,a,2,,x\n1,a,2,control,x\n")
	if problems != "" {
		t.Fatal(problems)
	}
	st := &s.Stages[0]
	if len(st.Turns) != 2 || len(st.Turns[0].Branches) != 0 || st.Control == nil || !st.Taken.Goes {
		t.Errorf("turns %+v, control %+v, goes on: %t; want two turns without branches and a control", st.Turns, st.Control, st.Taken.Goes)
	}
}

func TestRowsMayBeAllThatWasAsked(t *testing.T) {
	t.Parallel()
	rows := "item,lane,turn,branch,ending,text\n1,a,1,,answered,x\n1,a,2,x y,answered,x\n2,a,1,,unasked,\n"
	at := func(item, lane string, turn int, branch string) assay.Coordinates {
		return assay.Coordinates{Stage: "old", Item: item, Lane: lane, Turn: turn, Branch: branch, Draw: 1}
	}
	for _, c := range []struct {
		asked string
		want  []bool
	}{{", asked: rows", []bool{true, true, true, false, false}}, {"", []bool{true, true, true, true, true}}} {
		s, problems := readImport(t, "{name: old, import: {file: a.csv, of: q"+c.asked+"}}", rows)
		if problems != "" {
			t.Fatal(problems)
		}
		var got []bool
		for _, q := range []assay.Coordinates{at("1", "a", 1, ""), at("1", "a", 2, "x%20y"), at("2", "a", 1, ""), at("2", "a", 2, "x%20y"),
			at("1", "b", 1, "")} {
			got = append(got, s.Stages[0].Taken.Has(q))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("asked%s (-want +got):\n%s", c.asked, diff)
		}
	}
	if _, problems := readImport(t, "{name: old, import: {file: a.csv, of: q, asked: all}}", rows); !strings.Contains(problems,
		`"all" is not what was asked`) {
		t.Errorf("problems: %q", problems)
	}
}
