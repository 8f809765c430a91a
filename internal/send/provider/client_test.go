package provider

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/assay"
)

func TestARedirectIsNotFollowedAndTheKeyStaysAtHome(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var leaked []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		leaked = append(leaked, r.URL.Path)
	}))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief.URL+"/steal", status) })
		_, err := c.JSON(background, Call{Method: "POST", Path: "/batches"}, nil)
		f := FaultOf(err)
		if f == nil || f.Status != status || f.Code != "redirect" {
			t.Errorf("status %d: %v", status, err)
		}
		if LaunchStatusOf(err) != Unknown {
			t.Errorf("status %d: fate %s: a redirecting server may have gone on with it", status, LaunchStatusOf(err))
		}
	}
	mu.Lock()
	defer mu.Unlock()
	diff(t, []string(nil), leaked)
}

func TestAForeignPlaceGetsNeitherKeyNorConfiguredHeaders(t *testing.T) {
	t.Parallel()
	var got http.Header
	place := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer place.Close()
	c := clientFor(t, "http://127.0.0.1:1")
	body := strings.NewReader("bytes")
	if _, err := c.JSON(background, Call{Method: "PUT", Foreign: place.URL + "/put?sig=1", Body: body, Length: 5}, nil); err != nil {
		t.Fatal(err)
	}
	diff(t, []string{"", ""}, []string{got.Get("Authorization"), got.Get("X-Extra")})
}

func TestAForeignPlaceMayNotBeLessSafeThanTheBaseURL(t *testing.T) {
	t.Parallel()
	c := clientFor(t, "https://api.example.com")
	for _, place := range []string{"http://elsewhere.example/x", "ftp://elsewhere.example/x", "file:///etc/passwd", "/relative", "::"} {
		_, err := c.Do(background, Call{Foreign: place})
		if FaultOf(err) == nil || !Unsent(err) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestAnUploadSessionIsUsedAtOurOwnOrigin(t *testing.T) {
	t.Parallel()
	var path, auth string
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		path, auth = r.URL.RequestURI(), r.Header.Get("Authorization")
	})
	if _, err := c.JSON(background, Call{Method: "POST", Session: "https://thief.example/upload/files?upload_id=7"}, nil); err != nil {
		t.Fatal(err)
	}
	diff(t, []string{"/upload/files?upload_id=7", "Bearer " + testKey}, []string{path, auth})
}

func TestAnIDNeverLeavesItsPlaceInThePath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, want string }{
		{"batch_1", "/v1/batches/batch_1/cancel"},
		{"../files/x", "/v1/batches/..%2Ffiles%2Fx/cancel"},
		{"..", "/v1/batches/%2E%2E/cancel"},
		{".", "/v1/batches/%2E/cancel"},
		{"a?b=c#d", "/v1/batches/a%3Fb=c%23d/cancel"},
		{"a b\n", "/v1/batches/a%20b%0A/cancel"},
	} {
		var got string
		client := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.URL.EscapedPath() })
		if _, err := client.JSON(background, Call{Path: Path("v1", "batches", c.id, "cancel")}, nil); err != nil {
			t.Fatal(err)
		}
		diff(t, c.want, got)
	}
}

func TestABaseURLIsPlain(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "api.example.com", "ftp://x", "https://", "https://user:pass@x", "https://x?y=1",
		"https://x#y", "::"} {
		_, err := NewClient(Config{Name: "p", BaseURL: base}, Bearer(Secret{}))
		if err == nil {
			t.Errorf("%q was taken", base)
		} else if strings.Contains(err.Error(), "pass") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

func TestNothingSecretIsInAnError(t *testing.T) {
	t.Parallel()
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("x-request-id", "req_1")
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"error":{"message":"bad key %s in %s\u001b[31m","code":"oops","param":"%s"}}`, testKey, r.URL,
			r.Header.Get("X-Extra"))
	}
	c := serve(t, echo)
	_, err := c.JSON(background, Call{Path: "/x", Query: url.Values{"token": {"query-secret"}}}, nil)
	for _, secret := range []string{testKey, "extra-header-value", "query-secret", "\x1b"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q is in %q", secret, err)
		}
	}
	if !strings.Contains(err.Error(), "oops") || !strings.Contains(err.Error(), "req_1") {
		t.Errorf("the error says too little: %v", err)
	}
	closed := clientFor(t, "http://127.0.0.1:1")
	_, err = closed.JSON(background, Call{Path: "/x", Query: url.Values{"token": {"query-secret"}}}, nil)
	if strings.Contains(err.Error(), "query-secret") || strings.Contains(err.Error(), testKey) {
		t.Errorf("a transport error shows the query: %v", err)
	}
}

func TestAnErrorBodyWithoutEndIsCut(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
				return
			}
		}
	})
	_, err := c.JSON(background, Call{Path: "/x"}, nil)
	if len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
	diff(t, assay.FaultBusy, FaultOf(err).Class)
}

func TestTheFateOfALaunchIsOnlyCertainWithProof(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); io.WriteString(w, body) }
	}
	said := `{"error":{"message":"no","code":"nope"}}`
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want LaunchStatus
	}{
		"a job":                   {answer(200, `{"id":"b1"}`), Accepted},
		"accepted, 202":           {answer(202, `{"id":"b1"}`), Accepted},
		"success without a job":   {answer(200, `{"object":"batch"}`), Unknown},
		"success that is no JSON": {answer(200, `<html>`), Unknown},
		"success cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			io.WriteString(w, `{"id":`)
		}, Unknown},
		"an error that came as a success":  {answer(200, `{"error":{"message":"internal"}}`), Unknown},
		"a 400 that came as a success":     {answer(200, `{"error":{"code":400,"message":"bad"}}`), Unknown},
		"400 in a list":                    {answer(400, `[{"error":{"code":400,"message":"bad"}}]`), Refused},
		"400 in the provider's words":      {answer(400, said), Refused},
		"401 in the provider's words":      {answer(401, said), Refused},
		"402 in the provider's words":      {answer(402, said), Refused},
		"404 in the provider's words":      {answer(404, said), Refused},
		"413 in the provider's words":      {answer(413, said), Refused},
		"422 in the provider's words":      {answer(422, `{"detail":[{"msg":"no"}]}`), Refused},
		"429 in the provider's words":      {answer(429, said), Refused},
		"403 from somebody in between":     {answer(403, `<html>blocked</html>`), Unknown},
		"408, which may have gone on":      {answer(408, said), Unknown},
		"409, which says that it is there": {answer(409, said), Unknown},
		"499":                              {answer(499, said), Unknown},
		"500":                              {answer(500, said), Unknown},
		"503":                              {answer(503, said), Unknown},
		"529":                              {answer(529, said), Unknown},
		"529, and no place": {answer(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
			Refused},
		"hung up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			client := serve(t, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); c.h(w, r) })
			body, n, err := JSONBody(map[string]string{"input": "x"})
			if err != nil {
				t.Fatal(err)
			}
			got := client.Launch(background, Call{Method: "POST", Path: "/batches", Body: body, Length: n}, &testJob{})
			diff(t, c.want, got.Status)
			if (got.Err == nil) != (c.want == Accepted) || (got.Job == "b1") != (c.want == Accepted) {
				t.Errorf("receipt %+v", got)
			}
			if got.Err != nil && FaultOf(got.Err) == nil {
				t.Errorf("no fault in %v", got.Err)
			}
			diff(t, int32(1), calls.Load())
		})
	}
}

type testJob struct {
	ID string `json:"id"`
}

func (j *testJob) Made() (string, time.Time) { return j.ID, time.Time{} }
func (j *testJob) Valid() bool               { return j.ID != "" }

func TestALaunchThatNeverConnectedIsSurelyRefused(t *testing.T) {
	t.Parallel()
	got := clientFor(t, "http://127.0.0.1:1").Launch(background, Call{Method: "POST", Path: "/batches"}, &testJob{})
	diff(t, Refused, got.Status)
	diff(t, assay.FaultBusy, FaultOf(got.Err).Class)

	lookup := clientFor(t, "http://nowhere.invalid")
	lookup.http = failing{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host"}}}
	diff(t, Refused, lookup.Launch(background, Call{Method: "POST", Path: "/batches"}, &testJob{}).Status)
	lookup.http = failing{&tls.CertificateVerificationError{Err: errors.New("expired")}}
	diff(t, Refused, lookup.Launch(background, Call{Method: "POST", Path: "/batches"}, &testJob{}).Status)
	lookup.http = failing{errors.New("something in process")}
	diff(t, Unknown, lookup.Launch(background, Call{Method: "POST", Path: "/batches"}, &testJob{}).Status)
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestALaunchThatRanOutOfTimeIsUnknown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(background)
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	got := c.Launch(ctx, Call{Method: "POST", Path: "/batches"}, &testJob{})
	diff(t, Unknown, got.Status)
	if !errors.Is(got.Err, context.Canceled) {
		t.Errorf("error %v does not tell that the context ended", got.Err)
	}
}

func TestALaunchThatWasCalledOffBeforeItBeganIsRefused(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(background)
	cancel()
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	got := c.Launch(ctx, Call{Method: "POST", Path: "/batches"}, &testJob{})
	diff(t, Refused, got.Status)
	if !errors.Is(got.Err, context.Canceled) || FaultOf(got.Err) == nil {
		t.Errorf("error %v", got.Err)
	}
}

func TestABodyIsNeverSentTwiceByTheTransport(t *testing.T) {
	t.Parallel()
	c := clientFor(t, "http://127.0.0.1:1")
	req, err := c.request(background, Call{Method: "POST", Path: "/x", Body: strings.NewReader("x"), Length: 1})
	if err != nil {
		t.Fatal(err)
	}
	if req.GetBody != nil || req.Header.Get("Idempotency-Key") != "" {
		t.Error("net/http could send this again by itself")
	}
}

func TestADebugLogSeesEveryCallAndNoSecret(t *testing.T) {
	t.Parallel()
	var seen []Exchange
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("request-id", "req_7")
		w.WriteHeader(404)
	}))
	defer s.Close()
	cfg := Config{Name: "p", BaseURL: s.URL, Key: NewSecret(testKey), Trace: func(e Exchange) { seen = append(seen, e) }}
	c, err := NewClient(cfg, Bearer(cfg.Key))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.JSON(background, Call{Path: "/x", Query: url.Values{"token": {"t"}}}, nil)
	host := strings.TrimPrefix(s.URL, "http://")
	diff(t, []Exchange{{Method: "GET", Host: host, Path: "/x", Status: 404, RequestID: "req_7"}}, seen)
}

func TestAnAnswerThatLacksWhatItMustHaveIsAFault(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"id":"b1"}`: "",
		`{"data":[]}`: "unknown bad_answer",
		`{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`:                            "busy rate_limit_exceeded",
		`{"type":"error","error":{"type":"not_found_error","message":"gone"},"request_id":"req_1"}`: "gone not_found_error",
		`[]`:   "unknown bad_answer",
		`null`: "unknown bad_answer",
		``:     "unknown bad_answer",
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
		_, err := c.JSON(background, Call{Path: "/x"}, &testJob{})
		diff(t, want, code(err))
	}
}

func TestAnAnswerWithoutEndIsNotHeld(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	_, err := c.JSON(background, Call{Path: "/x"}, &testJob{})
	diff(t, "unknown bad_answer", code(err))
}

func TestASecretPrintsAsStars(t *testing.T) {
	t.Parallel()
	type wrapped struct{ hidden Secret }
	cfg := Config{Name: "p", Key: NewSecret(testKey)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		for _, v := range []any{cfg, &cfg, cfg.Key, wrapped{cfg.Key}, []Secret{cfg.Key}} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, testKey) || strings.Contains(text, fmt.Sprintf("%x", testKey)) {
				t.Errorf("%s of %T shows the key", verb, v)
			}
		}
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", cfg.Key)
	text, err := json.Marshal(map[string]any{"key": cfg.Key})
	if strings.Contains(log.String()+string(text), testKey) || err != nil {
		t.Errorf("%s %s shows the key (%v)", log.String(), text, err)
	}
	diff(t, []string{testKey, ""}, []string{cfg.Key.Reveal(), Secret{}.Reveal()})
}

func TestHeadersSayWhenToComeBack(t *testing.T) {
	t.Parallel()
	date := "Sun, 15 Nov 2026 12:00:00 GMT"
	for _, c := range []struct {
		h    map[string]string
		want time.Duration
	}{
		{map[string]string{}, 0},
		{map[string]string{"Retry-After": "34"}, 34 * time.Second},
		{map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{map[string]string{"Retry-After": "34", "Retry-After-Ms": "250"}, 250 * time.Millisecond},
		{map[string]string{"Retry-After": "Sun, 15 Nov 2026 12:01:00 GMT", "Date": date}, 61 * time.Second},
		{map[string]string{"Retry-After": "Sun, 15 Nov 2026 11:59:00 GMT", "Date": date}, 0},
		{map[string]string{"Retry-After": "Sun, 15 Nov 2026 12:01:00 GMT"}, 0},
		{map[string]string{"Retry-After": "-3"}, 0},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 24 * time.Hour},
		{map[string]string{"Retry-After": "Inf"}, 24 * time.Hour},
		{map[string]string{"Retry-After": "soon"}, 0},
	} {
		h := http.Header{}
		for k, v := range c.h {
			h.Set(k, v)
		}
		if got := RetryAfter(h); got != c.want {
			t.Errorf("%v: got %v, want %v", c.h, got, c.want)
		}
	}
}

func TestHeadersSayTheLimits(t *testing.T) {
	t.Parallel()
	head := func(pairs ...string) http.Header {
		h := http.Header{}
		for kv := range slices.Chunk(pairs, 2) {
			h.Set(kv[0], kv[1])
		}
		return h
	}
	got := rateOf(head("x-ratelimit-limit-requests", "500", "x-ratelimit-remaining-requests", "499", "x-ratelimit-reset-requests", "6m0s",
		"x-ratelimit-remaining-tokens", "149", "x-ratelimit-reset-tokens", "120ms", "retry-after", "3"))
	diff(t, Rate{
		Requests:   Window{Known: true, Limit: 500, Remaining: 499, Reset: 6 * time.Minute},
		Tokens:     Window{Known: true, Remaining: 149, Reset: 120 * time.Millisecond},
		RetryAfter: 3 * time.Second,
	}, got)
	got = rateOf(head("Date", "Sun, 15 Nov 2026 12:00:00 GMT",
		"anthropic-ratelimit-input-tokens-limit", "10000", "anthropic-ratelimit-input-tokens-remaining", "9000",
		"anthropic-ratelimit-input-tokens-reset", "2026-11-15T12:00:30Z", "anthropic-ratelimit-output-tokens-remaining", "0"))
	diff(t, Rate{
		Input:  Window{Known: true, Limit: 10000, Remaining: 9000, Reset: 31 * time.Second},
		Output: Window{Known: true},
	}, got)
	diff(t, Rate{Tokens: Window{Known: true, Limit: 500_000, Remaining: 499_100, Reset: 42 * time.Second}}, // Mistral
		rateOf(head("x-ratelimitbysize-limit-minute", "500000", "x-ratelimitbysize-remaining-minute", "499100",
			"ratelimitbysize-reset", "42")))
	diff(t, Rate{ // Together
		Requests: Window{Known: true, Limit: 10, Remaining: 9, Reset: time.Second},
		Tokens:   Window{Known: true, Limit: 3000, Remaining: 2500, Reset: time.Second},
	}, rateOf(head("x-ratelimit-limit", "10", "x-ratelimit-remaining", "9.5", "x-ratelimit-reset", "1", "x-tokenlimit-limit", "3000",
		"x-tokenlimit-remaining", "2500")))
	diff(t, Rate{}, rateOf(head("x-ratelimit-remaining-requests", "many", "x-ratelimit-reset-requests", "x")))
	for v, want := range map[string]time.Duration{
		"1794744060": 61 * time.Second, "1794744060000": 61 * time.Second, "1794744060500": 60500 * time.Millisecond,
		"12": 12 * time.Second, "": 0, "NaN": 0, "-1": 0, "-5s": 0, "9e99": 24 * time.Hour,
	} {
		if got := resetOf(head("Date", "Sun, 15 Nov 2026 12:00:00 GMT"), v); got != want {
			t.Errorf("reset %q: got %v, want %v", v, got, want)
		}
	}
}

func FuzzHeadersNeverBreakAnything(f *testing.F) {
	f.Add("34", "6m0s", "499", "Sun, 15 Nov 2026 12:00:00 GMT")
	f.Add("1e308", "-9223372036854775808", "9223372036854775807", "")
	f.Fuzz(func(t *testing.T, retry, reset, remaining, date string) {
		h := http.Header{"Retry-After": {retry}, "Retry-After-Ms": {reset}, "Date": {date},
			"X-Ratelimit-Remaining-Requests": {remaining}, "X-Ratelimit-Reset-Requests": {reset}}
		r := rateOf(h)
		for _, d := range []time.Duration{r.RetryAfter, r.Requests.Reset} {
			if d < 0 || d > 24*time.Hour {
				t.Errorf("a header makes us wait %v", d)
			}
		}
	})
}
