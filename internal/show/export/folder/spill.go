package folder

import (
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"
)

// Spill is a file of the tree that is read back and taken away before the tree is whole.
type Spill struct {
	tree *Tree
	name string
	file *bufferedFile
	pack *flate.Writer // nil: it is kept as it is
	Sum  uint32
	Size int64
}

// NewSpill begins one; packed: it is kept deflated.
func (t *Tree) NewSpill(name string, packed bool) (*Spill, error) {
	w, err := t.Create(name)
	if err != nil {
		return nil, err
	}
	s := &Spill{tree: t, name: name, file: w.(*bufferedFile)}
	if packed {
		s.pack, err = flate.NewWriter(s.file, flate.DefaultCompression)
	}
	return s, err
}

func (s *Spill) Write(text []byte) (int, error) {
	s.Sum = crc32.Update(s.Sum, crc32.IEEETable, text)
	s.Size += int64(len(text))
	if s.pack != nil {
		return s.pack.Write(text)
	}
	return s.file.Write(text)
}

// MoveTo ends the file, which is packed whole, copies it and takes it away.
func (s *Spill) MoveTo(w io.Writer) error {
	if err := s.file.Close(); err != nil {
		return err
	}
	file, err := s.tree.root.Open(filepath.FromSlash(s.name))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close(), s.tree.root.Remove(filepath.FromSlash(s.name)))
}

// Packed returns how many bytes the file has, when it is packed whole.
func (s *Spill) Packed() (int64, error) {
	if err := s.pack.Close(); err != nil {
		return 0, err
	}
	s.pack = nil
	if err := s.file.Flush(); err != nil {
		return 0, err
	}
	info, err := s.file.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
