package provider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
)

// Client makes the calls to one origin. It follows no redirect, asks for no compression, and gives the key to that origin
// alone.
type Client struct {
	base    *url.URL
	http    http.RoundTripper
	auth    Auth
	sign    Signer // nil: no call is signed
	headers map[string]string
	secrets []string
	trace   func(Exchange)

	deadline time.Duration // of small calls; 0: defaultDeadline
	stall    time.Duration // 0: defaultStall

	decoders sync.Pool // of *dialect.Decoder
}

// Auth puts a key into the headers of a call.
type Auth func(ctx context.Context, h http.Header) error

// Bearer returns the usual Authorization header; without a key, none.
func Bearer(key Secret) Auth {
	return func(_ context.Context, h http.Header) error {
		if !key.Empty() {
			h.Set("Authorization", "Bearer "+key.Reveal())
		}
		return nil
	}
}

// KeyHeader puts the bare key under a header of its own.
func KeyHeader(name string, key Secret) Auth {
	return func(_ context.Context, h http.Header) error {
		if !key.Empty() {
			h.Set(name, key.Reveal())
		}
		return nil
	}
}

// With adds a header that is no secret, such as the version of an API.
func (a Auth) With(name, value string) Auth {
	return func(ctx context.Context, h http.Header) error {
		h.Set(name, value)
		return a(ctx, h)
	}
}

// Exchange is one call as a debug log may show it: no header, no query, no body.
type Exchange struct {
	Method    string
	Host      string
	Path      string
	Status    int // 0: no answer
	RequestID string
	Err       string
}

// NewClient makes the client for the base URL of a configuration.
func NewClient(cfg Config, auth Auth) (*Client, error) {
	base, ok := address(strings.TrimRight(cfg.BaseURL, "/"))
	if !ok {
		return nil, fmt.Errorf("base URL %q of provider %s: want http(s)://host/path", cfg.BaseURL, cfg.Name)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("base URL of provider %s: want no user, query or fragment", cfg.Name)
	}
	rt := cfg.HTTP
	if rt == nil {
		rt = NewTransport()
	}
	c := &Client{base: base, auth: auth, headers: cfg.Headers, trace: cfg.Trace, deadline: cfg.Deadline, stall: cfg.Stall, http: rt}
	c.hide(cfg.Key.Reveal())
	for _, v := range cfg.Headers {
		c.hide(v)
	}
	return c, nil
}

// hide remembers a text that no error may show.
func (c *Client) hide(secret string) {
	if len(secret) >= minSecret {
		c.secrets = append(c.secrets, secret, url.QueryEscape(secret))
	}
}

// Call is one HTTP request to make.
type Call struct {
	Method string // empty: GET
	Path   string // below the base URL, escaped: see Path
	Query  url.Values
	Header map[string]string
	Type   string    // of the body
	Body   io.Reader // closed by the call if it is an io.Closer
	Length int64     // of the body
	SHA256 string    // of the body in hex, where the call may be signed and the body cannot be read twice

	// Session is a URL of an upload session that the provider gave us, in place of Path. Its path and query are used at
	// our own origin, whatever host it names.
	Session string
	// Foreign is an absolute URL that the provider gave us, in place of Path. No key and no configured header goes there.
	Foreign string
	// Accept lists statuses besides 2xx that are answers, not faults.
	Accept []int

	unhurried bool // its caller sets the time limit
	digest    [sha256.Size]byte
}

// Path joins segments below the base URL. Every segment is escaped as a whole, so that an id never leaves its place.
func Path(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		if strings.Trim(s, ".") == "" {
			b.WriteString(strings.ReplaceAll(s, ".", "%2E"))
			continue
		}
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// JSONBody returns a call's body and length for a value. A value of our own types always marshals.
func JSONBody(v any) (body io.Reader, length int64, err error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, 0, fmt.Errorf("marshal the call: %w", err)
	}
	return bytes.NewReader(b), int64(len(b)), nil
}

// Do makes the call. Any status but 2xx and the accepted ones is an error that wraps an *assay.Fault; otherwise the
// caller closes the body. A call in which nothing moves for too long is given up.
func (c *Client) Do(ctx context.Context, call Call) (*http.Response, error) {
	if c.sign != nil {
		if err := call.sum(); err != nil {
			return nil, c.unsentError(call, err)
		}
	}
	if call.unhurried {
		return c.send(ctx, ctx, call)
	}
	within, w := c.watched(ctx)
	call.Body = w.sends(call.Body)
	resp, err := c.send(ctx, within, call)
	if err != nil {
		w.over()
		return nil, err
	}
	resp.Body = w.receives(resp.Body)
	return resp, nil
}

// send makes a call within a context that may end before its caller's does.
func (c *Client) send(ctx, within context.Context, call Call) (*http.Response, error) {
	req, err := c.request(within, call)
	if err != nil {
		if cl, ok := call.Body.(io.Closer); ok {
			cl.Close()
		}
		return nil, c.unsentError(call, err)
	}
	return c.deliver(ctx, req, call.Accept)
}

// deliver sends a request. A status that is neither 2xx nor accepted is an error that wraps its fault.
func (c *Client) deliver(ctx context.Context, req *http.Request, accept []int) (*http.Response, error) {
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		return nil, c.transportError(ctx, req, err)
	}
	c.show(Exchange{Method: req.Method, Host: req.URL.Host, Path: req.URL.Path, Status: resp.StatusCode, RequestID: requestID(resp.Header)})
	if resp.StatusCode/100 == 2 || slices.Contains(accept, resp.StatusCode) {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.statusError(req, resp)
}

func (c *Client) request(ctx context.Context, call Call) (*http.Request, error) {
	method := call.Method
	if method == "" {
		method = http.MethodGet
	}
	u, err := c.locate(call)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, "", nil)
	if err != nil {
		return nil, fmt.Errorf("make the call: %w", err)
	}
	req.URL, req.Host = u, u.Host
	if call.Body != nil {
		// GetBody stays nil: net/http then never sends a body twice by itself.
		req.Body, req.ContentLength = closing(call.Body), call.Length
	}
	if call.Type != "" {
		req.Header.Set("Content-Type", call.Type)
	}
	req.Header.Set("User-Agent", "assay")
	req.Header.Set("Accept-Encoding", "identity")
	if call.Foreign == "" {
		for k, v := range c.headers {
			req.Header.Set(k, v)
		}
		if err := c.auth(ctx, req.Header); err != nil {
			return nil, fmt.Errorf("authorise the call: %w", err)
		}
	}
	for k, v := range call.Header {
		req.Header.Set(k, v)
	}
	if c.sign != nil && call.Foreign == "" {
		if err := c.sign(ctx, req, call.digest); err != nil {
			return nil, fmt.Errorf("sign the call: %w",
				&assay.Fault{Class: assay.FaultDenied, Code: "no_credentials", Message: assay.Clean(err.Error(), maxWords)})
		}
	}
	return req, nil
}

// locate returns the URL of a call. A foreign one may not be less safe than the base URL.
func (c *Client) locate(call Call) (*url.URL, error) {
	if call.Foreign != "" {
		u, err := url.Parse(call.Foreign)
		if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != c.base.Scheme) {
			return nil, BadAnswer("the provider names a place to go that is not a %s URL", c.base.Scheme)
		}
		return u, nil
	}
	if call.Session != "" {
		u, err := url.Parse(call.Session)
		if err != nil || !strings.HasPrefix(u.Path, "/") {
			return nil, BadAnswer("the provider names an upload session that is no URL")
		}
		u.Scheme, u.Host, u.User = c.base.Scheme, c.base.Host, nil
		return u, nil
	}
	u, err := url.Parse(c.base.String() + call.Path)
	if err != nil || u.Host != c.base.Host {
		return nil, fmt.Errorf("path of the call below %s: not well formed", c.base.Host)
	}
	if len(call.Query) > 0 {
		u.RawQuery = call.Query.Encode()
	}
	return u, nil
}

// JSON makes the call and reads the answer into a value. Answers over 16 MB are a fault: what is large is fetched, not read.
func (c *Client) JSON(ctx context.Context, call Call, into any) (http.Header, error) {
	within, done := c.inTime(ctx, call)
	defer done()
	resp, err := c.Do(within, call)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := c.read(ctx, resp, maxAnswer)
	if err != nil {
		return resp.Header, err
	}
	if into == nil {
		return resp.Header, c.done(resp, body)
	}
	return resp.Header, c.accept(resp, body, into)
}

// Valid is an answer that can check itself: it reports whether the required parts are there. It catches an error that
// came under a good status, and distinguishes an empty list from none.
type Valid interface{ Valid() bool }

// accept reads an answer into its type.
func (c *Client) accept(resp *http.Response, body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return c.answerError(resp, "answer cannot be read", err)
	}
	if v, ok := into.(Valid); ok && !v.Valid() {
		if hasError(body) {
			return c.saidNo(resp.Request, resp, body)
		}
		return c.answerError(resp, "answer lacks what it must have", errors.New(string(body[:min(len(body), 200)])))
	}
	return nil
}

// done finds out an error that came under a good status if nothing of the answer is needed. What has a name of its own is a
// thing, and may speak of an error that it met.
func (c *Client) done(resp *http.Response, body []byte) error {
	var thing struct {
		ID   any `json:"id"`
		Name any `json:"name"`
	}
	if _ = json.Unmarshal(body, &thing); thing.ID != nil || thing.Name != nil || !hasError(body) {
		return nil
	}
	return c.saidNo(resp.Request, resp, body)
}

// hasError reports whether a document is an error in any provider's shape.
func hasError(body []byte) bool {
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return false
	}
	has := func(name string) bool {
		return len(top[name]) > 0 && string(top[name]) != "null" && string(top[name]) != `""`
	}
	is := func(name string) bool { return string(top[name]) == `"error"` }
	return has("error") || has("__type") || has("detail") || is("type") || is("object") || has("message") && has("code")
}

const (
	maxAnswer = 16 << 20
	maxError  = 64 << 10
	trusted   = 1 << 20 // room is made for a body that claims to be shorter than this
)

// read takes a whole body, up to a limit.
func (c *Client) read(ctx context.Context, resp *http.Response, limit int64) ([]byte, error) {
	if n := resp.ContentLength; n > 0 && n < min(trusted, limit) { // net/http holds the body to it
		whole := make([]byte, n)
		if _, err := io.ReadFull(resp.Body, whole); err != nil {
			return nil, c.transportError(ctx, resp.Request, err)
		}
		return whole, nil
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(io.LimitReader(resp.Body, limit+1)); err != nil {
		return nil, c.transportError(ctx, resp.Request, err)
	}
	if int64(body.Len()) > limit {
		return nil, c.answerError(resp, "answer is too large", fmt.Errorf("over %d bytes", limit))
	}
	return body.Bytes(), nil
}

func (c *Client) show(e Exchange) {
	if c.trace != nil {
		c.trace(e)
	}
}

// closing makes a body that net/http closes.
func closing(r io.Reader) io.ReadCloser {
	if rc, ok := r.(io.ReadCloser); ok {
		return rc
	}
	return io.NopCloser(r)
}
