package engine

import (
	"cmp"
	"context"
	"iter"

	"assay"
	"assay/store"
)

// feed builds requests, a page ahead. Pages are small where requests are large, for their texts are in memory; how large
// they are, the lane's next segment knows.
func (a *asking) feed(ctx context.Context) {
	defer close(a.built)
	var page []store.Attempt
	n := cmp.Or(int(a.own.page.Load()), firstPage)
	for at, err := range a.open(ctx) {
		if err != nil {
			a.trouble <- err
			return
		}
		if page = append(page, at); len(page) < n {
			continue
		}
		bytes, ok := a.build(ctx, page)
		if !ok {
			return
		}
		n = nextPage(n, bytes)
		a.own.page.Store(int64(n))
		page = page[:0]
	}
	a.build(ctx, page)
}

const (
	// firstPage is how many requests are built at first, mostPage how many at most at a time.
	firstPage, mostPage = 32, 1024
	// pageBytes is how large the texts of a page are to be.
	pageBytes = 1 << 20
)

// nextPage is how many requests the page after one of n requests and so many bytes has.
func nextPage(n, bytes int) int {
	return min(max(pageBytes*n/max(bytes, 1), 1), 2*n, mostPage)
}

// build makes the requests of a page, and tells how large their texts are.
func (a *asking) build(ctx context.Context, page []store.Attempt) (bytes int, ok bool) {
	if len(page) == 0 {
		return 0, false
	}
	at := make([]assay.Coordinates, len(page))
	for i := range page {
		at[i] = page[i].At
	}
	planned, err := a.Planner.Build(ctx, a.run, store.Live, at)
	if err != nil {
		a.trouble <- err
		return 0, false
	}
	flights := make([]flight, len(page))
	for i := range page {
		flights[i] = flight{page[i], planned[i].Request}
		bytes += size(planned[i].Request)
	}
	select {
	case a.built <- flights:
		return bytes, true
	case <-ctx.Done():
		return bytes, false
	}
}

// open walks over the attempts that have no outcome, a page at a time: no query stays open while requests are asked.
func (a *asking) open(ctx context.Context) iter.Seq2[store.Attempt, error] {
	const page = 512
	return func(yield func(store.Attempt, error) bool) {
		for from := int64(0); ; {
			var some []store.Attempt
			for at, err := range a.Ledger.OpenAttempts(ctx, a.g.No, from) {
				if err != nil {
					yield(at, err)
					return
				}
				if some = append(some, at); len(some) == page {
					break
				}
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
