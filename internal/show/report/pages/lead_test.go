package pages_test

import (
	"bytes"
	"strings"
	"testing"

	"assay/internal/show/report/pages"
)

func TestALongDescriptionComesAfterTheAnswer(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{"a": "++++++++++++", "b": "------------"}, nil)
	const short = "Which of the two is right more often?"
	long := short + strings.Repeat(" It has a long story, which is told here at length.", 20)
	for _, c := range []struct {
		description string
		first       bool
	}{{short, true}, {long, false}, {"Two\nlines.", false}} {
		d.Description = c.description
		var html, md bytes.Buffer
		if err := pages.HTML(&html, d); err != nil {
			t.Fatal(err)
		}
		if err := pages.Markdown(&md, d); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{html.String(), md.String()} {
			body := text[strings.Index(text, "</style>")+1:]
			said, answer := strings.Index(body, c.description[:3]), strings.Index(body, "is ahead")
			if said < 0 || answer < 0 || said < answer != c.first {
				t.Errorf("%.20q stands at %d, the answer at %d", c.description, said, answer)
			}
		}
	}
}

// TestThePictureStandsAboveCaveats has a brief caveat and a long one.
func TestThePictureStandsAboveCaveats(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{"a": "++++++++++++", "b": "------------"}, nil)
	long := "It has a long story, " + strings.Repeat("which is told at length, ", 20)
	d.Report.Leaderboards[0].Style = long
	d.Report.Leaderboards[0].Validated = false
	var html, md bytes.Buffer
	if err := pages.HTML(&html, d); err != nil {
		t.Fatal(err)
	}
	if err := pages.Markdown(&md, d); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{html.String(), md.String()} {
		brief, board, after := strings.Index(text, "Judge unchecked."),
			max(strings.Index(text, "<caption>Leaderboard"), strings.Index(text, "| rank |")), strings.Index(text, "It has a long story")
		if board < 0 || !(board < brief && board < after) {
			t.Errorf("the board at %d, a brief caveat at %d, a long one at %d", board, brief, after)
		}
	}
}
