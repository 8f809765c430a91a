// Package folder writes folders and files that appear under their name only when they are whole.
package folder

import (
	"bufio"
	"crypto/rand"
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
)

// ErrExists is the error for a name that is taken by something which may not be replaced.
var ErrExists = errors.New("it is there already")

// Replace is whether a file or folder that exists may be replaced.
type Replace bool

// What may become of what is already there.
const (
	Keep      Replace = false // an error
	Overwrite Replace = true  // a file, or a folder with our mark, gives way when the new one is whole
)

// Tree is a folder under construction: it appears under its name, whole, when it is committed.
type Tree struct {
	Name    string
	part    string
	root    *os.Root
	replace Replace
}

// NewTree begins a folder beside its name.
func NewTree(name string, r Replace) (*Tree, error) {
	name = filepath.Clean(name)
	if err := mayReplace(name, r); err != nil {
		return nil, err
	}
	t, err := Beside(name)
	if err == nil {
		t.replace = r
	}
	return t, err
}

// Beside begins a folder whatever is under its name: Same reports whether it is there already.
func Beside(name string) (*Tree, error) {
	name = filepath.Clean(name)
	part, err := beside(name)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(part, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	root, err := os.OpenRoot(part)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(part))
	}
	return &Tree{Name: name, part: part, root: root}, nil
}

// Same reports whether some files of the folder are already under its name, byte for byte. All of them are closed.
func (t *Tree) Same(names []string) (bool, error) {
	for _, name := range names {
		same, err := sameFile(filepath.Join(t.part, filepath.FromSlash(name)), filepath.Join(t.Name, filepath.FromSlash(name)))
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameFile reports whether two files hold the same bytes; false where the second is not there.
func sameFile(one, other string) (bool, error) {
	var sums [2][sha256.Size]byte
	for i, name := range []string{one, other} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) && i == 1 {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return false, err
		}
		sums[i] = [sha256.Size]byte(h.Sum(nil))
	}
	return sums[0] == sums[1], nil
}

// mayReplace returns an error if something is under a name that may not be replaced.
func mayReplace(name string, r Replace) error {
	entries, err := os.ReadDir(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("folder %s: %w", name, err)
	}
	for _, e := range entries {
		if e.Name() == MarkFile && r == Overwrite {
			return nil
		}
	}
	if r == Overwrite {
		return fmt.Errorf("folder %s was not written by an export and is not replaced: %w", name, ErrExists)
	}
	return fmt.Errorf("folder %s: %w", name, ErrExists)
}

// beside returns a new name next to another, for what is not whole yet.
func beside(name string) (string, error) {
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+hex.EncodeToString(random[:])+".part"), nil
}

// Create begins a file of the folder, with the folders above it. Names have slashes and never leave the folder.
func (t *Tree) Create(name string) (io.WriteCloser, error) { return t.open(name, os.O_EXCL) }

// Append goes on with a file of the folder, or begins it.
func (t *Tree) Append(name string) (io.WriteCloser, error) { return t.open(name, os.O_APPEND) }

func (t *Tree) open(name string, flag int) (io.WriteCloser, error) {
	if dir := path.Dir(name); dir != "." {
		if err := t.root.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return nil, fmt.Errorf("make folder %s: %w", dir, err)
		}
	}
	f, err := t.root.OpenFile(filepath.FromSlash(name), os.O_CREATE|os.O_WRONLY|flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &bufferedFile{bufio.NewWriterSize(f, 1<<15), f}, nil
}

// WriteJSON writes one JSON file of the folder.
func (t *Tree) WriteJSON(name string, v any) error {
	file, err := t.Create(name)
	if err != nil {
		return err
	}
	out := json.NewEncoder(file)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return errors.Join(out.Encode(v), file.Close())
}

type bufferedFile struct {
	*bufio.Writer
	file *os.File
}

func (f *bufferedFile) Close() error { return errors.Join(f.Flush(), f.file.Close()) }

// Commit gives the folder its name.
func (t *Tree) Commit() error {
	if err := t.root.Close(); err != nil {
		return err
	}
	if err := os.Remove(t.Name); err == nil || errors.Is(err, fs.ErrNotExist) { // nothing, or an empty folder
		return os.Rename(t.part, t.Name)
	}
	if err := mayReplace(t.Name, t.replace); err != nil {
		return errors.Join(err, os.RemoveAll(t.part))
	}
	old, err := beside(t.Name)
	if err != nil {
		return err
	}
	if err := os.Rename(t.Name, old); err != nil {
		return fmt.Errorf("replace %s: %w", t.Name, err)
	}
	if err := os.Rename(t.part, t.Name); err != nil {
		return errors.Join(err, os.Rename(old, t.Name))
	}
	return os.RemoveAll(old)
}

// Abort takes away what was written. After Commit it does nothing.
func (t *Tree) Abort() {
	t.root.Close()
	os.RemoveAll(t.part)
}

// File is a file under construction: it appears under its name, whole, when it is committed.
type File struct {
	*bufio.Writer
	file *os.File
	name string
}

// NewFile begins a file beside its name.
func NewFile(name string, r Replace) (*File, error) {
	if info, err := os.Stat(name); err == nil && (r == Keep || info.IsDir()) {
		return nil, fmt.Errorf("file %s: %w", name, ErrExists)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	part, err := beside(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &File{bufio.NewWriterSize(f, 1<<16), f, name}, nil
}

// Commit gives the file its name.
func (f *File) Commit() error {
	if err := errors.Join(f.Flush(), f.file.Sync(), f.file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return os.Rename(f.file.Name(), f.name)
}

// Abort takes away what was written. After Commit it does nothing.
func (f *File) Abort() {
	f.file.Close()
	os.Remove(f.file.Name())
}

// MarkFile is the file by which the folder of an export is known: only such a folder is ever replaced.
const MarkFile = "export.json"
