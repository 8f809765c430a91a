package term

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestLinesOfManyStayWholeAndSayWhoseTheyAre(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	shared := &Lines{To: &out}
	var wg sync.WaitGroup
	for i := range 8 {
		own := &Prefixed{To: shared, Prefix: fmt.Sprintf("%d: ", i)}
		wg.Go(func() {
			for range 50 {
				fmt.Fprintln(own, "moved")
			}
		})
	}
	wg.Wait()
	for line := range strings.Lines(out.String()) {
		if len(line) != len("0: moved\n") || !strings.HasSuffix(line, ": moved\n") {
			t.Fatalf("line %q", line)
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 400 {
		t.Errorf("%d lines", n)
	}
}
