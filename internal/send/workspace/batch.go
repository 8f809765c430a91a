package workspace

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
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

// ErrNoFile is the error for a name that is not that of a file.
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
	if t.Name == "" { // its lines name it
		if t, err = w.Resolver().Complete(wish, batchrun.Target{Name: file.Provider, Mode: file.Mode, Reach: t.Reach}); err != nil {
			return nil, problems, err
		}
	}
	return &BatchFile{Name: name, Batch: batchrun.Batch{File: *file, Reach: t.Reach}, Target: t}, problems, nil
}

func (w *World) opener(name string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		f, err := w.Disk.Open(name)
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
	id, err := h.World.NewID()
	if err != nil {
		return store.Run{}, err
	}
	return h.Planner.Batches.Begin(ctx, store.NewRun{
		ID: id, Study: filepath.Base(f.Name), Folder: filepath.Dir(h.World.Disk.Path(f.Name)), Digest: f.Batch.Digest(),
		Note: note, By: h.World.User(), Rehearsal: h.Rehearsal, Budget: budget,
	}, f.Batch, h.World.opener(f.Name))
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
