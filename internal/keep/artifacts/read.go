package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Open opens a whole artifact.
func (f *Folder) Open(_ context.Context, run, name string) (File, error) {
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
	return plainFile{io.NewSectionReader(z, 0, z.size), packedOnDisk{z, file}}, nil
}

type plainFile struct {
	*io.SectionReader
	io.Closer
}
