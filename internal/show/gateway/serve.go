package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/send/batchrun"
	"assay/internal/show/gateway/openai"
	"assay/internal/show/serve"
)

type userKey struct{}

func userIn(ctx context.Context) *User {
	u, _ := ctx.Value(userKey{}).(*User)
	return u
}

// guard lets users in, and hangs up on clients that stop sending or taking bytes.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.survive(w, r)
		control := http.NewResponseController(w)
		r.Body = &patientBody{ReadCloser: r.Body, control: control, stall: s.Stall}
		w = &patientWriter{ResponseWriter: w, control: control, stall: s.Stall}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
			next.ServeHTTP(w, r)
			return
		}
		u := s.userOf(r)
		if u == nil {
			s.fail(w, r, openai.Wrong(http.StatusUnauthorized, "invalid_api_key", "",
				"Incorrect API key provided. Use a token of this gateway."))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, u)))
	})
}

// survive answers a call whose handler panicked: it is one call that failed. Where a part of the answer is gone already, the
// connection is cut, so that no client takes it for the whole.
func (s *Server) survive(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p != http.ErrAbortHandler {
		s.Log.Error("a call crashed", "method", r.Method, "path", assay.Clean(r.URL.Path, 200), "panic", fmt.Sprint(p), "stack",
			string(debug.Stack()))
	}
	if p == http.ErrAbortHandler || w.Header().Get("Content-Type") != "" {
		panic(http.ErrAbortHandler)
	}
	s.fail(w, r, context.Canceled) // it is logged already
}

// patientBody gives a client so long for every piece of a body.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
}

func (b *patientBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(b.stall)) // a connection without deadlines is in a test
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{}) // the body is over; what comes next is waited for
	}
	return n, err
}

// patientWriter gives a client so long to take every piece of an answer.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
}

func (w *patientWriter) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.stall))
	return w.ResponseWriter.Write(p)
}

// Unwrap lets flushes through.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Serve answers on a listener and drives all batches until the context ends; then it lets those finish who are being
// answered. What is in flight at providers is gone on with by the next gateway. It ends by itself where a newer program has changed the
// ledger.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	if err := s.Home.Ledger.Clients.PutClientUsers(ctx, s.named()); err != nil {
		return err
	}
	working, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	all.Go(func() { s.driver.Work(working) })
	all.Go(func() { s.refresh(working, stop) })
	defer all.Wait()
	defer stop(nil)
	err := serve.Until(working, on, &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) }, // they are answered first
	}, 10*time.Second)
	if newer, ok := errors.AsType[*db.NewerError](context.Cause(working)); ok {
		return newer
	}
	return err
}

// named returns the users as the ledger knows them: by name and budget.
func (s *Server) named() []store.ClientUser {
	all := []store.ClientUser{{Budget: s.Budget}}
	for _, u := range *s.users.Load() {
		all = append(all, store.ClientUser{Owner: u.Name, Budget: u.Budget})
	}
	return all
}

// document writes what a call comes to as JSON.
func (s *Server) document(f answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Request: r, user: userIn(r.Context())}
		v, err := f(r.Context(), c)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		openai.WriteJSON(w, http.StatusOK, v)
	}
}

// fail writes an error in OpenAI's form. What went wrong inside is logged, and not shown.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := s.refusalOf(r, err)
	if known.After != "" {
		w.Header().Set("Retry-After", known.After)
	}
	if known.Problem.Code != nil && *known.Problem.Code == "insufficient_quota" {
		w.Header().Set("x-should-retry", "false")
	}
	openai.WriteJSON(w, known.Status, map[string]batchrun.Problem{"error": known.Problem})
}

// refusalOf returns an error as its client sees it.
func (s *Server) refusalOf(r *http.Request, err error) *openai.Refusal {
	var known *openai.Refusal
	if !errors.As(err, &known) {
		known = &openai.Refusal{Status: http.StatusInternalServerError,
			Problem: batchrun.NewProblem(http.StatusInternalServerError, "", "",
				"The gateway had an error while processing your request; its log has more.")}
		if r.Context().Err() != nil || errors.Is(err, context.Canceled) {
			return known
		}
		s.Log.Error("call", "method", r.Method, "path", assay.Clean(r.URL.Path, 200), "error", err.Error())
		away := s.Home.Away(r.Context())
		if away == "" && s.Home.Ledger.Away(err) {
			away = "ledger or its bucket" // one of them is back
		}
		why := ""
		switch {
		case db.Full(err):
			why = "The gateway's disk is full."
		case away != "":
			why = "The gateway's " + away + " cannot be reached."
		}
		if why != "" {
			known = &openai.Refusal{Status: http.StatusServiceUnavailable, After: "5",
				Problem: batchrun.NewProblem(http.StatusServiceUnavailable, "", "", why)}
		}
	}
	return known
}
