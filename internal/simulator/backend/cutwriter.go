package backend

import (
	"net/http"
	"strconv"
)

// discard takes a reply that no client will see.
type discard struct{ h http.Header }

func (d discard) Header() http.Header { return d.h }

func (d discard) Write(p []byte) (int, error) { return len(p), nil }

func (d discard) WriteHeader(int) {}

// cutWriter lets a share of the declared bytes through, then does something else.
type cutWriter struct {
	http.ResponseWriter
	share float64
	then  func()
	left  int64
	begun bool
}

func (w *cutWriter) WriteHeader(status int) {
	n, _ := strconv.ParseInt(w.Header().Get("Content-Length"), 10, 64)
	w.left, w.begun = int64(float64(n)*w.share), true
	w.ResponseWriter.WriteHeader(status)
}

func (w *cutWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if int64(len(p)) <= w.left {
		w.left -= int64(len(p))
		return w.ResponseWriter.Write(p)
	}
	n, err := w.ResponseWriter.Write(p[:w.left])
	if err != nil {
		return n, err
	}
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
	w.then()
	m, err := w.ResponseWriter.Write(p[n:])
	w.left = 1 << 62
	return n + m, err
}
