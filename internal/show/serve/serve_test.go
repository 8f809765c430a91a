package serve_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"assay/internal/show/serve"
)

func TestOnlyLoopbackIsLoopback(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, "127.9.9.9:0": true,
		"0.0.0.0:1": false, ":1": false, "[::]:1": false, "10.0.0.1:1": false, "example.com:1": false} {
		if got, err := serve.Loopback(listen); err != nil || got != want {
			t.Errorf("%s: %v, %v", listen, got, err)
		}
	}
	if _, err := serve.Loopback("nonsense"); err == nil {
		t.Error("nonsense is an address")
	}
}

func TestWhoIsBeingAnsweredIsAnsweredToTheEnd(t *testing.T) {
	t.Parallel()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	at, done := make(chan struct{}), make(chan error, 1)
	h := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(at)
		<-ctx.Done()
		io.WriteString(w, "all of it")
	})}
	go func() { done <- serve.Until(ctx, on, h, time.Hour) }()
	go func() { <-at; end() }()
	resp, err := http.Get("http://" + on.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "all of it" {
		t.Errorf("the answer is %q, %v", text, err)
	}
	if err := <-done; err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
