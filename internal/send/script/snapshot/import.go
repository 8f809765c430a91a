package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/plan"
)

const (
	importBlock = 1000     // answers written in one transaction
	importBytes = 64 << 20 // answer text held before it is written to the ledger
)

// importAll writes the answers of every import stage into the ledger. The run is in preparation: what an interruption
// leaves behind belongs to a run that never opens.
func (s *Store) importAll(ctx context.Context, run store.Run, b Beginning) error {
	for i := range b.Input.Study.Stages {
		st := &b.Input.Study.Stages[i]
		if st.Import == nil {
			continue
		}
		facts, err := json.Marshal(st.Taken)
		if err != nil {
			return err
		}
		if err := s.Runs.PutPart(ctx, run.No, importPart+st.Name, bytes.NewReader(facts)); err != nil {
			return err
		}
		if b.Settings.Pilot {
			continue
		}
		if err := s.importStage(ctx, run, b, st); err != nil {
			return fmt.Errorf("import the answers of stage %s: %w", st.Name, err)
		}
	}
	return nil
}

func (s *Store) importStage(ctx context.Context, run store.Run, b Beginning, st *study.Stage) error {
	var lanes []*study.Lane
	for _, l := range b.Plan.Imports {
		if l.Stage == st.Name {
			lanes = append(lanes, l.Lane)
		}
	}
	in, err := b.Input.Incoming(ctx, st, lanes, b.Settings.Limit)
	if err != nil {
		return err
	}
	w := &importer{Store: s, ctx: ctx, run: run.No, lanes: lanes, file: st.Import.File, blocks: map[store.GroupKey]*store.Import{}}
	for a, err := range in.Answers() {
		if err != nil {
			return err
		}
		if err := w.add(a); err != nil {
			return err
		}
	}
	return w.flush()
}

// importer gathers answers by lane and turn, as segments hold them.
type importer struct {
	*Store
	ctx    context.Context
	run    int64
	lanes  []*study.Lane
	file   string
	blocks map[store.GroupKey]*store.Import
	held   int // bytes of text in all blocks
}

func (w *importer) add(a plan.Arrival) error {
	key := store.GroupKey{Stage: a.At.Stage, Lane: a.At.Lane, Turn: a.At.Turn}
	b := w.blocks[key]
	if b == nil {
		b = &store.Import{Run: w.run, GroupKey: key, File: w.file}
		for _, l := range w.lanes {
			if l.Name == key.Lane {
				b.Provider, b.Model = l.Provider, l.Model
			}
		}
		w.blocks[key] = b
	}
	b.Attempts = append(b.Attempts, store.Attempt{Key: a.At.Key(), Try: 1, At: a.At})
	b.Outcomes = append(b.Outcomes, store.Settlement{Outcome: a.Outcome, Cost: a.Cost})
	w.held += len(a.Outcome.Text) + len(a.Outcome.Thoughts)
	if w.held > importBytes {
		return w.flush()
	}
	if len(b.Attempts) < importBlock {
		return nil
	}
	return w.write(key)
}

func (w *importer) write(key store.GroupKey) error {
	b := w.blocks[key]
	delete(w.blocks, key)
	for _, o := range b.Outcomes {
		w.held -= len(o.Outcome.Text) + len(o.Outcome.Thoughts)
	}
	return w.Imports.Import(w.ctx, *b)
}

func (w *importer) flush() error {
	for key := range w.blocks {
		if err := w.write(key); err != nil {
			return err
		}
	}
	return nil
}

// importsOf returns the facts of the rows of a run's import stages when it began.
func (s *Store) importsOf(ctx context.Context, run int64, names []string) (map[string]study.Imported, error) {
	out := map[string]study.Imported{}
	for _, name := range names {
		var seen study.Imported
		there, err := s.decode(ctx, run, importPart+name, &seen)
		if err != nil {
			return nil, fmt.Errorf("what stage %s imported: %w", name, err)
		}
		if there {
			out[name] = seen
		}
	}
	return out, nil
}
