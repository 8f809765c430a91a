package crash

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"assay/internal/keep/artifacts/artifactstest"
)

// TestABucketThatIsAwayLosesNothing has the object store refuse every call about results that are paid for, for a while.
func TestABucketThatIsAwayLosesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single")
	s.shareBucket()
	var refused atomic.Int64
	s.bucket.Fault(func(r *http.Request) artifactstest.Answer {
		if strings.Contains(r.URL.String(), "-results") && refused.Add(1) <= 10 {
			return artifactstest.Refused
		}
		return artifactstest.Served
	})
	e := s.here(t.Context(), "run", "study.yaml", "--yes", "--no-canary")
	for refused.Load() < 10 && e.code != 0 {
		if e.code != 1 || !strings.Contains(e.err, "nothing is lost") || !strings.Contains(e.err, "503") {
			t.Fatal(e)
		}
		e = s.here(t.Context(), "resume")
	}
	if e.code != 0 {
		e = s.here(t.Context(), "resume")
	}
	s.said(0, e, "9 of 9 requests have an answer")
	s.whole()
	s.ok(s.artifactsAreWhole(t.Context()))
	if refused.Load() < 10 {
		t.Errorf("only %d calls were refused", refused.Load())
	}
}

// TestABucketThatGoesAwayCostsNoLiveAnswer has the object store refuse everything while live requests are in flight: they wait,
// nothing is asked twice, and the raw bytes of every answer are there in the end.
func TestABucketThatGoesAwayCostsNoLiveAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t, "flood")
	s.shareBucket()
	var opening, puts, refused atomic.Int64
	s.bucket.Fault(func(r *http.Request) artifactstest.Answer {
		opens := strings.Contains(r.URL.Path, "/opened.") && opening.Add(1) <= 3
		if !opens && (!strings.Contains(r.URL.Path, "-live-") || r.Method != http.MethodPut || puts.Add(1) < 8 || refused.Load() >= 12) {
			return artifactstest.Served
		}
		switch refused.Add(1) % 3 {
		case 0:
			return artifactstest.CutShort
		case 1:
			return artifactstest.Unheard
		}
		return artifactstest.Refused
	})
	s.exits(0, []string{"run", "study.yaml", "--yes"})
	if n := refused.Load(); n < 12 {
		t.Errorf("%d calls were refused", n)
	}
	s.whole()
	s.ok(s.readable(t.Context()))
	s.ok(s.artifactsAreWhole(t.Context()))
	if n, err := s.doubts(t.Context()); n != 0 || err != nil {
		t.Errorf("%d live calls are in doubt: %v", n, err)
	}
}
