package crash

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestAnAnswerThatComesWhileTheRunIsLookedAtIsNotForgotten holds up the look at a run until a segment settles beside it:
// the settling makes the run due again, and that has to outlive the end of the look.
func TestAnAnswerThatComesWhileTheRunIsLookedAtIsNotForgotten(t *testing.T) {
	t.Parallel()
	for _, study := range []string{"single", "turns"} {
		t.Run(study, func(t *testing.T) {
			t.Parallel()
			s, err := open(t.TempDir(), study, "")
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			settled := make(chan struct{}, 100)
			var since atomic.Int64
			s.around = func(op string, call func() error) error {
				switch op {
				case "hold runs": // a look begins: what settled before it is seen by it
					for len(settled) > 0 {
						<-settled
					}
				case "wake lane", "run due", "rest run", "close run": // the end of a look
					select {
					case <-settled:
					case <-time.After(100 * time.Millisecond): // nothing is in flight
					}
				}
				err := call()
				if op == "finish" && err == nil {
					since.Add(1)
					settled <- struct{}{}
				}
				return err
			}
			if e := s.here(t.Context(), "run", "study.yaml", "--yes", "--no-canary"); e.code != 0 {
				t.Errorf("%d segments settled; %s", since.Load(), e)
			}
		})
	}
}
