package media

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strconv"
)

const (
	maxPDF    = 64 << 20 // more than any provider takes
	maxObject = 16 << 20 // of objects that are packed in one stream
	maxPacked = 64       // streams of objects that are looked into
)

var (
	pagesType = regexp.MustCompile(`/Type\s*/Pages\b`)
	pageCount = regexp.MustCompile(`/Count\s+(\d{1,6})\b`)
	parent    = regexp.MustCompile(`/Parent\b`)
	packed    = regexp.MustCompile(`/Type\s*/ObjStm\b`)
)

// pages returns the number of pages that the last root of a PDF's tree of pages counts, and whether the document is encrypted. It
// is 0 where no root can be read: the file is broken, too large, or its objects are encrypted or packed in an unusual way.
func pages(r io.Reader) (n int, locked bool) {
	text, err := io.ReadAll(io.LimitReader(r, maxPDF))
	if err != nil || len(text) == maxPDF {
		return 0, false
	}
	locked = bytes.Contains(text, []byte("/Encrypt"))
	n = rootCount(text)
	for _, at := range packed.FindAllIndex(text, maxPacked) {
		if more := rootCount(unpack(text[at[0]:])); more > 0 {
			n = more
		}
	}
	return n, locked
}

// rootCount returns the count of the last node of pages that has no parent; 0: there is none.
func rootCount(text []byte) int {
	found := 0
	for _, at := range pagesType.FindAllIndex(text, -1) {
		dict := around(text, at[0])
		m := pageCount.FindSubmatch(dict)
		if m == nil || parent.Match(dict) {
			continue
		}
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			found = n
		}
	}
	return found
}

const maxDict = 1 << 20 // of a node: a root may list very many children

// around returns the dictionary that a place is in, as far as the marks of its ends tell.
func around(text []byte, at int) []byte {
	from := bytes.LastIndex(text[max(0, at-maxDict):at], []byte("<<"))
	if from < 0 {
		return nil
	}
	from += max(0, at-maxDict)
	to := bytes.Index(text[at:min(len(text), at+maxDict)], []byte(">>"))
	if to < 0 {
		return nil
	}
	return text[from : at+to]
}

// unpack returns the objects of a stream whose dictionary begins a text; nil where it is not deflated.
func unpack(text []byte) []byte {
	at := bytes.Index(text[:min(len(text), 4096)], []byte("stream"))
	if at < 0 {
		return nil
	}
	text = bytes.TrimLeft(text[at+len("stream"):], "\r\n")
	z, err := zlib.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(io.LimitReader(z, maxObject)) // what was read before a fault counts
	return out
}
