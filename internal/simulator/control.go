package simulator

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/fault"
)

// controlRoutes are calls to the simulator itself. They need no key: listen on a private address.
func (s *Server) controlRoutes() {
	s.mux.HandleFunc("GET /sim/ledger", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := s.writeLedger(w); err != nil {
			panic(http.ErrAbortHandler) // too late for more
		}
	})
	s.mux.HandleFunc("GET /sim/charges", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/jsonl")
		to := json.NewEncoder(w)
		if err := s.EachCharge(func(c Charge) error { return to.Encode(c) }); err != nil {
			panic(http.ErrAbortHandler) // too late for more
		}
	})
	s.mux.HandleFunc("GET /sim/bill", s.showBill)
	s.mux.HandleFunc("GET /sim/truth", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Truth()) })
	s.mux.HandleFunc("GET /sim/clock", func(w http.ResponseWriter, _ *http.Request) { s.showTime(w) })
	s.mux.HandleFunc("POST /sim/clock", s.moveClock)
	s.mux.HandleFunc("GET /sim/faults", func(w http.ResponseWriter, _ *http.Request) { s.showFaults(w) })
	s.mux.HandleFunc("POST /sim/faults", s.addFaults)
	s.mux.HandleFunc("DELETE /sim/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.faults.Clear()
		s.showFaults(w)
	})
}

// moveClock takes {"advance":"24h"}.
func (s *Server) moveClock(w http.ResponseWriter, r *http.Request) {
	var in struct{ Advance string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, fmt.Sprintf(`want {"advance":"24h"}: %s`, err), http.StatusBadRequest)
		return
	}
	d, err := time.ParseDuration(in.Advance)
	if err != nil || d < 0 {
		http.Error(w, fmt.Sprintf("advance %q: want a duration such as 24h; time does not run backwards", in.Advance),
			http.StatusBadRequest)
		return
	}
	s.clock.advance(d)
	s.showTime(w)
}

func (s *Server) showTime(w http.ResponseWriter) {
	writeJSON(w, map[string]any{"now": s.clock.Now()})
}

// addFaults takes rules, one on a line; blank lines and lines that begin with # are left out.
func (s *Server) addFaults(w http.ResponseWriter, r *http.Request) {
	var rules []fault.Rule
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		rule, err := ParseRule(text)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rules = append(rules, rule)
	}
	if err := lines.Err(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.faults.Add(rules, s.clock.Now())
	s.showFaults(w)
}

func (s *Server) showFaults(w http.ResponseWriter) {
	writeJSON(w, map[string]any{"faults": s.faults.List()})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(bodies.AppendJSON(nil, v)) // the client may be gone
}
