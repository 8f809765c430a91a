package gateway

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"assay"
	"assay/batchfile"
	"assay/batchrun"
	"assay/catalog"
	"assay/dialect"
	"assay/provider"
	"assay/store"
)

const (
	maxLive     = 64 << 20         // bytes of a live request
	longestLive = 30 * time.Minute // that a provider may take to answer one
)

// liveRequest is what the gateway itself wants to know of a live request.
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
		text, err := readJSON(c, maxLive, &q)
		var body []byte
		if err == nil {
			body, err = s.ask(r.Context(), c.user, api, text)
		}
		switch {
		case err != nil:
			s.fail(w, r, err)
		case q.Stream:
			s.stream(w, r, api, body, q.StreamOptions.Usage)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.Write(body)
		}
	}
}

// ask routes a request, writes it down, and sends it once. A client that hangs up does not end it: what it costs is counted.
func (s *Server) ask(ctx context.Context, u *User, api string, body []byte) ([]byte, error) {
	plain, err := dialect.AppendWithout(nil, body, "stream", "stream_options")
	if err != nil {
		return nil, wrong(http.StatusBadRequest, "", "", "The body is not a JSON object.")
	}
	router := &batchfile.Router{Catalog: s.catalog, API: api, Today: catalog.DateOf(s.now()), Live: true, Ready: s.ready, Priced: s.bounded(u)}
	d, bad := router.Route(plain)
	if bad != nil {
		return nil, wrong(bad.Status, bad.Code, bad.Param, "%s", bad.Message)
	}
	_, high := batchfile.NewMeter(s.catalog, d.Lane.Provider, d.Lane, assay.ModeLive).Estimate(d.Prompt, d.Limit)
	note := store.ClientCall{Owner: u.Name, Provider: d.Lane.Provider, Model: d.Lane.Model}
	if high.Known() {
		note.High = &high.Sum
	}
	asker, err := s.asker(d.Lane.Provider)
	if err != nil {
		return nil, err
	}
	kept, stop := context.WithTimeout(context.WithoutCancel(ctx), longestLive)
	defer stop()
	no, err := s.admit(kept, u, note)
	if err != nil {
		return nil, err
	}
	d.Wire.Carrier = ""
	reply, err := asker.Ask(kept, &assay.Request{Lane: &d.Lane, Wire: &d.Wire, Prompt: &assay.Prompt{}, Body: d.Body})
	if done := s.Home.Ledger.EndClientCall(context.WithoutCancel(ctx), no, s.endOf(d, reply)); done != nil {
		s.Log.Error("a call is answered, and counts with the most that it may have cost", "error", done.Error()) // the answer is paid: it is given
	}
	if err != nil {
		return nil, unanswered(d, reply)
	}
	if batchrun.Speaks(reply.Raw, api) {
		return reply.Raw, nil
	}
	id, err := newID()
	if err != nil {
		return nil, err
	}
	return dialect.AppendReply(nil, assay.Dialect(api), dialect.ReplyHead{ID: id, Created: s.now().Unix(), Model: d.Lane.Name}, &reply.Outcome)
}

// admit writes a call down, if the budget covers the most that it may cost.
func (s *Server) admit(ctx context.Context, u *User, note store.ClientCall) (int64, error) {
	no, err := s.Home.Ledger.BeginClientCall(ctx, note, s.allowance(u.Name))
	return no, uncovered(err, "call")
}

// asker is a provider's way to be asked live.
func (s *Server) asker(name string) (provider.Asker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.targets[name]
	if t.live == nil {
		access, err := s.Home.World.Dial(t.Target)
		if err != nil {
			return nil, wrong(http.StatusBadRequest, "provider_not_configured", "model", "this gateway cannot reach %s: %s", name, err)
		}
		if access.Live == nil {
			return nil, wrong(http.StatusBadRequest, "unsupported_value", "model", "%s cannot be asked live", name)
		}
		t.live = access.Live
		s.targets[name] = t
	}
	return t.live, nil
}

// endOf is how a call ended, and what it cost. What no model worked on costs nothing; what was cut off may have been billed.
func (s *Server) endOf(d batchfile.Destination, r provider.Reply) store.ClientCallEnd {
	o := r.Outcome
	e := store.ClientCallEnd{Ending: o.Ending, Usage: o.Usage}
	price, _ := s.catalog.Price(d.Lane.Provider, d.Lane.Model)
	switch billed := o.Ending.Stands() || o.Ending == assay.Empty || o.Usage.Known; {
	case billed:
		if c := price.Bill(o.Usage, catalog.Billing{Mode: assay.ModeLive, Tier: o.Tier}); c.Known() {
			e.Cost = &c.Sum
		}
	case r.Unsent || o.Fault != nil && o.Fault.Status >= 400:
		e.Cost = new(assay.Money)
	}
	return e
}

// unanswered is the error of a call that brought no answer.
func unanswered(d batchfile.Destination, r provider.Reply) error {
	status, p := batchrun.ProblemOf(d.Lane.Provider, r.Outcome)
	out := &refusal{status: status, problem: p}
	if f := r.Outcome.Fault; f != nil && f.RetryAfter > 0 {
		out.after = strconv.Itoa(int(f.RetryAfter.Round(time.Second) / time.Second))
	}
	return out
}

// stream writes an answer as the events in which a client wants it.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, api string, body []byte, usage bool) {
	events, err := dialect.Events(assay.Dialect(api), body, usage)
	if err != nil {
		s.fail(w, r, errors.Join(errors.New("the reply cannot be streamed"), err))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	for _, e := range events {
		if _, err := w.Write(e); err != nil {
			return // the client is gone
		}
		_ = control.Flush() // a connection that cannot be flushed sends it all at the end
	}
}
