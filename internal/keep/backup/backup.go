// Package backup writes a home of runs into one file while it is in use, and puts it back: the ledger as it is at one moment, then the
// artifacts, each with its hash.
package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Home holds what is saved: a ledger and the folder of its artifacts.
type Home struct {
	// Snapshot writes the ledger as it is now into a new file.
	Snapshot func(ctx context.Context, file string) error
	Folder   string // of the artifacts
}

// Entry is a file in a backup.
type Entry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Manifest is the last entry of a backup: all that is in it. A backup without one was cut.
type Manifest struct {
	Format  string    `json:"format"`
	Made    time.Time `json:"made"`
	Entries []Entry   `json:"entries"`
}

const (
	format       = "assay backup 1"
	manifestName = "manifest.json"
	ledgerName   = "ledger.db"
	runsName     = "runs"
)

// Write writes a backup. The ledger goes first: artifacts that came later do no harm, and ones that are missing would.
func Write(ctx context.Context, h Home, to io.Writer, now time.Time) (Manifest, error) {
	m := Manifest{Format: format, Made: now.UTC()}
	out := tar.NewWriter(to)
	if err := writeLedger(ctx, h, out, &m); err != nil {
		return m, fmt.Errorf("save the ledger: %w", err)
	}
	err := filepath.WalkDir(h.Folder, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // it was packed or removed meanwhile
			return nil
		}
		if err != nil || ctx.Err() != nil || !d.Type().IsRegular() {
			return errors.Join(err, ctx.Err())
		}
		rel, err := filepath.Rel(h.Folder, at)
		if err != nil {
			return err
		}
		return add(out, at, path.Join(runsName, filepath.ToSlash(rel)), &m)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("save the artifacts: %w", err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return m, err
	}
	head := &tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text)), ModTime: m.Made}
	if err := out.WriteHeader(head); err != nil {
		return m, err
	}
	if _, err := out.Write(text); err != nil {
		return m, err
	}
	return m, out.Close()
}

func writeLedger(ctx context.Context, h Home, out *tar.Writer, m *Manifest) error {
	dir, err := os.MkdirTemp(filepath.Dir(h.Folder), "backup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, ledgerName)
	if err := h.Snapshot(ctx, file); err != nil {
		return err
	}
	return add(out, file, ledgerName, m)
}

// add writes one file as it is now: one that grows meanwhile is cut where it was.
func add(out *tar.Writer, at, name string, m *Manifest) error {
	f, err := os.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(out, sum), f, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	m.Entries = append(m.Entries, Entry{name, info.Size(), hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// ErrDamaged is the error of a backup that is not whole, or not as it was written.
var ErrDamaged = errors.New("the backup is damaged")

// Restore puts a backup into a folder that is not there or is empty. Nothing is put there before all of it was checked by its hashes.
func Restore(ctx context.Context, from io.Reader, home string) (m Manifest, err error) {
	if entries, err := os.ReadDir(home); err == nil && len(entries) > 0 {
		return m, fmt.Errorf("%s is not empty: %w", home, fs.ErrExist)
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return m, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(home), filepath.Base(home)+"-restoring-")
	if err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	have, m, err := unpack(ctx, tar.NewReader(from), dir)
	if err != nil {
		return m, err
	}
	if err := compare(have, m); err != nil {
		return m, err
	}
	if err := os.Remove(home); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	return m, os.Rename(dir, home)
}

// unpack writes the files of a backup into a folder, and returns their sums and the manifest.
func unpack(ctx context.Context, in *tar.Reader, dir string) (have map[string]Entry, m Manifest, err error) {
	have = map[string]Entry{}
	for {
		head, err := in.Next()
		if err == io.EOF {
			return have, m, nil
		}
		if ctx.Err() != nil {
			return have, m, ctx.Err()
		}
		if err != nil {
			return have, m, fmt.Errorf("%w: it is cut, or no backup", ErrDamaged)
		}
		if head.Name == manifestName {
			if err := json.NewDecoder(in).Decode(&m); err != nil {
				return have, m, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
			}
			continue
		}
		if head.Name != ledgerName && !strings.HasPrefix(head.Name, runsName+"/") || !filepath.IsLocal(head.Name) {
			return have, m, fmt.Errorf("%w: %q is no file of a home", ErrDamaged, head.Name)
		}
		e, err := unpackFile(in, filepath.Join(dir, filepath.FromSlash(head.Name)))
		if err != nil {
			return have, m, fmt.Errorf("%s: %w", head.Name, err)
		}
		have[head.Name] = e
	}
}

func unpackFile(in io.Reader, at string) (e Entry, err error) {
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return e, err
	}
	f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return e, err
	}
	sum := sha256.New()
	e.Size, err = io.Copy(io.MultiWriter(f, sum), in)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: it is cut", ErrDamaged)
	}
	e.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return e, errors.Join(err, f.Sync(), f.Close())
}

// compare holds what was unpacked against the manifest.
func compare(have map[string]Entry, m Manifest) error {
	if m.Format != format {
		return fmt.Errorf("%w: it has no manifest that this program reads", ErrDamaged)
	}
	if len(have) != len(m.Entries) {
		return fmt.Errorf("%w: it has %d files, and its manifest names %d", ErrDamaged, len(have), len(m.Entries))
	}
	for _, e := range m.Entries {
		if got := have[e.Name]; got.Size != e.Size || got.SHA256 != e.SHA256 {
			return fmt.Errorf("%w: %s is not as it was saved", ErrDamaged, e.Name)
		}
	}
	return nil
}
