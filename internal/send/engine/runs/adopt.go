package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/batch"
	"assay/internal/send/engine/hold"
	"assay/internal/send/engine/stage"
	"assay/internal/send/provider"
)

// Recovery is the result for a job whose answers were taken over.
type Recovery struct {
	Job     string
	Word    string // the provider's own word for its state
	Open    bool   // it is still at work: nothing was taken yet
	Lines   int64
	Foreign int64  // lines with ids that are not ours
	Answers int64  // lines of ours that answer a question
	Joined  int64  // of these, answers that the run took
	Mixed   bool   // not taken: the jobs are those of several runs, and it may follow another one's answers
	Why     string // it could not be read
}

// Adopt takes the answers of jobs that the ledger does not know for those questions of a run that have none, because a
// ledger was lost. Answers are joined by the keys in their ids, turn after turn, as far as each follows an answer that
// was joined. An id does not name its run: of a study with several waves, the jobs of one run alone are taken, because
// an answer of another may follow other answers than those that were joined. Nothing is sent.
func (e *Engine) Adopt(ctx context.Context, run int64, name string, jobs []provider.Status, waves int) (all []Recovery, err error) {
	err = e.leases.Run(ctx, run, func(ctx context.Context, h *hold.LeaseHolder) error {
		a := &adoption{Extension: e.extension(h.Lease).Extension, name: name, waves: waves, several: len(LostRuns(jobs)) > 1}
		if a.Run, err = e.Ledger.Reader.Run(ctx, run); err != nil {
			return err
		}
		if err := a.open(ctx); err != nil {
			return err
		}
		for _, st := range jobs {
			if err := a.take(ctx, st); err != nil {
				return fmt.Errorf("job %s: %w", st.Job, err)
			}
		}
		if err := a.join(ctx); err != nil {
			return err
		}
		all = a.jobs
		return a.Files.Remove(ctx, a.Run.ID, adoptScratch)
	})
	if err != nil {
		return nil, fmt.Errorf("adopt into run %d: %w", run, err)
	}
	return all, nil
}

// adoption gathers answers and joins them to a run.
type adoption struct {
	*stage.Extension
	name    string // of the provider
	access  engine.Access
	wires   []assay.Wire
	jobs    []Recovery
	parts   []adoptedPart
	scratch artifacts.Sink  // outcomes as JSON, so that only their places are in memory
	index   []adoptedAnswer // by key, once it is whole
	waves   int             // of the study
	several bool            // the jobs are those of several runs
}

// LostRuns returns the runs that the stamps of jobs name, each once, in the order of the jobs.
func LostRuns(jobs []provider.Status) []string {
	var ids []string
	for _, st := range jobs {
		if id := st.Stamp.Run; id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// adoptedPart is a fetched part of a job.
type adoptedPart struct {
	job  int // in jobs
	file store.Artifact
}

// adoptedAnswer is where an answer is. A million of them take 40 MB.
type adoptedAnswer struct {
	key    assay.Key
	part   int32
	length int32 // in the scratch file, as at
	at     int64
	offset int64 // of the raw line in its part, as size
	size   int32
}

const adoptScratch = "adopt-scratch"

// open learns how the run's lanes at this provider are read.
func (a *adoption) open(ctx context.Context) (err error) {
	if a.access, err = a.Usable(a.name); err != nil {
		return err
	}
	if a.access.Batch == nil {
		return fmt.Errorf("%s has no batches", a.name)
	}
	if err := a.Reload(ctx); err != nil {
		return err
	}
	for _, l := range a.Lanes {
		if l.Provider != a.name {
			continue
		}
		r, err := a.Planner.Route(ctx, a.Run, l.Stage, l.Name, store.Batch)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(a.wires, func(w assay.Wire) bool { return w.Dialect == r.Wire.Dialect }) {
			a.wires = append(a.wires, r.Wire)
		}
	}
	if len(a.wires) == 0 {
		return fmt.Errorf("no lane of this run asks %s", a.name)
	}
	if err := a.Files.Remove(ctx, a.Run.ID, adoptScratch); err != nil { // of an adoption that was killed
		return err
	}
	a.scratch, err = artifacts.Create(ctx, a.Files, a.Run.ID, adoptScratch)
	return err
}

// take fetches a job's results and keeps where its answers are. A job that cannot be read harms no other.
func (a *adoption) take(ctx context.Context, st provider.Status) error {
	rec := Recovery{Job: st.Job, Word: st.Word}
	defer func() { a.jobs = append(a.jobs, rec) }()
	job := provider.Job{ID: st.Job, Stamp: st.Stamp, Model: st.Model, Wire: a.wires[0], Count: int(st.Counts.Total)}
	now, err := a.access.Batch.Check(ctx, job)
	if err != nil {
		rec.Why = err.Error()
		return ctx.Err()
	}
	rec.Word, rec.Open = now.Word, !now.State.Terminal()
	if rec.Open {
		return nil
	}
	for _, part := range now.Parts {
		file, err := a.fetch(ctx, job, part)
		if err != nil {
			rec.Why = err.Error()
			return ctx.Err()
		}
		if err := a.read(ctx, job, part, file, &rec); err != nil {
			return err
		}
	}
	return nil
}

func (a *adoption) fetch(ctx context.Context, job provider.Job, part provider.Part) (store.Artifact, error) {
	d := batch.Download{From: a.access.Batch, Job: job, Part: part, Run: a.Run.ID,
		Name: "adopt-" + artifacts.Name(job.ID) + "-" + artifacts.Name(part.Name)}
	return d.Into(ctx, a.Files)
}

// read keeps where the answers of a part are.
func (a *adoption) read(ctx context.Context, job provider.Job, part provider.Part, file store.Artifact, rec *Recovery) error {
	a.parts = append(a.parts, adoptedPart{len(a.jobs), file})
	var err error
	if job.Wire, err = a.wireOf(ctx, job, part, file); err != nil {
		return err
	}
	f, err := a.Files.Open(ctx, a.Run.ID, file.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	for line, err := range a.access.Batch.Decode(job, part, f) {
		if err != nil {
			rec.Why = err.Error()
			return nil
		}
		rec.Lines++
		_, key, err := assay.ParseCustomID(line.CustomID)
		if err != nil {
			rec.Foreign++
			continue
		}
		if !line.Outcome.Ending.Stands() {
			continue
		}
		rec.Answers++
		text, err := json.Marshal(line.Outcome)
		if err != nil {
			return err
		}
		a.index = append(a.index, adoptedAnswer{key: key, part: int32(len(a.parts) - 1), at: a.scratch.Size(), length: int32(len(text)),
			offset: line.Offset, size: int32(line.Length)})
		if _, err := a.scratch.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// wireOf returns the wire that reads most of the first lines: an OpenAI job may hold answers of either of its two APIs.
func (a *adoption) wireOf(ctx context.Context, job provider.Job, part provider.Part, file store.Artifact) (assay.Wire, error) {
	const enough = 20
	best, most := a.wires[0], -1
	for _, w := range a.wires {
		f, err := a.Files.Open(ctx, a.Run.ID, file.Name)
		if err != nil {
			return best, err
		}
		job.Wire = w
		read, seen := 0, 0
		for line, err := range a.access.Batch.Decode(job, part, f) {
			if err != nil || seen == enough {
				break
			}
			seen++
			if line.Outcome.Ending.Stands() && line.Outcome.Text != "" {
				read++
			}
		}
		if read > most {
			best, most = w, read
		}
		if err := f.Close(); err != nil {
			return best, err
		}
	}
	return best, nil
}

// join gives the run the answers that its questions wait for, until nothing more can be joined.
func (a *adoption) join(ctx context.Context) error {
	if _, err := a.scratch.Commit(); err != nil {
		return err
	}
	slices.SortStableFunc(a.index, func(x, y adoptedAnswer) int { return bytes.Compare(x.key[:], y.key[:]) })
	n := len(a.index)
	a.index = slices.CompactFunc(a.index, func(x, y adoptedAnswer) bool { return x.key == y.key })
	a.several = a.several || len(a.index) < n // if nothing is stamped: one run has one answer to a question
	if a.several && a.waves > 1 {
		for i := range a.jobs {
			a.jobs[i].Mixed = a.jobs[i].Answers > 0
		}
		return nil
	}
	outcomes, err := a.Files.Open(ctx, a.Run.ID, adoptScratch)
	if err != nil {
		return err
	}
	defer outcomes.Close()
	for joined := true; joined; {
		joined = false
		if err := a.Planner.Absorb(ctx, a.Run); err != nil {
			return err
		}
		groups, err := a.Groups(ctx)
		if err != nil {
			return err
		}
		for _, g := range groups {
			if l, _ := a.LaneOf(g.Stage, g.Lane); l.Provider != a.name {
				continue
			}
			some, err := a.joinGroup(ctx, g, outcomes)
			if err != nil {
				return err
			}
			joined = joined || some
		}
	}
	return nil
}

func (a *adoption) joinGroup(ctx context.Context, g engine.Group, outcomes io.ReaderAt) (some bool, err error) {
	c, err := a.NewCutter(ctx, g, store.Batch, store.ForWave)
	if err != nil {
		return false, err
	}
	for p, err := range a.Fresh(ctx, g) {
		if err != nil {
			return false, err
		}
		key := p.At.Key()
		i, found := slices.BinarySearchFunc(a.index, key, func(e adoptedAnswer, k assay.Key) int { return bytes.Compare(e.key[:], k[:]) })
		if !found {
			continue
		}
		s, err := a.settled(c, a.index[i], p, outcomes)
		if err != nil {
			return false, err
		}
		a.jobs[a.parts[a.index[i].part].job].Joined++
		some = true
		if err := c.Keep(ctx, s); err != nil {
			return false, err
		}
	}
	return some, c.SettleKnown(ctx)
}

// settled returns a request with the answer that was found for it.
func (a *adoption) settled(c *stage.Cutter, e adoptedAnswer, p engine.Planned, outcomes io.ReaderAt) (stage.Known, error) {
	text := make([]byte, e.length)
	if _, err := outcomes.ReadAt(text, e.at); err != nil && !errors.Is(err, io.EOF) {
		return stage.Known{}, err
	}
	var o assay.Outcome
	if err := json.Unmarshal(text, &o); err != nil {
		return stage.Known{}, err
	}
	return stage.Known{
		Attempt: store.Attempt{Key: e.key, Try: 1, At: p.At, Digest: c.Digest(p)},
		Outcome: store.Settlement{Key: e.key, Outcome: o, Cost: c.Route.Bill(store.Batch, o), Offset: e.offset, Length: int64(e.size)},
		Raw:     &a.parts[e.part].file,
	}, nil
}

// AdoptJob takes a job with our stamp for a segment that the ledger has not launched. It reports whether the segment could take it.
func (e *Engine) AdoptJob(ctx context.Context, segment int64, job string) (taken bool, err error) {
	return e.jobs.Adopt(ctx, segment, job)
}
