package provider

import (
	"context"
	"io"
	"net/http"

	"assay/internal/send/process"
)

// NewTransport returns the transport of an account that is given none: many connections to one host, kept open as long as they leave
// the ledger and its files room.
func NewTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = process.Files(4*256) / 4
	t.DisableCompression = true
	return t
}

// Transport carries the calls of another client, such as that of an object store, as Do makes its own: watched, traced, with the key
// where they go to the origin of the base URL, and with an error that wraps a fault for every status that is no answer.
func (c *Client) Transport() http.RoundTripper { return transport{c} }

type transport struct{ client *Client }

// RoundTrip makes a call. An upload that goes on and a range that is not there are answers.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.client
	within, w := c.watched(req.Context())
	own := req.Clone(within)
	own.GetBody = nil // net/http then never sends a body twice by itself
	if own.Body != nil && own.Body != http.NoBody {
		own.Body = w.sends(own.Body).(io.ReadCloser)
	}
	own.Header.Set("User-Agent", "assay")
	own.Header.Set("Accept-Encoding", "identity")
	resp, err := c.carry(req.Context(), own)
	if err != nil {
		w.over()
		return nil, err
	}
	resp.Body = &movingBody{ReadCloser: w.receives(resp.Body), watch: w,
		fault: func(err error) error { return c.transportError(req.Context(), own, err) }}
	return resp, nil
}

func (c *Client) carry(ctx context.Context, req *http.Request) (*http.Response, error) {
	if req.URL.Host == c.base.Host && req.URL.Scheme == c.base.Scheme && req.Header.Get("Authorization") == "" {
		for k, v := range c.headers {
			req.Header.Set(k, v)
		}
		if err := c.auth(ctx, req.Header); err != nil {
			return nil, c.unsentError(Call{Path: req.URL.Path}, err)
		}
	}
	return c.deliver(ctx, req, []int{http.StatusPermanentRedirect, http.StatusRequestedRangeNotSatisfiable})
}

// Small bounds a small call that another client makes over Transport.
func (c *Client) Small(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.inTime(ctx, Call{})
}
