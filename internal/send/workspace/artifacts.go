package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/objects"
)

const (
	cacheName  = "cache"
	usualCache = 2_000_000_000
	leastCache = 100_000_000 // below it a chunk would be thrown out before it is read
)

// Bytes is how many bytes of a bucket are kept on this machine, as a flag.
type Bytes int64

// String writes them with a unit.
func (b *Bytes) String() string {
	for _, u := range byteUnits() {
		if n := int64(*b); n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return "0"
}

// Set reads a number with a unit.
func (b *Bytes) Set(text string) error {
	for _, u := range byteUnits() {
		number, ok := strings.CutSuffix(strings.ToUpper(text), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 32)
		if err != nil || n < 0 || n > 0 && n*u.bytes < leastCache {
			break
		}
		*b = Bytes(n * u.bytes)
		return nil
	}
	if text == "0" {
		*b = 0
		return nil
	}
	return fmt.Errorf("want 0, or at least %dMB, such as 2GB", leastCache/1_000_000)
}

// Type names it in the help.
func (b *Bytes) Type() string { return "bytes" }

type byteUnit struct {
	name  string
	bytes int64
}

func byteUnits() []byteUnit { return []byteUnit{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}} }

// UsualCache returns the size of the cache if none is set.
func UsualCache() Bytes { return usualCache }

// openArtifacts opens a folder or a bucket.
func (p Place) openArtifacts(w *World, address, cacheDir string) (artifacts.Place, error) {
	if !objects.Is(address) {
		folder, err := artifacts.Open(address)
		if err != nil {
			return nil, err
		}
		folder.Around, folder.Started = w.Files, w.Seams.Boot
		return folder, nil
	}
	store, prefix, err := objects.Open(address, w.env)
	if err != nil {
		return nil, err
	}
	return artifacts.NewBucket(store, prefix, artifacts.Cache{Dir: cacheDir, Bytes: int64(p.Cache)})
}

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
