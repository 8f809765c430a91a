package report_test

import (
	"bytes"
	"strings"
	"testing"
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
		if err := d.WriteHTML(&html); err != nil {
			t.Fatal(err)
		}
		if err := d.WriteMarkdown(&md); err != nil {
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
