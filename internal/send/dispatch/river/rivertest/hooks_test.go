package rivertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
	"assay/internal/show/hooks"
)

// TestAWebhookIsAPollAndNothingElse has a worker whose polls are an hour apart take ten thousand forged notices, which change nothing, and
// one of the provider, by which the run ends at once.
func TestAWebhookIsAPollAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newShop(t, single)
	var calls atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		s.sim.ServeHTTP(w, r)
	}))
	defer front.Close()
	env := s.environment(front.URL, "openai")
	env["OPENAI_WEBHOOK_SECRET"] = "old ours"
	secret := hooks.Secret("ours")
	said := newLines()
	s.child(said, "rare", env, "worker", "--hooks", "127.0.0.1:0")
	said.await(s, "taking work")
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(said.String()) + "/openai"
	run := s.begin("openai")
	g := s.launched(run)
	s.until("the end of the job", func() bool { l := s.sim.Ledger(); return len(l.Jobs) == 1 && len(l.Jobs[0].Billed) == 3 })
	body := fmt.Sprintf(`{"id":"evt_1","object":"event","type":"batch.completed","data":{"id":%q}}`, g.Job)
	before := calls.Load()
	s.forge(url, body, 10_000)
	if after := s.launched(run); calls.Load() != before || cmp.Diff(g, after) != "" {
		t.Errorf("forged notices: %d calls, %s", calls.Load()-before, cmp.Diff(g, after))
	}
	other := strings.Replace(body, g.Job, "batch_of_others", 1)
	for _, b := range []string{other, body} {
		now := time.Now()
		if code := post(s, url, "id of "+b, now, secret.Sign("id of "+b, now, []byte(b)), b); code != http.StatusNoContent {
			t.Fatalf("a notice of the provider: %d", code)
		}
	}
	if run = s.closed(run.No); run.Result != store.ResultDone {
		t.Errorf("the run is %s\n%s", run.Result, s.history())
	}
	s.answeredOnce(run, 3)
}

// launched waits for the one job of a run and returns its segment, held by no one.
func (s *shop) launched(run store.Run) store.Segment {
	s.t.Helper()
	var g store.Segment
	s.until("the job", func() bool {
		all, err := s.look.Reader.Segments(s.ctx, run.No)
		s.ok(err)
		if len(all) == 1 {
			g = all[0]
		}
		return g.State == store.Launched && g.Lease.Holder == ""
	})
	return g
}

// forge sends many notices that the provider did not sign.
func (s *shop) forge(url, body string, n int) {
	s.t.Helper()
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := range n / 4 {
				id, now := fmt.Sprint(part, "-", i), time.Now()
				if code := post(s, url, id, now, hooks.Secret("guess").Sign(id, now, []byte(body)), body); code != http.StatusUnauthorized {
					s.t.Errorf("a forged notice: %d", code)
					return
				}
			}
		})
	}
	wg.Wait()
}

func post(s *shop, url, id string, at time.Time, signature, body string) int {
	q, err := http.NewRequestWithContext(s.ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return 0
	}
	q.Header.Set("webhook-id", id)
	q.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	q.Header.Set("webhook-signature", signature)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	r.Body.Close()
	return r.StatusCode
}
