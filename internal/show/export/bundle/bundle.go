// Package bundle writes a run as one file that gives the same digits anywhere, and opens such files.
package bundle

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"

	"assay/internal/keep/store"
	"assay/internal/show/export/table"
	"assay/internal/study/declare"
)

// A bundle is one run in one file: a zip with a manifest and one table of JSON lines for every table of the ledger that
// holds results. The first line of a table names its columns. The archive's comment ends with the SHA-256 of every byte
// before it, so that a bundle with one other byte is refused.
const (
	version      = 1
	comment      = "assay bundle, sha256 "
	manifestName = "manifest.json"
	digestLen    = 2 * sha256.Size
)

// Bounds of what a stranger's bundle may make us hold or write.
const (
	maxManifest = 1 << 20
	maxLine     = 4 * table.MaxRecord // a text of JSON escapes is longer than the text
	freeBytes   = 64 << 20            // a bundle may always unpack to so much,
	maxRatio    = 250                 // and beyond it to so many times its own size
	notBundle   = "not a bundle"      // the error for any other file
)

// Manifest describes a bundle.
type Manifest struct {
	Version   int              `json:"version"`
	Run       string           `json:"run"`
	Study     string           `json:"study"`
	Rehearsal bool             `json:"rehearsal"`
	Created   string           `json:"created"`
	Rows      map[string]int64 `json:"rows"`
	Locked    *declare.Lock    `json:"locked,omitempty"` // since when the study is locked, and what was changed since
}

// WriteTables writes a run as a bundle. The rows of a table are walked over once.
func WriteTables(w io.Writer, m Manifest, table func(name string) iter.Seq2[store.DumpRow, error]) error {
	tail := &tailWriter{out: w, sum: sha256.New()}
	z := zip.NewWriter(tail)
	m.Version, m.Rows = version, map[string]int64{}
	for _, name := range store.DumpTables() {
		n, err := writeTable(z, name, table(name))
		if err != nil {
			return fmt.Errorf("bundle table %s: %w", name, err)
		}
		m.Rows[name] = n
	}
	entry, err := z.Create(manifestName)
	if err != nil {
		return err
	}
	out := json.NewEncoder(entry)
	out.SetIndent("", "  ")
	if err := out.Encode(m); err != nil {
		return err
	}
	if err := z.SetComment(comment + string(bytes.Repeat([]byte{'0'}, digestLen))); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return tail.seal()
}

func writeTable(z *zip.Writer, name string, rows iter.Seq2[store.DumpRow, error]) (int64, error) {
	entry, err := z.Create(name + ".jsonl")
	if err != nil {
		return 0, err
	}
	out := json.NewEncoder(entry)
	out.SetEscapeHTML(false)
	n := int64(0)
	for row, err := range rows {
		if err != nil {
			return n, err
		}
		if n == 0 {
			if err := out.Encode(row.Columns); err != nil {
				return n, err
			}
		}
		for i, v := range row.Values {
			if b, ok := v.([]byte); ok {
				row.Values[i] = packedBytes{base64.StdEncoding.EncodeToString(b)}
			}
		}
		if err := out.Encode(row.Values); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// packedBytes are bytes that are no text.
type packedBytes struct {
	Base64 string `json:"base64"`
}

// tailWriter holds back the last bytes, which the digest of all before takes the place of.
type tailWriter struct {
	out  io.Writer
	sum  hash.Hash
	tail []byte
}

func (t *tailWriter) Write(p []byte) (int, error) {
	t.tail = append(t.tail, p...)
	n := len(t.tail) - digestLen
	if n <= 0 {
		return len(p), nil
	}
	t.sum.Write(t.tail[:n])
	if _, err := t.out.Write(t.tail[:n]); err != nil {
		return 0, err
	}
	t.tail = append(t.tail[:0], t.tail[n:]...)
	return len(p), nil
}

func (t *tailWriter) seal() error {
	_, err := io.WriteString(t.out, hex.EncodeToString(t.sum.Sum(nil)))
	return err
}

// Bundle is an open bundle whose bytes are as they were written.
type Bundle struct {
	Manifest Manifest
	file     *os.File
	size     int64
	zip      *zip.Reader
	unpacked int64
}

// ErrNotBundle is the error for a file that is something else.
var ErrNotBundle = errors.New(notBundle)

// Open opens a bundle and checks its digest.
func Open(name string) (*Bundle, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	b := &Bundle{file: f}
	if err := b.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open bundle %s: %w", name, err), f.Close())
	}
	return b, nil
}

// Close lets the file go.
func (b *Bundle) Close() error { return b.file.Close() }

func (b *Bundle) open() error {
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	b.size = info.Size()
	end := make([]byte, len(comment)+digestLen)
	if !info.Mode().IsRegular() || b.size < int64(len(end)) {
		return ErrNotBundle
	}
	if _, err := b.file.ReadAt(end, b.size-int64(len(end))); err != nil {
		return err
	}
	if !bytes.HasPrefix(end, []byte(comment)) {
		return ErrNotBundle
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(b.file, 0, b.size-digestLen)); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != string(end[len(comment):]) {
		return errors.New("its bytes are not those that were written: it was altered or damaged")
	}
	if b.zip, err = zip.NewReader(b.file, b.size); err != nil {
		return err
	}
	return b.manifest()
}

// manifest reads what the bundle holds; nothing else may be in it.
func (b *Bundle) manifest() error {
	known := map[string]int{manifestName: 0}
	for _, name := range store.DumpTables() {
		known[name+".jsonl"] = 0
	}
	for _, f := range b.zip.File {
		n, ok := known[f.Name]
		if !ok || n > 0 {
			return fmt.Errorf("it holds %q, which is not part of a bundle", f.Name)
		}
		known[f.Name]++
	}
	entry, err := b.zip.Open(manifestName)
	if err != nil {
		return err
	}
	defer entry.Close()
	text, err := io.ReadAll(io.LimitReader(entry, maxManifest))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &b.Manifest); err != nil {
		return fmt.Errorf("its manifest: %w", err)
	}
	if v := b.Manifest.Version; v != version {
		return fmt.Errorf("it has version %d, and this program reads version %d", v, version)
	}
	return nil
}

// errStopped ends a walk whose caller wants no more rows.
var errStopped = errors.New("stopped")

// Rows walks over the rows of one table.
func (b *Bundle) Rows(table string) iter.Seq2[store.DumpRow, error] {
	return func(yield func(store.DumpRow, error) bool) {
		if err := b.rows(table, yield); err != nil && !errors.Is(err, errStopped) {
			yield(store.DumpRow{}, fmt.Errorf("unpack %s: %w", table, err))
		}
	}
}

func (b *Bundle) rows(table string, yield func(store.DumpRow, error) bool) error {
	entry, err := b.zip.Open(table + ".jsonl")
	if err != nil {
		return err
	}
	defer entry.Close()
	in := bufio.NewReaderSize(&bounded{entry, b}, 1<<16)
	var columns []string
	n := int64(0)
	for {
		line, err := boundedLine(in)
		switch {
		case errors.Is(err, io.EOF):
			if want := b.Manifest.Rows[table]; n != want {
				return fmt.Errorf("it has %d rows, and the manifest says %d", n, want)
			}
			return nil
		case err != nil:
			return err
		}
		if columns == nil {
			if err := json.Unmarshal(line, &columns); err != nil {
				return fmt.Errorf("its columns: %w", err)
			}
			continue
		}
		n++
		values, err := unpackRow(line, len(columns))
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if !yield(store.DumpRow{Columns: columns, Values: values}, nil) {
			return errStopped
		}
	}
}

// bounded stops a bundle that unpacks to far more than it is.
type bounded struct {
	in io.Reader
	b  *Bundle
}

func (r *bounded) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if r.b.unpacked += int64(n); r.b.unpacked > freeBytes && r.b.unpacked > maxRatio*r.b.size {
		return n, errors.New("it unpacks to far more than any results do")
	}
	return n, err
}

// boundedLine reads one line, without its end.
func boundedLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("a line has more than %d MB", maxLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		return line[:len(line)-1], nil
	}
}

// unpackRow reads the values of a row.
func unpackRow(line []byte, columns int) ([]any, error) {
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber()
	var values []any
	if err := in.Decode(&values); err != nil {
		return nil, err
	}
	if len(values) != columns {
		return nil, fmt.Errorf("%d values in %d columns", len(values), columns)
	}
	for i, v := range values {
		var err error
		if values[i], err = unpacked(v); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func unpacked(v any) (any, error) {
	switch v := v.(type) {
	case nil, string:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case map[string]any:
		if text, ok := v["base64"].(string); ok && len(v) == 1 {
			return base64.StdEncoding.DecodeString(text)
		}
	}
	return nil, fmt.Errorf("a value of type %T", v)
}
