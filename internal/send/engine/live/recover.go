package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/dialect"
)

// takeOver reads the logs of earlier holders of a live segment: answers that the ledger lacks are settled, and what was in
// flight is noted, before anything is asked again.
func (w *work) takeOver(ctx context.Context) error {
	all, err := w.logs(ctx)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Size > 0 { // its end is in the ledger
			continue
		}
		if err := w.replay(ctx, a); err != nil {
			return fmt.Errorf("read %s again: %w", a.Name, err)
		}
	}
	return nil
}

// logs returns the logs of the segment. A ledger that was put back lacks those of holders that came after it was saved: they are entered.
func (w *work) logs(ctx context.Context) ([]store.Artifact, error) {
	all, err := w.Ledger.Reader.Artifacts(ctx, w.Seg.No)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a store.Artifact) bool { return a.Kind != store.ArtifactLive })
	for k, err := range w.Files.List(ctx, w.Run.ID, fmt.Sprintf("s%d-live-", w.Seg.No)) {
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(a store.Artifact) bool { return a.Name == k.Name }) {
			continue
		}
		a := store.Artifact{Name: k.Name, Kind: store.ArtifactLive}
		if a.No, err = w.Ledger.Work.AddArtifact(ctx, w.Lease, a); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// replay takes over one log.
func (w *work) replay(ctx context.Context, a store.Artifact) error {
	p := &replaying{work: w, log: a, out: map[int64]bool{}, ahead: -1}
	if !p.named() {
		return errors.New("its name is not that of a live log")
	}
	err := p.read(ctx)
	if errors.Is(err, fs.ErrNotExist) { // anything may have been sent
		p.ahead, p.boot, p.size = math.MaxInt64, "", 1
		err = w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "doubt", a.Name+" is gone: what was in flight is not known")
	}
	if err != nil {
		return err
	}
	if p.settled > 0 {
		text := fmt.Sprintf("%s had reached a worker that stopped: read from %s", assay.Count(int(p.settled), "answer"), a.Name)
		if err := w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "recovered", text); err != nil {
			return err
		}
	}
	inFlight, err := p.inFlight(ctx)
	if err != nil {
		return err
	}
	if _, err := w.Ledger.Work.MarkInFlightLost(ctx, w.Lease, p.epoch, inFlight); err != nil {
		return err
	}
	a.Size = max(p.size, 1)
	_, err = w.Ledger.Work.AddArtifact(ctx, w.Lease, a)
	return err
}

// lookBack reads the logs of earlier holders once more, before the segment is settled: one that believed in its lease for too long has
// gone on sending after its log was taken over. What it sent since then was asked twice.
func (w *work) lookBack(ctx context.Context) error {
	all, err := w.Ledger.Reader.Artifacts(ctx, w.Seg.No)
	if err != nil {
		return err
	}
	for _, a := range all {
		p := &replaying{work: w, log: a, out: map[int64]bool{}, after: a.Size, later: map[int64]store.InFlight{}}
		if a.Kind != store.ArtifactLive || a.Size == 0 || !p.named() || p.epoch == w.Lease.Epoch {
			continue
		}
		if err := p.read(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s once more: %w", a.Name, err)
		}
		if err := p.askedTwice(ctx); err != nil {
			return err
		}
	}
	return nil
}

// askedTwice notes what the log has got since it was taken over, with what each request cost, or costs at most.
func (p *replaying) askedTwice(ctx context.Context) error {
	all := slices.Collect(maps.Values(p.later))
	var sent []store.Attempt
	if len(p.out) > 0 {
		for at, err := range p.Ledger.Reader.Attempts(ctx, p.Seg.No) {
			if err != nil {
				return err
			}
			if p.out[at.Ord] {
				sent = append(sent, at)
			}
		}
	}
	for some := range slices.Chunk(sent, mostPiece) {
		page, err := p.build(ctx, nil, some)
		if err != nil {
			return err
		}
		for _, f := range page {
			all = append(all, f.uncertain())
		}
	}
	_, err := p.Ledger.Work.MarkAskedTwice(ctx, p.Seg.No, p.epoch, p.log.No, all)
	return err
}

// named reads the epoch out of the log's name, and reports whether it is that of a live log.
func (p *replaying) named() bool {
	_, err := fmt.Sscanf(p.log.Name, fmt.Sprintf("s%d-live-%%d", p.Seg.No), &p.epoch)
	return err == nil
}

// replaying is one walk over the log of an earlier holder.
type replaying struct {
	*work
	log     store.Artifact
	epoch   int64
	boot    string
	ahead   int64          // the last request that may have been sent
	out     map[int64]bool // sent, and not back
	ended   bool
	after   int64                    // only what lies behind is read
	later   map[int64]store.InFlight // that came back there; nil: it is settled
	block   []store.Settlement
	bytes   int
	settled int64 // that the ledger lacked
	size    int64
	dec     dialect.Decoder
}

func (p *replaying) read(ctx context.Context) error {
	file, err := p.Files.Open(ctx, p.Run.ID, p.log.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	if p.size = file.Size(); p.size <= p.after {
		return nil
	}
	for r, err := range artifacts.Records(file) {
		if err != nil {
			return err
		}
		if r.Offset+int64(len(r.Body)) <= p.after {
			continue
		}
		if err := p.take(ctx, r); err != nil {
			return err
		}
	}
	return p.flush(ctx)
}

func (p *replaying) take(ctx context.Context, r artifacts.Record) error {
	var e entry
	if err := json.Unmarshal(r.Head, &e); err != nil {
		return err
	}
	switch e.Is {
	case entryOpen:
		p.boot = e.Boot
	case entryAhead:
		p.ahead = max(p.ahead, e.Ord)
	case entrySent:
		p.out[e.Ord] = true
	case entryBack:
		delete(p.out, e.Ord)
	case entryEnd:
		p.ended = true
	case entryGot:
		delete(p.out, e.Ord)
		if p.later != nil && e.Outcome != nil {
			if cost := p.Bill(*e.Outcome); cost == nil || *cost > 0 {
				p.later[e.Ord] = store.InFlight{Ord: e.Ord, High: cost}
			}
			return nil
		}
		return p.got(ctx, e, r)
	}
	return nil
}

// got settles an answer, unless the ledger has it.
func (p *replaying) got(ctx context.Context, e entry, r artifacts.Record) error {
	s, err := e.settlement(&p.dec, r)
	if err != nil {
		return err
	}
	if s.Length > 0 {
		s.Artifact = p.log.No
	}
	s.Cost, s.Unread = p.Bill(s.Outcome), p.Route.Unread(s.Outcome)
	p.block = append(p.block, s)
	if p.bytes += len(r.Body); len(p.block) < enoughHome && p.bytes < 8<<20 {
		return nil
	}
	return p.flush(ctx)
}

// settlement reads an answer out of its record.
func (e *entry) settlement(dec *dialect.Decoder, r artifacts.Record) (s store.Settlement, err error) {
	key, err := assay.ParseKey(e.Key)
	if err != nil || e.Outcome == nil {
		return s, fmt.Errorf("the record at %d: %w", r.Offset, errors.Join(err, artifacts.ErrDamaged))
	}
	s = store.Settlement{Ord: e.Ord, Key: key, Outcome: *e.Outcome}
	if len(r.Body) > 0 {
		s.Offset, s.Length, s.Sum = r.Offset, int64(len(r.Body)), artifacts.Sum(r.Body)
	}
	if e.As != "" {
		read := dec.Body(e.As, r.Body)
		s.Outcome.Text, s.Outcome.Thoughts = read.Text, read.Thoughts
	}
	return s, nil
}

func (p *replaying) flush(ctx context.Context) error {
	t, err := p.Ledger.Work.Settle(ctx, p.Lease, p.block)
	p.settled += t.Written
	p.block, p.bytes = p.block[:0], 0
	return err
}

// inFlight returns what may have been sent and has no answer: exactly that of the log, unless the machine has been started
// since, and may have forgotten the end of it.
func (p *replaying) inFlight(ctx context.Context) ([]store.InFlight, error) {
	exact := p.ended || p.boot != "" && p.boot == artifacts.Boot(p.Files)
	last := p.ahead
	if exact {
		if len(p.out) == 0 {
			return nil, nil
		}
		last = slices.Max(slices.Collect(maps.Keys(p.out)))
	}
	var open []store.Attempt
	for at, err := range p.openAttempts(ctx) {
		if err != nil {
			return nil, err
		}
		if at.Ord > last {
			break
		}
		if !exact || p.out[at.Ord] {
			open = append(open, at)
		}
	}
	var all []store.InFlight
	for some := range slices.Chunk(open, mostPiece) {
		page, err := p.build(ctx, nil, some)
		if err != nil {
			return nil, err
		}
		for _, f := range page {
			all = append(all, f.uncertain())
		}
	}
	return all, nil
}
