package simulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport reaches the simulator without a socket. Bodies stream both ways, a cancelled context ends the call, and a
// connection that the simulator drops is an error here as it is on a network. The host of a URL does not matter; its path does.
func (s *Server) Transport() http.RoundTripper { return memoryTransport{s} }

type memoryTransport struct{ s *Server }

// errDropped is the error of a client when the other side hangs up before a reply.
var errDropped = errors.New("simulator: connection dropped by the server")

// RoundTrip carries one call.
func (t memoryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	ctx, cancel := context.WithCancel(req.Context())
	in := serverSide(ctx, req)
	pr, pw := io.Pipe()
	w := &pipeWriter{pw: pw, header: http.Header{}, ready: make(chan struct{}), method: req.Method}
	stop := context.AfterFunc(ctx, func() { _ = pw.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer func() {
			_ = in.Body.Close()
			w.finish(recover(), context.Cause(ctx))
			stop()
		}()
		t.s.ServeHTTP(w, in)
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
		cancel()
		return nil, context.Cause(ctx)
	}
	if w.err != nil {
		cancel()
		return nil, w.err
	}
	return w.response(req, &clientBody{PipeReader: pr, cancel: cancel}), nil
}

// serverSide returns the request as a server gets it.
func serverSide(ctx context.Context, req *http.Request) *http.Request {
	in := req.Clone(ctx)
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:1"
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// clientBody ends the call on the server's side when the client is done with it.
type clientBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *clientBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel()
	return err
}

// pipeWriter is the server's end of a reply. It holds a handler to the Content-Length it declared, as net/http does.
type pipeWriter struct {
	pw     *io.PipeWriter
	header http.Header
	method string
	once   sync.Once
	ready  chan struct{}

	status   int
	sent     http.Header // the header as it was when the reply began
	declared int64
	written  int64
	err      error
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent, w.declared = status, w.header.Clone(), -1
		if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
			w.declared = n
		}
		close(w.ready)
	})
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.declared >= 0 && w.written+int64(len(p)) > w.declared {
		return 0, http.ErrContentLength
	}
	n, err := w.pw.Write(p)
	w.written += int64(n)
	return n, err
}

// Flush does nothing: what is written is at the reader already.
func (w *pipeWriter) Flush() {}

// finish ends the reply after the handler has returned or panicked; gone is why the client went away, if it did.
func (w *pipeWriter) finish(panicked any, gone error) {
	if gone == nil {
		gone = io.ErrUnexpectedEOF
	}
	if panicked != nil {
		w.once.Do(func() {
			w.err = errDropped
			if panicked != http.ErrAbortHandler {
				w.err = fmt.Errorf("simulator: %v", panicked)
			}
			close(w.ready)
		})
		_ = w.pw.CloseWithError(gone)
		return
	}
	w.WriteHeader(http.StatusOK)
	if w.declared > w.written && w.method != http.MethodHead {
		_ = w.pw.CloseWithError(gone)
		return
	}
	_ = w.pw.Close()
}

func (w *pipeWriter) response(req *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, ContentLength: w.declared, Request: req,
	}
}
