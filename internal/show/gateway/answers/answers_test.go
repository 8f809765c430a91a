package answers

import (
	"testing"
	"testing/synctest"
	"time"
)

// kept returns an answer of so many bytes that its client lost, and that is kept for it.
func kept(s *Calls, bytes int) *Call {
	f := &Call{alone: true, moved: make(chan struct{})}
	s.all = append(s.all, f)
	f.Add(make([]byte, bytes/2))
	f.End(make([]byte, bytes-bytes/2), nil)
	s.land(f)
	return f
}

func holds(s *Calls, f *Call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.all {
		if o == f {
			return true
		}
	}
	return false
}

// TestKeptAnswersTakeSoManyBytesAtMost keeps answers until they are too large together: the oldest go, those that are awaited stay,
// and no timer holds what is gone.
func TestKeptAnswersTakeSoManyBytesAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Calls{}
		awaited := &Call{moved: make(chan struct{})}
		awaited.Add(make([]byte, mostBytes/4))
		s.all = append(s.all, awaited)
		first, second, third := kept(s, mostBytes/4), kept(s, mostBytes/4), kept(s, mostBytes/4)
		s.trim()
		if !holds(s, awaited) || !holds(s, first) || !holds(s, second) || !holds(s, third) {
			t.Fatal("an answer went that fits")
		}
		fourth := kept(s, mostBytes/4+1) // one byte too many for two of them
		s.trim()
		if !holds(s, awaited) || holds(s, first) || holds(s, second) || !holds(s, third) || !holds(s, fourth) {
			t.Errorf("of five there are %d", len(s.all))
		}
		if first.kept.Stop() || second.kept.Stop() {
			t.Error("the timer of an answer that is gone holds it")
		}
		if !third.kept.Stop() {
			t.Error("an answer that is kept is never forgotten")
		}
	})
}

func TestAKeptAnswerIsForgottenAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Calls{}
		f := kept(s, 10)
		time.Sleep(keptAnswer - time.Second) // by the test's own clock
		synctest.Wait()
		if !holds(s, f) {
			t.Error("it is forgotten too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if holds(s, f) {
			t.Error("it is kept for ever")
		}
	})
}

func TestAnAnswerThatItsClientHasIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Calls{}
		f := &Call{moved: make(chan struct{})}
		s.all = append(s.all, f)
		f.End([]byte("{}"), nil)
		s.land(f)
		if holds(s, f) || f.kept != nil {
			t.Error("it is kept")
		}
	})
}
