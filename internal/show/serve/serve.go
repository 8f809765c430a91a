// Package serve answers HTTP on a listener until a context ends, and lets those finish who are being answered.
package serve

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

// Until answers on a listener until the context ends; then those who are being answered have so long to finish. Clients that
// hang up are not logged.
func Until(ctx context.Context, on net.Listener, h *http.Server, patience time.Duration) error {
	h.ErrorLog = log.New(io.Discard, "", 0)
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(on) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	finish, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	err := h.Shutdown(finish)
	<-failed
	if errors.Is(err, context.DeadlineExceeded) {
		return h.Close()
	}
	return err
}
