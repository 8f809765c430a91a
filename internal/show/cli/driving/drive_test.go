package driving

import (
	"testing"
	"time"

	"assay/internal/keep/store"
	"assay/internal/show/cli/quote"
)

func TestADetachSaysWhatHasNotGoneOutAndWhy(t *testing.T) {
	t.Parallel()
	if got := notSent(nil); got != "" {
		t.Errorf("where all is sent: %q", got)
	}
	got := notSent([]store.Segment{{Requests: 25}, {Requests: 25, Reason: "the provider's queue is full"},
		{Requests: 30, Reason: "the provider's queue is full"}})
	if want := "; NOT SENT: 80 requests (55: the provider's queue is full; 25: it is not due yet)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAPlanSaysHowLongItTakes(t *testing.T) {
	t.Parallel()
	for want, d := range map[string][2]time.Duration{
		"a few minutes": {0, 0},
		"usually a few minutes, at most 24 hours":      {time.Minute, 24 * time.Hour},
		"usually up to 30 minutes, at most 60 minutes": {30 * time.Minute, time.Hour},
		"usually up to 3 hours, at most 72 hours":      {3 * time.Hour, 72 * time.Hour},
		"up to 24 hours": {24 * time.Hour, 24 * time.Hour},
	} {
		if got := quote.Takes(quote.Hours(d[0]), quote.Hours(d[1])); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
