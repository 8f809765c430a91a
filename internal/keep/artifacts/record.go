package artifacts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"strconv"
)

// Record is one entry of a log: a head that describes it, and raw bytes as they came.
//
// On disk it is a line of text, and the body with a line end behind it:
//
//	SUM LENGTH BODYSUM HEAD\n
//	BODY\n
//
// where SUM is that of the rest of the line. So a log can be read by itself, and a record that a kill cut in two is
// known.
type Record struct {
	Head   []byte
	Body   []byte // nil: none
	Offset int64  // of the body in the log
}

// AppendRecord writes a record. A head has no line end in it.
func AppendRecord(dst, head, body []byte) []byte {
	at := len(dst)
	dst = append(dst, "00000000 "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, ' ')
	dst = appendSum(dst, Sum(body))
	dst = append(dst, ' ')
	dst = append(dst, head...)
	appendSum(dst[:at], Sum(dst[at+9:]))
	dst = append(dst, '\n')
	if len(body) > 0 {
		dst = append(append(dst, body...), '\n')
	}
	return dst
}

func appendSum(dst []byte, sum uint32) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[sum>>shift&15])
	}
	return dst
}

// Sum returns the checksum of raw bytes; 0 only for none.
func Sum(b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	return max(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)), 1)
}

// Verify holds raw bytes against their checksum; 0: none was kept.
func Verify(b []byte, sum uint32) error {
	if got := Sum(b); sum != 0 && got != sum {
		return fmt.Errorf("%w: their checksum is %08x, and was %08x when they came", ErrDamaged, got, sum)
	}
	return nil
}

// ErrDamaged is the error for raw bytes that are not those that were kept.
var ErrDamaged = errors.New("the raw bytes are damaged")

// Records walks over the whole records of a log, in their order. It ends without an error where a record is not whole: its
// writer was killed there. Head and body are good until the next one.
func Records(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in := bufio.NewReaderSize(r, 256<<10)
		at := int64(0)
		for {
			line, err := readLine(in)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Record{}, err)
				}
				return
			}
			at += int64(len(line))
			rec, length, sum, ok := parseRecord(line[:len(line)-1])
			if !ok {
				return
			}
			if rec.Offset = at; length > 0 {
				rec.Head = bytes.Clone(rec.Head) // the body takes its place
				body, err := io.ReadAll(io.LimitReader(in, length+1))
				if err != nil {
					yield(Record{}, err)
					return
				}
				if int64(len(body)) <= length || Verify(body[:length], sum) != nil {
					return
				}
				rec.Body = body[:length]
				at += length + 1
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// readLine reads a line with its end, however long. io.EOF: there is no whole one.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := bytes.Clone(line)
	rest, err := in.ReadBytes('\n')
	return append(long, rest...), err
}

// parseRecord reads the line of a record.
func parseRecord(line []byte) (r Record, length int64, sum uint32, ok bool) {
	own, rest, ok := bytes.Cut(line, []byte{' '})
	if !ok || len(own) != 8 || string(appendSum(nil, Sum(rest))) != string(own) {
		return r, 0, 0, false
	}
	count, rest, _ := bytes.Cut(rest, []byte{' '})
	check, head, ok := bytes.Cut(rest, []byte{' '})
	length, err := strconv.ParseInt(string(count), 10, 64)
	bodySum, err2 := strconv.ParseUint(string(check), 16, 32)
	return Record{Head: head}, length, uint32(bodySum), ok && err == nil && err2 == nil && length >= 0
}
