package cli

import (
	"testing"

	"assay/store"
)

func TestADetachSaysWhatHasNotGoneOutAndWhy(t *testing.T) {
	t.Parallel()
	if got := notSent(nil); got != "" {
		t.Errorf("where all is sent: %q", got)
	}
	got := notSent([]store.Segment{{Requests: 25}, {Requests: 25, Reason: "the provider's queue is full"}, {Requests: 30, Reason: "the provider's queue is full"}})
	if want := "; NOT SENT: 80 requests (55: the provider's queue is full; 25: it is not due yet)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
