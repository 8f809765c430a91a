package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Loopback reports whether an address to listen on is reached from this machine alone.
func Loopback(listen string) (bool, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false, fmt.Errorf("address %q: want HOST:PORT, such as 127.0.0.1:7788", listen)
	}
	if host == "localhost" {
		return true, nil
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback(), nil
}

const (
	writeTimeout = 30 * time.Second
	maxBody      = 64 << 10 // of a form
)

// Serve answers on a listener until the context ends; then it lets those finish who are being answered.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	ending, end := context.WithCancel(ctx)
	defer end()
	h := &http.Server{
		Handler:           http.MaxBytesHandler(s, maxBody),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: writeTimeout, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10,
		BaseContext:    func(net.Listener) context.Context { return ending },
		ErrorLog:       log.New(io.Discard, "", 0), // clients that hang up; what goes wrong with us is in the reply
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(on) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	patience, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	err := h.Shutdown(patience)
	<-failed
	if errors.Is(err, context.DeadlineExceeded) {
		return h.Close()
	}
	return err
}
