package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"path/filepath"
	"slices"

	"assay"
	"assay/inputs"
	"assay/plan"
	"assay/script"
	"assay/store"
	"assay/study"
)

// Edit is how the study in its folder differs from the one that a run works from.
type Edit struct {
	Run        store.Run
	Difference study.Difference
	input      *plan.Input // the study as it is now, read with the settings of the run
	digest     string
}

// Words say what changed.
func (e *Edit) Words() string {
	if len(e.Difference) == 0 {
		return "how it is written"
	}
	return e.Difference.String()
}

// edited compares the study that is wanted with the one that a run works from, both under the settings of the run. Items are
// compared only where nothing else changes requests, unless the whole difference is wanted.
func (h *Home) edited(ctx context.Context, want Wanted, run store.Run, digest string, whole bool) (*Edit, error) {
	e := &Edit{Run: run, digest: digest, input: want.Input}
	was, s, err := h.Planner.Kept(ctx, run)
	if _, unreadable := errors.AsType[assay.Problems](err); unreadable { // a later program has stricter rules
		e.Difference = study.Difference{{What: "the study", Asks: true}}
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	if s.Profile != want.Study.Profile || s.Mode != want.Study.Mode || !slices.Equal(s.Set, want.Study.Set) {
		o := StudyOptions{Profile: s.Profile, Set: s.Set, Mode: s.Mode, Prices: want.Study.Prices, Running: true}
		if e.input, _, err = h.World.ReadStudy(ctx, want.File, o); err != nil {
			return nil, err
		}
		if e.input == nil { // what the run was begun with cannot be applied to it any more
			e.Difference = study.Difference{{What: "the study", Asks: true}}
			return e, nil
		}
	}
	e.Difference = study.Compare(was, e.input.Study)
	if len(e.Difference.Asks()) > 0 && !whole {
		return e, nil
	}
	for _, in := range was.Inputs {
		if _, there := e.input.Study.Inputs.Find(in.Name); !there {
			continue
		}
		c, err := h.itemsEdited(ctx, run, in.Name, script.FirstItems(e.input.Rows.Items(ctx, in.Name), s.Limit))
		if err != nil {
			return nil, err
		}
		if c != nil {
			e.Difference = append(e.Difference, *c)
		}
	}
	return e, nil
}

// itemsEdited compares the items of an input with those that a run works from; nil: they are the same, in the same order.
func (h *Home) itemsEdited(ctx context.Context, run store.Run, input string, items iter.Seq2[assay.Item, error]) (*study.Change, error) {
	type kept struct {
		place int
		sum   [sha256.Size]byte
	}
	was := map[string]kept{}
	var ids []string
	for it, err := range h.Ledger.Items(ctx, run.No, input) {
		if err != nil {
			return nil, err
		}
		sum, err := itemSum(it)
		if err != nil {
			return nil, err
		}
		was[it.ID] = kept{len(ids), sum}
		ids = append(ids, it.ID)
	}
	c := &study.Change{What: "items of input " + input, Asks: true}
	last, moved := -1, false
	for it, err := range items {
		if err != nil {
			return nil, err
		}
		before, there := was[it.ID]
		if !there {
			c.Added = append(c.Added, it.ID)
			continue
		}
		delete(was, it.ID)
		moved, last = moved || before.place < last, before.place
		sum, err := itemSum(it)
		if err != nil {
			return nil, err
		}
		if sum != before.sum {
			c.Edited = append(c.Edited, it.ID)
		}
	}
	for _, id := range ids {
		if _, gone := was[id]; gone {
			c.Removed = append(c.Removed, id)
		}
	}
	if moved {
		c.What = "order of " + c.What
	}
	if !moved && len(c.Added)+len(c.Removed)+len(c.Edited) == 0 {
		return nil, nil
	}
	return c, nil
}

func itemSum(it assay.Item) ([sha256.Size]byte, error) {
	it.Place = assay.Place{}
	line, err := inputs.Encode(nil, it)
	return sha256.Sum256(line), err
}

// revise lets a run go on with the study as it is now. It reports whether the study was still the one that was compared.
func (h *Home) revise(ctx context.Context, want Wanted, e *Edit) (bool, error) {
	return h.Planner.Revise(ctx, script.Revision{
		Run: e.Run, Input: e.input, File: filepath.Base(want.File), Digest: e.digest, Files: h.World.Disk.Folder(filepath.Dir(want.File)), Difference: e.Difference, What: e.Words(),
	})
}
