package expr_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/expr"
)

var (
	at    = assay.Place{File: "study.yaml", Line: 12, Col: 12}
	rows  = expr.Env{Kind: expr.Rows, Open: true}
	items = expr.Env{Kind: expr.Items, Open: true}
	shut  = expr.Env{Kind: expr.Items, Fields: map[string]expr.Type{"title": expr.Text, "score": expr.Number, "done": expr.Bool,
		"tags": expr.List, "meta": expr.Record, "any": expr.Any}}
)

// source is a study with one judge stage.
type source struct{}

func (source) Verdict(stage, judge string) (expr.Verdict, error) {
	if stage != "stance" {
		return expr.Verdict{State: "missing"}, nil
	}
	return expr.Verdict{Label: "agree", Score: 4.5, State: "valid", Judge: judge}, nil
}

func (source) Findings(stage, _ string) ([]expr.Finding, error) {
	if stage != "flips" {
		return nil, errors.New("no such stage")
	}
	return []expr.Finding{{Value: .1, Low: .04, High: .2, N: 50, Lane: "a"}, {Value: .2, Low: .1, High: .3, N: 40, Lane: "b",
		Branch: "doubt"}}, nil
}

func (s source) Finding(stage, what, lane string) (expr.Finding, error) {
	all, err := s.Findings(stage, what)
	for _, f := range all {
		if f.Lane == lane {
			return f, err
		}
	}
	return expr.Finding{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}, err
}

func compile(t *testing.T, src string, env expr.Env) *expr.Program {
	t.Helper()
	p, problems := expr.Compile(at, src, env)
	if len(problems) > 0 {
		t.Fatalf("compile %q: %v", src, problems)
	}
	return p
}

func TestConditionsOfAStudy(t *testing.T) {
	t.Parallel()
	item := &assay.Item{ID: "q7", Expect: "agree", Fields: map[string]any{
		"title": "Hello World", "score": int64(4), "half": 0.5, "done": true, "none": nil, "tags": []any{"a", "b"}, "two words": "x",
		"meta": map[string]any{"year": 2026.0}, "count": int64(3), "any": "v",
	}}
	when, lanes, require := expr.Env{Kind: expr.When}, expr.Env{Kind: expr.Lanes}, expr.Env{Kind: expr.Require}
	for _, c := range []struct {
		env  expr.Env
		src  string
		want bool
	}{
		{items, `verdict("stance").label == expect`, true},
		{items, `verdict("stance", "j1").judge == "j1" and verdict("stance").score >= 4.5`, true},
		{items, `verdict("other").state == "missing"`, true},
		{items, `verdict("stance").label == expect ? score > 3 : false`, true},
		{rows, `score > 3 && score < 5`, true},
		{rows, `score == 4.0 and item.score == 4 and half * 2 == 1`, true},
		{rows, `item.title contains "World" and title startsWith "Hello" and title matches "^H.*d$"`, true},
		{rows, `item["two words"] == "x"`, true},
		{rows, `meta.year >= 2026 and item.meta.year == 2026`, true},
		{rows, `"b" in tags and "c" not in tags and len(tags) == 2 and tags[0] == "a"`, true},
		{rows, `len(tags[1:]) == 1 and len(tags[:1]) == 1 and tags[:count - 2][0] == "a" and tags[count - 2:][0] == "b"`, true},
		{rows, `any(tags, # == "b") and count(tags, # != "a") == 1`, true},
		{rows, `score in [1, 2, 4]`, true},
		{rows, `not done`, false},
		{rows, `done`, true},
		{rows, `id == "q7" and expect == "agree"`, true},
		{rows, `count == 3`, true},
		{rows, `(missing ?? "d") == "d"`, true},
		{rows, `(item.missing ?? 5) > 4 and missing == nil and nil == item.gone and item?.gone == nil`, true},
		{rows, `none == nil`, true},
		{rows, `"title" in item and "gone" not in item`, true},
		{rows, `lower(trim(" A ")) == "a" and abs(-2) == 2 and float("1.5") > 1`, true},
		{shut, `title == "Hello World" and score > 3.5 and score == 4 and done and "a" in tags and meta.year == 2026 and any == "v"`, true},
		{when, `any(finding("flips", "rate"), .low > 0.05)`, true},
		{when, `all(finding("flips", "rate"), .low > 0.05)`, false},
		{when, `len(filter(finding("flips", "rate"), {.n >= 50 and .branch == ""})) == 1`, true},
		{when, `max(map(finding("flips", "rate"), .high)) > 0.25`, true},
		{lanes, `finding("flips", "rate", lane).low > 0.05`, true},
		{lanes, `lane startsWith "b"`, true},
		{require, `finding('flips', 'rate', 'a').low > 0.9`, false},
		{require, `finding('flips', 'rate', 'nosuch').low > 0.0 or finding('flips', 'rate', 'nosuch').low <= 0.0`, false},
	} {
		got, err := compile(t, c.src, c.env).Bool(expr.Vars{Item: item, Lane: "b", Source: source{}})
		if got != c.want || err != nil {
			t.Errorf("%s: %v, %v, want %v", c.src, got, err, c.want)
		}
	}
}

func TestProblemsAreReportedAtOnceWithTheirPlaces(t *testing.T) {
	t.Parallel()
	when, lanes, require := expr.Env{Kind: expr.When}, expr.Env{Kind: expr.Lanes}, expr.Env{Kind: expr.Require}
	for _, c := range []struct {
		env  expr.Env
		src  string
		want []string
	}{
		{shut, ``, []string{`12: the condition is empty (write for example score > 3)`}},
		{shut, `titel == "x" and scroe > 3`,
			[]string{`12: unknown name titel (did you mean title?)`, `29: unknown name scroe (did you mean score?)`}},
		{shut, `item.titel == "x"`, []string{`17: unknown name titel (did you mean title?)`}},
		{shut, `zzzzzz`, []string{`12: unknown name zzzzzz (known are: any, done, expect, id, item, meta, score, tags, title)`}},
		{shut, `score`, []string{`12: the condition gives a number, not true or false (compare it with something)`}},
		{shut, `score ?? 1 > 3`, []string{`23: ?? cannot stand beside another operator (put it in brackets: (x ?? 0) > 1)`}},
		{shut, `score = 3`, []string{`18: unexpected = (write == to compare)`}},
		{shut, `score > "3"`, []string{`18: cannot use > between a number and text (text goes in quotes; float(x) makes a number)`}},
		{shut, `title == 3`, []string{`18: cannot use == between text and a number (text goes in quotes; float(x) makes a number)`}},
		{shut, `titel == 3 and title == 3`, []string{`12: unknown name titel (did you mean title?)`,
			`33: cannot use == between text and a number (text goes in quotes; float(x) makes a number)`}},
		{shut, `verdict("x").lable == "y"`, []string{`25: a verdict has no field lable (did you mean label?)`}},
		{shut, `verdict("x").label > 3`,
			[]string{`31: cannot use > between text and a number (text goes in quotes; float(x) makes a number)`}},
		{shut, `verdict(title).label == "x"`,
			[]string{`20: the arguments of verdict are written out, so that the order of the stages is known (in quotes)`}},
		{shut, `verdict() == nil`, []string{`12: verdict takes 1 or 2 arguments, not 0 (verdict(stage) or verdict(stage, judge))`}},
		{shut, `verdcit("x").label == "y"`, []string{`12: unknown name verdcit (did you mean verdict?)`}},
		{shut, `finding("x", "y", "z").low > 1`, []string{
			`12: finding is known in when, in the where of lanes and in require, not in the where of a stage (gate the stage with when)`}},
		{rows, `verdict("x").label == "y"`, []string{`12: verdict is known in the where of a stage, not in the where of an input`}},
		{when, `finding("flips", "rate").low > 1`,
			[]string{`37: a list has no fields (for findings, name a lane as third argument or write any(finding(…), .low > …))`}},
		{when, `any(finding("flips", "rate"), .lwo > 1)`, []string{`43: a finding has no field lwo (did you mean low?)`}},
		{when, `finding("flips").low > 1`,
			[]string{`12: finding takes 2 or 3 arguments, not 1 (finding(stage, what) or finding(stage, what, lane))`}},
		{when, `finding("flips", "rate", lane).low > 1`,
			[]string{`37: lane is known in the where of lanes, not in when (name one: finding(stage, what, "lane"))`}},
		{require, `score > 3`, []string{`12: unknown name score (known are: finding(…))`}},
		{lanes, `lame == "x"`, []string{`12: unknown name lame (did you mean lane?)`}},
		{rows, `repeat("x", 1000000) == ""`, []string{`12: the function repeat is not part of conditions`}},
		{rows, `zzzzzz(1) == 1`, []string{`12: unknown name zzzzzz (known are: all, any, none, one, filter, map, count, sum, find, len, first, last, abs, ceil, floor, round, min, max, mean, median, int, float, string, trim, upper, lower, split, hasPrefix, hasSuffix, indexOf, keys, values)`}},
		{rows, `now() == nil and uper("x") == "X"`,
			[]string{`12: the function now is not part of conditions`, `29: unknown name uper (did you mean upper?)`}},
		{rows, `groupBy(tags, #) == nil`, []string{`12: the function groupBy is not part of conditions`}},
		{rows, `3 in 1..1000000000`, []string{`18: ranges are not part of conditions (write x >= 1 and x <= 9)`}},
		{rows, `let x = 1; x == 1`, []string{`16: this is not part of conditions (write one expression that is true or false)`}},
		{rows, `{"a": 1} == nil`, []string{`12: this is not part of conditions (write one expression that is true or false)`}},
		{rows, `title.upper() == "X"`, []string{`18: a value cannot be called (functions come first: upper(x))`}},
		{rows, `$env == nil`, []string{`12: unknown name $env (known are: expect, id, item)`}},
		{rows, `$item == nil`, []string{`12: unknown name $item (did you mean item?)`}},
		{rows, `any(tags, any(tags, any(tags, # == 1)))`, []string{`32: any stands inside more than 2 others`}},
		{rows, `score >`, []string{`18: the condition ends too early`}},
		{rows, "score > 3 and\n  title ==", []string{`21: the condition ends too early`}},
		{rows, "é == \"é\" and verdict('x').label == ''",
			[]string{`25: verdict is known in the where of a stage, not in the where of an input`}},
		{rows, strings.Repeat("(", 5000), []string{`12: the condition is longer than 4000 bytes`}},
		{rows, "x == 1" + strings.Repeat(" or x == 1", 300), nil},
	} {
		p, problems := expr.Compile(at, c.src, c.env)
		if p != nil {
			t.Errorf("%q: a program in spite of problems", c.src)
		}
		if c.want == nil { // the place depends on the parser: only that there is a problem counts
			if !strings.Contains(problems.Error(), "maximum allowed nodes") {
				t.Errorf("%.40q: %v", c.src, problems)
			}
			continue
		}
		var got []string
		for _, problem := range problems {
			_, after, _ := strings.Cut(strings.TrimPrefix(problem.String(), "study.yaml:"), ":")
			got = append(got, after)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%.80q (-want +got):\n%s", c.src, diff)
		}
	}
}

func TestAPlaceOnALaterLineOfACondition(t *testing.T) {
	t.Parallel()
	_, problems := expr.Compile(at, "title == \"x\" and\n  titel == \"y\"", shut)
	want := assay.Problems{{Place: assay.Place{File: "study.yaml", Line: 13, Col: 14}, What: "unknown name titel",
		Hint: "did you mean title?"}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
}

func TestStagesAndFieldsOfACondition(t *testing.T) {
	t.Parallel()
	p := compile(t, `verdict("stance", "j").label == expect and item.kind == "x" and (note ?? "") == "" or verdict('other').score > 1`,
		items)
	place := func(col int) assay.Place { return assay.Place{File: "study.yaml", Line: 12, Col: col} }
	stages := []expr.Reference{
		{Place: place(20), Func: "verdict", Stage: "stance", Judge: "j"},
		{Place: place(106), Func: "verdict", Stage: "other"},
	}
	fields := []expr.Use{{Place: place(44), Field: "expect"}, {Place: place(60), Field: "kind"},
		{Place: place(77), Field: "note", Optional: true}}
	if diff := cmp.Diff(stages, p.Stages()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(fields, p.Fields()); diff != "" {
		t.Error(diff)
	}
	p = compile(t,
		`finding("flips", "rate", lane).low > 0.05 and finding("flips", "rate", "gpt5.high").n > 9 and len(finding("a", "b")) > 0`,
		expr.Env{Kind: expr.Lanes})
	stages = []expr.Reference{
		{Place: place(20), Func: "finding", Stage: "flips", What: "rate"},
		{Place: place(66), Func: "finding", Stage: "flips", What: "rate", Lane: "gpt5.high"},
		{Place: place(118), Func: "finding", Stage: "a", What: "b"},
	}
	if diff := cmp.Diff(stages, p.Stages()); diff != "" {
		t.Error(diff)
	}
}

func TestAnEvaluationThatCannotBeDoneIsAnErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	item := &assay.Item{ID: "q1", Fields: map[string]any{"word": "many", "num": int64(3), "nil": nil, "long": make([]any, 200_000)}}
	for _, c := range []struct {
		env       expr.Env
		src, want string
	}{
		{rows, `num > 1 and gone == "x"`, `study.yaml:12:24: item "q1" has no field gone (where it may be missing, write (gone ?? ""))`},
		{rows, `num < 1 and gone == "x"`, ``},
		{rows, `word > 3`,
			`study.yaml:12:17: cannot use > between text and a number (float(x) makes a number; x ?? 0 stands in where there is none)`},
		{rows, `item.nil > 3`,
			`study.yaml:12:21: cannot use > between nothing and a number (float(x) makes a number; x ?? 0 stands in where there is none)`},
		{rows, `word`, `study.yaml:12:12: the condition gives text, not true or false (compare it with something)`},
		{rows, `len(map(long, #)) > 0`, `study.yaml:12:16: memory budget exceeded`},
		{rows, `num.x == 1`, `study.yaml:12:16: cannot fetch x from int64`},
		{expr.Env{Kind: expr.Items, Fields: map[string]expr.Type{"word": expr.Number}}, `word > 3`,
			`study.yaml:12:12: field word of item "q1" is text, not a number`},
		{expr.Env{Kind: expr.Items, Fields: map[string]expr.Type{"num": expr.Text}}, `num == "3"`,
			`study.yaml:12:12: field num of item "q1" is a number, not text`},
		{expr.Env{Kind: expr.When}, `any(finding("gone", "rate"), .low > 0.05)`,
			`study.yaml:12:16: finding("gone", "rate"): no such stage`},
	} {
		_, err := compile(t, c.src, c.env).Bool(expr.Vars{Item: item, Source: source{}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.src, diff)
		}
	}
	for _, c := range []struct {
		env expr.Env
		src string
	}{{rows, `x == 1`}, {rows, `(x ?? 1) == 1`}, {rows, `"x" in item`}, {items, `verdict("x").score > 1`},
		{expr.Env{Kind: expr.When}, `len(finding("x", "y")) > 1`}} {
		if _, err := compile(t, c.src, c.env).Bool(expr.Vars{}); err == nil || !strings.Contains(err.Error(), "here") {
			t.Errorf("%s without anything: %v", c.src, err)
		}
	}
}

func TestOneProgramRunsInManyGoroutines(t *testing.T) {
	t.Parallel()
	p := compile(t, `verdict("stance").label == expect and score > 3 and title matches "^q" and any(tags, # == "b")`, items)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range int64(200) {
				item := &assay.Item{Expect: "agree", Fields: map[string]any{"score": i, "title": "q", "tags": []any{"a", "b"}}}
				got, err := p.Bool(expr.Vars{Item: item, Source: source{}})
				if got != (i > 3) || err != nil {
					t.Errorf("%d: %v, %v", i, got, err)
				}
				if _, problems := expr.Compile(at, "score > 3", rows); len(problems) > 0 {
					t.Error(problems)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`verdict("stance").label == expect`, `any(finding("flips", "rate"), .low > 0.05)`, `finding("flips", "rate", lane).low > 0.05`,
		`item["a b"] ?? 1 > 2`, `not (x in [1, 2]) ? y : z`, `title matches "("`, `item?.x?.y == nil`, `x[1:2] == "a"`,
		`map(filter(tags, # > 1), {#})[0] == #index`, `1..3`, `"a" + 1`, `let x = 1; x`, `{"a": b}`, `x |> len() > 1`,
		`-x ** 2 % 3 == 0xff`, "`raw`", `b"x"`, `if x { y } else { z }`, `finding()`, `verdict(verdict("x"))`, `$env.x`, `((((`, `!!!!x`,
		`x.y.z()`, `sum(tags, #) / 0 > 1`, `reduce(tags, #acc + #)`, `a; b`,
	} {
		for kind := range uint8(5) {
			f.Add(seed, kind)
		}
	}
	item := &assay.Item{ID: "1", Fields: map[string]any{"x": int64(1), "title": "t", "tags": []any{1.0, "a"}}}
	f.Fuzz(func(t *testing.T, src string, kind uint8) {
		env := expr.Env{Kind: expr.Kind(kind % 5), Open: kind%2 == 0, Fields: map[string]expr.Type{"title": expr.Text, "tags": expr.List}}
		p, problems := expr.Compile(at, src, env)
		if (p == nil) != (len(problems.Errors()) > 0) {
			t.Fatalf("program %v with problems %v", p != nil, problems)
		}
		for _, problem := range problems {
			if problem.Line < at.Line || problem.Col < at.Col || problem.What == "" {
				t.Fatalf("a place outside the condition: %v", problem)
			}
		}
		if p != nil {
			_, _ = p.Bool(expr.Vars{Item: item, Lane: "l", Source: source{}})
			p.Stages()
		}
	})
}

func BenchmarkBool(b *testing.B) {
	p, _ := expr.Compile(at, `score > 3 and item.title contains "x"`, rows)
	item := &assay.Item{Fields: map[string]any{"score": int64(4), "title": "abcx"}}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := p.Bool(expr.Vars{Item: item}); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
