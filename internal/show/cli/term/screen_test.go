package term

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// glass is a terminal that understands no more than what bars need.
type glass struct {
	lines []string
	at    int
}

// Write shows what is written, as a terminal would.
func (g *glass) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		if len(g.lines) <= g.at {
			g.lines = append(g.lines, "")
		}
		switch {
		case text[0] == '\n':
			g.at, text = g.at+1, text[1:]
		case text[0] == '\r':
			text = text[1:]
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexAny(text, "AKJ")
			n, _ := strconv.Atoi(text[2:end])
			switch text[end] {
			case 'A':
				if g.at -= n; g.at < 0 {
					return 0, fmt.Errorf("%d lines above the first", -g.at)
				}
			case 'K':
				g.lines[g.at] = ""
			case 'J':
				g.lines = g.lines[:g.at]
			}
			text = text[end+1:]
		default:
			end := strings.IndexAny(text, "\n\r\x1b")
			if end < 0 {
				end = len(text)
			}
			g.lines[g.at] += text[:end]
			text = text[end:]
		}
	}
	return len(p), nil
}

func TestAScreenIsDrawnInPlaceAndLeavesOnlyWhatStandsAbove(t *testing.T) {
	t.Parallel()
	g := &glass{lines: []string{"run x of y"}, at: 1}
	s := NewScreen(g)
	for _, step := range []struct {
		above, lines, want []string
	}{
		{nil, []string{"a 1", "b 1", "all 1"}, []string{"run x of y", "a 1", "b 1", "all 1"}},
		{nil, []string{"a 2", "b 2", "all 2"}, []string{"run x of y", "a 2", "b 2", "all 2"}},
		{[]string{"segment 1: launched"}, []string{"a 3", "all 3"}, []string{"run x of y", "segment 1: launched", "a 3", "all 3"}},
		{nil, nil, []string{"run x of y", "segment 1: launched"}},
		{nil, nil, []string{"run x of y", "segment 1: launched"}},
	} {
		if len(step.lines) == 0 && s.drawn > 0 {
			fmt.Fprint(g, "^C") // a terminal echoes it below the bars
		}
		if err := s.Draw(step.above, step.lines); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(step.want, g.lines); d != "" {
			t.Fatal(d)
		}
	}
}
