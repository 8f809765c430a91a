package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
)

const (
	scanEvery   = 10 * time.Second // between looks for batches that another process began or left
	tryAgain    = time.Minute      // before a batch is driven again that stands still
	sweepEvery  = time.Hour        // between looks for uploads that were cut off
	reviveEvery = 5 * time.Minute  // between tries of what a refused key or an empty account stopped
)

// Who orders that a batch is stopped, besides its user; no user has a space in their name.
const (
	byBudget = "the budget" // is spent
	byWindow = "the window" // is over, and nothing moved
)

// look has the batches looked at now.
func (s *Server) look() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// work drives every open batch of the ledger until the context ends, whichever gateway began it.
func (s *Server) work(ctx context.Context) {
	var all sync.WaitGroup
	defer func() {
		all.Wait()
		_ = s.show(context.WithoutCancel(ctx), nil) // they are forgotten by themselves, too
	}()
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	var swept time.Time
	for ctx.Err() == nil {
		if time.Since(swept) > sweepEvery {
			swept = time.Now()
			if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("take cut uploads away", "error", err.Error())
			}
		}
		runs, err := s.runs(ctx, "", store.RunOpen, store.RunClosed)
		if err != nil && ctx.Err() == nil {
			s.Log.Error("look for batches", "error", err.Error())
		}
		if err := s.show(ctx, runs); err != nil && ctx.Err() == nil {
			s.Log.Error("say which keys are here", "error", err.Error())
		}
		for _, run := range runs {
			if err := s.revive(ctx, run); err != nil && ctx.Err() == nil {
				s.Log.Error("try a batch again", "batch", batchPrefix+run.ID, "error", err.Error())
			}
			if s.take(run) {
				all.Go(func() { s.give(ctx, run) })
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-s.wake:
		}
	}
}

// take reports whether something is to be done about a run, and marks it as being done.
func (s *Server) take(run store.Run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := run.State == store.RunClosed && s.finished[run.No].Equal(run.Closed)
	if done || s.driving[run.No] || time.Now().Before(s.later[run.No]) {
		return false
	}
	s.driving[run.No] = true
	return true
}

// give drives a run as far as it goes.
func (s *Server) give(ctx context.Context, run store.Run) {
	wait, err := s.advance(ctx, run)
	if err != nil && ctx.Err() == nil {
		s.Log.Error("batch stands still", "batch", batchPrefix+run.ID, "error", err.Error())
	}
	s.mu.Lock()
	delete(s.driving, run.No)
	s.later[run.No] = time.Now().Add(wait)
	s.mu.Unlock()
	if wait == 0 && ctx.Err() == nil {
		s.look()
	}
}

// advance drives a run to its end and writes its results, and returns when to try again where it stands still.
func (s *Server) advance(ctx context.Context, run store.Run) (time.Duration, error) {
	if run.State == store.RunOpen {
		st, err := s.Home.DriveBatch(ctx, run, workspace.BatchDrive{Interval: s.Interval})
		if err != nil && !errors.Is(err, engine.ErrNoKey) { // without a key it stands still
			return tryAgain, err
		}
		if run, err = s.Home.Ledger.Run(ctx, run.No); err != nil {
			return tryAgain, err
		}
		if run.State != store.RunClosed {
			return s.stuck(ctx, run, st.Budget)
		}
	}
	if err := s.finish(ctx, run); err != nil {
		return tryAgain, err
	}
	s.mu.Lock()
	s.finished[run.No] = run.Closed
	s.mu.Unlock()
	return 0, nil
}

// stuck decides about a run in which nothing moves. One that needs more money gets some of its user's, or ends where there is
// none. What waits for a key or a person is looked at again later, until its window is over; a job that another key made waits
// for that key.
func (s *Server) stuck(ctx context.Context, run store.Run, budget bool) (time.Duration, error) {
	stops, err := s.Home.Ledger.OrdersOf(ctx, run.No, store.OrderCancel)
	if err != nil {
		return tryAgain, err
	}
	if budget && len(stops) == 0 {
		raised := false
		if s.knows(run.By) {
			if raised, err = s.Home.Ledger.RaiseClientBudget(ctx, run.No, s.allowance(run.By)); err != nil {
				return tryAgain, err
			}
		}
		if raised {
			return 0, nil
		}
		_, err = s.Home.Ledger.PutOrder(ctx, store.Order{Run: run.No, Kind: store.OrderCancel, Args: "{}", By: byBudget})
		return 0, err
	}
	others, err := s.elsewhere(ctx, run)
	if err != nil {
		return tryAgain, err
	}
	if len(others) > 0 { // another gateway may have the key, and no other key ends a job
		return tryAgain, fmt.Errorf("segment %d waits for the key of %s that made its job (fingerprint %s)", others[0].No, others[0].Provider, others[0].Account)
	}
	held, err := s.Home.Ledger.Segments(ctx, run.No, store.Held)
	if err != nil {
		return tryAgain, err
	}
	b, _ := batchrun.Of(run)
	window := windowOf(b.Client.Window)
	if slices.ContainsFunc(held, func(g store.Segment) bool { return g.Job != "" }) {
		window *= 2 // its answers may be there, and paid: the key is tried for as long again
	}
	if s.now().After(run.Created.Add(window)) {
		moved, err := s.expire(ctx, run, held, len(stops) == 0)
		if err != nil || moved {
			return 0, err
		}
	}
	return tryAgain, fmt.Errorf("it waits for a person or a key: `assay status %s` shows what for", run.ID)
}

// outputID and errorsID are the ids of a run's results; a run that was opened again has others.
func outputID(run store.Run) string { return resultID(run, "output") }
func errorsID(run store.Run) string { return resultID(run, "errors") }

func resultID(run store.Run, what string) string {
	return "file-" + run.ID + "-" + what + "-" + strconv.FormatInt(run.Closed.UnixMilli(), 36)
}

// finish writes the results of a closed run, once: they are the same whichever gateway writes them.
func (s *Server) finish(ctx context.Context, run store.Run) error {
	b, _ := batchrun.Of(run)
	if len(b.Client.Broken) > 0 {
		return nil
	}
	files, err := s.Home.Ledger.ClientFilesOf(ctx, run.No)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.ID == outputID(run) || f.ID == errorsID(run) {
			return nil
		}
	}
	return s.write(ctx, run)
}

func (s *Server) write(ctx context.Context, run store.Run) error {
	output, err := artifacts.Create(ctx, s.Home.Files, run.ID, outputID(run)+".jsonl")
	if err != nil {
		return err
	}
	failures, err := artifacts.Create(ctx, s.Home.Files, run.ID, errorsID(run)+".jsonl")
	if err != nil {
		return errors.Join(err, output.Discard())
	}
	unsent, err := s.unsent(ctx, run)
	if err == nil {
		_, err = s.reader().Collect(ctx, run, batchrun.Output{Format: batchrun.FormatClient, Results: output, Errors: failures, Unsent: unsent})
	}
	if err != nil {
		return errors.Join(err, output.Discard(), failures.Discard())
	}
	var files []store.ClientFile
	for _, f := range []struct {
		id, ending string
		sink       artifacts.Sink
	}{{outputID(run), "_output.jsonl", output}, {errorsID(run), "_error.jsonl", failures}} {
		size := f.sink.Size()
		if size == 0 {
			err = errors.Join(err, f.sink.Discard())
			continue
		}
		_, whole := f.sink.Commit()
		err = errors.Join(err, whole)
		files = append(files, store.ClientFile{ID: f.id, Owner: run.By, Name: batchPrefix + run.ID + f.ending, Purpose: purposeOutput, Run: run.No, Bytes: size})
	}
	if err != nil {
		return err
	}
	return s.Home.Ledger.PutClientFiles(ctx, files...)
}

// unsent is why requests of a closed run were never sent.
func (s *Server) unsent(ctx context.Context, run store.Run) (batchrun.End, error) {
	stops, err := s.Home.Ledger.OrdersOf(ctx, run.No, store.OrderCancel)
	if len(stops) > 0 && stops[0].By == byBudget {
		return batchrun.End{Code: "insufficient_quota", Message: "This request was not executed: the budget was spent."}, err
	}
	if len(stops) > 0 && stops[0].By == byWindow {
		var e expired
		_ = json.Unmarshal([]byte(stops[0].Args), &e) // it was written here
		return batchrun.End{Code: "batch_expired", Message: "This request could not be executed before the completion window expired (" + e.Why + ")."}, err
	}
	return batchrun.End{Code: "batch_cancelled", Message: "This request was cancelled before it was executed."}, err
}
