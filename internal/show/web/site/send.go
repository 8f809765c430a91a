package site

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const WriteTimeout = 30 * time.Second

// Stream writes piece by piece; a reader that takes long gets more time with every piece it takes.
type Stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewStream returns a stream to a reader, of a type of content.
func NewStream(w http.ResponseWriter, kind string) *Stream {
	w.Header().Set("Content-Type", kind)
	return &Stream{w: w, control: http.NewResponseController(w)}
}

// Send writes a piece and waits until it is on its way.
func (s *Stream) Send(text []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(WriteTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}

// SendFile writes a file for a reader to keep. One that takes long gets more time with every block it takes.
func SendFile(w http.ResponseWriter, name, kind string, from *io.SectionReader) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.FormatInt(from.Size(), 10))
	control := http.NewResponseController(w)
	for {
		if err := control.SetWriteDeadline(time.Now().Add(WriteTimeout)); err != nil {
			return
		}
		n, err := io.CopyN(w, from, 256<<10)
		if n == 0 || err != nil {
			return
		}
	}
}

const htmlType = "text/html; charset=utf-8"

// fitsPacket is up to how many bytes an answer fits into one packet: smaller ones are not compressed.
const fitsPacket = 1400

// writeWhole writes an answer that is all there, compressed for those who take that.
func writeWhole(w http.ResponseWriter, r *http.Request, status int, kind string, text []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Add("Vary", "Accept-Encoding")
	if len(text) <= fitsPacket || !acceptsGzip(r) {
		w.WriteHeader(status)
		w.Write(text)
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := gzip.NewWriter(w)
	z.Write(text)
	z.Close()
}

func acceptsGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, ok := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			return !ok || strings.Trim(q, "0.") != ""
		}
	}
	return false
}
