package runs_test

import (
	"testing"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

// otherKey has the process go on with another key.
func (w *world) otherKey() {
	access, _ := w.e.Accounts("fake")
	access.Fingerprint = "key2"
	w.e.Accounts = func(string) (engine.Access, error) { return access, nil }
}

// TestANewKeyOfTheSameAccountCollectsWhatTheOldOneSent changes the key while a job is in flight, has ended, or was made and its reply lost.
func TestANewKeyOfTheSameAccountCollectsWhatTheOldOneSent(t *testing.T) {
	t.Parallel()
	for _, at := range []store.State{store.Intended, store.Launched, store.Ended} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one)
			if at == store.Intended {
				w.fake.launch = func(int) provider.LaunchStatus { return provider.Unknown }
			}
			w.untilStep(func() bool { return len(w.segments(at)) == 1 && len(w.fake.jobs) == 1 })
			w.otherKey()
			w.finished(store.ResultDone)
			w.answers(3)
			w.billedOnce(3)
			if len(w.events("rekeyed")) != 1 {
				t.Error(w.history())
			}
		})
	}
}
