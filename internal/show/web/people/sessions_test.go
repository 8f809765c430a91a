package people

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"assay/internal/find/analysis"
	"assay/internal/show/web/site"
)

// A page comes at once and looks again by itself; a program gets what it asked for.
func TestAProgramWaitsForTheTaskThatIsBeingChosen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, at, chosen := newSessions(time.Now), &session{}, make(chan struct{})
		p := s.queue(at)
		p.working = chosen
		go func() {
			time.Sleep(time.Minute) // of the test's own clock
			s.mu.Lock()
			defer s.mu.Unlock()
			p.tasks, p.working = []analysis.Task{{}}, nil
			close(chosen)
		}()
		for _, tc := range []struct {
			path string
			want bool
		}{{"/runs/r/people/arena", true}, {"/api/runs/r/people/arena", false}} {
			q := &site.Request{Request: httptest.NewRequest("GET", tc.path, nil)}
			patience, err := q.Patience()
			if err != nil {
				t.Fatal(err)
			}
			if _, waiting, err := s.head(t.Context(), at, patience); err != nil || waiting != tc.want {
				t.Errorf("%s: still waiting: %v, %v", tc.path, waiting, err)
			}
		}
	})
}
