package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/dispatch/local"
	"assay/internal/send/engine"
	"assay/internal/send/origin"
	"assay/internal/show/notify"
)

// Drive is how a run is driven.
type Drive struct {
	Once     bool          // stop when nothing more can be done at once
	Detach   bool          // stop when nothing more can be done at once, and nothing goes out soon
	Interval time.Duration // between looks at a job; 0: as usual

	Moved     func(ctx context.Context) error // called when something was done, and every second
	Held      func(*store.HeldError)          // called when another process holds what is due
	Gone      func(holder string)             // called for each ended process from which the run was taken over
	Away      func(error)                     // called when the ledger cannot be reached and is waited for
	Unwritten func(error)                     // called when what came back cannot be written for a while
	Stopping  func(inFlight int)              // called when the context ends, with the live requests that are waited for
}

// ArtifactsError reports that the place of artifacts cannot be used.
type ArtifactsError struct{ Err error }

// Error returns the reason.
func (e *ArtifactsError) Error() string {
	return fmt.Sprintf("the artifacts cannot be used: %s", e.Err)
}

// Unwrap is why.
func (e *ArtifactsError) Unwrap() error { return e.Err }

// Ready makes sure that runs can be driven here: the artifacts are those of the ledger, and can be written.
func (h *Home) Ready(ctx context.Context) error {
	if h.Ledger.Postgres() {
		return h.sharesArtifacts(ctx)
	}
	if _, err := h.Files.Probe(ctx, ""); err != nil {
		return &ArtifactsError{err}
	}
	if h.Rehearsal {
		return nil
	}
	return origin.Check(ctx, h.Ledger, h.Where)
}

// Drive works on a run until it is closed, or until what is left waits for a person, for money or for a key.
func (h *Home) Drive(ctx context.Context, run store.Run, e *Engine, d Drive) (engine.RunStatus, error) {
	if d.Interval > 0 {
		e.Timing.PollFirst, e.Timing.PollMin, e.Timing.PollMax = 0, d.Interval, d.Interval
	}
	e.Unwritten = d.Unwritten
	driver := &local.Driver{Engine: e.Engine, Moved: d.Moved, Held: d.Held, Gone: h.reportsGone(d.Gone), Away: d.Away}
	if _, ok := batchrun.Of(run); ok {
		driver.Workers = abreast
	}
	switch {
	case d.Once:
		driver.Until = func(engine.RunStatus) bool { return true }
	case d.Detach:
		driver.Until = func(engine.RunStatus) bool { return h.sent(ctx, run) }
	}
	// Looked at in any case: only a look finds out what it waits for, money or a person.
	if err := h.Ledger.Leases.RunDue(ctx, run.No, h.Ledger.Now()); err != nil {
		return engine.RunStatus{}, err
	}
	if d.Stopping != nil {
		defer context.AfterFunc(ctx, func() { d.Stopping(e.InFlight()) })()
	}
	return driver.Drive(ctx, run.No)
}

// abreast is how many jobs of a batch file are moved at a time: what is held in memory is theirs, however large the file is.
const abreast = 4

// DriveAlone drives a run without reporting progress. An interval of 0 means the usual one.
func (h *Home) DriveAlone(ctx context.Context, run store.Run, interval time.Duration) (engine.RunStatus, error) {
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return engine.RunStatus{}, err
	}
	e, err := h.Engine(ctx, run, s)
	if err != nil {
		return engine.RunStatus{}, err
	}
	defer e.Close()
	return h.Drive(ctx, run, e, Drive{Interval: interval})
}

// moment is how soon something goes out that a detaching process waits for.
const moment = time.Minute

// sent reports whether all that goes out by itself has gone. A file that its provider still checks goes out next, and so does
// what was refused for a moment; what waits for longer, or for a place or for money, is left for later.
func (h *Home) sent(ctx context.Context, run store.Run) bool {
	unsent, err := h.Ledger.Reader.Segments(ctx, run.No, store.Staged, store.Uploaded, store.Intended)
	soon := h.Ledger.Now().Add(moment)
	return err != nil || !slices.ContainsFunc(unsent, func(g store.Segment) bool {
		return !g.Due.IsZero() && g.Reason != store.AwaitsRoom && (g.Reason == "" || g.Due.Before(soon))
	})
}

// reportsGone returns Gone, with a call of say for each holder that is.
func (h *Home) reportsGone(say func(holder string)) func(holder string) bool {
	return func(holder string) bool {
		gone := h.Gone(holder)
		if gone && say != nil {
			say(holder)
		}
		return gone
	}
}

// JobsAway reports whether jobs of a run may be at their providers.
func (h *Home) JobsAway(ctx context.Context, run store.Run) (bool, error) {
	away, err := h.Ledger.Reader.Segments(ctx, run.No, store.Intended, store.Launched)
	return slices.ContainsFunc(away, func(g store.Segment) bool { return g.Mode == store.Batch }), err
}

// Conclude returns the state of a run after a drive.
func (h *Home) Conclude(ctx context.Context, run store.Run, st engine.RunStatus) (runs.Standing, error) {
	run, err := h.Ledger.Reader.Run(ctx, run.No)
	if err != nil {
		return runs.Standing{}, err
	}
	return runs.After(ctx, h.Planner.Results, run, st)
}

// Notify sends the news of a run to notification URLs, or to those that variables hold. News of rehearsals are not sent.
func (h *Home) Notify(ctx context.Context, to []string, news string) error {
	if h.Rehearsal {
		return nil
	}
	return h.World.SendNews(ctx, to, news)
}

// SendNews sends a message to notification URLs, or to those that variables hold.
func (w *World) SendNews(ctx context.Context, to []string, news string) error {
	var urls []string
	for _, name := range to {
		if !strings.Contains(name, "://") {
			name = w.env(strings.Trim(name, "${}"))
		}
		if name != "" {
			urls = append(urls, name)
		}
	}
	return notify.Send(ctx, urls, "assay: "+news)
}

// artifactsMark is the name under which the ledger keeps the mark of the place of its artifacts.
const artifactsMark = "artifacts"

// ForeignPlaceError is the error of a place that is not the one with the artifacts of a shared ledger.
type ForeignPlaceError struct{ Place, Here, Known string } // the place, its mark, and the mark that the ledger knows

// Error returns it with both marks.
func (e *ForeignPlaceError) Error() string {
	return fmt.Sprintf("%s is not the place of this ledger's artifacts: its mark is %s, the ledger knows %s", e.Place, e.Here, e.Known)
}

// sharesArtifacts makes sure that all processes that work on a shared ledger see the same artifacts. A place is marked before
// the ledger knows the mark; where two processes mark a new one at once, it has both marks, and the ledger one of them.
func (h *Home) sharesArtifacts(ctx context.Context) error {
	known, err := h.Ledger.Reader.Meta(ctx, artifactsMark)
	if err != nil {
		return err
	}
	id := "" // another place than the one of this ledger is not marked
	if known == "" {
		if id, err = h.World.NewID(); err != nil {
			return err
		}
	}
	here, err := h.Files.Probe(ctx, id)
	if err != nil {
		return &ArtifactsError{err}
	}
	if known == "" {
		if known, err = h.Ledger.Runs.SetMeta(ctx, artifactsMark, here); err != nil {
			return err
		}
	}
	if here != known && here != "" { // it may have both
		if here, err = h.Files.Probe(ctx, known); err != nil {
			return &ArtifactsError{err}
		}
	}
	if known != here {
		return &ForeignPlaceError{Place: h.Files.String(), Here: cmp.Or(here, "none"), Known: known}
	}
	return nil
}
