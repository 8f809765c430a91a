package hooks_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/internal/show/hooks"
)

var now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

const body = `{"id":"evt_1","object":"event","type":"batch.completed","created_at":1788264000,"data":{"id":"batch_1"}}`

// notice is a request of a provider, signed with a secret.
type notice struct {
	path, id, body string
	at             time.Time
	secret         hooks.Secret
	signature      string // instead of the right one
}

func (n notice) send(r *hooks.Receiver) int {
	q := httptest.NewRequest(http.MethodPost, n.path, strings.NewReader(n.body))
	q.Header.Set("webhook-id", n.id)
	q.Header.Set("webhook-timestamp", strconv.FormatInt(n.at.Unix(), 10))
	if n.signature == "" {
		n.signature = n.secret.Sign(n.id, n.at, []byte(n.body))
	}
	q.Header.Set("webhook-signature", n.signature)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, q)
	return w.Code
}

// receiver returns one that knows a secret of OpenAI and two of Gemini, and how to read which jobs were woken.
func receiver(t *testing.T) (*hooks.Receiver, hooks.Secret, func() []string) {
	t.Helper()
	one, err := hooks.ParseSecrets("whsec_" + base64.StdEncoding.EncodeToString([]byte("thirty-two bytes of a signing key")))
	if err != nil || len(one) != 1 {
		t.Fatal(one, err)
	}
	two, err := hooks.ParseSecrets("old-one\nnew-one\n")
	if err != nil || len(two) != 2 {
		t.Fatal(two, err)
	}
	woken := make(chan string, 2000)
	r := hooks.New(map[string]hooks.Verifier{"openai": {Secrets: one}, "gemini": {Secrets: two}}, func() time.Time { return now },
		func(_ context.Context, job string) error { woken <- job; return nil })
	calls := 0
	return r, one[0], func() (all []string) {
		calls++
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Work(ctx, func(err error) { t.Error(err) }) }()
		last := notice{path: "/gemini", id: fmt.Sprint("last", calls), body: `{"data":{"id":"last"}}`, at: now, secret: two[0]}
		if code := last.send(r); code != http.StatusNoContent {
			t.Errorf("the last notice: %d", code)
		}
		for job := range woken {
			if job == "last" {
				break
			}
			all = append(all, job)
		}
		stop()
		<-done
		return all
	}
}

// TestANoticeIsVerified sends notices as the Standard Webhooks sign them, and as they must not be.
func TestANoticeIsVerified(t *testing.T) {
	t.Parallel()
	r, secret, woken := receiver(t)
	good := notice{path: "/openai", id: "wh_1", body: body, at: now, secret: secret}
	change := func(f func(n *notice)) notice { n := good; f(&n); return n }
	for name, c := range map[string]struct {
		notice
		want int
	}{
		"another secret": {change(func(n *notice) { n.id, n.secret = "a", hooks.Secret("old-one") }), 401},
		"another provider's path": {change(func(n *notice) {
			n.id, n.path = "b", "/gemini"
		}), 401},
		"another body": {change(func(n *notice) {
			n.id, n.signature, n.body = "c", secret.Sign("c", now, []byte(body)), body+" "
		}), 401},
		"another id":        {change(func(n *notice) { n.id, n.signature = "d", secret.Sign("e", now, []byte(body)) }), 401},
		"no id":             {change(func(n *notice) { n.id = "" }), 401},
		"no such form":      {change(func(n *notice) { n.id, n.signature = "f", "v1a,"+secret.Sign("f", now, []byte(body))[3:] }), 401},
		"a token":           {change(func(n *notice) { n.id, n.signature = "g", "eyJhbGciOiJSUzI1NiJ9.e30.AA" }), 401},
		"five minutes old":  {change(func(n *notice) { n.id, n.at = "h", now.Add(-301*time.Second) }), 400},
		"five minutes soon": {change(func(n *notice) { n.id, n.at = "i", now.Add(301*time.Second) }), 400},
		"a long time ago":   {change(func(n *notice) { n.id, n.at = "j", time.Unix(-1<<60, 0) }), 400},
		"no provider":       {change(func(n *notice) { n.path = "/anthropic" }), 404},
		"a large body":      {change(func(n *notice) { n.id, n.body = "k", body+strings.Repeat(" ", 64<<10) }), 413},
		"no JSON":           {change(func(n *notice) { n.id, n.body = "l", "{" }), 204},
		"about no job":      {change(func(n *notice) { n.id, n.body = "m", `{"data":{}}` }), 204},
	} {
		if code := c.send(r); code != c.want {
			t.Errorf("%s: %d, want %d", name, code, c.want)
		}
	}
	if all := woken(); len(all) > 0 {
		t.Errorf("these woke polls: %v", all)
	}
	for _, n := range []notice{
		good, good, // once for each id
		change(func(n *notice) { n.id, n.at = "old", now.Add(-299*time.Second) }),
		change(func(n *notice) {
			n.id, n.signature = "two", "v1,AAAA "+secret.Sign("two", now, []byte(body))
		}),
		{path: "/gemini", id: "wh_1", body: `{"type":"batch.succeeded","version":"v1","data":{"id":"b7"}}`, at: now, secret: hooks.Secret("new-one")},
	} {
		if code := n.send(r); code != http.StatusNoContent {
			t.Errorf("%s of %s: %d", n.id, n.path, code)
		}
	}
	if all, want := woken(), []string{"batch_1", "batch_1", "batch_1", "b7"}; !slices.Equal(all, want) {
		t.Errorf("woken: %v, want %v", all, want)
	}
	q := httptest.NewRequest(http.MethodGet, "/openai", nil)
	w := httptest.NewRecorder()
	if r.ServeHTTP(w, q); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

// TestFullLinesAreRefused takes more notices than may wait: the provider has to send the rest again.
func TestFullLinesAreRefused(t *testing.T) {
	t.Parallel()
	r, secret, _ := receiver(t)
	send := func(i int) int {
		return notice{path: "/openai", id: fmt.Sprint(i), body: body, at: now, secret: secret}.send(r)
	}
	for i := range 1000 {
		if code := send(i); code != http.StatusNoContent {
			t.Fatalf("notice %d: %d", i, code)
		}
	}
	if code := send(1000); code != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d", code)
	}
}

// TestSecretsAreNotPrinted reads a secret that is none.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	_, err := hooks.ParseSecrets("whsec_sec*ret")
	if err == nil || strings.Contains(err.Error(), "sec*ret") {
		t.Error(err)
	}
}
