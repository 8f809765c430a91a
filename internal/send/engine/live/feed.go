package live

import (
	"context"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// feed builds requests, and reports its trouble; a stop is none.
func (a *sender) feed(ctx context.Context) {
	defer close(a.built)
	if err := a.buildAll(ctx); err != nil && ctx.Err() == nil {
		a.trouble(err)
	}
}

// buildAll builds requests, a page ahead. Pages are small where requests are large: their texts are in memory.
func (a *sender) buildAll(ctx context.Context) error {
	var piece []store.Attempt
	var page []outgoing
	bytes, most := 0, firstPage
	for at, err := range a.openAttempts(ctx) {
		if err != nil {
			return err
		}
		if piece = append(piece, at); len(piece) < min(most, mostPiece) {
			continue
		}
		if page, err = a.build(ctx, slices.Grow(page, most-len(page)), piece); err != nil {
			return err
		}
		if err := name(ctx, a.work, page[len(page)-len(piece):]); err != nil {
			return err
		}
		for _, f := range page[len(page)-len(piece):] {
			bytes += size(f.request)
		}
		piece = piece[:0]
		if len(page) < most && bytes < pageBytes {
			continue
		}
		if err := a.offer(ctx, page); err != nil {
			return err
		}
		most = nextPage(len(page), bytes)
		page, bytes = nil, 0
	}
	page, err := a.build(ctx, page, piece)
	if err == nil {
		err = name(ctx, a.work, page[len(page)-len(piece):])
	}
	if err != nil {
		return err
	}
	return a.offer(ctx, page)
}

const (
	// firstPage is how many requests are built at first, mostPage how many at most.
	firstPage, mostPage = 32, 1024
	// mostPiece is how many are built at once: how large they are shows when they are.
	mostPiece = 128
	// pageBytes is how large the texts of a page are to be.
	pageBytes = 1 << 20
)

// nextPage returns how many requests the page after one of n requests and so many bytes has.
func nextPage(n, bytes int) int {
	return min(max(pageBytes*n/max(bytes, 1), 1), 2*n, mostPage)
}

// build adds requests to a page.
func (w *work) build(ctx context.Context, page []outgoing, piece []store.Attempt) ([]outgoing, error) {
	if len(piece) == 0 {
		return page, nil
	}
	at := make([]assay.Coordinates, len(piece))
	for i := range piece {
		at[i] = piece[i].At
	}
	var planned []engine.Planned
	err := w.Insist(ctx, func() (err error) { planned, err = w.Planner.Build(ctx, w.Run, store.Live, at); return err })
	if err != nil {
		return page, err
	}
	for i := range piece {
		page = append(page, outgoing{Attempt: piece[i], request: planned[i].Request, high: planned[i].High})
	}
	return page, nil
}

// offer has a page ready to be sent. That it may be is in the log before.
func (a *sender) offer(ctx context.Context, page []outgoing) error {
	if len(page) == 0 {
		return nil
	}
	if err := a.note(ctx, entryAhead, store.InFlight{Ord: page[len(page)-1].Ord}, a.log.Sync); err != nil {
		return err
	}
	select {
	case a.built <- page:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// openAttempts walks over the attempts that have no outcome, a page at a time: no query stays open while requests are asked.
func (w *work) openAttempts(ctx context.Context) iter.Seq2[store.Attempt, error] {
	return func(yield func(store.Attempt, error) bool) {
		var some []store.Attempt
		for from := int64(0); ; {
			err := w.Insist(ctx, func() (err error) { some, err = w.openFrom(ctx, from, some[:0]); return err })
			if err != nil {
				yield(store.Attempt{}, err)
				return
			}
			if len(some) == 0 {
				return
			}
			from = some[len(some)-1].Ord + 1
			for _, at := range some {
				if !yield(at, nil) {
					return
				}
			}
		}
	}
}

// openFrom reads some attempts without an outcome, from an ordinal on, into a slice.
func (w *work) openFrom(ctx context.Context, from int64, some []store.Attempt) ([]store.Attempt, error) {
	const page = 512
	for at, err := range w.Ledger.Reader.OpenAttempts(ctx, w.Seg.No, from) {
		if err != nil {
			return some, err
		}
		if some = append(some, at); len(some) == page {
			break
		}
	}
	return some, nil
}
