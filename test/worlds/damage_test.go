package worlds

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// damage deletes a file that a run has written, or changes a bit of it, as a disk does that fails.
func (h *history) damage() error {
	var all []string
	err := fs.WalkDir(os.DirFS(h.m.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all = append(all, name)
		}
		return nil // there may be no run
	})
	if err != nil || len(all) == 0 {
		return err
	}
	name := all[h.rng.IntN(len(all))]
	sent := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !strings.HasSuffix(n, "-in") })
	if len(sent) > 0 && h.rng.IntN(2) == 0 {
		name = sent[h.rng.IntN(len(sent))] // what may have to be sent again
	}
	file := filepath.Join(h.m.dir, filepath.FromSlash(name))
	name = strings.TrimSuffix(name, ".zst")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if h.damaged == nil {
		h.damaged = map[string]string{}
	}
	if at := h.rng.IntN(2*len(text) + 1); at < len(text) {
		h.damaged[name] = "changed"
		text[at] ^= 1 << h.rng.IntN(8)
		return os.WriteFile(file, text, 0o600)
	}
	h.damaged[name] = "deleted"
	return os.Remove(file)
}

// names reports whether a text names a file that was damaged: then a command may fail because of it.
func (h *history) names(text string) bool {
	for name := range h.damaged {
		if strings.Contains(text, path.Base(name)) {
			return true
		}
	}
	return false
}

// lostLogs reports whether logs of live calls were damaged: what they held of calls that the ledger does not have is gone.
func (h *history) lostLogs() bool {
	for name := range h.damaged {
		if strings.Contains(path.Base(name), "-live-") {
			return true
		}
	}
	return false
}
