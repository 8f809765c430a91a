// Package inlay keeps files out of the lines that show them: a line holds a mark in the place of a file's base64, or of the id
// that its provider keeps it under, and what goes out has the file or the id again. So a picture that a thousand requests show lies on the
// disk once.
package inlay

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"assay/internal/assay"
	"assay/internal/study/media"
)

// Suffix is how the names of files end whose lines hold marks.
const Suffix = "-marked"

const (
	secretSize = 15 // bytes: a whole number of characters in base64
	markSize   = secretSize + 2 + 8 + sha256.Size
	letters    = markSize / 3 * 4 // of a mark in base64
)

// The ways in which a file is shown, as marks have them.
const (
	asBytes = 0
	asID    = 1
)

// secret returns how the marks of a segment begin. Its nonce is made when it is cut, so that no text of an item can hold one.
func secret(n assay.Nonce) []byte {
	sum := sha256.Sum256([]byte("what a line shows " + string(n)))
	return sum[:secretSize]
}

// kinds are those of media, as marks count them.
func kinds() []assay.MediaKind {
	return []assay.MediaKind{assay.MediaImage, assay.MediaDocument, assay.MediaAudio}
}

func markOf(m *assay.Media, n assay.Nonce, way byte) []byte {
	kind := byte(0)
	for i, k := range kinds() {
		if k == m.Kind {
			kind = byte(i)
		}
	}
	mark := append(secret(n), way, kind)
	mark = binary.BigEndian.AppendUint64(mark, uint64(m.Size))
	return append(mark, m.Sum[:]...)
}

// Marked returns a prompt that holds marks in the place of files, and by how many bytes a line grows at most when it has the files again,
// or the ids of those that are uploaded. A prompt that shows no file stays as it is.
func Marked(p *assay.Prompt, n assay.Nonce, up media.Uploads) (*assay.Prompt, int64) {
	grown := int64(0)
	return p.Replaced(func(m *assay.Media) *assay.Media {
		own := *m
		if up.Take(m) {
			own.Size, own.Open, own.File = 0, nil, base64.StdEncoding.EncodeToString(markOf(m, n, asID))
			grown += max(media.IDBytes-letters, 0)
			return &own
		}
		mark := markOf(m, n, asBytes)
		own.Size, own.Open = markSize, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(mark)), nil }
		grown += m.Base64() - letters
		return &own
	}), grown
}

// Named is a file that a line names by an id.
type Named struct {
	Sum  assay.Sum
	Kind assay.MediaKind
	Size int64
}

// Uploaded lists the files that lines name by ids, each once, in the order of the lines.
func Uploaded(lines io.Reader, n assay.Nonce) ([]Named, error) {
	var all []Named
	seen := map[assay.Sum]bool{}
	r := NewReader(lines, n, func(assay.Sum) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(nil)), nil },
		func(f Named) (string, error) {
			if !seen[f.Sum] {
				seen[f.Sum] = true
				all = append(all, f)
			}
			return "", nil
		})
	_, err := io.Copy(io.Discard, r)
	return all, err
}

// Reader reads lines and puts files and ids in the place of their marks.
type Reader struct {
	in     *bufio.Reader
	begins []byte // of a mark in base64
	open   func(assay.Sum) (io.ReadCloser, error)
	id     func(Named) (string, error)
	file   io.ReadCloser // that is being read; nil: none
	raw    []byte        // of it, a whole number of groups of three bytes
	rest   []byte        // in base64, still to be given
	err    error
}

// NewReader reads lines that were written with marks under a nonce.
func NewReader(r io.Reader, n assay.Nonce, open func(assay.Sum) (io.ReadCloser, error), id func(Named) (string, error)) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), begins: []byte(base64.StdEncoding.EncodeToString(secret(n))), open: open, id: id}
}

// Read gives the lines with their files.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.file != nil {
			r.err = r.more()
			continue
		}
		if n, err := r.words(p); n > 0 || err != nil {
			return n, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// words gives what stands before the next mark, and opens its file.
func (r *Reader) words(p []byte) (int, error) {
	have, err := r.in.Peek(max(r.in.Buffered(), letters))
	if len(have) == 0 {
		return 0, err
	}
	at := bytes.Index(have, r.begins)
	if at == 0 && len(have) >= letters {
		r.err = r.begin(have[:letters])
		_, _ = r.in.Discard(letters)
		return 0, nil
	}
	if at < 0 { // the beginning of a mark may stand at the end
		at = len(have)
		if err == nil {
			at -= len(r.begins) - 1
		}
	}
	if at == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, have[:at])
	_, _ = r.in.Discard(n)
	return n, nil
}

func (r *Reader) begin(mark []byte) (err error) {
	var raw [markSize]byte
	if _, err := base64.StdEncoding.Decode(raw[:], mark); err != nil {
		return fmt.Errorf("a mark cannot be read: %w", err)
	}
	way, kind, rest := raw[secretSize], int(raw[secretSize+1]), raw[secretSize+2:]
	of := Named{Sum: assay.Sum(rest[8:]), Size: int64(binary.BigEndian.Uint64(rest))}
	switch {
	case way == asID && kind < len(kinds()):
		of.Kind = kinds()[kind]
		id, err := r.id(of)
		r.rest = append(r.rest[:0], id...)
		return err
	case way != asBytes:
		return errors.New("a mark cannot be read")
	}
	if r.file, err = r.open(of.Sum); err != nil {
		return fmt.Errorf("open what a request shows: %w", err)
	}
	if r.raw == nil {
		r.raw = make([]byte, 48<<10)
	}
	return nil
}

// more encodes the next piece of a file.
func (r *Reader) more() error {
	n, err := io.ReadFull(r.file, r.raw)
	r.rest = base64.StdEncoding.AppendEncode(r.rest[:0], r.raw[:n])
	if err == nil {
		return nil
	}
	closed := r.file.Close()
	r.file = nil
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return closed
	}
	return err
}

// Close lets go of a file that was not read to its end.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
