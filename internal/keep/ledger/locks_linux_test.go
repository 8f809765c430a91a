package ledger_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"assay/internal/keep/ledger"
)

// TestALedgerThatIsOpenedTwiceKeepsItsLocks opens a ledger twice in one process: a file that is closed takes all locks of its process with
// it, and without them another process that ends takes the log away.
func TestALedgerThatIsOpenedTwiceKeepsItsLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "assay.db")
	s, err := ledger.Open(t.Context(), path, ledger.Options{})
	must(t, err)
	defer s.Close()
	second, err := ledger.Open(t.Context(), path, ledger.Options{})
	must(t, err)
	must(t, second.Close())
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	const lookAtOthers = 36 // F_OFD_GETLK: one that belongs to the open file, and so meets those of this process
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	must(t, syscall.FcntlFlock(f.Fd(), lookAtOthers, &lock))
	if lock.Type == syscall.F_UNLCK {
		t.Error("nothing is locked")
	}
}
