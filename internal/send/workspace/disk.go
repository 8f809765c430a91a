package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"assay/internal/assay"
	"assay/internal/keep/hub"
)

// Disk is the file system as seen from the working folder, and the datasets whose names begin with hf://.
type Disk struct {
	Dir string
	Hub *hub.Hub // nil: no datasets
}

// Path returns a name the user typed, as the file system knows it.
func (d Disk) Path(name string) string {
	if filepath.IsAbs(name) || assay.IsRemote(name) {
		return name
	}
	if assay.IsRemote(d.Dir) {
		return assay.CleanPath(d.Dir + "/" + name)
	}
	return filepath.Join(d.Dir, name)
}

// Folder returns the file system of a study: names are relative to its folder, and may lead out of it, as the study's author
// wrote them.
func (d Disk) Folder(name string) fs.FS { return folder{Dir: d.Path(name), Hub: d.Hub} }

type folder Disk

// Open opens a file of the folder, or of a dataset.
func (f folder) Open(name string) (fs.File, error) { return Disk(f).Open(filepath.FromSlash(name)) }

// Stat describes what is under a name.
func (f folder) Stat(name string) (fs.FileInfo, error) { return Disk(f).Stat(filepath.FromSlash(name)) }

// Open opens a file or a folder for reading.
func (d Disk) Open(name string) (fs.File, error) {
	if name = d.Path(name); assay.IsRemote(name) {
		return d.Hub.Open(name)
	}
	return os.Open(name)
}

// Pinned returns a name with the commit that its revision means where it is one of a dataset, else as it is.
func (d Disk) Pinned(name string) (string, error) {
	if !assay.IsRemote(name) {
		return name, nil
	}
	return d.Hub.Pinned(name)
}

// ReadFile returns what is in a file.
func (d Disk) ReadFile(name string) ([]byte, error) { return fs.ReadFile(d.Folder("."), name) }

// Stat describes what is under a name.
func (d Disk) Stat(name string) (fs.FileInfo, error) {
	if name = d.Path(name); !assay.IsRemote(name) {
		return os.Stat(name)
	}
	f, err := d.Hub.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// WriteNew writes a file that must not exist yet, with the folders above it.
func (d Disk) WriteNew(name string, text []byte) error {
	f, err := d.Create(name, os.O_EXCL)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Replace writes a file as a whole: a reader sees what it was, or what it is.
func (d Disk) Replace(name string, text []byte) error {
	full := d.Path(name)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(full), ".new-*") // readable by its owner alone
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), full)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Create opens a file for writing, with the folders above it, readable by its owner alone. Flag adds to the usual ones:
// os.O_EXCL for a file that must not exist, os.O_TRUNC to start anew.
func (d Disk) Create(name string, flag int) (*os.File, error) {
	full := d.Path(name)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(full, os.O_WRONLY|os.O_CREATE|flag, 0o600)
}

// Exists reports whether there is something under a name.
func (d Disk) Exists(name string) bool {
	_, err := d.Stat(name)
	return err == nil
}

// IsFolder reports whether there is a folder under a name.
func (d Disk) IsFolder(name string) bool {
	info, err := d.Stat(name)
	return err == nil && info.IsDir()
}

// IsFile reports whether there is a regular file under a name.
func (d Disk) IsFile(name string) bool {
	info, err := d.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
