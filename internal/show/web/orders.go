package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// orderData is an order that is asked about once more: money hangs on it.
type orderData struct {
	Kind    string
	Segment string
	Only    []string
	Do, Job string
	Ask     string // what will happen
	Sure    string // proves that this very question was shown
	Run     string
}

// order takes an order. What concerns money is asked twice; the engine of the process that drives the run carries it out.
func (s *Server) order(w http.ResponseWriter, r *http.Request) {
	q, err := s.open(r)
	if err == nil {
		err = r.ParseForm()
	}
	if err == nil && !same(r.PostFormValue("csrf"), s.guard.csrf) {
		err = &problem{http.StatusForbidden,
			"the form is not one of ours, or of an earlier start of the dashboard: reload the page and try again"}
	}
	var o store.Order
	var ask orderData
	if err == nil {
		o, ask, err = s.readOrder(q)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if ask.Ask != "" && !same(r.PostFormValue("sure"), ask.Sure) {
		row, err := s.rowOf(r.Context(), q.home, q.run)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.show(w, r, http.StatusOK, &view{template: "order", title: "Are you sure?", run: &row, tab: "run", data: ask})
		return
	}
	if _, err := q.home.Orders.PutOrder(r.Context(), o); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/runs/"+q.run.ID+"/progress#orders", http.StatusSeeOther)
}

// readOrder makes an order of a form, and the question that goes with it; the question is empty where none is needed.
func (s *Server) readOrder(q *request) (store.Order, orderData, error) {
	form := q.PostForm
	o := store.Order{Run: q.run.No, Kind: store.OrderKind(form.Get("kind")), Args: "{}", By: s.options.By}
	ask := orderData{Kind: string(o.Kind), Segment: form.Get("segment"), Only: form["only"], Do: form.Get("do"),
		Job: strings.TrimSpace(form.Get("job")), Run: q.run.ID}
	var err error
	switch o.Kind {
	case store.OrderCollect:
		return o, ask, nil
	case store.OrderProceed:
		ask.Ask = "The first answers were shown to a person. A yes sends the batches of their lanes, and they will be billed."
	case store.OrderCancel:
		if q.run.State == store.RunClosed {
			return o, ask, bad("the run is closed already")
		}
		ask.Ask = "All jobs of this run are asked to stop, and nothing more is sent. What providers have done is billed; what they still " +
			"hand out is kept."
	case store.OrderRetry:
		err = readRetry(q, &o, &ask)
	case store.OrderResolve:
		err = readResolve(q, &o, &ask)
	default:
		return o, ask, bad("there is no order %q", form.Get("kind"))
	}
	if err != nil {
		return o, ask, err
	}
	ask.Sure = derived(s.guard.token, fmt.Sprintf("sure\x00%s\x00%s\x00%d\x00%s\x00%s", q.run.ID, o.Kind, o.Segment, o.Args, ask.Ask))
	return o, ask, nil
}

func readRetry(q *request, o *store.Order, ask *orderData) error {
	var r engine.Retry
	for _, name := range ask.Only {
		e := assay.Ending(name)
		if e.Stands() || !slices.Contains(assay.Endings(), e) {
			return bad("only: there is nothing to send again that was %q", name)
		}
		r.Only = append(r.Only, e)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	o.Args = string(text)
	far, err := runs.ProgressOf(q.Context(), q.home.Reader, q.run)
	if err != nil {
		return err
	}
	var n int64
	for _, l := range far[q.run.No].Lanes {
		if l.State != store.LaneOpen && l.State != store.LanePaused { // a retry opens it
			n += max(0, l.Wanted-l.Lane.Ended()-l.InFlight)
		}
		for e, m := range l.Endings {
			if slices.Contains(r.Endings(), e) {
				n += m
			}
		}
	}
	ask.Ask = fmt.Sprintf("Up to %s will be sent, and billed by the providers as far as the budget allows.", assay.Count(n, "request"))
	return nil
}

func readResolve(q *request, o *store.Order, ask *orderData) error {
	no, err := strconv.ParseInt(ask.Segment, 10, 64)
	if err != nil {
		return bad("segment: %q is not a number", ask.Segment)
	}
	g, err := q.home.Ledger.Segment(q.Context(), no)
	if err != nil {
		return err
	}
	if g.Run != q.run.No || g.State != store.Held {
		return bad("segment %d is not held in this run", no)
	}
	switch {
	case ask.Do == "resend":
		ask.Ask = fmt.Sprintf("Segment %d with %s is sent again. If a job exists at the provider after all, both will be billed.", no,
			assay.Count(g.Requests, "request"))
	case ask.Do == "adopt" && ask.Job != "" && len(ask.Job) < 300:
		ask.Ask = fmt.Sprintf("Job %s is taken for segment %d: its results will be fetched as those of the segment.",
			strconv.Quote(ask.Job), no)
	case ask.Do == "drop":
		ask.Ask = fmt.Sprintf("Segment %d with %s is given up. If a job exists at the provider, it will be billed, and nothing "+
			"fetches its results.", no, assay.Count(g.Requests, "request"))
	default:
		return bad("choose one of: send again, adopt a job, give up")
	}
	text, err := json.Marshal(engine.Resolve{Do: ask.Do, Job: ask.Job})
	o.Segment, o.Args = no, string(text)
	return err
}
