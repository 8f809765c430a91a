package traffic

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// Exchanges writes every HTTP exchange with providers into a file, one JSON object per line, without what is secret. A nil one
// writes nothing.
type Exchanges struct {
	file *os.File
	now  func() time.Time

	mu     sync.Mutex
	secret secrets
	failed error // the first write that did not work
}

// NewExchanges adds exchanges to a file, which it closes. Only its owner can read it.
func NewExchanges(f *os.File, now func() time.Time) (*Exchanges, error) {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.Chmod(0o600); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &Exchanges{file: f, now: now}, nil
}

// Close closes the file. It returns the first error of a write.
func (x *Exchanges) Close() error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return errors.Join(x.failed, x.file.Close())
}

// Around returns a transport whose exchanges are written down; nil Exchanges return next.
func (x *Exchanges) Around(next http.RoundTripper, key provider.Secret) http.RoundTripper {
	if x == nil {
		return next
	}
	if next == nil {
		next = provider.NewTransport()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.secret.hide(key.Reveal())
	return &recorder{x, next}
}

type recorder struct {
	*Exchanges
	next http.RoundTripper
}

// RoundTrip makes the exchange and writes it down when its reply was read or given up.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.secret.learn(req)
	r.mu.Unlock()
	e := &exchange{Exchanges: r.Exchanges, began: r.now(), req: req, sent: &tap{}, got: &tap{}}
	own := req
	if req.Body != nil && req.Body != http.NoBody {
		own = req.WithContext(req.Context())
		e.sent.from = req.Body
		own.Body = e.sent
	}
	resp, err := r.next.RoundTrip(own)
	e.answered = r.now()
	if err != nil {
		e.write(nil, err)
		return resp, err
	}
	e.got.from, e.got.done = resp.Body, func(err error) { e.write(resp, err) }
	resp.Body = e.got
	return resp, nil
}

// tap passes a body on and keeps its beginning.
type tap struct {
	from io.ReadCloser
	done func(error) // called once: at its end, or when it is closed before

	mu    sync.Mutex
	kept  []byte
	bytes int64
}

const (
	shownBody = 2 << 10           // bytes of a body that are shown
	keptBody  = shownBody + 4<<10 // and kept, so that a key is seen that goes over the edge
)

// Read passes bytes on.
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.mu.Lock()
	t.bytes += int64(n)
	t.kept = append(t.kept, p[:min(n, keptBody-len(t.kept))]...)
	t.mu.Unlock()
	if err != nil {
		t.end(err)
	}
	return n, err
}

// Close passes the end on.
func (t *tap) Close() error {
	t.end(nil)
	return t.from.Close()
}

func (t *tap) end(err error) {
	t.mu.Lock()
	done := t.done
	t.done = nil
	t.mu.Unlock()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if done != nil {
		done(err)
	}
}

// exchange is one request with its reply.
type exchange struct {
	*Exchanges
	began, answered time.Time
	req             *http.Request
	sent, got       *tap
}

func (e *exchange) write(resp *http.Response, failed error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	line := exchangeLine{
		At: e.began.UTC().Format(time.RFC3339Nano), Method: e.req.Method, URL: e.secret.place(e.req.URL),
		FirstByte: e.answered.Sub(e.began).Milliseconds(), Took: e.now().Sub(e.began).Milliseconds(),
	}
	line.Request = e.part(e.req.Header, e.sent, openHeader)
	if resp != nil {
		line.Status = resp.StatusCode
		part := e.part(resp.Header, e.got, func(name string) bool { return !secretName(name) })
		line.Response = &part
	}
	if failed != nil {
		line.Error = assay.Clean(e.secret.scrub(failed.Error()), 500)
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = e.file.Write(append(text, '\n'))
	}
	if err != nil && e.failed == nil {
		e.failed = err
	}
}

// part returns one side of an exchange. The values of headers that are not open are stars.
func (e *exchange) part(h http.Header, body *tap, open func(name string) bool) exchangePart {
	p := exchangePart{Headers: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		value := stars
		if open(name) {
			value = assay.Clean(e.secret.scrub(strings.Join(h[name], ", ")), 500)
		}
		p.Headers[assay.Clean(e.secret.scrub(name), 100)] = value
	}
	body.mu.Lock()
	text, whole := string(body.kept), body.bytes == int64(len(body.kept))
	p.Bytes = body.bytes
	body.mu.Unlock()
	if tokenPlace(e.req.URL) {
		p.Body = stars
		return p
	}
	text = e.secret.scrub(text)
	if !whole { // what is left of a key at the edge cannot be distinguished from other text
		text = text[:max(0, len(text)-e.secret.longest-len(`\u002d`))]
	}
	p.Body = assay.Clean(text, shownBody)
	return p
}

// tokenPlace reports whether a URL is where tokens are made: every body there is secret.
func tokenPlace(u *url.URL) bool {
	return strings.HasSuffix(strings.ToLower(strings.TrimRight(u.Path, "/")), "token") || strings.Contains(u.Host, "oauth")
}

type exchangeLine struct {
	At        string        `json:"at"`
	Method    string        `json:"method"`
	URL       string        `json:"url"`
	Status    int           `json:"status,omitempty"`
	Error     string        `json:"error,omitempty"`
	FirstByte int64         `json:"first_byte_ms"`
	Took      int64         `json:"took_ms"`
	Request   exchangePart  `json:"request"`
	Response  *exchangePart `json:"response,omitempty"`
}

type exchangePart struct {
	Headers map[string]string `json:"headers"`
	Bytes   int64             `json:"bytes"`
	Body    string            `json:"body,omitempty"`
}
