package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"assay/internal/show/web/found"
	"assay/internal/show/web/site"
)

// Pages that change by themselves listen for news, and fetch themselves again when there are any. Between two looks at the
// ledger nothing is held.
const (
	lookEvery  = time.Second
	aliveEvery = 15 * time.Second // a word now and then, so that a connection that is gone is noticed
	newsFor    = 30 * time.Minute // then the page connects again
)

// newsFeed tells open pages when there is something new to show.
type newsFeed struct {
	*site.Site
	found    *found.Pages
	watchers chan struct{} // places for those who wait for news
}

// maxWatchers is how many may wait at once.
const maxWatchers = 64

// ofLedger reports whenever any run moves.
func (s *newsFeed) ofLedger(w http.ResponseWriter, r *http.Request) {
	s.news(w, r, func(ctx context.Context) (string, error) {
		all := ""
		for _, h := range s.Homes() {
			v, err := h.Pages.LedgerVersion(ctx)
			if err != nil {
				return "", err
			}
			all += v + "/"
		}
		if r.FormValue("made") != "" { // a page that waits for what two runs have in common
			all += s.found.Made()
		}
		return all, nil
	})
}

// ofRun reports whenever a run moves.
func (s *newsFeed) ofRun(w http.ResponseWriter, r *http.Request) {
	q, err := s.Open(r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	if err := r.ParseForm(); err != nil {
		s.Fail(w, r, site.Bad("%s", err))
		return
	}
	s.news(w, r, func(ctx context.Context) (string, error) {
		v, err := q.Home.Pages.Version(ctx, q.Run.No)
		if err != nil {
			return "", err
		}
		return v + "/" + s.found.State(q), nil
	})
}

// news streams a server-sent event whenever a version changes.
func (s *newsFeed) news(w http.ResponseWriter, r *http.Request, version func(context.Context) (string, error)) {
	select {
	case s.watchers <- struct{}{}:
		defer func() { <-s.watchers }()
	default:
		s.Fail(w, r, site.NotYet("too many pages wait for news: reload to look"))
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), newsFor)
	defer stop()
	out := site.NewStream(w, "text/event-stream")
	seen, err := version(ctx)
	if err != nil || out.Send([]byte("retry: 3000\nevent: hello\ndata: \n\n")) != nil {
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
		if out.Send([]byte(text)) != nil {
			return
		}
	}
}
