package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Elements yields the elements of one array of a JSON document, which stands at the end of a path of member names; no
// path means that the document is the array. It reads the document once, as a stream: an element beyond MaxLine is
// yielded without its bytes. A path that is not there, or leads to null, yields nothing. What is not an array, and a
// document that breaks off before the array ends, is an error.
func Elements(r io.Reader, path ...string) iter.Seq2[RawLine, error] {
	return func(yield func(RawLine, error) bool) {
		s := stream{r: r, buf: make([]byte, readSize), max: MaxLine}
		err := s.elements(path, yield)
		if err != nil && !errors.Is(err, errStopped) {
			yield(RawLine{Offset: s.at()}, fmt.Errorf("read document at byte %d: %w", s.at(), err))
		}
	}
}

var errStopped = errors.New("the reader wants no more")

// stream walks over JSON of any size in a buffer of fixed size.
type stream struct {
	r      io.Reader
	buf    []byte
	i, n   int   // what is read and not yet walked over is buf[i:n]
	before int64 // how many bytes stood before buf
	max    int

	keep bool   // walked bytes are kept
	kept []byte // … here
	size int64  // how many they are, also when they are too many to keep
}

func (s *stream) at() int64 { return s.before + int64(s.i) }

// peek is the next byte that is not space.
func (s *stream) peek() (byte, error) {
	for {
		for s.i < s.n {
			switch c := s.buf[s.i]; c {
			case ' ', '\t', '\r', '\n':
				s.i++
			default:
				return c, nil
			}
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// fill reads more once the buffer is walked over. The end of the document is unexpected wherever it is called.
func (s *stream) fill() error {
	s.before += int64(s.n)
	s.i, s.n = 0, 0
	for range 100 { // a reader may say nothing now and then, but not for ever
		n, err := s.r.Read(s.buf)
		if s.n = max(0, min(n, len(s.buf))); s.n > 0 {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// advance walks over n bytes of the buffer.
func (s *stream) advance(n int) {
	if s.keep {
		s.size += int64(n)
		if s.size <= int64(s.max) {
			s.kept = append(s.kept, s.buf[s.i:s.i+n]...)
		} else {
			s.kept = nil
		}
	}
	s.i += n
}

func (s *stream) elements(path []string, yield func(RawLine, error) bool) error {
	if err := s.byteOrderMark(); err != nil {
		return err
	}
	for _, name := range path {
		found, err := s.enter(name)
		if err != nil || !found {
			return err
		}
	}
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c == 'n' {
		return s.null()
	}
	if c != '[' {
		return fmt.Errorf("no array here, but %q", c)
	}
	s.advance(1)
	return s.each(yield)
}

func (s *stream) byteOrderMark() error {
	mark := []byte("\ufeff")
	if c, err := s.peek(); err != nil || c != mark[0] {
		return err
	}
	for _, want := range mark {
		if c, err := s.peek(); err != nil || c != want {
			return errors.Join(errNotJSON, err)
		}
		s.advance(1)
	}
	return nil
}

// enter walks to the value of a member of the object that comes next. null has no members.
func (s *stream) enter(name string) (found bool, err error) {
	c, err := s.peek()
	if err != nil {
		return false, err
	}
	if c == 'n' {
		return false, s.null()
	}
	if c != '{' {
		return false, fmt.Errorf("no object here that could have %q, but %q", name, c)
	}
	for s.advance(1); ; s.advance(1) {
		if c, err = s.peek(); err != nil {
			return false, err
		}
		switch c {
		case '}':
			return false, nil
		case '"':
		default:
			return false, errNotJSON
		}
		key, err := s.value()
		if err != nil {
			return false, err
		}
		isName := !key.TooLong && string(appendUnescaped(nil, key.Bytes[1:len(key.Bytes)-1])) == name
		if c, err = s.peek(); err != nil || c != ':' {
			return false, errors.Join(errNotJSON, err)
		}
		s.advance(1)
		if isName {
			return true, nil
		}
		if err := s.skip(); err != nil {
			return false, err
		}
		if c, err = s.peek(); err != nil || c == '}' {
			return false, err
		}
		if c != ',' {
			return false, errNotJSON
		}
	}
}

func (s *stream) null() error {
	v, err := s.value()
	switch {
	case string(v.Bytes) == "null": // even as the last word of the document
		return nil
	case err != nil:
		return err
	}
	return errNotJSON
}

// each yields the elements of the array whose bracket is behind us.
func (s *stream) each(yield func(RawLine, error) bool) error {
	for first := true; ; first = false {
		c, err := s.peek()
		if err != nil {
			return err
		}
		switch {
		case c == ']':
			return nil
		case !first && c != ',':
			return errNotJSON
		case !first:
			s.advance(1)
		}
		v, err := s.value()
		if err != nil {
			return err
		}
		if !yield(v, nil) {
			return errStopped
		}
	}
}

// value walks over the value that comes next and keeps it.
func (s *stream) value() (RawLine, error) {
	if _, err := s.peek(); err != nil {
		return RawLine{}, err
	}
	if cap(s.kept) > keepBuffer {
		s.kept = nil
	}
	s.keep, s.kept, s.size = true, s.kept[:0], 0
	v := RawLine{Offset: s.at()}
	err := s.skip()
	s.keep = false
	v.Length = s.size
	if v.TooLong = v.Length > int64(s.max); !v.TooLong {
		v.Bytes = s.kept
	}
	return v, err
}

// skip walks over the value that comes next. It counts brackets and knows strings; whether the value is well formed is
// for its reader to find out.
func (s *stream) skip() error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		return s.skipString()
	case '{', '[':
		return s.skipNested()
	case ',', ':', ']', '}':
		return errNotJSON
	}
	return s.skipScalar()
}

func (s *stream) skipScalar() error {
	for {
		for j := s.i; j < s.n; j++ {
			if endsScalar(s.buf[j]) {
				s.advance(j - s.i)
				return nil
			}
		}
		s.advance(s.n - s.i)
		if err := s.fill(); err != nil {
			return err
		}
	}
}

func (s *stream) skipNested() error {
	for depth := 0; ; {
		j := bytes.IndexAny(s.buf[s.i:s.n], `"{}[]`)
		if j < 0 {
			s.advance(s.n - s.i)
			if err := s.fill(); err != nil {
				return err
			}
			continue
		}
		s.advance(j)
		switch s.buf[s.i] {
		case '"':
			if err := s.skipString(); err != nil {
				return err
			}
			continue
		case '{', '[':
			depth++
		default:
			depth--
		}
		s.advance(1)
		if depth == 0 {
			return nil
		}
	}
}

// skipString walks over a string, whose opening quote comes next.
func (s *stream) skipString() error {
	s.advance(1)
	for {
		j := bytes.IndexAny(s.buf[s.i:s.n], `"\`)
		if j < 0 {
			s.advance(s.n - s.i)
			if err := s.fill(); err != nil {
				return err
			}
			continue
		}
		quote := s.buf[s.i+j] == '"'
		s.advance(j + 1)
		if quote {
			return nil
		}
		if s.i == s.n { // the character behind a backslash belongs to it
			if err := s.fill(); err != nil {
				return err
			}
		}
		s.advance(1)
	}
}
