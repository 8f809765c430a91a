package inputs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/parquet-go/parquet-go"

	"assay/internal/assay"
)

// maxFooter bounds what the last bytes of a parquet file may claim about the size of its footer.
const maxFooter = 64 << 20

// readParquet yields the rows of a parquet file, page by page. The line of a row's place is its number. The library
// panics on some broken files; here that is a problem like any other.
func readParquet(f file, opened fs.File, most int, yield yieldRow) (goOn bool) {
	p := parquetReader{file: f, most: most, yield: yield}
	defer func() {
		if p.inside { // not our caller's panic
			if trouble := recover(); trouble != nil {
				goOn = p.bad("the file is damaged: %v", trouble)
			}
		}
	}()
	p.inside = true
	err := p.read(opened)
	p.inside = false
	if err != nil {
		return p.bad("%v", err)
	}
	return !p.stopped
}

type parquetReader struct {
	file
	most    int
	yield   yieldRow
	n       int
	inside  bool // in the library, not in the caller's loop
	stopped bool
}

func (p *parquetReader) bad(format string, args ...any) bool {
	return p.yield(row{}, problem(assay.Place{File: p.path, Line: p.n}, "", "parquet: "+format, args...))
}

func (p *parquetReader) read(opened fs.File) error {
	pf, err := openParquet(opened)
	if err != nil {
		return err
	}
	top, err := columnsOf(pf.Root())
	if err != nil {
		return err
	}
	for _, group := range pf.RowGroups() {
		if err := p.group(group, top); err != nil || p.stopped {
			return err
		}
	}
	return nil
}

// openParquet reads the footer of a file.
func openParquet(opened fs.File) (*parquet.File, error) {
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	at, ok := opened.(io.ReaderAt)
	if !ok {
		return nil, errors.New("the file system cannot read at an offset")
	}
	size := info.Size()
	if size < 12 {
		return nil, fmt.Errorf("the file has %d bytes and cannot be parquet", size)
	}
	var tail [8]byte
	if _, err := at.ReadAt(tail[:], size-8); err != nil && err != io.EOF {
		return nil, err
	}
	if string(tail[4:]) != "PAR1" {
		return nil, errors.New("the file does not end as parquet does")
	}
	if footer := int64(binary.LittleEndian.Uint32(tail[:4])); footer > size-8 || footer > maxFooter {
		return nil, fmt.Errorf("the footer cannot have %d bytes", footer)
	}
	return parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

func (p *parquetReader) group(group parquet.RowGroup, top *column) error {
	rows := group.Rows()
	defer rows.Close()
	buf := make([]parquet.Row, 64)
	leaves := make([][]parquet.Value, top.to)
	for {
		n, err := rows.ReadRows(buf)
		for _, values := range buf[:n] {
			p.n++
			if !p.row(values, top, leaves) {
				p.stopped = true
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
}

func (p *parquetReader) row(values parquet.Row, top *column, leaves [][]parquet.Value) bool {
	at := assay.Place{File: p.path, Line: p.n}
	size := 0
	clear(leaves)
	values.Range(func(i int, of []parquet.Value) bool {
		leaves[i] = of
		for _, v := range of {
			if k := v.Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
				size += len(v.ByteArray())
			}
		}
		return true
	})
	var r row
	var err error
	if size > p.most {
		err = problem(at, "", "the row is longer than %d MB", p.most>>20)
	} else if fields, wrong := top.record(leaves, level{}); wrong != nil {
		err = problem(at, "", "%v", wrong)
	} else {
		r = rowOf(fields, p.made(p.n), at)
	}
	p.inside = false
	goOn := p.yield(r, err)
	p.inside = true
	return goOn
}
