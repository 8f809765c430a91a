package batchrun

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/keep/store/clients"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/runs"
	"assay/internal/send/batchfile"
	"assay/internal/send/engine"
	"assay/internal/send/learned"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// Planner makes the requests of all batch runs of a ledger. It keeps nothing and is safe for concurrent use.
type Planner struct {
	Runs    *runs.Store
	Clients *clients.Store
	Reader  *read.Reader
	Files   artifacts.Place
	Catalog *catalog.Catalog
}

var _ engine.Planner = (*Planner)(nil)

// maxSize is the most requests of one job where the provider knows no limit: what is held to settle one stays small.
const maxSize = 100_000

// Policy sends everything once, and again only what failed without an answer. The budget of a gateway's batch is a hard cap:
// it is a share of one that others spend from as well.
func (p *Planner) Policy(_ context.Context, run store.Run) (engine.Policy, error) {
	b, err := of(run)
	return engine.Policy{ReserveHigh: err == nil && b.Client != nil}, err
}

// Route returns how a lane's requests travel in a mode.
func (p *Planner) Route(_ context.Context, run store.Run, _, lane string, mode store.SegmentMode) (engine.Route, error) {
	b, err := of(run)
	if err != nil {
		return engine.Route{}, err
	}
	return p.route(run, b, lane, mode)
}

func (p *Planner) route(run store.Run, b *Batch, lane string, mode store.SegmentMode) (engine.Route, error) {
	i := slices.IndexFunc(b.File.Lanes, func(l batchfile.Lane) bool { return l.Name == lane })
	if i < 0 {
		return engine.Route{}, fmt.Errorf("run %s has no lane %q", run.ID, lane)
	}
	l := b.File.Lanes[i].Lane
	r := engine.Route{Lane: l, Wire: b.File.Wire(p.Catalog, l, travel(mode)), Size: maxSize}
	r.Live.Lane.Concurrency = b.Width
	if b.Size > 0 {
		r.Size = min(maxSize, b.Size)
	}
	r.Price, _ = p.Catalog.Price(b.File.KindOf(l), l.Model)
	return r, nil
}

// travel returns a segment's mode in the catalogue's words.
func travel(mode store.SegmentMode) assay.Mode {
	if mode == store.Live {
		return assay.ModeLive
	}
	return assay.ModeBatch
}

// Absorb has nothing to do: a batch run has no judges.
func (p *Planner) Absorb(context.Context, store.Run) error { return nil }

// Groups returns one for each model of the file; all of them can go at once.
func (p *Planner) Groups(_ context.Context, run store.Run) ([]engine.Group, error) {
	b, err := of(run)
	if err != nil {
		return nil, err
	}
	var out []engine.Group
	for _, l := range b.File.Lanes {
		mode := store.Batch
		if b.modeOf(l) == assay.ModeLive {
			mode = store.Live
		}
		out = append(out, engine.Group{GroupKey: store.GroupKey{Stage: stage, Lane: l.Name, Turn: 1}, Wave: 1, Mode: mode, Final: true})
	}
	return out, nil
}

// modeOf returns how the requests of a lane travel.
func (b *Batch) modeOf(l batchfile.Lane) assay.Mode { return cmp.Or(l.Mode, b.File.Mode) }

// Requests walks over the lines of one model that were not sent before, in the order of the file.
func (p *Planner) Requests(ctx context.Context, run store.Run, g engine.Group, sent engine.Sent) iter.Seq2[engine.Planned, error] {
	return func(yield func(engine.Planned, error) bool) {
		m, err := p.maker(ctx, run, g.Lane, g.Mode)
		if err != nil {
			yield(engine.Planned{}, err)
			return
		}
		defer m.file.Close()
		var block []Line
		for l, err := range Lines(ctx, p.Reader, run.No) {
			if err != nil {
				yield(engine.Planned{}, err)
				return
			}
			if l.Lane != g.Lane {
				continue
			}
			if block = append(block, l); len(block) == blockSize {
				if !m.unsent(ctx, block, sent, yield) {
					return
				}
				block = block[:0]
			}
		}
		m.unsent(ctx, block, sent, yield)
	}
}

// blockSize is how many lines are made into requests at a time.
const blockSize = 256

// unsent makes those lines of a block that were not sent before. It reports whether the walk goes on.
func (m *maker) unsent(ctx context.Context, block []Line, sent engine.Sent, yield func(engine.Planned, error) bool) bool {
	var before map[assay.Key]int64
	if sent != nil {
		refs := make([]assay.Ref, len(block))
		for i, l := range block {
			refs[i] = At(l.ID, l.Lane).Ref()
		}
		var err error
		if before, err = sent(ctx, refs); err != nil {
			yield(engine.Planned{}, err)
			return false
		}
	}
	for _, l := range block {
		if _, ok := before[At(l.ID, l.Lane).Key()]; ok {
			continue
		}
		made, err := m.make(l)
		if !yield(made, err) || err != nil {
			return false
		}
	}
	return true
}

// Redo adds nothing: a line that is to be asked once more is written once more.
func (p *Planner) Redo(context.Context, store.Run, store.Redo) ([]store.Share, error) {
	return nil, nil
}

// Retries adds nothing: no judge is asked in a batch file.
func (p *Planner) Retries(context.Context, store.Run, []string) ([]store.Share, error) {
	return nil, nil
}

// OpenShown opens nothing: what a file's requests show stands in its lines.
func (p *Planner) OpenShown(context.Context, store.Run, assay.Sum) (io.ReadCloser, error) {
	return nil, fs.ErrNotExist
}

// Build makes requests again from their coordinates, in the same order.
func (p *Planner) Build(ctx context.Context, run store.Run, mode store.SegmentMode, at []assay.Coordinates) ([]engine.Planned, error) {
	makers := map[string]*maker{}
	defer func() {
		for _, m := range makers {
			m.file.Close()
		}
	}()
	out := make([]engine.Planned, 0, len(at))
	for _, c := range at {
		m, ok := makers[c.Lane]
		if !ok {
			var err error
			if m, err = p.maker(ctx, run, c.Lane, mode); err != nil {
				return nil, err
			}
			makers[c.Lane] = m
		}
		it, err := p.Reader.Item(ctx, run.No, input, c.Item)
		if err != nil {
			return nil, fmt.Errorf("line %q of run %s: %w", c.Item, run.ID, err)
		}
		l, err := lineOf(it)
		if err != nil {
			return nil, err
		}
		made, err := m.make(l)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// maker turns lines of one lane into requests.
type maker struct {
	route engine.Route
	meter *batchfile.Meter
	file  artifacts.File
}

func (p *Planner) maker(ctx context.Context, run store.Run, lane string, mode store.SegmentMode) (*maker, error) {
	b, err := of(run)
	if err != nil {
		return nil, err
	}
	m := &maker{}
	if m.route, err = p.route(run, b, lane, mode); err != nil {
		return nil, err
	}
	m.meter = batchfile.NewMeter(p.Catalog, b.File.KindOf(m.route.Lane), m.route.Lane, travel(mode))
	m.meter.Marked = b.Client == nil // a gateway writes its bodies anew
	seen, err := p.seen(ctx, run, m.route.Lane)
	if err != nil {
		return nil, err
	}
	m.meter.Reserve(seen.Mean)
	if m.file, err = p.Files.Open(ctx, run.ID, kept); err != nil {
		return nil, fmt.Errorf("open the file of run %s: %w", run.ID, err)
	}
	return m, nil
}

// seen returns what answers like those of a lane took, best in the run itself.
func (p *Planner) seen(ctx context.Context, run store.Run, lane assay.Lane) (plan.Observed, error) {
	if o, err := learned.InRun(ctx, p.Reader, run.No, stage, lane.Name); o.N > 0 || err != nil {
		return o, err
	}
	book, err := learned.Open(ctx, p.Reader, run, []string{lane.Model})
	return book.Before(stage, 1, false, lane), err
}

func (m *maker) make(l Line) (engine.Planned, error) {
	text, err := body(m.file, l)
	if err != nil {
		return engine.Planned{}, err
	}
	at := At(l.ID, l.Lane)
	expected, high := m.meter.Estimate(text, l.Prompt, l.Limit)
	return engine.Planned{At: at, Expected: expected, High: high,
		Request: &assay.Request{Key: at.Key(), Lane: &m.route.Lane, Wire: &m.route.Wire, Prompt: &assay.Prompt{}, Body: text}}, nil
}
