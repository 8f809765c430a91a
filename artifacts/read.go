package artifacts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// File is a whole artifact, open for reading from any place, packed or not.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64
}

// Open opens a whole artifact. One that is not there is fs.ErrNotExist.
func (f *Folder) Open(run, name string) (File, error) {
	at, err := place(run, name)
	if err != nil {
		return nil, err
	}
	file, err := f.root.Open(at)
	if err == nil {
		st, err := file.Stat()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open artifact %s: %w", at, err), file.Close())
		}
		return plainFile{io.NewSectionReader(file, 0, st.Size()), file}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open artifact %s: %w", at, err)
	}
	file, err = f.root.Open(at + packed)
	if err != nil {
		return nil, fmt.Errorf("open artifact %s: %w", at, err)
	}
	z, err := openPacked(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open artifact %s: %w", at, err), file.Close())
	}
	return plainFile{io.NewSectionReader(z, 0, z.size), z}, nil
}

type plainFile struct {
	*io.SectionReader
	io.Closer
}

// Line reads the bytes at an offset of an artifact.
func (f *Folder) Line(run, name string, offset, length int64) ([]byte, error) {
	file, err := f.Open(run, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if offset < 0 || length < 0 || offset+length > file.Size() {
		return nil, fmt.Errorf("artifact %s of run %s: bytes %d to %d are not in it", name, run, offset, offset+length)
	}
	line := make([]byte, length)
	if _, err := file.ReadAt(line, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("artifact %s of run %s: %w", name, run, err)
	}
	return line, nil
}
