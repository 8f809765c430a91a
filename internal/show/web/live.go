package web

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Pages that change by themselves listen for news, and fetch themselves again when there are any. Between two looks at the
// ledger nothing is held.
const (
	lookEvery  = time.Second
	aliveEvery = 15 * time.Second // a word now and then, so that a connection that is gone is noticed
	newsFor    = 30 * time.Minute // then the page connects again
)

// ledgerNews reports whenever any run moves.
func (s *Server) ledgerNews(w http.ResponseWriter, r *http.Request) {
	s.news(w, r, func(ctx context.Context) (string, error) {
		all := ""
		for _, h := range s.options.Homes() {
			v, err := h.Pages.LedgerVersion(ctx)
			if err != nil {
				return "", err
			}
			all += v + "/"
		}
		if r.FormValue("made") != "" { // a page that waits for what two runs have in common
			all += fmt.Sprint(s.diffs.count(), "/", s.matrices.count())
		}
		return all, nil
	})
}

// runNews reports whenever a run moves.
func (s *Server) runNews(w http.ResponseWriter, r *http.Request) {
	q, err := s.open(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, bad("%s", err))
		return
	}
	s.news(w, r, func(ctx context.Context) (string, error) {
		v, err := q.home.Pages.Version(ctx, q.run.No)
		if err != nil {
			return "", err
		}
		if stage, grid := q.Form["grid"]; grid {
			return v + "/" + s.matrices.state(matrixKey{q.home, q.run.No, stage[0]}), nil
		}
		return v + "/" + s.findings.state(findingsKey{q.home, q.run.No, q.FormValue("by")}), nil
	})
}

// news streams a server-sent event whenever a version changes.
func (s *Server) news(w http.ResponseWriter, r *http.Request, version func(context.Context) (string, error)) {
	select {
	case s.watchers <- struct{}{}:
		defer func() { <-s.watchers }()
	default:
		s.fail(w, r, &problem{http.StatusServiceUnavailable, "too many pages wait for news: reload to look"})
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), newsFor)
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	out := &stream{w: w, control: http.NewResponseController(w)}
	seen, err := version(ctx)
	if err != nil || out.send([]byte("retry: 3000\nevent: hello\ndata: \n\n")) != nil {
		return
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	quiet := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now, err := version(ctx)
		if err != nil {
			return
		}
		quiet += lookEvery
		text := ""
		if now != seen {
			seen, text = now, fmt.Sprintf("event: change\ndata: %s\n\n", now)
		} else if quiet >= aliveEvery {
			text = ": still here\n\n"
		}
		if text == "" {
			continue
		}
		quiet = 0
		if out.send([]byte(text)) != nil {
			return
		}
	}
}
