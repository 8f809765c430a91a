package river

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/keep/ledger"
	"assay/internal/send/engine"
)

// countedClock lets so many sleeps pass.
type countedClock struct {
	now  time.Time
	left int
}

func (c *countedClock) Now() time.Time { return c.now }

func (c *countedClock) Sleep(_ context.Context, d time.Duration) error {
	if c.left--; c.left < 0 {
		return errors.New("enough")
	}
	c.now = c.now.Add(d)
	return nil
}

func TestALedgerThatCannotBeSeenIsReportedOnce(t *testing.T) {
	t.Parallel()
	ledger, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "l.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ledger.Close(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := &shift{Driver: &Driver{Ledger: engine.Ledger{Work: ledger.Work, Leases: ledger.Leases, Reader: ledger.Reader},
		Clock: &countedClock{left: 9}, Log: slog.New(slog.NewTextHandler(&log, nil))}, sweep: 100 * glance}
	s.sweeps(t.Context(), func(error) {})
	if n := strings.Count(log.String(), "runs that came due are not seen"); n != 1 {
		t.Errorf("reported %d times:\n%s", n, log.String())
	}
	moment := time.Unix(1, 0)
	if seen, err := s.glance(t.Context(), moment); err == nil || !seen.Equal(moment) {
		t.Error("it looks as if all was seen up to", seen, err)
	}
}
