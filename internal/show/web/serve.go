package web

import (
	"context"
	"net"
	"net/http"
	"time"

	"assay/internal/show/serve"
)

const (
	writeTimeout = 30 * time.Second
	maxBody      = 64 << 10 // of a form
)

// Serve answers on a listener until the context ends; then it lets those finish who are being answered.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	ending, end := context.WithCancel(ctx)
	defer end()
	return serve.Until(ctx, on, &http.Server{
		Handler:           http.MaxBytesHandler(s, maxBody),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: writeTimeout, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10,
		BaseContext:    func(net.Listener) context.Context { return ending },
	}, 5*time.Second)
}
