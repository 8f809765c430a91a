package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"assay"
	"assay/engine"
	"assay/store"
)

// revive gives what a refused key or an empty account stopped another try: when this gateway sees the run for the first time,
// because it may have another key, and from time to time.
func (s *Server) revive(ctx context.Context, run store.Run) error {
	s.mu.Lock()
	due := run.State == store.RunOpen && time.Since(s.revived[run.No]) > reviveEvery
	if due {
		s.revived[run.No] = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	lanes, err := s.Home.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return err
	}
	moved := false
	for _, l := range lanes {
		if l.State != store.LaneStopped || !engine.StoppedByAccount(l) {
			continue
		}
		if err := s.Home.Ledger.SetLane(ctx, run.No, l.Stage, l.Name, store.LaneStop{State: store.LaneOpen, From: l.Cause}); err != nil {
			return err
		}
		moved = true
	}
	jobs, err := s.Home.Ledger.Segments(ctx, run.No, store.Held, store.Launched)
	if err != nil {
		return err
	}
	for _, g := range jobs {
		if !s.lost(g) {
			continue
		}
		if err := s.decide(ctx, g, engine.Resolve{Do: "adopt", Job: g.Job}, "the gateway"); err != nil {
			return err
		}
		moved = true
	}
	if !moved {
		return nil
	}
	s.mu.Lock()
	delete(s.later, run.No)
	s.mu.Unlock()
	return s.Home.Ledger.RunDue(ctx, run.No, s.now())
}

// lost reports whether a job is there that the key could not look at: it was refused, or another one is used since. Whether
// the key of today can is seen by a look, which costs nothing.
func (s *Server) lost(g store.Segment) bool {
	if g.State == store.Held {
		return g.Job != "" && (g.HeldFrom == store.Launched || g.HeldFrom == store.Ended) // of others a person has to say what becomes of them
	}
	t, err := s.target(g.Provider)
	if err != nil {
		return false
	}
	access, err := s.Home.World.Dial(t)
	return err == nil && g.Mode == store.Batch && access.Fingerprint != g.Account
}

func (s *Server) decide(ctx context.Context, g store.Segment, r engine.Resolve, by string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.Home.Ledger.PutOrder(ctx, store.Order{Run: g.Run, Segment: g.No, Kind: store.OrderResolve, Args: string(text), By: by})
	return err
}

// expired is why a run ended whose window was over: the arguments of the order.
type expired struct {
	Why string `json:"why"`
}

// expire ends a run that has waited for longer than its window: for a key, or for a person. It reports whether there was
// something to end.
func (s *Server) expire(ctx context.Context, run store.Run, held []store.Segment, first bool) (bool, error) {
	if first {
		why, err := s.waitsFor(ctx, run, held)
		if err != nil {
			return false, err
		}
		text, err := json.Marshal(expired{why})
		if err != nil {
			return false, err
		}
		if _, err := s.Home.Ledger.PutOrder(ctx, store.Order{Run: run.No, Kind: store.OrderCancel, Args: string(text), By: byWindow}); err != nil {
			return false, err
		}
	}
	for _, g := range held {
		if err := s.decide(ctx, g, engine.Resolve{Do: "drop"}, byWindow); err != nil {
			return false, err
		}
	}
	return first || len(held) > 0, nil
}

// waitsFor is what a run waits for, in the words of its lanes and jobs.
func (s *Server) waitsFor(ctx context.Context, run store.Run, held []store.Segment) (string, error) {
	lanes, err := s.Home.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return "", err
	}
	var all []string
	for _, l := range lanes {
		if l.State != store.LaneOpen && l.Reason != "" {
			all = append(all, l.Name+": "+l.Reason)
		}
	}
	for _, g := range held {
		why, _, _ := strings.Cut(g.Reason, "; when it works again") // what follows is for the gateway's owner
		all = append(all, g.Lane+": "+why)
	}
	return assay.Clean(strings.Join(all, "; "), 500), nil
}
