package prompt_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/prompt"
)

func TestAValueIsNeverItselfExpanded(t *testing.T) {
	t.Parallel()
	hostile := "{{ secret }} {% if x %} {# c #} {SAMPLE_2} {% raw %} }} %}"
	values := prompt.Values{
		Fields: map[string]any{"text": hostile, "list": []any{hostile}, "secret": "LEAKED", "SAMPLE_2": "LEAKED"},
		Names:  map[string]any{"a": map[string]any{"text": hostile}, "b": map[string]string{"text": "B"}},
	}
	for _, template := range []string{
		"{{ text }}", "{{ item.text }}", "{{ a.text }}", "{% set x = text %}{{ x }}", "{{ text | trim }}", "{{ text ~ '' }}",
		"{{ list | join }}", "{% for x in list %}{{ x }}{% endfor %}", "{{ text | replace('~', a.text) }}", "{{ missing | default(text) }}",
	} {
		got, err := render(template, values)
		if err != nil || got != hostile {
			t.Errorf("%q: %q, %v", template, got, err)
		}
	}
	got, err := render("A={{ a.text }} B={{ b.text }}", values)
	if want := "A=" + hostile + " B=B"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestNamesComeBeforeFieldsAndItemReachesBoth(t *testing.T) {
	t.Parallel()
	values := prompt.Values{
		Fields: map[string]any{"answer": "field", "item": "inner", "text": "t"},
		Names:  map[string]any{"answer": map[string]any{"text": "name"}},
	}
	got, err := render("{{ answer.text }} {{ item.answer }} {{ item.item }} {{ text }} {{ item.text }}", values)
	if diff := cmp.Diff("name field inner t t", got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestValuesPrintAsDocumented(t *testing.T) {
	t.Parallel()
	values := prompt.Values{Fields: map[string]any{
		"i": int64(-7), "n": 7, "one": 1.0, "half": 0.5, "exact": 9007199254740991.0, "wide": 1e20, "huge": 1e21, "tiny": 1e-7,
		"minus": math.Copysign(0, -1), "yes": true, "none": nil, "words": []string{"a", "b"}, "raw": "\xff", "odd": struct{}{},
		"deep": map[string]any{"b": []any{1.0, "é<&>\n", nil}, "a": true, "c": map[string]any{}, "d": []any{}},
	}}
	for template, want := range map[string]string{
		"{{ i }} {{ n }} {{ one }} {{ half }} {{ exact }} {{ wide }}":                  "-7 7 1 0.5 9007199254740991 100000000000000000000",
		"{{ huge }} {{ tiny }} {{ minus }} {{ 4 / 2 }}":                                "1e+21 1e-07 0 2",
		"{{ n // -1 }} {{ i // 2 }}":                                                   "-7 -4",
		"{{ yes }}|{{ none }}|{{ none ~ 'x' }}|{{ 'a' if none }}":                      "true||x|",
		"{{ words | join('+') }}{% for w in words %}{{ w }}{% endfor %}{{ words[1] }}": "a+babb",
		"{{ raw }}":              "\xff",
		"{{ deep | tojson }}":    `{"a": true, "b": [1, "é<&>\n", null], "c": {}, "d": []}`,
		"{{ deep | tojson(2) }}": "{\n  \"a\": true,\n  \"b\": [\n    1,\n    \"é<&>\\n\",\n    null\n  ],\n  \"c\": {},\n  \"d\": []\n}",
		"{{ 'x' | tojson }}{{ none | tojson }}{{ words | tojson }}": `"x"null["a", "b"]`,
	} {
		got, err := render(template, values)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", template, err, diff)
		}
	}
	for template, want := range map[string]string{
		"{{ deep }}":           "t:1:4: a record does not print (name a field, or use | join or | tojson)",
		"{{ words }}":          "t:1:4: a list does not print (name a field, or use | join or | tojson)",
		"{{ odd }}":            "t:1:4: a value of an unknown type does not print (name a field, or use | join or | tojson)",
		"{{ [odd] | tojson }}": "t:1:12: tojson cannot write a value of an unknown type",
		"{{ 1 + yes }}": "t:1:6: + cannot join a number and true or false (join texts with ~; make a number with | " +
			"int or | float)",
		"{% for c in raw %}{% endfor %}": "t:1:13: a loop needs a list or a record, not text (its characters are | list)",
		"{{ gone }}":                     "t:1:4: \"gone\" is not defined (where it may be missing, write | default(''))",
		"{{ item.gone }}":                "t:1:9: item has no field \"gone\" (where it may be missing, write | default(''))",
		"{{ item.n.x }}": "t:1:11: item.n has no field \"x\": it is a number (where it may be missing, write " +
			"| default(''))",
		"{{ gone is none }}":                 "t:1:4: \"gone\" is not defined (where it may be missing, write | default(''))",
		"{{ 9223372036854775807 + 1 }}":      "t:1:24: the result does not fit a whole number of 64 bits",
		"{{ -9223372036854775807 - 2 }}":     "t:1:25: the result does not fit a whole number of 64 bits",
		"{{ 3037000500 * 3037000500 }}":      "t:1:15: the result does not fit a whole number of 64 bits",
		"{{ 2 ** 64 }}":                      "t:1:6: the result does not fit a whole number of 64 bits",
		"{{ 1e308 * 10 }}":                   "t:1:10: the result of * is not a number",
		"{{ '99999999999999999999' | int }}": "t:1:29: int found a number too large for 64 bits",
	} {
		_, err := render(template, values)
		var known *prompt.Error
		if !errors.As(err, &known) || known.Error() != want {
			t.Errorf("%q: %v, want %s", template, err, want)
		}
	}
}

func TestRenderAppendsAndLeavesTheDestinationAloneOnError(t *testing.T) {
	t.Parallel()
	dst := []byte("before ")
	got, err := parse(t, "{{ x }}!").Render(dst, prompt.Values{Fields: map[string]any{"x": "y"}}, 2)
	if diff := cmp.Diff("before y!", string(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = parse(t, "abc{{ x }}").Render(dst, prompt.Values{}, 0)
	if diff := cmp.Diff("before ", string(got)); diff != "" || err == nil {
		t.Error(diff, err)
	}
}

func TestWorkAndOutputAreBounded(t *testing.T) {
	t.Parallel()
	thousand := make([]any, 1000)
	for i := range thousand {
		thousand[i] = int64(i)
	}
	values := prompt.Values{Fields: map[string]any{"l": thousand, "text": strings.Repeat("x", 1000), "big": strings.Repeat("ab", 1<<19),
		"many": slices.Repeat([]any{true}, 10_000)}}
	loops := func(body string) string {
		return strings.Repeat("{% for x in l %}", 10) + body + strings.Repeat("{% endfor %}", 10)
	}
	double := "{% set s = 'ab' %}" + strings.Repeat("{% set s = s ~ s %}", 60) + "{{ s | length }}"
	steps, out, between := "takes more than 1000000 steps", "the filled template is longer than the cap of 100000 bytes",
		"longer than the cap of 100000 bytes"
	for _, c := range []struct{ template, want string }{
		{loops(""), steps},
		{loops("{{ x }}"), out},
		{loops("{% if l | sort | join == text %}{% endif %}"), steps},
		{"{% for x in l if x in l %}{% endfor %}", ""},
		{"{% for y in l %}" + "{% for x in l if x in l %}{% endfor %}{% endfor %}", steps},
		{"{% for x in l %}{{ text }}{% endfor %}", out},
		{strings.Repeat("x", 100001), out},
		{double, between},
		{"{{ 'x' * 1000000000000 }}", between},
		{"{{ text | replace('x', text) }}", between},
		{"{{ text | replace('', text) }}", between},
		{"{{ text | indent(1000000, true) }}", between},
		{"{{ l | join(text) }}", between},
		{"{{ big | upper | truncate(50) }}{{ big[:9] }}{{ big | wordcount }}{{ big | replace('a', '') | length }}", ""},
		{"{{ big }}", out},
		{"{{ text | truncate(2000, true, big) }}", "needs a length"},
		{"{{ many | tojson | length }}{{ many | join | length }}", ""},
		{"{{ big | tojson }}", between},
		{"{{ l | tojson(16) | length }}", ""},
		{"{% for x in l %}{% for y in l %}{% if text * 90 == text * 90 %}{% endif %}{% endfor %}{% endfor %}", steps},
	} {
		_, err := parse(t, c.template).Render(nil, values, 100_000)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %q", c.template, err, c.want)
		}
	}
}

func TestHostileTemplatesAreRefusedInBoundedTime(t *testing.T) {
	t.Parallel()
	const million = 1 << 20
	for name, c := range map[string]struct{ text, want string }{
		"braces":       {strings.Repeat("{{", million/2), "unexpected '{'"},
		"openings":     {strings.Repeat("{{ x ", million/5), "unexpected '{'"},
		"statements":   {strings.Repeat("{%", million/2), "more problems follow"},
		"comments":     {strings.Repeat("{#", million/2), "never closed"},
		"ifs":          {strings.Repeat("{% if x %}", million/10), "nested more than 32 deep"},
		"fors":         {strings.Repeat("{% for x in y %}", million/16), "nested more than 32 deep"},
		"parens":       {"{{ " + strings.Repeat("(", million) + " }}", "more than 2000 words"},
		"some parens":  {"{{ " + strings.Repeat("(", 1000) + "x" + strings.Repeat(")", 900) + " }}", "nested more than 64 deep"},
		"nots":         {"{{ " + strings.Repeat("not ", 1000) + " x }}", "nested more than 64 deep"},
		"signs":        {"{{ " + strings.Repeat("- ", 1000) + " x }}", "nested more than 64 deep"},
		"choices":      {"{{ " + strings.Repeat("x if y else ", 400) + " x }}", "nested more than 64 deep"},
		"brackets":     {"{{ " + strings.Repeat("x[", 900) + "}}", "nested more than 64 deep"},
		"lists":        {"{{ " + strings.Repeat("[", 900) + "}}", "nested more than 64 deep"},
		"arguments":    {"{{ " + strings.Repeat("x|default(", 400) + "}}", "nested more than 64 deep"},
		"raws":         {strings.Repeat("{% raw %}", million/9), "never closed"},
		"tags":         {strings.Repeat("{{ x }}", 10_001), "more than 10000 tags"},
		"names":        {manySets(101), "names more than 100 values"},
		"long name":    {"{{ " + strings.Repeat("x", million) + " y }}", "unexpected y"},
		"long unknown": {"{% " + strings.Repeat("x", million) + " %}", "unknown tag xxx"},
		"ends":         {strings.Repeat("{% endif %}", 5000), "more problems follow"},
		"long end":     {"{% end" + strings.Repeat("x", million) + " %}", "has nothing to close"},
		"class":        {"{{ ''.__class__() }}", "cannot be called"},
	} {
		_, problems := prompt.Parse(top, c.text)
		if !strings.Contains(problems.Error(), c.want) {
			t.Errorf("%s: %.300v, want %q", name, problems, c.want)
		}
		if n := len(problems.Error()); n > 20_000 {
			t.Errorf("%s: the problems take %d bytes", name, n)
		}
	}
	for name, text := range map[string]string{
		"long chain": "{{ x" + strings.Repeat(".x", 900) + " }}",
		"long sum":   "{{ 1" + strings.Repeat(" + 1", 900) + " }}",
		"filters":    "{{ x" + strings.Repeat(" | upper", 900) + " }}",
		"tags":       strings.Repeat("{% set x = 1 %}", 9_999),
	} {
		tmpl := parse(t, text)
		tmpl.Check(prompt.Scope{Open: true})
		if _, err := tmpl.Render(nil, prompt.Values{Fields: map[string]any{"x": "y"}}, 100); name == "long chain" && err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func manySets(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{%% set x%d = 1 %%}", i)
	}
	return b.String()
}

func TestOneTemplateRendersInManyGoroutines(t *testing.T) {
	t.Parallel()
	tmpl := parse(t, "{% set y = id ~ '!' %}{% for t in tags | sort %}{{ loop.index }}{{ t }}{{ y }}{% endfor %}{{ item.id | upper }}{{ "+
		"tags | tojson }}")
	shared := []any{"b", "a"}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var buf []byte
			for i := range 200 {
				id := fmt.Sprintf("g%d-%d", g, i)
				var err error
				buf, err = tmpl.Render(buf[:0], prompt.Values{Fields: map[string]any{"id": id, "tags": shared}}, 0)
				want := "1a" + id + "!2b" + id + "!" + strings.ToUpper(id) + `["b", "a"]`
				if err != nil || string(buf) != want {
					t.Errorf("%q, %v, want %q", buf, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff([]any{"b", "a"}, shared); diff != "" {
		t.Error("rendering changed the values:", diff)
	}
}

func TestPlainSubstitutionAllocatesNothingPerValue(t *testing.T) {
	tmpl := parse(t, "Question: {{ text }}\nBy {{ item.author }} in {{ year }}.\nAnswer: {{ answer.text }}")
	values := prompt.Values{
		Fields: map[string]any{"text": "why?", "author": "Ann", "year": int64(2026)},
		Names:  map[string]any{"answer": map[string]any{"text": "because"}},
	}
	buf := make([]byte, 0, 1024)
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := tmpl.Render(buf, values, 0); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 1 {
		t.Errorf("%v allocations, want at most 1", allocs)
	}
}

func FuzzParseAndRender(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "{{ text }}", "{{ item.text | upper }}", "{% for x in l %}{{ loop.index }}{{ x }}{% else %}-{% endfor %}",
		"{% if n > 1 and text %}a{% elif n %}b{% else %}c{% endif %}", "{% set x = n ~ text %}{{ x[1:-1] }}",
		"{%- raw -%} {{ {%- endraw -%}", "{#- c -#}", "{{ 'a\\u00e9\\x41' ~ \"b\" }}",
		"{{ l | sort(reverse=true) | join(', ') | truncate(9) | indent }}", "{{ m | tojson(2) }}{{ m.a.b | default('x') }}",
		"{{ -n ** 2 // 3 % 2 }}", "{{ 1 < n <= 3 is not none }}", "{{{{{{", "{% for x in l %}{% else %}-{% \\ndfor %}",
		"{{ [1,(2,)] | unique | list | first }}", "{{ text[99:] | wordcount | round(2) }}",
	} {
		f.Add(seed, "x {{ y }}")
	}
	f.Fuzz(func(t *testing.T, template, text string) {
		tmpl, problems := prompt.Parse(top, template)
		if (tmpl == nil) != (len(problems) > 0) {
			t.Fatalf("template %v with problems %v", tmpl != nil, problems)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Line > strings.Count(template, "\n")+strings.Count(template, "\r")+1 || p.Col < 1 {
				t.Fatalf("a place outside the template: %v", p)
			}
		}
		if tmpl == nil {
			return
		}
		values := prompt.Values{Fields: map[string]any{"text": text, "n": int64(2), "l": []any{text, int64(1), nil, 2.5},
			"m": map[string]any{"a": text}}}
		const limit = 1000
		out, err := tmpl.Render(nil, values, limit)
		if len(out) > limit {
			t.Fatalf("%d bytes of output", len(out))
		}
		again, err2 := tmpl.Render(nil, values, limit)
		if string(out) != string(again) || (err == nil) != (err2 == nil) {
			t.Fatalf("two renderings differ: %q %v, %q %v", out, err, again, err2)
		}
		tmpl.Check(prompt.Scope{Open: true})
		if static, ok := tmpl.Static(); ok && err == nil && static != string(out) {
			t.Fatalf("static %q, rendered %q", static, out)
		}
	})
}

func BenchmarkRenderPlain(b *testing.B) {
	tmpl, _ := prompt.Parse(top,
		"You are a careful judge.\n\nQuestion: {{ text }}\n\nAnswer A: {{ a.text }}\n\nAnswer B: {{ b.text }}\n\nWhich is better?")
	long := strings.Repeat("lorem ipsum dolor sit amet ", 40)
	values := prompt.Values{
		Fields: map[string]any{"text": long},
		Names:  map[string]any{"a": map[string]any{"text": long}, "b": map[string]any{"text": long}},
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var buf []byte
		for pb.Next() {
			buf, _ = tmpl.Render(buf[:0], values, 0)
		}
	})
}

func BenchmarkRenderLoop(b *testing.B) {
	tmpl, _ := prompt.Parse(top, "{% for r in rows %}{{ loop.index }}. {{ r.name | upper }}{% if not loop.last %}\n{% endif %}{% endfor %}")
	values := prompt.Values{Fields: map[string]any{"rows": []any{map[string]any{"name": "one"}, map[string]any{"name": "two"},
		map[string]any{"name": "three"}}}}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var buf []byte
		for pb.Next() {
			buf, _ = tmpl.Render(buf[:0], values, 0)
		}
	})
}
