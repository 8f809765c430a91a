package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/dispatch/local"
	"assay/internal/send/engine"
	"assay/internal/show/notify"
	"assay/internal/study/catalog"
)

// Batches reads the batch runs of the home.
func (h *Home) Batches() *batchrun.Reader {
	return &batchrun.Reader{Ledger: h.Ledger.Reader, Pages: h.Ledger.Pages, Files: h.Files, Catalog: catalog.Default()}
}

// Resolver reads which provider a user means, with settings from the environment.
func (w *World) Resolver() batchrun.Resolver {
	return batchrun.Resolver{Catalog: catalog.Default(), Env: w.Env}
}

// Dial opens the account of a target.
func (w *World) Dial(t batchrun.Target) (engine.Access, error) {
	return w.Accounts(batchrun.Providers("", t.Name, t.Kind, t.Reach)).Access(t.Name)
}

// BatchFile is a file that was read from end to end, and where it goes.
type BatchFile struct {
	Name   string // as its user calls it
	Batch  batchrun.Batch
	Target batchrun.Target
}

// ErrNoFile says that a name is not that of a file.
var ErrNoFile = errors.New("no file")

// CheckBatch reads a batch file from end to end. Model is for lines that name none. The file is nil when it cannot be sent.
func (w *World) CheckBatch(ctx context.Context, name, model string, wish batchrun.Wish) (*BatchFile, assay.Problems, error) {
	t, err := w.Resolver().Target(wish)
	if err != nil {
		return nil, nil, err
	}
	file, problems, err := batchfile.Check(ctx, w.opener(name), batchfile.Options{
		Name: name, Provider: t.Name, Kind: t.Kind, Model: model, Mode: t.Mode, Catalog: catalog.Default(), Today: catalog.DateOf(w.Now()),
	})
	if err != nil || file == nil {
		return nil, problems, err
	}
	if t.Name == "" { // its lines say it
		if t, err = w.Resolver().Complete(wish, batchrun.Target{Name: file.Provider, Mode: file.Mode, Reach: t.Reach}); err != nil {
			return nil, problems, err
		}
	}
	return &BatchFile{Name: name, Batch: batchrun.Batch{File: *file, Reach: t.Reach}, Target: t}, problems, nil
}

func (w *World) opener(name string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		f, err := os.Open(w.Disk.Path(name))
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return nil, errors.Join(ErrNoFile, err, f.Close())
		}
		return f, nil
	}
}

// SentBefore finds the run of a file that was sent before to the same place; false: there is none.
func (h *Home) SentBefore(ctx context.Context, f *BatchFile) (store.Run, bool, error) {
	return h.Batches().SentBefore(ctx, filepath.Base(f.Name), f.Batch)
}

// BeginBatch records a file; from then on it is safe.
func (h *Home) BeginBatch(ctx context.Context, f *BatchFile, note string, budget *assay.Money) (store.Run, error) {
	id, err := NewID()
	if err != nil {
		return store.Run{}, err
	}
	return h.Planner.Batches.Begin(ctx, store.NewRun{
		ID: id, Study: filepath.Base(f.Name), Folder: filepath.Dir(h.World.Disk.Path(f.Name)), Digest: f.Batch.Digest(),
		Note: note, By: h.World.User(), Rehearsal: h.Rehearsal, Budget: budget,
	}, f.Batch, h.World.opener(f.Name))
}

// BatchDrive is how a batch run is driven.
type BatchDrive struct {
	Interval time.Duration                   // between looks at a job; 0: as usual
	Moved    func(ctx context.Context) error // called when something was done
	Held     func(*store.HeldError)          // called when another process holds what is due
	Away     func(error)                     // called when the ledger cannot be reached and is waited for
	Until    func(engine.Standing) bool      // ends the drive when nothing more can be done at once; nil: never
}

// abreast is how many jobs of a file are moved at a time: what is held in memory is theirs, however large the file is.
const abreast = 4

// DriveBatch works on a batch run until it is closed, or nothing moves any more, or Until says so.
func (h *Home) DriveBatch(ctx context.Context, run store.Run, d BatchDrive) (engine.Standing, error) {
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return engine.Standing{}, err
	}
	e, err := h.Engine(ctx, run, s)
	if err != nil {
		return engine.Standing{}, err
	}
	defer e.Close()
	if d.Interval > 0 {
		e.Timing.PollMin, e.Timing.PollMax = d.Interval, d.Interval
	}
	if err := h.Ledger.Leases.RunDue(ctx, run.No, h.Ledger.Now()); err != nil {
		return engine.Standing{}, err
	}
	driver := &local.Driver{Engine: e.Engine, Workers: abreast, Moved: d.Moved, Held: d.Held, Gone: h.Gone, Away: d.Away, Until: d.Until}
	return driver.Drive(ctx, run.No)
}

// Patience is how long sending waits for a provider that takes its time with an upload.
const Patience = 2 * time.Minute

// Sent ends a drive when the jobs of a run are made, or at a time.
func (h *Home) Sent(ctx context.Context, run store.Run, end time.Time) func(engine.Standing) bool {
	return func(engine.Standing) bool {
		n, err := h.Batches().Unsent(ctx, run)
		return err != nil || n == 0 || h.World.Now().After(end)
	}
}

// RetryBatch opens a run again and orders another try of what ended in one of some ways. Live is true where it is asked
// live.
func (h *Home) RetryBatch(ctx context.Context, run store.Run, only []assay.Ending) (live bool, err error) {
	order := engine.Retry{Only: only, Mode: store.Batch}
	if b, ok := batchrun.Of(run); ok && b.File.Mode == assay.ModeLive {
		order.Mode, live = store.Live, true
	}
	text, err := json.Marshal(order)
	if err != nil {
		return live, err
	}
	if err := h.Ledger.Work.ReopenRun(ctx, run.No, "retry"); err != nil {
		return live, err
	}
	_, err = h.PutOrder(ctx, run, store.Order{Kind: store.OrderRetry, Args: string(text)})
	return live, err
}

// RefreshJobs asks the providers how the jobs of runs stand.
func (h *Home) RefreshJobs(ctx context.Context, runs []store.Run, jobs []batchrun.Job) {
	accounts := map[string]*Accounts{}
	for i := range jobs {
		id := jobs[i].Run
		k := slices.IndexFunc(runs, func(r store.Run) bool { return r.ID == id })
		if k < 0 || !jobs[i].Moves() {
			continue
		}
		if accounts[id] == nil {
			s, err := h.Planner.Study(ctx, runs[k])
			if err != nil {
				jobs[i].Note = "not asked: " + err.Error()
				continue
			}
			accounts[id] = h.World.Accounts(s)
		}
		jobs[i].Refresh(ctx, accounts[id].Access)
	}
}

// NotifyBatches sends the news of batch runs to notification URLs, or to those that variables hold. News of rehearsals are
// not sent.
func (h *Home) NotifyBatches(ctx context.Context, runs []store.Run, to []string, news string) error {
	if len(to) == 0 || h.Rehearsal {
		return nil
	}
	var urls, ids []string
	for _, name := range to {
		if v, ok := strings.CutPrefix(name, "$"); ok {
			name = h.World.env(strings.Trim(v, "{}"))
		}
		if name != "" {
			urls = append(urls, name)
		}
	}
	for _, r := range runs {
		ids = append(ids, r.ID+" ("+r.Study+")")
	}
	return notify.Send(ctx, urls, fmt.Sprintf("assay: batch %s: %s", strings.Join(ids, ", "), news))
}

// GatewayStudy is the name under which the runs of gateways are listed.
const GatewayStudy = "gateway"

// RoutedBatch is a batch that a client sent to a gateway, ready to be begun.
type RoutedBatch struct {
	ID      string // of the run
	Name    string // of the client's file
	By      string // the user
	Batch   batchrun.Batch
	Refused []batchfile.Refusal
	Budget  *assay.Money
	Within  store.Allowance               // covers the budget, or it is not begun
	Open    func() (io.ReadCloser, error) // what the router wrote
}

// BeginRouted records a client's batch; from then on it is safe.
func (h *Home) BeginRouted(ctx context.Context, r RoutedBatch) (store.Run, error) {
	return h.Planner.Batches.BeginWithin(ctx, store.NewRun{
		ID: r.ID, Study: GatewayStudy, Digest: r.Batch.Digest(), Note: r.Name, By: r.By, Rehearsal: h.Rehearsal, Budget: r.Budget,
	}, r.Batch, r.Within, r.Open, r.Refused...)
}
