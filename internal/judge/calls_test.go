package judge_test

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/judge"
)

func TestCallsAreRightOrWrong(t *testing.T) {
	t.Parallel()
	const paris = `[{"id":"1","name":"get_weather","arguments":{"city":"Paris","days":3,"units":{"wind":"kmh","temp":"c"},"on":true}}]`
	named := judge.Call{Name: "get_weather"}
	whole := judge.Call{Name: "get_weather", Whole: true}
	for name, c := range map[string]struct {
		want           judge.Call
		answer, expect string
		label          string
	}{
		"the name alone":          {named, paris, "", "right"},
		"some arguments":          {named, paris, `{"city":"Paris"}`, "right"},
		"inside":                  {named, paris, `{"units":{"temp":"c"}}`, "right"},
		"not whole":               {whole, paris, `{"city":"Paris"}`, "wrong"},
		"not whole inside":        {whole, `[{"name":"get_weather","arguments":{"u":{"a":1,"b":2}}}]`, `{"u":{"a":1}}`, "wrong"},
		"whole":                   {whole, `[{"name":"get_weather","arguments":{"city":"Paris"}}]`, `{"city":"Paris"}`, "right"},
		"another value":           {named, paris, `{"city":"paris"}`, "wrong"},
		"one is missing":          {named, paris, `{"country":"France"}`, "wrong"},
		"a number as a text":      {named, paris, `{"days":"3"}`, "right"},
		"a number otherwise":      {named, paris, `{"days":3.0}`, "right"},
		"a text as a number":      {named, `[{"name":"get_weather","arguments":{"days":"3"}}]`, `{"days":3}`, "wrong"},
		"a truth as a text":       {named, paris, `{"on":"true"}`, "right"},
		"another truth":           {named, paris, `{"on":"false"}`, "wrong"},
		"a list":                  {named, `[{"name":"get_weather","arguments":{"c":["a","b"]}}]`, `{"c":["a","b"]}`, "right"},
		"a longer list":           {named, `[{"name":"get_weather","arguments":{"c":["a","b"]}}]`, `{"c":["a"]}`, "wrong"},
		"another tool":            {judge.Call{Name: "get_time"}, paris, "", "wrong"},
		"no call":                 {named, `[]`, "", "wrong"},
		"broken arguments":        {named, `[{"name":"get_weather","broken":"{city"}]`, "", "wrong"},
		"the second call":         {named, `[{"name":"get_time"},{"name":"get_weather","arguments":{"city":"Rome"}}]`, `{"city":"Rome"}`, "right"},
		"none is to be called":    {judge.Call{}, `[]`, "", "right"},
		"none, and one is called": {judge.Call{}, paris, "", "wrong"},
		"an empty name is called": {judge.Call{}, `[{"name":""}]`, "", "wrong"},
	} {
		if v := judge.Calls(c.want)(c.answer, c.expect); v.State != assay.VerdictValid || v.Label != c.label {
			t.Errorf("%s: %s %s (%s), want %s", name, v.State, v.Label, v.Why, c.label)
		}
	}
	if v := judge.Calls(named)("nonsense", ""); v.State != assay.VerdictMalformed {
		t.Errorf("nonsense: %s", v.State)
	}
}
