// Package openai has the forms that OpenAI's clients expect around every answer: errors, lists, and bodies that are read.
package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
)

// Refusal is an error as a client sees it.
type Refusal struct {
	Status  int
	Problem batchrun.Problem
	After   string // when to try again, in seconds; empty: the client decides
}

// Error returns its message.
func (r *Refusal) Error() string { return r.Problem.Message }

// Wrong returns an error that a client can do something about.
func Wrong(status int, code, param, format string, args ...any) error {
	return &Refusal{Status: status, Problem: batchrun.NewProblem(status, code, param, fmt.Sprintf(format, args...))}
}

// WriteJSON answers with a document.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text)
}

// Missing returns the error for a thing that is not in the ledger.
func Missing(err error, what, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return Wrong(http.StatusNotFound, "", "id", "No such %s object: %s", what, assay.Clean(id, 80))
	}
	return err
}
