package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/live"
)

// takeLogs takes over what live calls have answered of segments that the ledger does not know: their logs are among the artifacts, and no
// provider lists them. It returns how many answers were joined.
func takeLogs(ctx context.Context, x *extension) (joined int64, err error) {
	names, err := lostLogs(ctx, x)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	a := &adoption{extension: x, mode: store.Live, waves: 1}
	if err := beginAdoption(ctx, a); err != nil {
		return 0, err
	}
	logs := make([]live.LostLog, len(names))
	for i, name := range names {
		if logs[i], err = takeLog(ctx, a, name); err != nil {
			return 0, fmt.Errorf("read %s: %w", name, err)
		}
	}
	if err := errors.Join(a.join(ctx), a.Files.Remove(ctx, a.Run.ID, adoptScratch)); err != nil {
		return 0, err
	}
	for _, r := range a.jobs {
		joined += r.Joined
	}
	if joined > 0 { // answers may have made questions possible that others of them answer
		return joined, nil
	}
	for i, r := range a.jobs {
		if err := leftOver(ctx, x, r, logs[i]); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// lostLogs lists the live logs of a run whose segments this ledger has not asked. Segments that it has asked read theirs themselves.
func lostLogs(ctx context.Context, x *extension) (names []string, err error) {
	known, err := x.Ledger.Reader.Segments(ctx, x.Run.No)
	if err != nil {
		return nil, err
	}
	for k, err := range x.Files.List(ctx, x.Run.ID, "s") {
		if err != nil {
			return nil, err
		}
		no, log := live.LogOf(k.Name)
		own := slices.ContainsFunc(known, func(g store.Segment) bool { return g.No == no && g.Mode == store.Live && !g.Launched.IsZero() })
		if log && !own {
			names = append(names, k.Name)
		}
	}
	return names, nil
}

// takeLog keeps where the answers in a log are, and returns what it shows.
func takeLog(ctx context.Context, a *adoption, name string) (live.LostLog, error) {
	rec := Recovery{Job: name}
	a.parts = append(a.parts, adoptedPart{len(a.jobs), store.Artifact{Name: name, Kind: store.ArtifactLive}})
	log, err := live.ReadLost(ctx, a.Files, a.Run.ID, name, func(s store.Settlement) error {
		if !s.Outcome.Ending.Stands() {
			return nil
		}
		rec.Answers++
		return addAnswer(a, adoptedAnswer{key: s.Key, offset: s.Offset, size: int32(s.Length), sum: s.Sum}, s.Outcome)
	})
	a.parts[len(a.jobs)].file.Size = log.Size
	a.jobs = append(a.jobs, rec)
	return log, err
}

// leftOver notes what a log shows to be paid, or perhaps paid, and no question of the run takes. What left without an answer counts in
// the budget.
func leftOver(ctx context.Context, x *extension, r Recovery, log live.LostLog) error {
	joined, err := x.Ledger.Reader.AnswersIn(ctx, x.Run.No, r.Job)
	if err != nil || r.Answers-joined.Answers+log.Away <= 0 {
		return err
	}
	why := fmt.Sprintf("%s is the log of a segment that is not in this ledger: %s in it fit no question of the run, and %s left without "+
		"an answer in it, which may be billed", r.Job, assay.Count(r.Answers-joined.Answers, "answer"), assay.Count(log.Away, "live call"))
	if _, told := x.engine.awaited.LoadOrStore(x.Run.ID+" "+why, true); told {
		return nil
	}
	return x.Ledger.Work.NoteLostLog(ctx, x.Run.No, r.Job, log.Most, why)
}
