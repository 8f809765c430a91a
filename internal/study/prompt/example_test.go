package prompt_test

import (
	"fmt"

	"assay/internal/assay"
	"assay/internal/study/prompt"
)

// A template is parsed once and rendered for every item; a value is text and is not expanded.
func ExampleParse() {
	t, problems := prompt.Parse(assay.Place{File: "ask.md"}, "{{ text | trim }}{% if hint %} Hint: {{ hint }}{% endif %}")
	if len(problems) > 0 {
		fmt.Println(problems)
		return
	}
	for _, item := range []map[string]any{{"text": " Is {{ x }} a name? ", "hint": ""}, {"text": "What is love?", "hint": "a song"}} {
		out, err := t.Render(nil, prompt.Values{Fields: item}, 1000)
		fmt.Println(string(out), err)
	}
	// Output:
	// Is {{ x }} a name? <nil>
	// What is love? Hint: a song <nil>
}
