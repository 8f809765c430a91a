package artifacts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// safeEvery is how many bytes may be written before they are made safe against a loss of power.
const safeEvery = 64 << 20

// Sink is a file under construction. What a cut download left in it can be continued.
type Sink struct {
	folder    *Folder
	run, name string
	at        string
	file      *os.File
	sum       hash.Hash
	size      int64
	safe      int64 // bytes that survive the power
	validator string
	begun     bool
}

// Sink opens an artifact under construction, with what an earlier writer left in it.
func (f *Folder) Sink(run, name string) (*Sink, error) {
	at, err := place(run, name)
	if err != nil {
		return nil, err
	}
	if err := f.root.MkdirAll(run, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of run %s: %w", run, err)
	}
	file, err := f.root.OpenFile(at+partial, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open artifact %s: %w", at, err)
	}
	s := &Sink{folder: f, run: run, name: name, at: at, file: file, sum: sha256.New()}
	if s.size, s.validator, err = f.held(at, file); err != nil {
		return nil, errors.Join(fmt.Errorf("open artifact %s: %w", at, err), file.Close())
	}
	s.safe = s.size
	return s, nil
}

// Create begins an artifact anew.
func (f *Folder) Create(run, name string) (*Sink, error) {
	s, err := f.Sink(run, name)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(0, ""); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// held reads how much of a partial file is safe. Bytes beyond the mark may not have reached the disk.
func (f *Folder) held(at string, file *os.File) (int64, string, error) {
	text, err := f.root.ReadFile(at + partial + marker)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	number, validator, _ := strings.Cut(string(text), "\n")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 {
		return 0, "", nil
	}
	st, err := file.Stat()
	if err != nil || st.Size() < n {
		return 0, "", err
	}
	return n, validator, nil
}

// Held returns how many bytes are there, and the validator that Begin was given for them.
func (s *Sink) Held() (int64, string) { return s.size, s.validator }

// Begin drops what is held beyond an offset and goes on from there; 0 starts again.
func (s *Sink) Begin(offset int64, validator string) error {
	if offset > s.size {
		return fmt.Errorf("artifact %s: begin at %d, only %d bytes are held", s.at, offset, s.size)
	}
	s.sum.Reset()
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("artifact %s: %w", s.at, err)
	}
	if _, err := io.CopyN(s.sum, s.file, offset); err != nil {
		return fmt.Errorf("artifact %s: read what is held: %w", s.at, err)
	}
	if err := s.file.Truncate(offset); err != nil {
		return fmt.Errorf("artifact %s: %w", s.at, err)
	}
	s.size, s.validator, s.begun = offset, validator, true
	return s.mark()
}

// Write appends.
func (s *Sink) Write(p []byte) (int, error) {
	if !s.begun {
		return 0, fmt.Errorf("artifact %s: written before it was begun", s.at)
	}
	n, err := s.file.Write(p)
	s.sum.Write(p[:n])
	s.size += int64(n)
	if err == nil && s.size-s.safe >= safeEvery {
		err = s.mark()
	}
	if err != nil {
		err = fmt.Errorf("artifact %s: %w", s.at, err)
	}
	return n, err
}

// Size is how many bytes are there.
func (s *Sink) Size() int64 { return s.size }

// mark makes what is there safe, and notes how much that is.
func (s *Sink) mark() error {
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.safe = s.size
	text := strconv.FormatInt(s.size, 10) + "\n" + s.validator
	return s.folder.root.WriteFile(s.at+partial+marker, []byte(text), 0o600)
}

// Commit makes the artifact whole: synced, renamed, and there for good. The sink is closed.
func (s *Sink) Commit() (Info, error) {
	if !s.begun {
		return Info{}, errors.Join(fmt.Errorf("artifact %s: nothing was written", s.at), s.file.Close())
	}
	err := errors.Join(s.file.Sync(), s.file.Close())
	if err == nil {
		err = s.folder.root.Rename(s.at+partial, s.at)
	}
	if err == nil {
		err = s.folder.sync(s.run)
	}
	if e := s.folder.root.Remove(s.at + partial + marker); err == nil && !errors.Is(e, fs.ErrNotExist) {
		err = e
	}
	if err != nil {
		return Info{}, fmt.Errorf("finish artifact %s: %w", s.at, err)
	}
	return Info{Name: s.name, Size: s.size, SHA256: hex.EncodeToString(s.sum.Sum(nil))}, nil
}

// Close keeps what is there for a later Sink of the same name.
func (s *Sink) Close() error {
	var err error
	if s.begun {
		err = s.mark()
	}
	if err = errors.Join(err, s.file.Close()); err != nil {
		return fmt.Errorf("keep artifact %s: %w", s.at, err)
	}
	return nil
}

// Discard takes the unfinished artifact away.
func (s *Sink) Discard() error {
	err := errors.Join(s.file.Close(), s.folder.root.Remove(s.at+partial))
	if e := s.folder.root.Remove(s.at + partial + marker); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}
