package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/prompt"
)

var top = assay.Place{File: "study.yaml", Line: 1, Col: 1}

func parse(t *testing.T, text string) *prompt.Template {
	t.Helper()
	tmpl, problems := prompt.Parse(top, text)
	if len(problems) > 0 {
		t.Fatalf("parse %q: %v", text, problems)
	}
	return tmpl
}

func lines(problems assay.Problems) []string {
	var all []string
	for _, p := range problems {
		all = append(all, strings.TrimPrefix(p.String(), "study.yaml:"))
	}
	return all
}

func TestWhatIsNotPartOfTemplatesIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{% include "x" %}`: {
			`1:4: include is not part of templates here (write the text here, or give it as a field)`},
		`{% import "x" as y %}`:                {`1:4: import is not part of templates here (write the text here)`},
		`{% extends "x" %}`:                    {`1:4: extends is not part of templates here (write the whole prompt here)`},
		"a\n {% macro m(x) %}b{% endmacro %}":  {`2:5: macro is not part of templates here (write the text where it is needed)`},
		`{% block a %}{% endblock %}`:          {`1:4: block is not part of templates here (write the text here)`},
		`{% call m() %}{% endcall %}`:          {`1:4: call is not part of templates here (write the text where it is needed)`},
		`{% fro x in y %}`:                     {`1:4: unknown tag fro (did you mean for?)`},
		`{% for i in range(9) %}{% endfor %}`:  {`1:13: range() cannot be called (loop over a field)`},
		`{{ text.upper() }}`:                   {`1:9: upper() cannot be called (write | upper)`},
		`{{ f(1) }}`:                           {`1:4: f() cannot be called (a template calls no functions; see the filters)`},
		`{{ x | uper }}`:                       {`1:8: unknown filter uper (did you mean upper?)`},
		`{{ x is definde }}`:                   {`1:9: unknown test definde (did you mean defined?)`},
		`{{ x | truncate(9, kilwords=true) }}`: {`1:20: truncate has no parameter kilwords (did you mean killwords?)`},
		`{{ x | upper(1) }}`:                   {`1:14: too many arguments for upper`},
		`{{ x | replace("a") }}`:               {`1:8: replace needs old and new`},
		`{{ x | join(",", d=",") }}`:           {`1:18: d is given twice`},
		`{% for k, v in m %}{% endfor %}`: {
			`1:9: a loop has one name (loop over the keys: {% for k in record %}{{ record[k] }})`},
		`{% set a, b = 1 %}`:       {`1:9: set gives a value to one name`},
		`{% set a %}x{% endset %}`: {`1:10: set needs a value (write {% set name = value %})`},
		`{% set loop = 1 %}`:       {`1:8: loop cannot be given a value (choose another name)`},
		`{% set if = 1 %}`:         {`1:8: set needs a name, not if`},
		`{{ {"a": 1} }}`: {
			`1:4: unexpected '{' (records cannot be written in a template; to write braces as text, use {% raw %})`},
		`{{ x = 1 }}`: {`1:6: unexpected = (write == to compare)`},
		`{{ two words }}`: {
			`1:8: unexpected words (a name is one word; reach other columns as item["two words"])`},
		`{{ x && y }}`:               {`1:6: unexpected '&' (write and)`},
		`{{ x[::2] }}`:               {`1:7: a slice has no step here`},
		`{{ }}`:                      {`1:4: there is nothing between the braces`},
		`{{ x + }}`:                  {`1:8: expected a value, not }}`},
		`{{ (x }}`:                   {`1:7: expected ), not }}`},
		`{{ x[1 }}`:                  {`1:8: expected ], not }}`},
		`{{ 'x }}`:                   {`1:4: this text is never closed (end it with ')`},
		`{{ 007 }}`:                  {`1:4: 007 is not a number`},
		`{{ 99999999999999999999 }}`: {`1:4: 99999999999999999999 is not a number`},
		`{{ "\N{DASH}" }}`:           {`1:5: unknown escape in a text`},
		`ab {{ x`:                    {`1:4: this {{ is never closed (end it with }}; to write {{ itself, use {% raw %})`},
		`{{ x } and {{ y }}`:         {`1:6: unexpected '}' (an expression ends with }}, a statement with %})`},
		`{# x`:                       {`1:1: this comment is never closed (end it with #})`},
		`{% raw %}x`:                 {`1:1: this raw block is never closed (end it with {% endraw %})`},
		`{% if x %}y`:                {`1:1: this tag is never closed (end it with {% endif %})`},
		`{% if x %}{% for y in x %}{% endif %}`: {`1:1: this tag is never closed (end it with {% endif %})`,
			`1:11: this tag is never closed (end it with {% endfor %})`,
			`1:27: {% endif %} has nothing to close or continue here (expected {% endfor %})`},
		`{% endif %}x{% else %}`: {`1:1: {% endif %} has nothing to close or continue`,
			`1:13: {% else %} has nothing to close or continue`},
		`{% if x %}{% else %}{% else %}{% endif %}`: {`1:21: else after else`},
		`{% %}`:                           {`1:4: this tag is not understood (a statement begins with if, for, set or raw)`},
		`{% if %}{% elif + %}{% endif %}`: {`1:7: expected a value, not %}`, `1:19: expected a value, not %}`},
		"{{ a b }}\n{% nope %}\n  {{ x | " +
			"flot }}{{ 1 + }}": {`1:6: unexpected b (a name is one word; reach other columns as item["two words"])`,
			`2:4: unknown tag nope`, `3:10: unknown filter flot (did you mean float?)`, `3:24: expected a value, not }}`},
	} {
		tmpl, problems := prompt.Parse(top, text)
		if tmpl != nil {
			t.Errorf("%q: a template in spite of problems", text)
		}
		if diff := cmp.Diff(want, lines(problems)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestProblemsStandWhereTheTemplateStandsInItsFile(t *testing.T) {
	t.Parallel()
	at := assay.Place{File: "s.yaml", Line: 7, Col: 9} // a block scalar indented by eight
	_, problems := prompt.Parse(at, "é {{ a b }}\n  {{ c d }}")
	tmpl, _ := prompt.Parse(at, "\n  {{ nosuch }}")
	problems = append(problems, tmpl.Check(prompt.Scope{})...)
	var got []assay.Place
	for _, p := range problems {
		got = append(got, p.Place)
	}
	_, err := tmpl.Render(nil, prompt.Values{}, 0)
	want := []assay.Place{{File: "s.yaml", Line: 7, Col: 16}, {File: "s.yaml", Line: 8, Col: 16}, {File: "s.yaml", Line: 8, Col: 14}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want := `s.yaml:8:14: "nosuch" is not defined (where it may be missing, write | default(''))`; err == nil || err.Error() != want {
		t.Errorf("render: %v, want %s", err, want)
	}
}

func scope() prompt.Scope {
	text := prompt.Shape{Kind: prompt.Text}
	return prompt.Scope{
		Fields: map[string]prompt.Shape{
			"text": text, "score": {Kind: prompt.Number}, "ok": {Kind: prompt.Bool}, "tags": {Kind: prompt.List, Elem: &text},
			"meta": {Kind: prompt.Record, Fields: map[string]prompt.Shape{"author": text}}, "any": {}, "two-words": {},
			"rows": {Kind: prompt.List, Elem: &prompt.Shape{Kind: prompt.Record, Fields: map[string]prompt.Shape{"name": text}}},
		},
		Names: map[string]prompt.Shape{"answer": {Kind: prompt.Record, Fields: map[string]prompt.Shape{"text": text}}},
	}
}

func TestCheckFindsWhatTheScopeDoesNotAllow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{{ text }}{{ item.text }}{{ answer.text }}{{ item["two-words"] }}{{ any.thing[1] }}`: nil,
		`{{ txet }}`:          {`1:4: "txet" is not defined (did you mean text?)`},
		`{{ item.txet }}`:     {`1:9: item has no field "txet" (did you mean text?)`},
		`{{ answer.lenght }}`: {`1:11: answer has no field "lenght" (its fields: text)`},
		`{{ answr.text }}`:    {`1:4: "answr" is not defined (did you mean answer?)`},
		`{{ lane }}`:          {`1:4: "lane" is not defined (a prompt never sees the lane, the model or the cost)`},
		`{{ two }}`:           {`1:4: "two" is not defined (did you mean item["two-words"]?)`},
		`{{ text.upper }}`:    {`1:9: text is text and has no field "upper"`},
		`{{ ''.__class__ }}`:  {`1:7: this value is text and has no field "__class__"`},
		`{{ score.x }}`:       {`1:10: score is a number and has no field "x"`},
		`{% if false %}{{ gone }}{% endif %}`: {
			`1:18: "gone" is not defined (known are: answer, any, item, meta, ok, rows, score, tags, text, two-words)`},
		`{% if true %}x{% elif gonee.x == 1 %}y{% endif %}`: {
			`1:23: "gonee" is not defined (known are: answer, any, item, meta, ok, rows, score, tags, text, two-words)`},
		`{{ item }}`: {
			`1:4: item is a record and does not print (name one of its fields: any, meta, ok, rows, score, tags, text, two-words)`},
		`{{ tags }}`:         {`1:4: tags is a list and does not print (write | join(', ') or | tojson)`},
		`{{ "a" ~ meta }}`:   {`1:10: meta is a record and does not print (name one of its fields: author)`},
		`{{ meta | upper }}`: {`1:11: upper cannot take a record`},
		`{{ score | join }}`: {`1:12: join cannot take a number`},
		`{{ text | round }}`: {`1:11: round cannot take text`},
		`{{ meta | tojson }}{{ tags | join }}{{ score | string }}{{ score | round(2) }}`: nil,
		`{% for c in text %}{% endfor %}`: {
			`1:13: a loop needs a list or a record; text is text`},
		`{% for r in rows %}{{ r.name }}{{ r.nmae }}{{ loop.index }}{{ loop.idx }}{% endfor %}{{ r }}{{ loop }}`: {
			`1:37: r has no field "nmae" (did you mean name?)`,
			`1:68: loop has no field "idx" (its fields: first, index, index0, last, length, revindex, revindex0)`,
			`1:89: "r" is not defined (what is set inside a for is gone behind it)`,
			`1:96: "loop" is not defined (loop is known inside for only)`},
		`{% for t in tags %}{{ t.x }}{% endfor %}`: {
			`1:25: t is text and has no field "x"`},
		`{% for t in tags %}{% set y = t %}{% endfor %}{{ y }}`: {
			`1:50: "y" is not defined (what is set inside a for is gone behind it)`},
		`{% set y = 1 %}{{ y }}{{ y.z }}`: {
			`1:28: y is a number and has no field "z"`},
		`{% if ok %}{% set y = 1 %}{% endif %}{{ y }}`: {
			`1:41: warning: "y" is set on some ways through the template only (set it before the if, or in its else too)`},
		`{% if ok %}{% set y = 1 %}{% endif %}{% if y is defined %}{{ y }}{% endif %}`:                                                    nil,
		`{% if ok %}{% set y = 1 %}{% else %}{% set y = 2 %}{% endif %}{{ y }}`:                                                           nil,
		`{% set y = 0 %}{% if ok %}{% set y = 1 %}{% endif %}{{ y }}`:                                                                     nil,
		`{% if trait is defined and trait.name %}{{ trait.name }}{% endif %}{{ nosuch | default("x") }}{{ trait.x if trait is defined }}`: nil,
		`{{ txet | default("") }}`: {
			`1:4: warning: "txet" is not defined, unless the items have such a field (did you mean text?)`},
		`{{ meta.authr | default("") }}`: {
			`1:9: warning: meta never has a field "authr" (did you mean author?)`},
		`{{ text + 1 }}`: {
			`1:9: + cannot join text and a number (join texts with ~; make a number with | int or | float)`},
		`{{ text + (1 + score) }}`: {
			`1:9: + cannot join text and a number (join texts with ~; make a number with | int or | float)`},
		`{{ text < 3 }}`: {
			`1:9: text and a number have no order (make a number with | int or | float)`},
		`{{ text == 3 }}`: {
			`1:9: text and a number are never equal`},
		`{{ 1 in score }}`: {
			`1:6: nothing can be in a number`},
		`{{ -text }}`: {
			`1:5: what has a sign is a number, not text`},
		`{{ tags["a"] }}`: {
			`1:9: tags is a list and has no field "a"`},
		`{{ meta[0] }}`: {
			`1:9: meta is a record: a field is chosen by its name`},
		`{{ score[0] }}`: {
			`1:9: score is a number and has no elements`},
		`{{ meta[1:] }}`: {
			`1:8: a slice is of text or of a list; meta is a record`},
		`{{ text[text:] }}`: {
			`1:9: the end of a slice is a number, not text`},
		`{{ any + 1 }}{{ any < 1 }}{{ any == text }}{{ any }}{{ any | upper }}{% for x in any %}{{ x.y }}{% endfor %}`: nil,
	} {
		if diff := cmp.Diff(want, lines(parse(t, text).Check(scope()))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestAnOpenScopeAllowsFieldsNotYetKnown(t *testing.T) {
	t.Parallel()
	open := prompt.Scope{Open: true, Names: scope().Names}
	for text, want := range map[string][]string{
		`{{ text }}{{ item.whatever.deep }}{{ title | upper }}`: nil,
		`{{ anwser.text }}`: {`1:4: warning: "anwser" is not defined, unless the items have such a field (did you mean answer?)`},
		`{{ answer.txt }}`:  {`1:11: answer has no field "txt" (did you mean text?)`},
	} {
		if diff := cmp.Diff(want, lines(parse(t, text).Check(open))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestUsesAreThePathsTakenFromOutside(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                      "",
		`{{ text }}{{ item.text }}{{ text }}`:   "item.text text",
		`{{ a["text"] }}{{ b[i] }}{{ c[0].d }}`: "a.text b c i",
		`{% for x in rows %}{{ x.name }}{{ loop.index }}{{ y }}{% endfor %}{{ x }}`: "rows x y",
		`{% set z = p.q %}{% if z is defined %}{{ z.r }}{% endif %}`:                "p.q",
		`{% if u is defined %}{{ u.v }}{% endif %}{{ w | default(d) }}`:             "d u u.v w",
		`{% if c %}{% set m = 1 %}{% endif %}{{ m }}`:                               "c m",
	} {
		tmpl := parse(t, text)
		var got []string
		for _, path := range tmpl.Uses() {
			got = append(got, strings.Join(path, "."))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	tmpl := parse(t, "{{ a.b }}")
	tmpl.Uses()[0][0] = "changed"
	if got := tmpl.Uses()[0]; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the caller changed the template: %v", got)
	}
}

func TestATemplateWithoutSubstitutionIsStatic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain\n": "plain", "a {# note #}b{% raw %}{{ c }}{% endraw %}": "a b{{ c }}",
	} {
		if got, ok := parse(t, text).Static(); got != want || !ok {
			t.Errorf("%q: %q, %v, want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"{{ x }}", "a{% if x %}b{% endif %}", "{{ 'x' }}", "{% set x = 1 %}"} {
		if got, ok := parse(t, text).Static(); ok {
			t.Errorf("%q is not static: %q", text, got)
		}
	}
}
