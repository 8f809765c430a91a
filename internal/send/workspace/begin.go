package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/origin"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/declare"
	"assay/internal/study/plan"
)

// Wanted is a run as the user wants it.
type Wanted struct {
	File     string // the study, as the user typed it
	Input    *plan.Input
	Plan     *plan.Plan
	Study    StudyOptions      // how the study was read
	Settings snapshot.Settings // lanes, stages, limit and other settings that are not in the study
	Budget   *assay.Money      // the most it may spend; nil: no limit
	Note, By string
	New      bool // everything is asked again

	looked []declare.Look // looks at the run whose answers it takes over
}

// claimTime is how long a run in preparation lives without a sign of its maker.
const claimTime = 30 * time.Second

// ErrBeginning is the error if another process is just writing the run.
var ErrBeginning = errors.New("another process is just beginning this run")

// ErrMoved is the error if the study or its items were changed after they were planned: consent to the plan does not
// cover the change.
var ErrMoved = errors.New("the study or its items were changed after they were read, and nothing was begun with them")

// ChangedError reports that the run is open and that the study has changed.
type ChangedError struct {
	Run  string
	What string // changed, in words
	Why  string // why it cannot go on with that; empty: it was not looked into
}

// Error names the run and the changes.
func (e *ChangedError) Error() string {
	text := fmt.Sprintf("run %s is open and the study was changed since it began: %s", e.Run, e.What)
	if e.Why != "" {
		text += "; the run cannot go on with that: " + e.Why
	}
	return text
}

// ModeError reports that the run is open and travels in another way.
type ModeError struct {
	Run  string
	Mode assay.Mode // that was wanted
}

// Error names the run and the mode.
func (e *ModeError) Error() string {
	return fmt.Sprintf("run %s is open, and did not begin with --mode %s", e.Run, e.Mode)
}

// ScopeError reports that the run is open and about another part of the study.
type ScopeError struct{ Run string }

// Error names the run.
func (e *ScopeError) Error() string {
	return fmt.Sprintf("run %s is open, and it is about another part of the study", e.Run)
}

// Current is the run of a study in its folder.
type Current struct {
	Run     store.Run    // its number is 0 if there is none
	Claim   *store.Claim // what it takes to begin one; nil: nothing
	Partial bool         // the open run was begun about a part of the study, and now all of it is wanted
	// how the study was changed since: of a run, in what asks nothing else; else since the newest closed run. Nil: it
	// was not
	Edit *Edit
}

// Current returns the run that goes on or is the same as what is wanted, if there is one.
func (h *Home) Current(ctx context.Context, want Wanted) (Current, error) {
	if want.New {
		return Current{}, nil
	}
	runs, err := h.Ledger.Reader.Runs(ctx, want.Input.Study.Study)
	if err != nil {
		return Current{}, err
	}
	digest, err := h.digest(ctx, want)
	if err != nil {
		return Current{}, err
	}
	now := Current{Claim: &store.Claim{Holder: h.World.self().String(), TTL: claimTime}}
	for _, r := range runs {
		if r.Folder != want.folder(h.World) {
			continue
		}
		now.Claim.After = max(now.Claim.After, r.No)
		if r.State == store.RunPreparing {
			if dead, err := abandoned(ctx, h, r); err != nil || !dead {
				return Current{}, errors.Join(err, ErrBeginning)
			}
			continue
		}
		if r.State == store.RunClosed && !want.sameScope(r) {
			continue
		}
		var edit *Edit
		if r.Digest != digest {
			if edit, err = h.edited(ctx, want, r, digest, now.Edit == nil); err != nil {
				return Current{}, err
			}
			if len(edit.Difference.Asks()) > 0 && !edit.Grows {
				over, err := overOrHalted(ctx, h, r)
				if err != nil {
					return Current{}, err
				}
				if over {
					now.Edit = cmp.Or(now.Edit, edit)
					continue
				}
			}
		}
		return want.goesOn(r, edit)
	}
	return now, nil
}

// digest is that of a study that is as it was read; else ErrMoved.
func (h *Home) digest(ctx context.Context, want Wanted) (string, error) {
	digest, err := h.World.StudyDigest(ctx, want.Input, want.File)
	if read := want.Input.Read; err == nil && read != "" && read != digest {
		return "", ErrMoved
	}
	return digest, err
}

// goesOn decides what a request for a run means if there is a run that is open, or asks the same.
func (want Wanted) goesOn(r store.Run, edit *Edit) (Current, error) {
	switch {
	case edit != nil && len(edit.Difference.Asks()) > 0 && !edit.Grows:
		return Current{}, &ChangedError{Run: r.ID, What: edit.Difference.Asks().String(), Why: edit.Why}
	case r.State == store.RunOpen && !want.sameMode(r):
		return Current{}, &ModeError{Run: r.ID, Mode: want.Study.Mode}
	case r.State == store.RunClosed:
		return Current{Run: r, Edit: edit}, nil
	}
	// The scope was set when it began: another part of the study is not sent under its name, and never left out
	// silently.
	same := want.sameScope(r)
	if !same && want.narrow() {
		return Current{}, &ScopeError{Run: r.ID}
	}
	return Current{Run: r, Partial: !same, Edit: edit}, nil
}

// folder returns the study's.
func (want Wanted) folder(w *World) string { return filepath.Dir(w.Disk.Path(want.File)) }

// sameScope reports whether a run was about the same part of its study.
func (want Wanted) sameScope(r store.Run) bool {
	var s snapshot.Settings
	if json.Unmarshal([]byte(r.Settings), &s) != nil {
		return false
	}
	return slices.Equal(s.Lanes, want.Settings.Lanes) && slices.Equal(s.Stages, want.Settings.Stages) && s.Limit == want.Settings.Limit &&
		s.Luck == want.Settings.Luck && slices.Equal(s.Set, want.Study.Set) && s.Profile == want.Study.Profile && s.Mode == want.Study.Mode
}

// sameMode reports whether a run travels as is wanted, where anything is.
func (want Wanted) sameMode(r store.Run) bool {
	var s snapshot.Settings
	return want.Study.Mode == "" || json.Unmarshal([]byte(r.Settings), &s) == nil && s.Mode == want.Study.Mode
}

// narrow reports whether only a part of the study is wanted.
func (want Wanted) narrow() bool {
	return len(want.Settings.Lanes)+len(want.Settings.Stages)+len(want.Study.Set) > 0 || want.Settings.Limit > 0 || want.Study.Profile != ""
}

// Doorkeeper is asked and informed while a run is looked for or begun.
type Doorkeeper struct {
	// Waiting is called once when another process is just writing the run.
	Waiting func()
	// Resumed is called with a run that is there already.
	Resumed func(Current) error
	// Confirm is called before a run is begun. Donors are the runs whose answers are taken over, and since is how the
	// study was changed since the newest closed one; nil: there is none. An error stops the beginning.
	Confirm func(donors []store.Run, since *Edit) error
	// Extend is called before a run is given more to ask: what has its answer, and what is new. An error leaves the run
	// unchanged. Consent is for this run and this edit: if either has changed meanwhile, it is called again.
	Extend func(now Current, over TakeOver) error
}

// Run returns the run of a study in its folder: the one there is, or a new one. Of several processes that begin at once one makes
// the run, and the others go on with it.
func (h *Home) Run(ctx context.Context, want Wanted, keep Doorkeeper) (store.Run, error) {
	waited, agreed := false, map[consent]bool{}
	for {
		now, err := h.Current(ctx, want)
		if errors.Is(err, ErrBeginning) {
			if !waited {
				waited = true
				keep.Waiting()
			}
			if err := engine.WallClock().Sleep(ctx, 50*time.Millisecond); err != nil {
				return now.Run, err
			}
			continue
		}
		if err != nil {
			return now.Run, err
		}
		if err := h.ask(ctx, want, now, keep, agreed); err != nil {
			return now.Run, err
		}
		if _, err := h.digest(ctx, want); err != nil { // a question may wait for long
			return now.Run, err
		}
		if now.Run.No != 0 {
			done, err := h.takeUp(ctx, want, &now)
			if err != nil {
				return now.Run, err
			}
			if !done {
				continue
			}
			return now.Run, keep.Resumed(now)
		}
		if !h.Rehearsal {
			if err := origin.Lost(ctx, h.Ledger, h.Files.String()); err != nil {
				return now.Run, err
			}
		}
		run, err := h.Begin(ctx, want, now.Claim)
		if now.Claim == nil || !errors.Is(err, store.ErrDuplicate) {
			return run, err
		}
	}
}

// consent holds what a person agreed to: that a run is given more to ask, or that a new one is begun.
type consent struct {
	run     int64  // 0: a new one
	was, is string // the digests of its study
}

// ask asks before a run is begun or given more to ask, once for each.
func (h *Home) ask(ctx context.Context, want Wanted, now Current, keep Doorkeeper, agreed map[consent]bool) error {
	c := consent{run: now.Run.No, was: now.Run.Digest}
	if c.run != 0 {
		if now.Edit == nil || !now.Edit.Grows {
			return nil
		}
		c.is = now.Edit.digest
	}
	if agreed[c] {
		return nil
	}
	agreed[c] = true // an error ends it all
	if c.run != 0 {
		over, err := h.Has(ctx, want, cmp.Or(now.Edit.Plan, want.Plan), now.Run)
		if err != nil {
			return err
		}
		return keep.Extend(now, over)
	}
	donors, err := h.Donors(ctx, want)
	if err != nil {
		return err
	}
	return keep.Confirm(donors, now.Edit)
}

// takeUp lets the existing run go on with the current study. It returns false if another process was first.
func (h *Home) takeUp(ctx context.Context, want Wanted, now *Current) (bool, error) {
	if now.Edit == nil {
		return true, nil
	}
	done, err := h.revise(ctx, want, now.Edit)
	if err == nil && done {
		now.Run, err = h.Ledger.Reader.Run(ctx, now.Run.No)
	}
	return done, err
}

// Begin writes a new run. If another process was first with the claim, the error is store.ErrDuplicate.
func (h *Home) Begin(ctx context.Context, want Wanted, claim *store.Claim) (store.Run, error) {
	digest, err := h.digest(ctx, want)
	if err != nil {
		return store.Run{}, err
	}
	donors, err := h.Donors(ctx, want)
	if err != nil {
		return store.Run{}, err
	}
	want.Settings.ReuseRuns = nil
	for _, r := range donors {
		if r.State == store.RunOpen {
			if err := endHalted(ctx, h, r); err != nil {
				return store.Run{}, fmt.Errorf("end run %s: %w", r.ID, err)
			}
		}
		want.Settings.ReuseRuns = append(want.Settings.ReuseRuns, r.ID)
	}
	if len(donors) > 0 {
		if want.looked, err = looked(ctx, h, donors[0]); err != nil {
			return store.Run{}, err
		}
	}
	pilot, err := h.pilotOf(ctx, want, digest)
	if err != nil {
		return store.Run{}, err
	}
	if pilot != "" {
		want.Settings.ReuseRuns = append(want.Settings.ReuseRuns, pilot)
	}
	return h.BeginAs(ctx, want, want.Input.Study.Study, claim)
}

// BeginAs writes a new run under a name, and takes over no answers but those that the settings name.
func (h *Home) BeginAs(ctx context.Context, want Wanted, name string, claim *store.Claim) (store.Run, error) {
	digest, err := h.digest(ctx, want)
	if err != nil {
		return store.Run{}, err
	}
	prices, err := h.World.priceFile(want.Study.Prices)
	if err != nil {
		return store.Run{}, err
	}
	id, err := h.World.NewID()
	if err != nil {
		return store.Run{}, err
	}
	locked, err := Locked(ctx, h, want)
	if err != nil {
		return store.Run{}, err
	}
	s := want.Settings
	s.BaseURLs, s.Datasets = h.baseURLs(want), h.World.datasets(want.Input.Study)
	s.File, s.Profile, s.Set, s.Mode = filepath.Base(want.File), want.Study.Profile, want.Study.Set, want.Study.Mode
	return h.Planner.Begin(ctx, snapshot.Beginning{
		Run: store.NewRun{
			ID: id, Study: name, Folder: want.folder(h.World), Digest: digest, Note: want.Note, By: cmp.Or(want.By, h.World.User()),
			Rehearsal: h.Rehearsal, Budget: want.Budget,
		},
		Input: want.Input, Plan: want.Plan, Files: h.World.Disk.Folder(filepath.Dir(want.File)), Prices: prices, Settings: s, Claim: claim,
		Locked: locked, Looked: want.looked, Check: h.check(ctx, want),
	})
}

// check looks whether a study is as it was read, once it is copied.
func (h *Home) check(ctx context.Context, want Wanted) func() error {
	return func() error {
		_, err := h.digest(ctx, want)
		return err
	}
}

// Imported returns the newest run of what is wanted in its folder; false if there is none.
func (h *Home) Imported(ctx context.Context, want Wanted) (store.Run, bool, error) {
	runs, err := h.Ledger.Reader.Runs(ctx, want.Input.Study.Study, store.RunOpen, store.RunClosed)
	if err != nil {
		return store.Run{}, false, err
	}
	for _, r := range runs {
		if r.Folder == want.folder(h.World) {
			return r, true, nil
		}
	}
	return store.Run{}, false, nil
}

// baseURLs returns where the requests of a shared run go, by provider: workers that have no key of one may not know.
func (h *Home) baseURLs(want Wanted) map[string]string {
	if !h.Ledger.Postgres() {
		return nil
	}
	a := h.World.Accounts(want.Input.Study)
	all := map[string]string{}
	for _, part := range want.Plan.Parts {
		if known, err := a.Known(part.Lane.Provider); err == nil { // an account that cannot be opened is reported when it is used
			all[part.Lane.Provider] = known.BaseURL
		}
	}
	return all
}
