package provider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// Whole is the expected size of a part, to check a download. The length that the server announces takes precedence.
type Whole struct {
	Size  int64                                    // bytes; 0: not known
	Lines int64                                    // lines; 0: not known
	Ask   func(ctx context.Context) (int64, error) // finds out the size; nil or 0: unknown
}

// Download writes the answer of a GET into a sink and makes sure that it is whole: by the length the server announces,
// else by what is known about it, else by a proper last line.
//
// What a cut download left is continued only under a strong validator, on a server that announces ranges: bytes of two
// versions are never joined.
func (c *Client) Download(ctx context.Context, call Call, want Whole, into Sink) error {
	return c.DownloadBy(ctx, func(ctx context.Context, header http.Header) (*http.Response, error) {
		own := call
		own.Header = maps.Clone(call.Header)
		for name := range header {
			if own.Header == nil {
				own.Header = map[string]string{}
			}
			own.Header[name] = header.Get(name)
			own.Accept = []int{http.StatusRequestedRangeNotSatisfiable}
		}
		return c.Do(ctx, own)
	}, want, into)
}

// DownloadBy is Download with a GET that another client makes over Transport. The header may ask for a range.
func (c *Client) DownloadBy(ctx context.Context, get func(context.Context, http.Header) (*http.Response, error), want Whole,
	into Sink) error {
	held, validator := into.Held()
	header := http.Header{}
	if held > 0 && strong(validator) {
		header.Set("Range", fmt.Sprintf("bytes=%d-", held))
		header.Set("If-Range", validator)
	} else {
		held = 0
	}
	resp, err := get(ctx, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return c.answerError(resp, "download is encoded", errors.New(e))
	}
	start, total, err := c.span(resp, held)
	if err != nil {
		return errors.Join(err, into.Begin(0, "")) // whatever is held is of no use any more
	}
	if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable { // all of it was there already
		if err := into.Begin(held, validator); err != nil {
			return fmt.Errorf("begin at byte %d: %w", held, err)
		}
		return nil
	}
	body := bufio.NewReaderSize(resp.Body, maxError)
	if err := c.sniff(resp, body, start); err != nil {
		return err
	}
	if err := into.Begin(start, validatorOf(resp)); err != nil {
		return fmt.Errorf("begin at byte %d: %w", start, err)
	}
	t := tally{bytes: start, resumed: start > 0}
	if err := c.pour(ctx, resp, body, io.MultiWriter(&t, into)); err != nil {
		return err
	}
	return c.whole(ctx, resp, want, t, total)
}

// pour copies an answer, telling an error of the sink from one of the connection. Reading and writing go on at the same
// time: hashing and syncing a block takes about as long as receiving one. A block that is written is a move, too.
func (c *Client) pour(ctx context.Context, resp *http.Response, body io.Reader, w io.Writer) error {
	free, full := make(chan []byte, pourBlocks), make(chan []byte, pourBlocks)
	for range pourBlocks {
		free <- nil // made when it is needed: most answers are small
	}
	stop := make(chan struct{})
	defer close(stop)
	var readErr error // set before full is closed
	go func() {
		defer close(full)
		for {
			var buf []byte
			select {
			case buf = <-free:
			case <-stop:
				return
			}
			if buf == nil {
				buf = make([]byte, pourBlock)
			}
			n, err := body.Read(buf[:pourBlock])
			full <- buf[:n] // there is room: as many blocks as places
			if err == io.EOF {
				return
			}
			if err != nil {
				readErr = err
				return
			}
		}
	}()
	for buf := range full {
		if _, err := w.Write(buf); err != nil {
			return fmt.Errorf("write what was fetched: %w", err)
		}
		if b, ok := resp.Body.(*movingBody); ok {
			b.watch.moved()
		}
		free <- buf
	}
	if readErr != nil {
		return c.transportError(ctx, resp.Request, readErr)
	}
	return nil
}

const (
	pourBlock  = 256 << 10
	pourBlocks = 4
)

// sniff finds out an error document that came under a good status in place of the part.
func (c *Client) sniff(resp *http.Response, body *bufio.Reader, start int64) error {
	if start > 0 {
		return nil
	}
	head, err := body.Peek(maxError)
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) { // a page, or an error in XML: results are JSON
		return c.saidNo(resp.Request, resp, head)
	}
	if err != io.EOF || !hasError(head) {
		return nil // not an error, or longer than one can be
	}
	var d dialect.Decoder
	if named := !d.Line(assay.Wire{}, head).Malformed; named {
		return nil // a result line that reports an error
	}
	return c.saidNo(resp.Request, resp, head)
}

// span returns where the answer's bytes begin and how many the whole part has (-1: unknown).
func (c *Client) span(resp *http.Response, held int64) (start, total int64, err error) {
	switch resp.StatusCode {
	case http.StatusPartialContent:
		start, total, ok := contentRange(resp.Header.Get("Content-Range"))
		etag := resp.Header.Get("ETag")
		if !ok || start != held || (etag != "" && etag != resp.Request.Header.Get("If-Range")) {
			return 0, 0, c.truncated(resp, "server continues with other bytes than asked for")
		}
		return start, total, nil
	case http.StatusRequestedRangeNotSatisfiable:
		if _, total, _ := contentRange(resp.Header.Get("Content-Range")); total == held {
			return held, total, nil
		}
		return 0, 0, c.truncated(resp, "server has fewer bytes than are held")
	}
	return 0, resp.ContentLength, nil
}

// contentRange reads "bytes 5-9/10" and "bytes */10".
func contentRange(v string) (start, total int64, ok bool) {
	span, all, ok := strings.Cut(strings.TrimPrefix(v, "bytes "), "/")
	if !ok {
		return 0, -1, false
	}
	total, err := strconv.ParseInt(all, 10, 64)
	if err != nil {
		total = -1
	}
	from, _, _ := strings.Cut(span, "-")
	start, err = strconv.ParseInt(from, 10, 64)
	return start, total, err == nil
}

// whole holds what arrived against what is known.
func (c *Client) whole(ctx context.Context, resp *http.Response, want Whole, t tally, total int64) error {
	if total >= 0 {
		return c.enough(resp, t.bytes, total, "bytes")
	}
	if want.Size == 0 && want.Ask != nil {
		size, err := want.Ask(ctx)
		if err != nil {
			return fmt.Errorf("find out the size: %w", err)
		}
		want.Size = size
	}
	switch {
	case want.Size > 0:
		return c.enough(resp, t.bytes, want.Size, "bytes")
	case want.Lines > 0 && !t.resumed:
		return c.enough(resp, t.count(), want.Lines, "lines")
	case t.bytes > 0 && t.last != '\n' && t.last != '}':
		return c.truncated(resp, "ends inside a line")
	}
	return nil
}

func (c *Client) enough(resp *http.Response, got, want int64, of string) error {
	if got != want {
		return c.truncated(resp, fmt.Sprintf("got %d of %d %s", got, want, of))
	}
	return nil
}

// truncated is the fault of a part that is not whole: fetching it again may help.
func (c *Client) truncated(resp *http.Response, why string) error {
	return &callError{doing: doing(resp.Request), fault: &assay.Fault{
		Class: assay.FaultBusy, Code: "truncated", Message: why, RequestID: requestID(resp.Header),
	}}
}

// tally counts bytes and lines as they pass.
type tally struct {
	bytes   int64
	lines   int64
	open    bool // inside a line
	last    byte
	resumed bool
}

// Write counts. Lines of white space alone are none.
func (t *tally) Write(p []byte) (int, error) {
	t.bytes += int64(len(p))
	if len(p) > 0 {
		t.last = p[len(p)-1]
	}
	for rest := p; ; {
		line, after, ended := bytes.Cut(rest, newline)
		t.open = t.open || len(bytes.TrimLeft(line, "\r ")) > 0
		if !ended {
			return len(p), nil
		}
		if t.open {
			t.lines, t.open = t.lines+1, false
		}
		rest = after
	}
}

var newline = []byte{'\n'}

func (t *tally) count() int64 {
	if t.open {
		return t.lines + 1
	}
	return t.lines
}

// validatorOf returns the answer's strong ETag, if the server serves ranges of it.
func validatorOf(resp *http.Response) string {
	etag := resp.Header.Get("ETag")
	ranges := resp.StatusCode == http.StatusPartialContent || strings.EqualFold(resp.Header.Get("Accept-Ranges"), "bytes")
	if ranges && strong(etag) {
		return etag
	}
	return ""
}

func strong(etag string) bool { return len(etag) > 2 && etag[0] == '"' && etag[len(etag)-1] == '"' }
