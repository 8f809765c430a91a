package decode_test

import (
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/study/decode"
)

func TestAFileWithoutAStudyIsEmpty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "# only a comment\n", "---\n"} {
		root, problems := decode.Parse("s.yaml", []byte(text))
		if root != nil || len(problems) != 1 || !strings.Contains(problems.Error(), "the study is empty") {
			t.Errorf("%q: %v, %v", text, root, problems)
		}
	}
}

func TestABlockTextMayEndTheFileWithoutALine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"prompt: |", "prompt: |\n", "prompt: |\n\n  \n", "prompt: >\n"} {
		root, problems := decode.Parse("s.yaml", []byte(text))
		if len(problems) > 0 || root == nil || len(root.Pairs) != 1 {
			t.Errorf("%q: %v, %v", text, root, problems)
		}
	}
}

func TestQuotesForPeopleAreThoseOfJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a<b>": `"a<b>"`, "a\x01b": "\"a\\u0001b\"", `"é"`: `"\"é\""`} {
		if got := decode.Quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestAMapIsAtItsFirstKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{"a: 1\nb: 2\nc: 3\n": {1, 1}, "\n  a: 1\n  b: 2\n": {2, 3}, "{a: 1, b: 2}\n": {1, 1}} {
		root, problems := decode.Parse("s.yaml", []byte(text))
		if len(problems) > 0 || root.At.Line != want[0] || root.At.Col != want[1] {
			t.Errorf("%q: %+v, %v, want %v", text, root.At, problems, want)
		}
	}
}

func TestAWordIsOneOfAListHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	root, _ := decode.Parse("s.yaml", []byte("a: off\nb: 'off'\nc: 2\nd: true\ne: [off]\nf: on\n"))
	for key, want := range map[string]string{"a": "off", "b": "off", "c": "2", "d": "true", "e": "", "f": ""} {
		var problems assay.Problems
		d := decode.Decoder{Problems: &problems}
		if got := d.OneOf(root.Child(key), "off", "2", "true", ""); got != want || (len(problems) > 0) != (want == "") {
			t.Errorf("%s: %q, %v, want %q", key, got, problems, want)
		}
	}
}

func TestThePlaceOfATextIsBehindItsQuote(t *testing.T) {
	t.Parallel()
	root, _ := decode.Parse("s.yaml", []byte("a: x\nb: 'x'\nc: \"x\"\nd: |\n    x\n"))
	for key, want := range map[string][2]int{"a": {1, 4}, "b": {2, 5}, "c": {3, 5}, "d": {5, 5}} {
		if got := root.Child(key).Body; got.Line != want[0] || got.Col != want[1] {
			t.Errorf("%s: %+v, want %v", key, got, want)
		}
	}
}

func TestValuesAreFilledFromATree(t *testing.T) {
	t.Parallel()
	root, problems := decode.Parse("s.yaml", []byte("n: 3\nwords: [a, b]\nnothing: null\n"))
	var got struct {
		N       int      `json:"n"`
		Words   []string `json:"words"`
		Nothing string   `json:"nothing"`
	}
	got.Nothing = "as it was"
	d := decode.Decoder{Problems: &problems}
	d.Into(root, &got)
	if len(problems) > 0 || got.N != 3 || strings.Join(got.Words, " ") != "a b" || got.Nothing != "as it was" {
		t.Errorf("%+v, %v", got, problems)
	}
}
