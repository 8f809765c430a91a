package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/batch"
	"assay/internal/send/engine/hold"
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
	Segment int64  // it is the job of this segment, which had none
	Mixed   bool   // not taken: the jobs are those of several runs, and it may follow another one's answers
	Why     string // it could not be read

	Gone bool // with Why: it is not there any more

	cost    assay.Money // of its answers
	stamped bool        // it shows whose it is
}

// fail notes why a job could not be read.
func (r *Recovery) fail(err error) {
	f := provider.FaultOf(err)
	r.Why, r.Gone = err.Error(), f != nil && f.Class == assay.FaultGone
}

// Adopt takes the answers of jobs that the ledger does not know for those questions of a run that have none, because a
// ledger was lost. Answers are joined by the keys in their ids, turn after turn, as far as each follows an answer that
// was joined. An id does not name its run: of a study with several waves, the jobs of one run alone are taken, because
// an answer of another may follow other answers than those that were joined. Jobs with the ids of a segment that has none become
// its job; other segments that are not sent yet make room for the answers. Nothing is sent.
func (e *Engine) Adopt(ctx context.Context, run int64, name string, jobs []provider.Status, waves int) (all []Recovery, err error) {
	err = e.leases.Run(ctx, run, func(ctx context.Context, h *hold.LeaseHolder) error {
		x := e.extension(h.Lease)
		if x.Run, err = e.Ledger.Reader.Run(ctx, run); err != nil {
			return err
		}
		if all, err = x.adopt(ctx, name, jobs, waves); err != nil {
			return err
		}
		whole, err := wholly(ctx, x, all)
		return errors.Join(err, x.record(ctx, name, whole))
	})
	if err != nil {
		return nil, fmt.Errorf("adopt into run %d: %w", run, err)
	}
	return all, nil
}

// wholly returns the jobs of which every answer was joined, now or earlier. Others may answer what is asked once more answers are joined.
func wholly(ctx context.Context, x *extension, all []Recovery) (whole []Recovery, err error) {
	for _, r := range all {
		in, err := x.Ledger.Reader.AnswersIn(ctx, x.Run.No, adoptedBy(r.Job))
		if err != nil {
			return nil, err
		}
		if r.Joined == r.Answers || in.Answers >= r.Answers {
			whole = append(whole, r)
		}
	}
	return whole, nil
}

// adopt takes the answers of jobs at a provider, under the lease of the run.
func (x *extension) adopt(ctx context.Context, name string, jobs []provider.Status, waves int) ([]Recovery, error) {
	a := &adoption{extension: x, name: name, mode: store.Batch, waves: waves, several: len(LostRuns(jobs)) > 1}
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	for _, st := range jobs {
		if err := a.take(ctx, st); err != nil {
			return nil, fmt.Errorf("job %s: %w", st.Job, err)
		}
	}
	if err := a.join(ctx); err != nil {
		return nil, err
	}
	return a.jobs, a.Files.Remove(ctx, a.Run.ID, adoptScratch)
}

// record notes jobs whose answers were taken over, as far as they could be. What was joined is counted in the ledger: earlier looks at
// a job have joined some.
func (x *extension) record(ctx context.Context, name string, all []Recovery) error {
	for _, r := range all {
		if r.Segment != 0 || r.Open || r.Mixed || r.Why != "" && !r.Gone {
			continue
		}
		in, err := x.Ledger.Reader.AnswersIn(ctx, x.Run.No, adoptedBy(r.Job))
		if err != nil {
			return err
		}
		each := r.cost / assay.Money(max(r.Answers, 1))
		if in.Answers > 0 {
			each = in.Cost / assay.Money(in.Answers)
		}
		j := store.TakenJob{Provider: name, Job: r.Job, Answers: max(r.Answers, in.Answers), Joined: in.Answers, Segment: in.Segment}
		j.Twice = each * assay.Money(j.Answers-in.Answers)
		if !r.stamped && in.Answers == 0 { // of another run, by all that is known
			j.Answers, j.Twice = 0, 0
		}
		if err := x.Ledger.Work.TakeJob(ctx, x.Run.No, j); err != nil {
			return err
		}
	}
	return nil
}

// adoptedBy returns how the names of all artifacts begin that hold parts of a job that was taken over.
func adoptedBy(job string) string { return "adopt-" + artifacts.Name(job) + "-" }

// adoption gathers answers and joins them to a run.
type adoption struct {
	*extension
	name    string // of the provider; empty: of every one
	mode    store.SegmentMode
	access  engine.Access
	routes  []engine.Route  // of its lanes, one for each dialect
	unsent  []store.Segment // that have no job
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
	sum    uint32 // of the raw line
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
	if err := beginAdoption(ctx, a); err != nil {
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
		if !slices.ContainsFunc(a.routes, func(have engine.Route) bool { return have.Wire.Dialect == r.Wire.Dialect }) {
			a.routes = append(a.routes, r)
		}
	}
	if len(a.routes) == 0 {
		return fmt.Errorf("no lane of this run asks %s", a.name)
	}
	return nil
}

// beginAdoption learns which segments wait to be sent, and makes the scratch file.
func beginAdoption(ctx context.Context, a *adoption) (err error) {
	if err := errors.Join(a.DiscardScratch(ctx), freeHalfJoined(ctx, a), a.Reload(ctx)); err != nil {
		return err
	}
	if a.unsent, err = a.Ledger.Reader.Segments(ctx, a.Run.No, store.Staged, store.Uploaded, store.Intended, store.Held); err != nil {
		return err
	}
	a.unsent = slices.DeleteFunc(a.unsent, func(g store.Segment) bool {
		return g.Mode != store.Batch && g.Mode != a.mode || !asksAt(a.name, g.Provider)
	})
	if err := a.Files.Remove(ctx, a.Run.ID, adoptScratch); err != nil { // of an adoption that was killed
		return err
	}
	a.scratch, err = artifacts.Create(ctx, a.Files, a.Run.ID, adoptScratch)
	return err
}

// freeHalfJoined gives up segments that a killed adoption left half written: their questions wait for their answers again.
func freeHalfJoined(ctx context.Context, a *adoption) error {
	half, err := a.Ledger.Reader.Segments(ctx, a.Run.No, store.Staged, store.Launched)
	if err != nil {
		return err
	}
	for _, g := range half {
		if g.Mode != store.Reuse {
			continue
		}
		if err := a.engine.leases.Work(ctx, g.No, a.engine.queues.Step); err != nil {
			return err
		}
	}
	return nil
}

// take fetches a job's results and keeps where its answers are. A job that cannot be read harms no other.
func (a *adoption) take(ctx context.Context, st provider.Status) error {
	rec := Recovery{Job: st.Job, Word: st.Word, stamped: st.Stamp != (provider.Stamp{})}
	defer func() { a.jobs = append(a.jobs, rec) }()
	job := provider.Job{ID: st.Job, Stamp: st.Stamp, Model: st.Model, Wire: a.routes[0].Wire, Count: int(st.Counts.Total)}
	now, err := a.access.Batch.Check(ctx, job)
	if err != nil {
		rec.fail(err)
		return ctx.Err()
	}
	rec.Word, rec.Open = now.Word, !now.State.Terminal()
	if rec.Open {
		return nil
	}
	for _, part := range now.Parts {
		file, err := a.fetch(ctx, job, part)
		if err != nil {
			rec.fail(err)
			return ctx.Err()
		}
		if err := a.read(ctx, job, part, file, &rec); err != nil {
			return err
		}
		if rec.Segment != 0 {
			_, err := a.engine.AdoptJob(ctx, rec.Segment, st.Job)
			return err
		}
	}
	return nil
}

// asksAt reports whether a provider is the named one; the empty name is that of every one.
func asksAt(name, provider string) bool { return name == "" || name == provider }

// owner returns the segment without a job that made a line's id; 0: none did.
func (a *adoption) owner(nonce assay.Nonce) int64 {
	for _, g := range a.unsent {
		if g.Nonce == nonce {
			return g.No
		}
	}
	return 0
}

func (a *adoption) fetch(ctx context.Context, job provider.Job, part provider.Part) (store.Artifact, error) {
	d := batch.Download{From: a.access.Batch, Job: job, Part: part, Run: a.Run.ID,
		Name: adoptedBy(job.ID) + artifacts.Name(part.Name)}
	file, err := d.Here(ctx, a.Files)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = d.Into(ctx, a.Files)
	}
	return file, err
}

// read keeps where the answers of a part are.
func (a *adoption) read(ctx context.Context, job provider.Job, part provider.Part, file store.Artifact, rec *Recovery) error {
	a.parts = append(a.parts, adoptedPart{len(a.jobs), file})
	route, err := a.routeOf(ctx, job, part, file)
	if err != nil {
		return err
	}
	job.Wire = route.Wire
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
		nonce, key, err := assay.ParseCustomID(line.CustomID)
		if err != nil {
			rec.Foreign++
			continue
		}
		if rec.Segment = a.owner(nonce); rec.Segment != 0 {
			return nil
		}
		if !line.Outcome.Ending.Stands() {
			continue
		}
		rec.Answers++
		if c := route.Bill(store.Batch, line.Outcome); c != nil {
			rec.cost += *c
		}
		found := adoptedAnswer{key: key, offset: line.Offset, size: int32(line.Length), sum: line.Sum}
		if err := addAnswer(a, found, line.Outcome); err != nil {
			return err
		}
	}
	return nil
}

// addAnswer keeps an answer of the last part.
func addAnswer(a *adoption, e adoptedAnswer, o assay.Outcome) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	e.part, e.at, e.length = int32(len(a.parts)-1), a.scratch.Size(), int32(len(text))
	a.index = append(a.index, e)
	_, err = a.scratch.Write(text)
	return err
}

// routeOf returns the route whose wire reads most of the first lines: an OpenAI job may hold answers of either of its two APIs.
func (a *adoption) routeOf(ctx context.Context, job provider.Job, part provider.Part, file store.Artifact) (engine.Route, error) {
	const enough = 20
	best, most := a.routes[0], -1
	for _, route := range a.routes {
		f, err := a.Files.Open(ctx, a.Run.ID, file.Name)
		if err != nil {
			return best, err
		}
		job.Wire = route.Wire
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
			best, most = route, read
		}
		if err := f.Close(); err != nil {
			return best, err
		}
	}
	return best, nil
}

// AdoptJob takes a job with our stamp for a segment that the ledger has not launched. It reports whether the segment could take it.
func (e *Engine) AdoptJob(ctx context.Context, segment int64, job string) (taken bool, err error) {
	return e.jobs.Adopt(ctx, segment, job)
}
