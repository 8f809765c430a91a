package drive

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

// revive gives what a refused key or an empty account stopped another try: when this gateway sees the run for the first time,
// because it may have another key, and from time to time.
func (s *Driver) revive(ctx context.Context, run store.Run) error {
	s.mu.Lock()
	due := run.State == store.RunOpen && time.Since(s.revived[run.No]) > reviveEvery
	if due {
		s.revived[run.No] = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	lanes, err := s.Home.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return err
	}
	moved := false
	for _, l := range lanes {
		if l.State != store.LaneStopped || !engine.StoppedByAccount(l) {
			continue
		}
		if err := s.Home.Ledger.Work.SetLane(ctx, run.No, l.Stage, l.Name,
			store.LaneStop{State: store.LaneOpen, From: l.Cause}); err != nil {
			return err
		}
		moved = true
	}
	jobs, err := s.Home.Ledger.Reader.Segments(ctx, run.No, store.Held, store.Launched)
	if err != nil {
		return err
	}
	for _, g := range jobs {
		key, err := s.claim(ctx, g)
		if err != nil {
			return err
		}
		if key == "" {
			continue
		}
		if err := s.decide(ctx, g, engine.Resolve{Do: engine.DoAdopt, Job: g.Job, Account: key}, "the gateway"); err != nil {
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
	return s.Home.Ledger.Leases.RunDue(ctx, run.No, s.Home.Ledger.Now())
}

// claim returns the key, by its fingerprint, with which a job is polled again; empty: it is left alone. A job belongs
// to the account that made it. The key that made it tries again after it was refused. Another one takes it over only
// where the provider shows it the job, which costs nothing, and where the key that made it was refused or is at no
// gateway any more.
func (s *Driver) claim(ctx context.Context, g store.Segment) (string, error) {
	held := g.State == store.Held
	// a person has to decide about others
	if g.Mode != store.Batch || g.Job == "" || held && g.HeldFrom != store.Launched && g.HeldFrom != store.Ended {
		return "", nil
	}
	own := s.Providers.fingerprint(g.Provider)
	if own == "" || own == g.Account && !held {
		return "", nil
	}
	if own == g.Account {
		return own, nil
	}
	if !held {
		if alive, err := s.Home.Ledger.Leases.KeyAlive(ctx,
			store.WorkerKey{Run: g.Run, Provider: g.Provider, Account: g.Account}); err != nil || alive {
			return "", err
		}
	}
	t, _ := s.Providers.Target(g.Provider) // it has a key
	if t.Access.Batch == nil {
		return "", nil
	}
	if _, err := t.Access.Batch.Check(ctx, provider.Job{ID: g.Job, Handle: provider.Handle(g.Handle), Model: g.Model,
		Count: int(g.Requests)}); err != nil {
		s.Log.Info("a job waits for the key that made it", "provider", g.Provider, "made by", g.Account, "here is", own)
		return "", ctx.Err()
	}
	return own, nil
}

// keysLast is how long the keys of a gateway count as there after it has shown them.
const keysLast = 6 * scanEvery

// show writes into the ledger which keys are here for the open runs.
func (s *Driver) show(ctx context.Context, runs []store.Run) error {
	var keys []store.WorkerKey
	for _, run := range runs {
		b, _ := batchrun.Of(run)
		for name := range b.Reaches {
			if own := s.Providers.fingerprint(name); own != "" && run.State == store.RunOpen {
				keys = append(keys, store.WorkerKey{Run: run.No, Provider: name, Account: own})
			}
		}
	}
	s.mu.Lock()
	none := len(keys) == 0 && !s.shown
	s.shown = len(keys) > 0
	s.mu.Unlock()
	if none {
		return nil
	}
	return s.Home.Ledger.Leases.PutWorkerKeys(ctx, s.name, keys, keysLast)
}

// elsewhere returns the jobs of a run, and the uncertain create calls, that need another key than those here.
func (s *Driver) elsewhere(ctx context.Context, run store.Run) ([]store.Segment, error) {
	all, err := s.Home.Ledger.Reader.Segments(ctx, run.No, store.Intended, store.Launched, store.Ended, store.Held)
	if err != nil {
		return nil, err
	}
	var out []store.Segment
	for _, g := range all {
		made := g.State != store.Held || g.HeldFrom == store.Intended || g.HeldFrom == store.Launched || g.HeldFrom == store.Ended
		if g.Mode == store.Batch && made && g.Account != s.Providers.fingerprint(g.Provider) {
			out = append(out, g)
		}
	}
	return out, nil
}

func (s *Driver) decide(ctx context.Context, g store.Segment, r engine.Resolve, by string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.Home.Ledger.Runs.PutOrder(ctx, store.Order{Run: g.Run, Segment: g.No, Kind: store.OrderResolve, Args: string(text), By: by})
	return err
}

// expired is why a run ended whose window was over: the arguments of the order.
type expired struct {
	Why string `json:"why"`
}

// expire ends a run that has waited for longer than its window: for a key, or for a person. It reports whether there was
// something to end.
func (s *Driver) expire(ctx context.Context, run store.Run, held []store.Segment, first bool) (bool, error) {
	if first {
		why, err := s.WaitsFor(ctx, run)
		if err != nil {
			return false, err
		}
		text, err := json.Marshal(expired{why})
		if err != nil {
			return false, err
		}
		if _, err := s.Home.Ledger.Runs.PutOrder(ctx, store.Order{Run: run.No, Kind: store.OrderCancel, Args: string(text),
			By: ByWindow}); err != nil {
			return false, err
		}
	}
	for _, g := range held {
		if err := s.decide(ctx, g, engine.Resolve{Do: engine.DoDrop}, ByWindow); err != nil {
			return false, err
		}
	}
	return first || len(held) > 0, nil
}

// WaitsFor returns what an open run waits for, in the words of its lanes and jobs; empty: it goes on by itself.
func (s *Driver) WaitsFor(ctx context.Context, run store.Run) (string, error) {
	lanes, err := s.Home.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return "", err
	}
	var all []string
	for _, l := range lanes {
		if l.State != store.LaneOpen && l.Reason != "" {
			all = append(all, l.Name+": "+l.Reason)
		}
	}
	held, err := s.Home.Ledger.Reader.Segments(ctx, run.No, store.Held)
	if err != nil {
		return "", err
	}
	for _, g := range held {
		all = append(all, g.Lane+": "+g.Reason.String())
	}
	others, err := s.elsewhere(ctx, run)
	if err != nil {
		return "", err
	}
	for _, g := range others {
		alive, err := s.Home.Ledger.Leases.KeyAlive(ctx, store.WorkerKey{Run: g.Run, Provider: g.Provider, Account: g.Account})
		switch {
		case err != nil:
			return "", err
		case alive || g.State == store.Held:
		case g.State == store.Intended:
			all = append(all, g.Lane+": whether its job was made can be seen only with the key of "+
				g.Provider+" that it was sent with, which is not set")
		default:
			all = append(all, g.Lane+": its job waits for the key of "+g.Provider+" that made it, which is not set")
		}
	}
	return assay.Clean(strings.Join(all, "; "), 500), nil
}

// Window returns how long a batch may wait for a key or a person, as its client asked.
func Window(text string) time.Duration {
	n, err := strconv.Atoi(strings.TrimRight(text, "hd"))
	if err != nil { // none is recorded that cannot be read
		n = 24
	}
	if strings.HasSuffix(text, "d") {
		n *= 24
	}
	return time.Duration(n) * time.Hour
}
