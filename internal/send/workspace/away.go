package workspace

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"
)

// Away asks ledger and artifacts for something small, each for a few seconds, and returns which of them does not answer: "ledger",
// "bucket" or "folder of artifacts"; empty: both do.
func (h *Home) Away(ctx context.Context) string {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	if _, err := h.Ledger.Pages.LedgerVersion(ctx); err != nil {
		return "ledger"
	}
	f, err := h.Files.Open(ctx, "nothing", "nothing") // no run is called so
	switch {
	case err == nil:
		f.Close()
	case errors.Is(err, fs.ErrNotExist):
	case strings.Contains(h.Files.String(), "://"):
		return "bucket"
	default:
		return "folder of artifacts"
	}
	return ""
}
