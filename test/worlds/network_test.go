package worlds

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// roundTrip carries a call to a provider as a step; what comes back is a step of its own.
func (p *proc) roundTrip(inner http.RoundTripper, req *http.Request) (resp *http.Response, err error) {
	name := req.Method + " " + generic(req.URL.Path)
	err = p.do(name, func() error {
		resp, err = inner.RoundTrip(req)
		return err
	})
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		tattle(req, resp)
	}
	resp.Body = &deadBody{resp.Body, p}
	return resp, nil
}

// tattle has a provider repeat the key in its error, as some do.
func tattle(req *http.Request, resp *http.Response) {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		body = nil
	}
	said := []byte(`"message":"the key ` + secret + `: `)
	if !strings.Contains(req.Header.Get("Authorization")+req.Header.Get("X-Api-Key")+req.Header.Get("X-Goog-Api-Key"), secret) {
		said = []byte(`"message":"`)
	}
	body = bytes.Replace(body, []byte(`"message":"`), said, 1)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
}

// deadBody is a reply that ends with its process.
type deadBody struct {
	io.ReadCloser
	p *proc
}

func (b *deadBody) Read(into []byte) (int, error) {
	if b.p.isDead() {
		return 0, errKilled
	}
	return b.ReadCloser.Read(into)
}
