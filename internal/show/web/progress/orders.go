package progress

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
	"assay/internal/show/web/guard"
	"assay/internal/show/web/site"
)

// orderData is an order that is asked about once more: money hangs on it.
type orderData struct {
	Kind    store.OrderKind
	Segment string
	Only    []string
	Do      engine.Do
	Job     string
	Ask     string // what will happen
	Sure    string // proves that this very question was shown
	Run     string
}

// Order takes an order. What concerns money is asked twice; the engine of the process that drives the run carries it out.
func (s *Pages) Order(w http.ResponseWriter, r *http.Request) {
	q, err := s.OpenForm(r)
	var o store.Order
	var ask orderData
	if err == nil {
		o, ask, err = s.readOrder(q)
	}
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	if ask.Ask != "" && !guard.Same(r.PostFormValue("sure"), ask.Sure) {
		row, err := s.RowOf(r.Context(), q.Home, q.Run)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		s.Show(w, r, &site.View{Template: "order", Title: "Are you sure?", Run: &row, Tab: "run", Data: ask})
		return
	}
	if _, err := q.Home.Orders.PutOrder(r.Context(), o); err != nil {
		s.Fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/runs/"+q.Run.ID+"/progress#orders", http.StatusSeeOther)
}

// readOrder makes an order of a form, and the question that goes with it; the question is empty where none is needed.
func (s *Pages) readOrder(q *site.Request) (store.Order, orderData, error) {
	form := q.PostForm
	o := store.Order{Run: q.Run.No, Kind: store.OrderKind(form.Get("kind")), Args: "{}", By: s.By}
	ask := orderData{Kind: o.Kind, Segment: form.Get("segment"), Only: form["only"], Do: engine.Do(form.Get("do")),
		Job: strings.TrimSpace(form.Get("job")), Run: q.Run.ID}
	var err error
	switch o.Kind {
	case store.OrderCollect:
		return o, ask, nil
	case store.OrderProceed:
		ask.Ask = "The first answers were shown to a person. A yes sends the batches of their lanes, and they will be billed."
	case store.OrderCancel:
		if q.Run.State == store.RunClosed {
			return o, ask, site.Bad("the run is closed already")
		}
		ask.Ask = "All jobs of this run are asked to stop, and nothing more is sent. What providers have done is billed; what they still " +
			"hand out is kept."
	case store.OrderRetry:
		err = readRetry(q, &o, &ask)
	case store.OrderResolve:
		err = readResolve(q, &o, &ask)
	default:
		return o, ask, site.Bad("there is no order %q", form.Get("kind"))
	}
	if err != nil {
		return o, ask, err
	}
	ask.Sure = s.Guard.Proof(fmt.Sprintf("sure\x00%s\x00%s\x00%d\x00%s\x00%s", q.Run.ID, o.Kind, o.Segment, o.Args, ask.Ask))
	return o, ask, nil
}

func readRetry(q *site.Request, o *store.Order, ask *orderData) error {
	var r engine.Retry
	for _, name := range ask.Only {
		e := assay.Ending(name)
		if e.Stands() || !slices.Contains(assay.Endings(), e) {
			return site.Bad("only: there is nothing to send again that was %q", name)
		}
		r.Only = append(r.Only, e)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	o.Args = string(text)
	far, err := runs.ProgressOf(q.Context(), q.Home.Reader, q.Run)
	if err != nil {
		return err
	}
	var n int64
	for _, l := range far[q.Run.No].Lanes {
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

func readResolve(q *site.Request, o *store.Order, ask *orderData) error {
	no, err := strconv.ParseInt(ask.Segment, 10, 64)
	if err != nil {
		return site.Bad("segment: %q is not a number", ask.Segment)
	}
	g, err := q.Home.Ledger.Segment(q.Context(), no)
	if err != nil {
		return err
	}
	if g.Run != q.Run.No || g.State != store.Held {
		return site.Bad("segment %d is not held in this run", no)
	}
	switch {
	case ask.Do == engine.DoResend:
		ask.Ask = fmt.Sprintf("Segment %d with %s is sent again. If a job exists at the provider after all, both will be billed.", no,
			assay.Count(g.Requests, "request"))
	case ask.Do == engine.DoAdopt && ask.Job != "" && len(ask.Job) < 300:
		ask.Ask = fmt.Sprintf("Job %s is taken for segment %d: its results will be fetched as those of the segment.",
			strconv.Quote(ask.Job), no)
	case ask.Do == engine.DoDrop:
		ask.Ask = fmt.Sprintf("Segment %d with %s is given up. If a job exists at the provider, it will be billed, and nothing "+
			"fetches its results.", no, assay.Count(g.Requests, "request"))
	default:
		return site.Bad("choose one of: send again, adopt a job, give up")
	}
	text, err := json.Marshal(engine.Resolve{Do: ask.Do, Job: ask.Job})
	o.Segment, o.Args = no, string(text)
	return err
}
