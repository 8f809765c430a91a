package simulator

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTheTransportStreamsBothWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	pr, pw := io.Pipe()
	go func() { // the whole upload is never in memory at either end
		_, _ = io.WriteString(pw, `{"requests":[`)
		for i := range 500 {
			if i > 0 {
				_, _ = io.WriteString(pw, ",")
			}
			_, _ = io.WriteString(pw, params("id-"+strconv.Itoa(i), ""))
		}
		_, _ = io.WriteString(pw, "]}")
		_ = pw.Close()
	}()
	g := w.do("POST", w.base["anthropic"]+"/v1/messages/batches", pr)
	wantStatus(t, g, 200)
	diff(t, 500.0, g.doc(t).at("request_counts.processing"))
}

func TestACallEndsWithItsContextAndIsBilledIfItArrived(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*world{
		"a rule":  newWorld(t, Options{}, "openai ask slow=1h"),
		"latency": newWorld(t, Options{Latency: time.Hour}),
	} {
		for _, arrives := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "POST", w.base["openai"]+"/chat/completions",
				strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"x"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = w.head.Clone()
			if !arrives {
				cancel()
			}
			done := make(chan error, 1)
			go func() {
				_, err := w.http.Do(req)
				done <- err
			}()
			for arrives && len(w.s.Ledger().Live) == 0 {
				if len(done) > 0 {
					t.Fatalf("%s: ended before it arrived: %v", name, <-done)
				}
				runtime.Gosched()
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ended with %v", name, err)
			}
			diff(t, arrives, len(w.s.Ledger().Live) == 1)
		}
	}
}

func TestAHandlerThatPromisesMoreThanItSendsIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	w.s.mux.HandleFunc("GET /short", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(rw, "short")
		if _, err := io.WriteString(rw, "and then too much"); !errors.Is(err, http.ErrContentLength) {
			t.Errorf("writing too much: %v", err)
		}
	})
	g := w.do("GET", "http://any.invalid/short", nil)
	diff(t, "short", string(g.Body))
	if !errors.Is(g.Err, io.ErrUnexpectedEOF) {
		t.Errorf("read %q and %v", g.Body, g.Err)
	}
}

func TestUnknownPathsAreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	for _, url := range []string{"http://sim.invalid/nowhere", w.base["openai"] + "/unknown",
		w.base["gemini"] + "/v1beta/batches/x:unknown"} {
		wantStatus(t, w.do("POST", url, nil), 404)
	}
}
