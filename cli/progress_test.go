package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay"
)

func TestBarsTellCountsRateTimeLeftAndCost(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &progress{world: &World{Stderr: &out, Terminal: Terminal{Err: true, Width: 120}}}
	now := time.Unix(1000, 0)
	lane := stand{name: "answers gpt", planned: 1000, open: 64, ended: 100, cost: assay.Cost{Sum: assay.Dollar, Priced: 100}}
	if err := p.draw(now, []stand{lane}); err != nil {
		t.Fatal(err)
	}
	lane.ended, lane.cost.Sum = 200, 2*assay.Dollar
	if err := p.draw(now.Add(10*time.Second), []stand{lane}); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[2Kanswers gpt [██░░░░░░░░░░░░░░░░░░] 100 of 1,000, 64 on their way, $1.00\n" +
		"\x1b[1A\x1b[2Kanswers gpt [████░░░░░░░░░░░░░░░░] 200 of 1,000, 64 on their way, 10/s, about 1m left, $2.00\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	out.Reset()
	p.world.Terminal.Width = 30
	if err := p.draw(now.Add(11*time.Second), []stand{lane}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x1b[2K")
		if n := len([]rune(text)); n >= 30 {
			t.Errorf("a line of %d columns wraps at 30", n)
		}
	}
}
