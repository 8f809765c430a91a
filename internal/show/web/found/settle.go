package found

import (
	"errors"
	"fmt"
	"net/http"

	"assay/internal/find/results/quotes"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
	"assay/internal/show/report/words"
	"assay/internal/show/web/guard"
	"assay/internal/show/web/site"
)

// settleData is a purchase of comparisons that is asked about: money hangs on it.
type settleData struct {
	Run                  string
	Stage, First, Second string
	Words                []string // what is bought, and for how much
	None                 string   // why nothing is; empty: it can be
	Command              string   // that buys them; empty: it is not known
	Sure                 string   // proves that this very question was shown
}

// Settle shows what telling two lanes apart would buy, and asks.
func (s *Pages) Settle(q *site.Request) (*site.View, error) {
	d, _, err := s.offer(q)
	if err != nil {
		return nil, err
	}
	row, err := s.RowOf(q.Context(), q.Home, q.Run)
	if err != nil {
		return nil, err
	}
	if f, err := s.findingsOf(q, ""); err == nil && f.Known && (q.Home.Buy == nil || d.None == "") {
		d.Command = words.SettleCommand(f.Value.document, words.Pair{Stage: d.Stage, First: d.First, Second: d.Second})
	}
	return &site.View{Template: "settle", Title: "Tell " + d.First + " from " + d.Second, Run: &row, Tab: "summary", Data: d}, nil
}

// Buy buys what a page has shown, and nothing else. The process that drives the run sends it.
func (s *Pages) Buy(w http.ResponseWriter, r *http.Request) {
	q, err := s.OpenForm(r)
	var d settleData
	var o quotes.Offer
	if err == nil {
		d, o, err = s.offer(q)
	}
	if err == nil && (d.None != "" || !guard.Same(r.PostFormValue("sure"), d.Sure)) {
		err = site.Refused(http.StatusConflict, "the run has moved since this was asked: look at it again")
	}
	if err == nil {
		var bought bool
		if bought, err = q.Home.Buy(r.Context(), q.Run, o.Settle, o.Cost); err == nil && !bought {
			err = site.Refused(http.StatusConflict, "another process was first: look at the run again")
		}
	}
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/runs/"+q.Run.ID+"/progress", http.StatusSeeOther)
}

// offer returns the purchase that a request names.
func (s *Pages) offer(q *site.Request) (settleData, quotes.Offer, error) {
	want := rounds.Settle{Stage: q.FormValue("stage"), First: q.FormValue("first"), Second: q.FormValue("second")}
	d := settleData{Run: q.Run.ID, Stage: want.Stage, First: want.First, Second: want.Second}
	if want.Stage == "" || want.First == "" || want.Second == "" {
		return d, quotes.Offer{}, site.Bad("stage, first and second: which two lanes?")
	}
	o, err := quotes.OfferOf(q.Context(), q.Home.Reader, q.Run, want, nil)
	if bad, ok := errors.AsType[*quotes.SettleError](err); ok {
		return d, o, site.Bad("%s", bad.Text)
	}
	if err != nil {
		return d, o, err
	}
	switch {
	case q.Home.Buy == nil:
		d.None = "This is a rehearsal: its command buys them."
	case o.Under:
		d.None = "A round of the stage is under way, or held: nothing more is bought before it comes to its end."
	case q.Run.State != store.RunClosed:
		d.None = "The run is open: more is bought when it has come to its end."
	case o.Ends:
		d.None = "Nothing is to be bought: " + o.Why + "."
	default:
		d.Words = o.Words(q.Run.ID)
		d.Sure = s.Guard.Proof(fmt.Sprintf("settle\x00%s\x00%q\x00%q\x00%q\x00%d\x00%d", d.Run, d.Stage, d.First, d.Second, o.N, o.Cost))
	}
	return d, o, nil
}
