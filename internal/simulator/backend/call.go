package backend

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// Call is one request to one vendor while it is answered.
type Call struct {
	s       *Service
	Vendor  *Vendor
	kind    fault.Kind
	Writer  http.ResponseWriter
	Request *http.Request
	Account string // hash of the key, or whatever else jobs of this vendor belong to
	Now     time.Time
	effects []fault.Effect
	slow    time.Duration // how much longer than usual a live answer takes
	Number  uint64        // id of the request
	Name    string        // what a path such as {name}:{verb} names
}

// Enter checks the key and whatever else the vendor wants to see. It answers the call itself when that is not good.
func (c *Call) Enter() bool {
	key := c.Vendor.Key(c.Request)
	if !acceptable(key) {
		c.Fail(c.Vendor.Denied(key))
		return false
	}
	c.Account = accountOf(key)
	if c.Vendor.Admit != nil {
		if rej := c.Vendor.Admit(c); rej != nil {
			c.Fail(rej)
			return false
		}
	}
	return true
}

// RequestID returns the id of the call in its reply's header.
func (c *Call) RequestID() string {
	return fmt.Sprintf("req_%016x%08x", c.Number, uint32(dice.Mix(c.Number)))
}

// Effect reports whether a rule struck this call in that way.
func (c *Call) Effect(name string) (fault.Effect, bool) {
	for _, e := range c.effects {
		if e.Name == name {
			return e, true
		}
	}
	return fault.Effect{}, false
}

// run answers the call, unless a rule has it otherwise.
func (c *Call) run(h func(*Call)) {
	for _, e := range c.effects {
		switch e.Name {
		case "drop":
			panic(http.ErrAbortHandler)
		case "status":
			c.Fail(rules.Plain(e.Status, e.Duration))
			return
		case "quota":
			c.Fail(c.Vendor.broke())
			return
		case "revoke":
			c.Fail(c.Vendor.Denied("revoked"))
			return
		case "redirect":
			c.Writer.Header().Set("Location", e.Word+c.Request.URL.RequestURI())
			c.Writer.WriteHeader(http.StatusTemporaryRedirect)
			return
		case "error-200":
			c.Reply(http.StatusOK, c.Vendor.Shape(c, rules.Plain(http.StatusInternalServerError, 0)))
			return
		case "slow":
			if c.kind == fault.Ask { // the model is slow, after the question has come
				c.slow += e.Duration
				continue
			}
			c.wait(e.Duration)
		case "drop-reply":
			c.Writer = discard{http.Header{}}
			h(c)
			panic(http.ErrAbortHandler)
		case "truncate":
			c.Writer = &cutWriter{ResponseWriter: c.Writer, share: e.Share, then: func() { panic(http.ErrAbortHandler) }}
		case "stall":
			c.Writer = &cutWriter{ResponseWriter: c.Writer, share: 0.5, then: func() { c.stall(e.Duration) }}
		}
	}
	h(c)
}

// wait spends real time, unless the client goes away first.
func (c *Call) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	end := time.Now().Add(d)
	t := time.NewTimer(d - timerSlack)
	defer t.Stop()
	select {
	case <-t.C:
		nap(time.Until(end))
	case <-c.Request.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// stall holds a reply half sent: for d, or, when that is 0, until the client gives up.
func (c *Call) stall(d time.Duration) {
	if d > 0 {
		c.wait(d)
		return
	}
	<-c.Request.Context().Done()
	panic(http.ErrAbortHandler)
}

// XML is a document that is no JSON.
type XML []byte

// Reply writes a JSON document, or one in XML.
func (c *Call) Reply(status int, v any) {
	if doc, ok := v.(XML); ok {
		c.Send(status, "application/xml", doc)
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		c.Trouble(fmt.Errorf("write a reply: %w", err))
		return
	}
	c.Send(status, "application/json", b)
}

// Send writes a reply whole.
func (c *Call) Send(status int, mime string, b []byte) {
	h := c.Writer.Header()
	h.Set("Content-Type", mime)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(b) // the client may be gone
}

// Fail replies with a rejection in the vendor's own form.
func (c *Call) Fail(r *rules.Rejection) {
	if r.RetryAfter > 0 && !c.Vendor.RetryInBody {
		c.Writer.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(r.RetryAfter.Seconds()))))
	}
	c.Reply(r.Status, c.Vendor.Shape(c, r))
}

// Good reports whether nothing went wrong. It answers the call itself when something did.
func (c *Call) Good(rej *rules.Rejection, err error) bool {
	switch {
	case err != nil:
		c.Trouble(err)
	case rej != nil:
		c.Fail(rej)
	}
	return err == nil && rej == nil
}

// Trouble answers with something that went wrong in the simulator itself.
func (c *Call) Trouble(err error) {
	c.Fail(&rules.Rejection{Status: http.StatusInternalServerError, Code: "simulator", Message: "the simulator: " + err.Error()})
}

// maxDocument bounds the JSON documents that are read whole.
const maxDocument = 64 << 20

// Bytes reads the whole body; nil after saying that there is too much of it.
func (c *Call) Bytes(limit int64) []byte {
	b, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		c.Fail(&rules.Rejection{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large",
			Message: "Request exceeds the maximum size."})
		return nil
	case err != nil:
		panic(http.ErrAbortHandler) // the client hung up
	}
	return b
}

// Read reads the body as JSON into v, or returns what is wrong with it.
func (c *Call) Read(v any) bool {
	b := c.Bytes(maxDocument)
	if b == nil {
		return false
	}
	if err := json.Unmarshal(b, v); err != nil {
		c.Fail(rules.Invalid("", "invalid_json", "We could not parse the JSON body of your request: %s", err))
		return false
	}
	return true
}

// Origin returns the address at which the client reached the simulator.
func (c *Call) Origin() string {
	scheme := "http"
	if c.Request.TLS != nil || c.Request.URL.Scheme == "https" {
		scheme = "https"
	}
	return scheme + "://" + c.Request.Host
}

// QueryInt reads a number from the query, within bounds.
func (c *Call) QueryInt(name string, std, most int) int {
	n, err := strconv.Atoi(c.Request.URL.Query().Get(name))
	if err != nil || n < 1 {
		return std
	}
	return min(n, most)
}

// NewNumber returns a random number that no other call of this simulator gets.
func (c *Call) NewNumber() uint64 { return c.s.newID(c.Vendor.Name, c.Now) }

// Serial counts on by one.
func (c *Call) Serial() uint64 { return c.s.serial.Add(1) }

// Disk returns where bytes are kept.
func (c *Call) Disk() *spill.Folder { return c.s.spill }

// BatchBytes returns the most bytes of one batch.
func (c *Call) BatchBytes() int64 { return cmp.Or(c.s.opts.Limits.BatchBytes, c.Vendor.Bytes) }

// BatchLeast returns the fewest requests of one batch.
func (c *Call) BatchLeast() int { return cmp.Or(c.s.opts.Limits.BatchLeast, c.Vendor.Least) }

// Window is after how long a batch expires.
func (c *Call) Window() time.Duration { return cmp.Or(c.s.opts.Window, c.Vendor.Window) }

// Processing returns how long an upload is looked at before it can be used.
func (c *Call) Processing() time.Duration { return c.s.opts.Queue / 4 }

// NewCall returns a call to a vendor, as it arrives.
func (s *Service) NewCall(v *Vendor, k fault.Kind, w http.ResponseWriter, r *http.Request) *Call {
	now := s.opts.Now()
	return &Call{s: s, Vendor: v, kind: k, Writer: w, Request: r, Now: now, Number: s.newID(v.Name, now),
		effects: s.opts.Faults.Strike(v.Name, k, now)}
}
