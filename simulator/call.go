package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// call is one request to one vendor while it is answered.
type call struct {
	s       *Server
	v       *vendor
	kind    Kind
	w       http.ResponseWriter
	r       *http.Request
	account string // hash of the key, or whatever else jobs of this vendor belong to
	now     time.Time
	effects []effect
	request uint64 // id of the request
	name    string // what a path such as {name}:{verb} names
}

// routes register what one vendor answers.
type routes struct {
	s *Server
	v *vendor
}

// on registers a call that needs a key. The path follows the vendor's prefix.
func (rt routes) on(k Kind, method, path string, h func(*call)) {
	rt.open(k, method, path, func(c *call) {
		if c.enter() {
			h(c)
		}
	})
}

// open registers a call that needs no key: a signed address, or a vendor without keys.
func (rt routes) open(k Kind, method, path string, h func(*call)) {
	rt.s.mux.HandleFunc(method+" "+rt.v.prefix+path, func(w http.ResponseWriter, r *http.Request) {
		rt.answer(w, r, k, "", h)
	})
}

// verb is what follows the colon in Google's paths.
type verb struct {
	kind Kind
	do   func(*call)
}

// verbs registers calls on a path that ends in {name} or {name}:{verb}, by the verb.
func (rt routes) verbs(method, path string, by map[string]verb) {
	rt.s.mux.HandleFunc(method+" "+rt.v.prefix+path+"/{last}", func(w http.ResponseWriter, r *http.Request) {
		name, word, _ := strings.Cut(r.PathValue("last"), ":")
		v, ok := by[word]
		if !ok {
			http.NotFound(w, r)
			return
		}
		rt.answer(w, r, v.kind, name, func(c *call) {
			if c.enter() {
				v.do(c)
			}
		})
	})
}

func (rt routes) answer(w http.ResponseWriter, r *http.Request, k Kind, name string, h func(*call)) {
	now := rt.s.clock.Now()
	c := &call{s: rt.s, v: rt.v, kind: k, w: w, r: r, now: now, request: rt.s.newID(rt.v.name, now), name: name}
	c.effects = rt.s.faults.strike(rt.v.name, k, now)
	w.Header().Set(rt.v.idHeader(), c.requestID())
	c.run(h)
}

// enter checks the key and whatever else the vendor wants to see. It answers the call itself when that is not good.
func (c *call) enter() bool {
	key := c.v.key(c.r)
	if !acceptable(key) {
		c.fail(c.v.denied(key))
		return false
	}
	c.account = accountOf(key)
	if c.v.admit != nil {
		if rej := c.v.admit(c); rej != nil {
			c.fail(rej)
			return false
		}
	}
	return true
}

func (c *call) requestID() string {
	return fmt.Sprintf("req_%016x%08x", c.request, uint32(mix(c.request)))
}

// effect tells whether a rule struck this call in that way.
func (c *call) effect(name string) (effect, bool) {
	for _, e := range c.effects {
		if e.name == name {
			return e, true
		}
	}
	return effect{}, false
}

// run answers the call, unless a rule has it otherwise.
func (c *call) run(h func(*call)) {
	for _, e := range c.effects {
		switch e.name {
		case "drop":
			panic(http.ErrAbortHandler)
		case "status":
			c.fail(plain(e.status, e.d))
			return
		case "quota":
			c.fail(c.v.broke())
			return
		case "revoke":
			c.fail(c.v.denied("revoked"))
			return
		case "redirect":
			c.w.Header().Set("Location", e.word+c.r.URL.RequestURI())
			c.w.WriteHeader(http.StatusTemporaryRedirect)
			return
		case "error-200":
			c.reply(http.StatusOK, c.v.shape(c, plain(http.StatusInternalServerError, 0)))
			return
		case "slow":
			c.wait(e.d)
		case "drop-reply":
			c.w = discard{http.Header{}}
			h(c)
			panic(http.ErrAbortHandler)
		case "truncate":
			c.w = &cutWriter{ResponseWriter: c.w, share: e.share, then: func() { panic(http.ErrAbortHandler) }}
		case "stall":
			c.w = &cutWriter{ResponseWriter: c.w, share: 0.5, then: func() { c.stall(e.d) }}
		}
	}
	h(c)
}

// wait spends real time, unless the client goes away first.
func (c *call) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	end := time.Now().Add(d)
	t := time.NewTimer(d - timerSlack)
	defer t.Stop()
	select {
	case <-t.C:
		nap(time.Until(end))
	case <-c.r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// stall holds a reply half sent: for d, or, when that is 0, until the client gives up.
func (c *call) stall(d time.Duration) {
	if d > 0 {
		c.wait(d)
		return
	}
	<-c.r.Context().Done()
	panic(http.ErrAbortHandler)
}

// reply writes a JSON document.
func (c *call) reply(status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		c.trouble(fmt.Errorf("write a reply: %w", err))
		return
	}
	c.send(status, "application/json", b)
}

func (c *call) send(status int, mime string, b []byte) {
	h := c.w.Header()
	h.Set("Content-Type", mime)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(b) // a client that went away hears nothing
}

// fail says no in the vendor's own words.
func (c *call) fail(r *Rejection) {
	if r.RetryAfter > 0 && !c.v.retryInBody {
		c.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(r.RetryAfter.Seconds()))))
	}
	c.reply(r.Status, c.v.shape(c, r))
}

// good tells whether nothing went wrong. It answers the call itself when something did.
func (c *call) good(rej *Rejection, err error) bool {
	switch {
	case err != nil:
		c.trouble(err)
	case rej != nil:
		c.fail(rej)
	}
	return err == nil && rej == nil
}

// trouble tells of something that went wrong in the simulator itself.
func (c *call) trouble(err error) {
	c.fail(&Rejection{Status: http.StatusInternalServerError, Code: "simulator", Message: "the simulator: " + err.Error()})
}

// maxDocument bounds the JSON documents that are read whole.
const maxDocument = 64 << 20

// bytes reads the whole body; nil after saying that there is too much of it.
func (c *call) bytes(limit int64) []byte {
	b, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		c.fail(&Rejection{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Message: "Request exceeds the maximum size."})
		return nil
	case err != nil:
		panic(http.ErrAbortHandler) // the client hung up
	}
	return b
}

// read reads the body as JSON into v, or says what is wrong with it.
func (c *call) read(v any) bool {
	b := c.bytes(maxDocument)
	if b == nil {
		return false
	}
	if err := json.Unmarshal(b, v); err != nil {
		c.fail(invalid("", "invalid_json", "We could not parse the JSON body of your request: %s", err))
		return false
	}
	return true
}

// self is the address at which the client reached the simulator.
func (c *call) self() string {
	scheme := "http"
	if c.r.TLS != nil || c.r.URL.Scheme == "https" {
		scheme = "https"
	}
	return scheme + "://" + c.r.Host
}

// queryInt reads a number from the query, within bounds.
func (c *call) queryInt(name string, std, most int) int {
	n, err := strconv.Atoi(c.r.URL.Query().Get(name))
	if err != nil || n < 1 {
		return std
	}
	return min(n, most)
}

// discard takes a reply that nobody will see.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

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
