package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"assay"
	"assay/engine"
	"assay/plan"
	"assay/store"
	"assay/waves"
)

// errBeginning tells that another process is just writing the run.
var errBeginning = errors.New("another process is just beginning this run")

// theRun is the run of this study in this folder: the one there is, or a new one. Of several processes that begin at once
// one makes the run, and the others go on with it.
func theRun(ctx context.Context, w *World, h *home, d *plan.Input, p *plan.Plan, name string, f runFlags) (store.Run, error) {
	asked, told := false, false
	for {
		run, claim, err := currentRun(ctx, w, h, d, name, f)
		if errors.Is(err, errBeginning) {
			if !told {
				told = true
				fmt.Fprintln(w.Stderr, err)
			}
			if err := engine.WallClock().Sleep(ctx, 50*time.Millisecond); err != nil {
				return run, err
			}
			continue
		}
		if err != nil || run.No != 0 {
			return run, err
		}
		if !asked {
			if before, ok, err := changedFrom(ctx, w, h, d, name, f); err != nil {
				return run, err
			} else if ok {
				fmt.Fprintf(w.Stderr, "answers of run %s to equal questions are taken over at no cost; --new asks everything again\n(the numbers below count everything, also what is taken over)\n", before.ID)
			}
			if err := confirm(w, d, p, f); err != nil {
				return run, err
			}
			asked = true
		}
		run, err = beginRun(ctx, w, h, d, p, name, f, claim)
		if claim == nil || !errors.Is(err, store.ErrDuplicate) {
			return run, err
		}
	}
}

// claimTime is how long a run in preparation lives without a sign of its maker.
const claimTime = 30 * time.Second

// currentRun is the run of this study in this folder, if there is one that goes on or is the same. Else its number is 0,
// and the claim is what it takes to begin one; nil: nothing.
func currentRun(ctx context.Context, w *World, h *home, d *plan.Input, name string, f runFlags) (run store.Run, claim *store.Claim, err error) {
	if f.anew {
		return run, nil, nil
	}
	runs, err := h.ledger.Runs(ctx, d.Study.Study)
	if err != nil {
		return run, nil, err
	}
	folder := filepath.Dir(w.Disk.Path(name))
	digest, err := studyDigest(ctx, w, d, name)
	if err != nil {
		return run, nil, err
	}
	claim = &store.Claim{Holder: holderName(), TTL: claimTime}
	for _, r := range runs {
		if r.Folder != folder {
			continue
		}
		claim.After = max(claim.After, r.No)
		if r.State == store.RunPreparing {
			if dead, err := h.ledger.AbandonRun(ctx, r.No); err != nil || !dead {
				return run, nil, errors.Join(err, errBeginning)
			}
			continue
		}
		if r.State == store.RunClosed && (r.Digest != digest || !f.sameScope(r)) {
			continue
		}
		if r.Digest != digest {
			return run, nil, usage("undo the change, or `assay resume "+r.ID+"` for the old one, or `assay run --new` for a new run",
				"run %s is open and the study was changed since it began", r.ID)
		}
		if r.State == store.RunOpen && !f.sameMode(r) {
			return run, nil, usage("`assay resume "+r.ID+"` goes on as it began; `assay run --new` begins another, or cancel this one first: assay cancel "+r.ID,
				"run %s is open, and did not begin with --mode %s", r.ID, f.study.mode)
		}
		if r.State == store.RunClosed {
			fmt.Fprintf(w.Stderr, "run %s of this study is closed; --new asks everything again, `assay retry` what has no answer\n", r.ID)
			return r, nil, nil
		}
		return r, nil, goOn(ctx, w, h, r, f)
	}
	return run, claim, nil
}

// goOn takes an open run up again. What it is about was said when it began: another part of the study is not sent under its
// name, and never left out without a word.
func goOn(ctx context.Context, w *World, h *home, r store.Run, f runFlags) error {
	same := f.sameScope(r)
	if !same && f.narrow() {
		return usage("`assay resume "+r.ID+"` goes on with it; once it is closed, or with --new, this part is a run of its own",
			"run %s is open, and it is about another part of the study", r.ID)
	}
	fmt.Fprintf(w.Stderr, "going on with run %s\n", r.ID)
	if !same {
		fmt.Fprintln(w.Stderr, "it was begun about a part of the study; once it is closed, the same command asks the rest")
	}
	if f.budget == "" {
		return nil
	}
	m, err := assay.ParseMoney(f.budget)
	if err != nil {
		return usage("", "--budget: %s", err)
	}
	fmt.Fprintf(w.Stderr, "it may spend %s from now on\n", m)
	return h.ledger.SetBudget(ctx, r.No, &m)
}

// narrow tells whether the command line names a part of the study.
func (f runFlags) narrow() bool {
	return len(f.lanes)+len(f.stages)+len(f.study.set) > 0 || f.limit > 0 || f.study.profile != ""
}

func beginRun(ctx context.Context, w *World, h *home, d *plan.Input, p *plan.Plan, name string, f runFlags, claim *store.Claim) (store.Run, error) {
	budget, err := budgetOf(d.Study, f)
	if err != nil {
		return store.Run{}, err
	}
	settings := f.settings
	settings.Lanes, settings.Stages, settings.Limit = f.lanes, f.stages, f.limit
	digest, err := studyDigest(ctx, w, d, name)
	if err != nil {
		return store.Run{}, err
	}
	if settings.ReuseRun, err = pilotOf(ctx, h, d.Study.Study, digest); err != nil {
		return store.Run{}, err
	}
	if before, ok, err := changedFrom(ctx, w, h, d, name, f); err != nil {
		return store.Run{}, err
	} else if ok {
		settings.ReuseRun = before.ID
	}
	run := store.NewRun{Study: d.Study.Study, Digest: digest, Note: f.note, By: f.by, Rehearsal: f.rehearse, Budget: budget}
	return begin(ctx, w, h, waves.Beginning{Run: run, Desk: d, Plan: p, Settings: settings, Claim: claim}, name, f.study)
}
