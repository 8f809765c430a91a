package decode_test

import (
	"strings"
	"testing"

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
