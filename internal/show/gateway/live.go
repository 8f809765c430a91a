package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/dialect"
	"assay/internal/send/provider"
	"assay/internal/show/gateway/answers"
	"assay/internal/show/gateway/openai"
	"assay/internal/study/catalog"
)

const (
	maxLive     = 64 << 20         // bytes of a live request
	longestLive = 30 * time.Minute // that a provider may take to answer one
)

// liveRequest is the part of a live request that the gateway itself reads.
type liveRequest struct {
	Stream        bool `json:"stream"`
	StreamOptions struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// live passes on one request of an API, and its answer in the same API's form.
func (s *Server) live(api string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Request: r, user: userIn(r.Context())}
		var q liveRequest
		text, err := openai.ReadJSON(c.Body, maxLive, &q)
		var f *answers.Call
		first := false
		if err == nil {
			again := c.Header.Get("X-Stainless-Retry-Count")
			f, first, err = s.calls.Join(r.Context(), answers.Request{User: c.user.Name, API: api, Body: text,
				Once: c.Header.Get("Idempotency-Key"), Again: again != "" && again != "0"})
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if first {
			over := make(chan struct{})
			go func() {
				defer close(over)
				defer s.crash(f)
				s.send(r.Context(), f, c.user, api, text, q)
			}()
			// What is asked is paid for: the call goes on without its client, and is waited for when the gateway ends.
			defer func() { <-over; s.calls.Release(f) }()
		}
		if !s.follow(w, r, f, q.Stream) {
			f.Leave()
			s.Log.Debug("a client hung up before it had its answer", "user", c.user.Name)
		}
	}
}

// crash ends a call that panicked: it is one call that failed, and counts with the most that it may have cost.
func (s *Server) crash(f *answers.Call) {
	if p := recover(); p != nil {
		s.Log.Error("a live call crashed", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		f.End(nil, errors.New("the gateway failed"))
	}
}

// send asks the provider.
func (s *Server) send(ctx context.Context, f *answers.Call, u *User, api string, text []byte, q liveRequest) {
	sent, err := s.prepare(u, api, text)
	if err != nil {
		f.End(nil, err)
		return
	}
	f.Without(sent.Dropped)
	kept, stop := context.WithTimeout(context.WithoutCancel(ctx), longestLive)
	defer stop()
	if sent.no, err = s.admit(kept, u, sent.note); err != nil {
		f.End(nil, err)
		return
	}
	id, err := newID()
	if err != nil {
		f.End(nil, err)
		return
	}
	head := dialect.ReplyHead{ID: id, Created: s.now().Unix(), Model: sent.Lane.Name}
	streamer, can := sent.asker.(provider.Streamer)
	if q.Stream && can && dialect.Streams(sent.Wire.Dialect) {
		s.streamed(kept, f, sent, streamer, &dialect.Emitter{To: assay.Dialect(api), Native: string(sent.Wire.Dialect) == api,
			Usage: q.StreamOptions.Usage, Head: head})
		return
	}
	reply, err := sent.asker.Ask(kept, sent.request())
	s.book(ctx, sent, reply, false)
	if err != nil {
		f.End(nil, unanswered(sent.Destination, reply))
		return
	}
	sent.trim(&reply.Outcome)
	body, err := inForm(api, head, sent.Wire.Dialect, reply)
	if err == nil && q.Stream {
		var events [][]byte
		events, err = dialect.Events(assay.Dialect(api), body, q.StreamOptions.Usage)
		f.Add(events...)
	}
	f.End(body, err)
}

// streamed passes an answer on while it comes.
func (s *Server) streamed(ctx context.Context, f *answers.Call, sent *sending, by provider.Streamer, e *dialect.Emitter) {
	came, worked := false, false
	reply, err := by.Stream(ctx, sent.request(), func(ev provider.StreamEvent) {
		came, worked = true, worked || ev.Delta != (dialect.Delta{})
		f.Add(e.Event(ev.Name, ev.Data, ev.Delta)...)
	})
	s.book(ctx, sent, reply, worked)
	if err != nil {
		f.End(nil, unanswered(sent.Destination, reply))
		return
	}
	if !came { // a server that does not stream
		body, err := inForm(string(e.To), e.Head, sent.Wire.Dialect, reply)
		if err == nil {
			var events [][]byte
			events, err = dialect.Events(e.To, body, e.Usage)
			f.Add(events...)
		}
		f.End(nil, err)
		return
	}
	sent.trim(&reply.Outcome)
	f.Add(e.End(&reply.Outcome)...)
	f.End(nil, nil)
}

// inForm returns a reply in the form of an API: as it came, where that is its dialect.
func inForm(api string, head dialect.ReplyHead, in assay.Dialect, reply provider.Reply) ([]byte, error) {
	if string(in) == api {
		return reply.Raw, nil
	}
	return dialect.AppendReply(nil, assay.Dialect(api), head, &reply.Outcome)
}

// sending is a request on its way to its provider.
type sending struct {
	batchfile.Destination
	asker provider.Asker
	note  store.ClientCall
	no    int64 // in the ledger
}

// trim leaves one call of a tool, where the client wants no more.
func (d *sending) trim(o *assay.Outcome) {
	if d.OneCall && len(o.Calls) > 1 {
		o.Calls = o.Calls[:1]
	}
}

func (d *sending) request() *assay.Request {
	return &assay.Request{Lane: &d.Lane, Wire: &d.Wire, Prompt: &assay.Prompt{}, Body: d.Body}
}

// prepare routes a request.
func (s *Server) prepare(u *User, api string, body []byte) (*sending, error) {
	plain, err := dialect.AppendWithout(nil, body, "stream", "stream_options")
	if err != nil {
		return nil, openai.Wrong(http.StatusBadRequest, "", "", "The body is not a JSON object.")
	}
	router := &batchfile.Router{Catalog: s.catalog, API: api, Today: catalog.DateOf(s.now()), Live: true, Ready: s.providers.Ready,
		Priced: s.bounded(u)}
	d, bad := router.Route(plain)
	if bad != nil {
		return nil, openai.Wrong(bad.Status, bad.Code, bad.Param, "%s", bad.Message)
	}
	d.Wire.Carrier = ""
	_, high := batchfile.NewMeter(s.catalog, d.Lane.Provider, d.Lane, assay.ModeLive).Estimate(d.Body, d.Prompt, d.Limit)
	out := &sending{Destination: d, note: store.ClientCall{Owner: u.Name, Provider: d.Lane.Provider, Model: d.Lane.Model}}
	if high.Known() {
		out.note.High = &high.Sum
	}
	out.asker, err = s.asker(d.Lane.Provider)
	return out, err
}

// book writes how a call ended, of which a part may have come. One that cannot be written counts with the most that it may
// have cost; its answer is paid, and given.
func (s *Server) book(ctx context.Context, sent *sending, reply provider.Reply, worked bool) {
	if err := s.Home.Ledger.Clients.EndClientCall(context.WithoutCancel(ctx), sent.no,
		s.endOf(sent.Destination, reply, worked)); err != nil {
		s.Log.Error("a call is answered, and counts with the most that it may have cost", "error", err.Error())
	}
}

// admit writes a call down, if the budget covers the most that it may cost.
func (s *Server) admit(ctx context.Context, u *User, note store.ClientCall) (int64, error) {
	within, _ := s.allowance(u.Name)
	no, err := s.Home.Ledger.Clients.BeginClientCall(ctx, note, within)
	return no, uncovered(err, "call")
}

// asker returns a provider's way to be asked live.
func (s *Server) asker(name string) (provider.Asker, error) {
	t, err := s.providers.Target(name)
	if err != nil {
		return nil, openai.Wrong(http.StatusBadRequest, "provider_not_configured", "model", "this gateway cannot reach %s: %s", name, err)
	}
	if t.Access.Live == nil {
		return nil, openai.Wrong(http.StatusBadRequest, "unsupported_value", "model", "%s cannot be asked live", name)
	}
	return t.Access.Live, nil
}

// endOf returns how a call ended, and what it cost. What no model worked on costs nothing; what was cut off may have been billed,
// also where the provider gives a reason.
func (s *Server) endOf(d batchfile.Destination, r provider.Reply, worked bool) store.ClientCallEnd {
	o := r.Outcome
	e := store.ClientCallEnd{Ending: o.Ending, Usage: o.Usage}
	price, _ := s.catalog.Price(d.Lane.Provider, d.Lane.Model)
	switch billed := o.Ending.Stands() || o.Ending == assay.Empty || o.Usage.Known; {
	case billed:
		if c := price.Bill(o.Usage, catalog.Billing{Mode: assay.ModeLive, Tier: o.Tier}); c.Known() {
			e.Cost = &c.Sum
		}
	case !worked && (r.Unsent || o.Fault != nil && o.Fault.Status >= 400):
		e.Cost = new(assay.Money)
	}
	return e
}

// unanswered returns the error of a call that brought no answer.
func unanswered(d batchfile.Destination, r provider.Reply) error {
	status, p := batchrun.ProblemOf(d.Lane.Provider, r.Outcome)
	out := &openai.Refusal{Status: status, Problem: p}
	if f := r.Outcome.Fault; f != nil && f.RetryAfter > 0 {
		out.After = strconv.Itoa(int(f.RetryAfter.Round(time.Second) / time.Second))
	}
	return out
}

// follow gives a client what a call brings. False: the client hung up before it had all of it.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, f *answers.Call, stream bool) bool {
	silence := time.NewTicker(s.Silence)
	defer silence.Stop()
	out := &eventWriter{w: w}
	for n := 0; ; {
		events, ended, moved := f.Since(n)
		n += len(events)
		body, failed := f.Result()
		if less := f.Less(); len(less) > 0 && !out.begun {
			w.Header().Set("X-Assay-Dropped", strings.Join(less, ", "))
		}
		switch {
		case r.Context().Err() != nil || stream && !out.write(events...):
			return false
		case ended && failed != nil && out.begun:
			return out.write(s.errorEvent(r, failed))
		case ended && failed != nil:
			s.fail(w, r, failed)
			return true
		case ended && stream:
			return true
		case ended:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, err := w.Write(body)
			return err == nil
		}
		select {
		case <-moved:
		case <-r.Context().Done():
		case <-silence.C:
			if stream && !out.write([]byte(": keep-alive\n\n")) {
				return false
			}
		}
	}
}

// eventWriter writes events as they come.
type eventWriter struct {
	w     http.ResponseWriter
	begun bool
}

func (o *eventWriter) write(events ...[]byte) bool {
	if len(events) == 0 {
		return true
	}
	if !o.begun {
		o.begun = true
		o.w.Header().Set("Content-Type", "text/event-stream")
	}
	for _, e := range events {
		if _, err := o.w.Write(e); err != nil {
			return false
		}
	}
	_ = http.NewResponseController(o.w).Flush() // a connection that cannot be flushed sends it all at the end
	return true
}

// errorEvent returns an error after the first byte of a stream: it is too late for a status.
func (s *Server) errorEvent(r *http.Request, err error) []byte {
	text, _ := json.Marshal(map[string]batchrun.Problem{"error": s.refusalOf(r, err).Problem}) // plain strings
	return append(append([]byte("data: "), text...), '\n', '\n')
}
