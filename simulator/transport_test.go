package simulator

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTheTransportStreamsBothWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	pr, pw := io.Pipe()
	go func() { // the whole upload never stands in memory at either end
		_, _ = io.WriteString(pw, `{"requests":[`)
		for i := range 500 {
			if i > 0 {
				_, _ = io.WriteString(pw, ",")
			}
			_, _ = io.WriteString(pw, params("id-"+strings.Repeat("x", i%40)+"-"+time.Duration(i).String(), ""))
		}
		_, _ = io.WriteString(pw, "]}")
		_ = pw.Close()
	}()
	g := w.do("POST", w.base["anthropic"]+"/v1/messages/batches", pr)
	// durations hold letters that are not allowed in ids: "1ns" is fine, "1µs" is not, and 500 stay below it
	wantStatus(t, g, 200)
	diff(t, 500.0, g.doc(t).at("request_counts.processing"))
}

func TestTheTransportEndsCallsWithTheirContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "openai list slow=1h")
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", w.base["openai"]+"/batches", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = w.head.Clone()
	done := make(chan error)
	go func() {
		_, err := w.http.Do(req)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

func TestAHandlerThatPromisesMoreThanItSendsIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "openai list truncate=50%")
	g := w.do("GET", w.base["openai"]+"/batches", nil)
	if !errors.Is(g.Err, io.ErrUnexpectedEOF) {
		t.Errorf("read %q and %v", g.Body, g.Err)
	}
}

func TestUnknownPathsAreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	for _, url := range []string{"http://sim.invalid/nowhere", w.base["openai"] + "/unknown", w.base["gemini"] + "/v1beta/batches/x:unknown"} {
		wantStatus(t, w.do("POST", url, nil), 404)
	}
}
