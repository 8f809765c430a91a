package crash

import (
	"io"
	"net/http"
	"strings"
)

// wire is the fuse on the way to the providers.
type wire struct {
	*fuse
	inner http.RoundTripper
}

// RoundTrip carries one call past its moments.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	call := req.Method + " " + place(req.URL.Path)
	n := w.enter(call)
	w.pass(call, n, Before)
	if req.Body != nil && req.ContentLength > 1 {
		req = req.Clone(req.Context())
		req.Body = &halfway{ReadCloser: req.Body, half: req.ContentLength / 2, reached: func() { w.pass(call, n, Upload) }}
	}
	resp, err := w.inner.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	w.pass(call, n, Accepted)
	resp.Body = &halfway{ReadCloser: resp.Body, half: max(resp.ContentLength/2, 1), reached: func() { w.pass(call, n, Download) }}
	return resp, nil
}

// place returns a path without the ids in it, so that the same call has the same name in every run.
func place(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "file-") || len(p) > 16 && strings.ContainsAny(p, "0123456789") ||
			strings.ContainsAny(p, "_") && len(p) > 8 {
			head, verb, ok := strings.Cut(p, ":")
			if parts[i] = "*"; ok && head != "" {
				parts[i] += ":" + verb
			}
		}
	}
	return strings.Join(parts, "/")
}

// halfway signals when half of a body has gone through, before the other half does.
type halfway struct {
	io.ReadCloser
	half    int64
	done    int64
	reached func()
}

func (h *halfway) Read(p []byte) (int, error) {
	if left := h.half - h.done; left > 0 && int64(len(p)) > left {
		p = p[:left]
	} else if left == 0 {
		h.done++ // once
		h.reached()
	}
	n, err := h.ReadCloser.Read(p)
	h.done += int64(n)
	return n, err
}
