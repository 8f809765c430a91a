package objects

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

const (
	tries       = 3                      // of a call; the engine goes on trying
	firstPause  = 200 * time.Millisecond // before the second, and twice as long before the third
	connections = 64                     // are kept: as many calls as a worker makes at a time
	maxError    = 64 << 10               // bytes of an error that are read
	maxAnswer   = 16 << 20               // bytes of a list
)

// call makes a request. Any status but 2xx, an upload that goes on and a range that is not there is an *Error. The transport is called
// without a client: a redirect that is followed would take signatures and tokens along.
func call(rt http.RoundTripper, req *http.Request) (*http.Response, error) {
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode/100 == 2, resp.StatusCode == http.StatusPermanentRedirect,
		resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // only for the message
	return nil, refusal(resp, text)
}

// refusal reads an error in XML (S3) or JSON (Google). Other fields of it may hold what was signed.
func refusal(resp *http.Response, text []byte) error {
	e := &Error{Status: resp.Status}
	var x struct{ Code, Message, Region string }
	var j struct {
		Error struct{ Message string }
	}
	switch {
	case xml.Unmarshal(text, &x) == nil && x.Code != "":
		e.Code, e.Message, e.Region, e.missing = x.Code, x.Message, x.Region, x.Code == "NoSuchKey"
	case json.Unmarshal(text, &j) == nil && j.Error.Message != "":
		e.Message = j.Error.Message
	}
	return e
}

// newRequest returns a request for a URL, with a body if there is one.
func newRequest(ctx context.Context, method, at string, header http.Header, body *Body) (*http.Request, error) {
	var r io.Reader
	if body != nil {
		r = body.Reader
	}
	req, err := http.NewRequestWithContext(ctx, method, at, r)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	return req, nil
}

// answerOf reads a small answer and closes it.
func answerOf(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
}

// deleted makes sure that an answer is that of a deletion: one without words.
func deleted(resp *http.Response) error {
	text, err := answerOf(resp)
	if err == nil && len(text) > 0 {
		return fmt.Errorf("delete: %w", ErrAnswer)
	}
	return err
}

// transport calls an object store, with tokens if there is a source of them.
func transport(tokens oauth2.TokenSource) http.RoundTripper {
	plain := http.DefaultTransport.(*http.Transport).Clone()
	plain.MaxIdleConnsPerHost = connections
	if tokens != nil {
		return again{&oauth2.Transport{Source: tokens, Base: plain}}
	}
	return again{plain}
}

// again makes a call again where the server or the network has failed. Answers are read whole, so that one which is cut counts as failed.
type again struct{ base http.RoundTripper }

// RoundTrip makes a call, up to three times.
func (t again) RoundTrip(req *http.Request) (*http.Response, error) {
	pause := firstPause
	for try := 1; ; try++ {
		one := req.Clone(req.Context())
		if req.GetBody != nil {
			one.Body, _ = req.GetBody() // of bytes in memory
		}
		resp, err := t.once(one)
		if err == nil && !failed(resp) || req.Context().Err() != nil || try == tries {
			return resp, err
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
			pause *= 2
		case <-req.Context().Done():
			return resp, err
		}
	}
}

func (t again) once(req *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

// failed reports whether another try may help.
func failed(resp *http.Response) bool {
	if resp.StatusCode == http.StatusBadRequest {
		text, _ := io.ReadAll(resp.Body) // it is in memory
		resp.Body = io.NopCloser(bytes.NewReader(text))
		return bytes.Contains(text, []byte("<Code>RequestTimeout</Code>"))
	}
	return resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
}
