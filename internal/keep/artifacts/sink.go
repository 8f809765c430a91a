package artifacts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// safeEvery is how many bytes may be written before they are made safe against a loss of power.
const safeEvery = 64 << 20

// folderSink is a file under construction.
//
// Several processes may write one artifact, each in the belief that it alone does. So every sink writes to a file of its own,
// in a folder NAME.part, and never to that of another: what another left is copied. The first one that commits wins.
type folderSink struct {
	folder    *Folder
	run, name string
	at        string
	part      string      // the file that this sink writes; empty: none yet
	file      *folderFile // what is held: its own part, else that of another writer; nil: nothing
	sums      sums
	size      int64
	safe      int64 // bytes that survive the power
	validator string
}

// Sink opens an artifact under construction.
func (f *Folder) Sink(_ context.Context, run, name string) (Sink, error) {
	at, err := place(run, name)
	if err != nil {
		return nil, err
	}
	if err := f.root.MkdirAll(run, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of run %s: %w", run, err)
	}
	s := &folderSink{folder: f, run: run, name: name, at: at, sums: newSums()}
	if err := s.find(); err != nil {
		return nil, errors.Join(fmt.Errorf("open artifact %s: %w", at, err), s.letGo())
	}
	return s, nil
}

// find opens the part with the most safe bytes.
func (s *folderSink) find() error {
	entries, err := fs.ReadDir(s.folder.root.FS(), s.at+partial)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		part, marked := strings.CutSuffix(e.Name(), marker)
		if !marked {
			continue
		}
		if err := s.hold(path.Join(s.at+partial, part)); err != nil {
			return err
		}
	}
	return nil
}

// hold takes a part where more of it is safe than of the one at hand. Bytes beyond its mark may not have reached the disk,
// and a part that goes away meanwhile is none.
func (s *folderSink) hold(part string) error {
	text, err := s.folder.root.ReadFile(part + marker)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	number, validator, _ := strings.Cut(string(text), "\n")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= s.size {
		return nil
	}
	file, err := s.folder.root.Open(part)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	st, err := file.Stat()
	if err != nil || st.Size() < n {
		return errors.Join(err, file.Close())
	}
	err = s.letGo()
	s.file, s.size, s.safe, s.validator = &folderFile{file, s.folder, part}, n, n, validator
	return err
}

// Held returns how many bytes are there, and the validator that Begin was given for them.
func (s *folderSink) Held() (int64, string) { return s.size, s.validator }

// Begin drops what is held beyond an offset and goes on from there; 0 starts again. It does so in a new part: another writer
// may be copying the old one.
func (s *folderSink) Begin(offset int64, validator string) error {
	if offset > s.size {
		return fmt.Errorf("artifact %s: begin at %d, only %d bytes are held", s.at, offset, s.size)
	}
	part, file, err := s.folder.newPart(s.at)
	if err != nil {
		return fmt.Errorf("artifact %s: %w", s.at, err)
	}
	s.sums.reset()
	if offset > 0 {
		_, err = io.CopyN(io.MultiWriter(file, &s.sums), io.NewSectionReader(s.file, 0, s.size), offset)
	}
	old := s.part
	if err = errors.Join(err, s.letGo()); err != nil {
		return errors.Join(fmt.Errorf("artifact %s: copy what is held: %w", s.at, err), file.Close())
	}
	s.part, s.file, s.size, s.validator = part, file, offset, validator
	if err := s.mark(); err != nil || old == "" {
		return err
	}
	return s.folder.removePart(old)
}

// newPart makes an empty part that no other writer has. The folder of parts goes away when another writer commits.
// MkdirAll fails if that happens before it has looked whether what exists is a folder.
func (f *Folder) newPart(at string) (part string, file *folderFile, err error) {
	part = path.Join(at+partial, random())
	for range partTries {
		if err := f.root.Mkdir(at+partial, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", nil, err
		}
		var made *os.File
		err = f.step(StepMake, part, func() (err error) {
			made, err = f.root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
			return err
		})
		if !errors.Is(err, fs.ErrNotExist) {
			return part, &folderFile{made, f, part}, err
		}
	}
	return "", nil, err
}

// partTries is how often the folder of parts may go away before its part is in it: more often than writers commit.
const partTries = 1000

// random returns a word that no other writer has.
func random() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Write appends.
func (s *folderSink) Write(p []byte) (int, error) {
	if s.part == "" {
		return 0, fmt.Errorf("artifact %s: written before it was begun", s.at)
	}
	n, err := s.file.Write(p)
	s.sums.Write(p[:n])
	s.size += int64(n)
	if err == nil && s.size-s.safe >= safeEvery {
		err = s.mark()
	}
	if err != nil {
		err = fmt.Errorf("artifact %s: %w", s.at, err)
	}
	return n, err
}

// Size returns how many bytes are there.
func (s *folderSink) Size() int64 { return s.size }

// mark makes what is there safe, and notes how much that is. If another writer has finished the artifact and removed all
// parts, there is nothing to note.
func (s *folderSink) mark() error {
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.safe = s.size
	text := strconv.FormatInt(s.size, 10) + "\n" + s.validator
	err := s.folder.step(StepPublish, s.part+marker, func() error {
		if err := s.folder.root.WriteFile(s.part+".new", []byte(text), 0o600); err != nil {
			return err
		}
		return s.folder.root.Rename(s.part+".new", s.part+marker)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Commit makes the artifact whole: synced, and under its name.
func (s *folderSink) Commit() (Info, error) {
	if s.part == "" {
		return Info{}, errors.Join(fmt.Errorf("artifact %s: nothing was written", s.at), s.letGo())
	}
	info := Info{Name: s.name, Size: s.size, SHA256: hex.EncodeToString(s.sums.sha.Sum(nil))}
	err := errors.Join(s.file.Sync(), s.letGo())
	if err == nil {
		err = s.publish(info)
	}
	if err == nil {
		err = s.folder.sync(s.run)
	}
	if err != nil {
		return Info{}, fmt.Errorf("finish artifact %s: %w", s.at, err)
	}
	s.folder.written.add(s.run, s.name, info.SHA256, s.sums.crc)
	_ = s.folder.root.RemoveAll(s.at + partial) // what another writer is just making is swept later
	return info, nil
}

// publish gives the part its name, unless another writer was first.
func (s *folderSink) publish(info Info) error {
	if there, err := s.folder.compare(s.run, info); there || err != nil {
		return err
	}
	err := s.folder.step(StepPublish, s.at, func() error { return s.folder.root.Link(s.part, s.at) })
	if err == nil {
		return nil
	}
	if there, e := s.folder.compare(s.run, info); there || e != nil {
		return e
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("another process has removed it")
	}
	return s.folder.root.Rename(s.part, s.at) // a file system without links
}

// compare reports whether an artifact is there. One with other bytes is an error.
func (f *Folder) compare(run string, want Info) (bool, error) {
	file, err := f.Open(context.Background(), run, want.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return true, err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want.SHA256 {
		return true, errOther
	}
	return true, nil
}

// Close keeps what is there for a later Sink of the same name.
func (s *folderSink) Close() error {
	var err error
	if s.part != "" {
		err = s.mark()
	}
	if err = errors.Join(err, s.letGo()); err != nil {
		return fmt.Errorf("keep artifact %s: %w", s.at, err)
	}
	return nil
}

// letGo closes the file at hand.
func (s *folderSink) letGo() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// Discard takes the unfinished artifact away, with what others left of it.
func (s *folderSink) Discard() error {
	return errors.Join(s.letGo(), s.folder.step(StepRemove, s.at, func() error { return s.folder.root.RemoveAll(s.at + partial) }))
}

func (f *Folder) removePart(part string) error {
	var err error
	for _, name := range []string{part, part + marker} {
		if e := f.root.Remove(name); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
