package study

import (
	"fmt"
	"testing"

	"assay/internal/assay"
	"assay/internal/study/decode"
)

func TestLabelsThatAreNumbersAreScores(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[0, 1, 2.5]":          "0=0 1=1 2.5=2.5 ",
		"[low, high]":          "low=- high=- ",
		"[0, many]":            "0=- many=- ",
		"[NaN, Inf]":           "NaN=- Inf=- ",
		"{right: 1, wrong: 0}": "right=1 wrong=0 ",
	} {
		node, problems := decode.Parse("s.yaml", []byte(text))
		var found assay.Problems
		d := &decode.Decoder{Problems: &found}
		var labels Labels
		labels.Read(d, node)
		if len(problems)+len(found) > 0 {
			t.Fatal(problems, found)
		}
		got := ""
		for _, l := range labels {
			score := "-"
			if l.Score != nil {
				score = fmt.Sprint(*l.Score)
			}
			got += l.Name + "=" + score + " "
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
