package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
)

// refusal is an error as a client sees it.
type refusal struct {
	status  int
	problem batchrun.Problem
	after   string // when to try again, in seconds; empty: the client decides
}

// Error is its message.
func (r *refusal) Error() string { return r.problem.Message }

// wrong is an error that a client can do something about.
func wrong(status int, code, param, format string, args ...any) error {
	return &refusal{status: status, problem: batchrun.NewProblem(status, code, param, fmt.Sprintf(format, args...))}
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
		writeJSON(w, http.StatusOK, v)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text)
}

// fail writes an error in OpenAI's form. What went wrong inside is logged, and not shown.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := s.refusalOf(r, err)
	if known.after != "" {
		w.Header().Set("Retry-After", known.after)
	}
	if known.problem.Code != nil && *known.problem.Code == "insufficient_quota" {
		w.Header().Set("x-should-retry", "false")
	}
	writeJSON(w, known.status, map[string]batchrun.Problem{"error": known.problem})
}

// refusalOf is an error as its client sees it.
func (s *Server) refusalOf(r *http.Request, err error) *refusal {
	var known *refusal
	if !errors.As(err, &known) {
		if r.Context().Err() == nil && !errors.Is(err, context.Canceled) {
			s.Log.Error("call", "method", r.Method, "path", assay.Clean(r.URL.Path, 200), "error", err.Error())
		}
		known = &refusal{status: http.StatusInternalServerError, problem: batchrun.NewProblem(http.StatusInternalServerError, "", "", "The gateway had an error while processing your request; its log has more.")}
		if s.Home.Ledger.Away(err) {
			known = &refusal{status: http.StatusServiceUnavailable, problem: batchrun.NewProblem(http.StatusServiceUnavailable, "", "", "The gateway's ledger cannot be reached."), after: "5"}
		}
	}
	return known
}

// missing is the error for a thing that there is not, where the ledger says so.
func missing(err error, what, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return wrong(http.StatusNotFound, "", "id", "No such %s object: %s", what, assay.Clean(id, 80))
	}
	return err
}
