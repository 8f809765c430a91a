package batchrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
)

// Begin writes a run and the snapshot it works from: the file itself, the position of each line, its lanes, and the
// lines refused before. The file must still be the one that was checked; else nothing of it will be sent.
func (p *Planner) Begin(ctx context.Context, n store.NewRun, b Batch, open func() (io.ReadCloser, error),
	refused ...batchfile.Refusal) (store.Run, error) {
	return p.BeginWithin(ctx, n, b, store.Allowance{}, open, refused...)
}

// BeginWithin begins a run if budgets cover its own. *store.AllowanceError: they do not, and nothing of it will be sent.
func (p *Planner) BeginWithin(ctx context.Context, n store.NewRun, b Batch, within store.Allowance, open func() (io.ReadCloser, error),
	refused ...batchfile.Refusal) (store.Run, error) {
	text, err := json.Marshal(settings{&b})
	if err != nil {
		return store.Run{}, err
	}
	n.Settings = string(text)
	run, err := p.Runs.CreateRun(ctx, n)
	if err != nil {
		return store.Run{}, fmt.Errorf("begin a run: %w", err)
	}
	if err := p.prepare(ctx, run, &b, open, refused, within); err != nil {
		// Nothing of it will be sent: remove the copy, so that it does not block another try.
		ctx := context.WithoutCancel(ctx)
		_, dead := p.Runs.AbandonRun(ctx, run.No)
		return store.Run{}, errors.Join(fmt.Errorf("begin run %s: %w", run.ID, err), p.Files.Remove(ctx, run.ID, kept), dead)
	}
	return p.Reader.Run(ctx, run.No)
}

func (p *Planner) prepare(ctx context.Context, run store.Run, b *Batch, open func() (io.ReadCloser, error), refused []batchfile.Refusal,
	within store.Allowance) error {
	if err := p.keep(ctx, run.ID, b, open); err != nil {
		return err
	}
	file, err := p.Files.Open(ctx, run.ID, kept)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := p.Runs.PutItems(ctx, run.No, input, items(b, file)); err != nil {
		return err
	}
	if err := p.Runs.PutItems(ctx, run.No, refusals, refusedItems(refused)); err != nil {
		return err
	}
	lanes := make([]store.Lane, len(b.File.Lanes))
	for i, l := range b.File.Lanes {
		lanes[i] = store.Lane{Run: run.No, Stage: stage, Name: l.Name, Provider: l.Provider, Model: l.Model, Params: "{}",
			Planned: l.Requests, State: store.LaneOpen, Canary: store.CanaryOff}
	}
	if err := p.Runs.PutLanes(ctx, lanes); err != nil {
		return err
	}
	return p.Clients.OpenClientRun(ctx, run.No, within)
}

// keep copies the file.
func (p *Planner) keep(ctx context.Context, run string, b *Batch, open func() (io.ReadCloser, error)) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	sink, err := artifacts.Create(ctx, p.Files, run, kept)
	if err != nil {
		return err
	}
	if _, err := io.Copy(sink, r); err != nil {
		return errors.Join(err, sink.Discard())
	}
	info, err := sink.Commit()
	if err != nil {
		return err
	}
	if info.SHA256 != b.File.SHA256 {
		return fmt.Errorf("%s was changed while it was read: send it again", b.File.Name)
	}
	return nil
}

func items(b *Batch, r io.Reader) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		for e, err := range b.File.Entries(r) {
			if err != nil {
				yield(assay.Item{}, err)
				return
			}
			if !yield(item(e), nil) {
				return
			}
		}
	}
}
