package findings

import "iter"

// aheadBlock is how many values go from one goroutine to the other at once.
const aheadBlock = 256

// ahead walks in a goroutine of its own, a few blocks ahead of who reads: reading the ledger and counting take turns no more. The walk
// has ended when this one has.
func ahead[T any](all iter.Seq2[T, error]) iter.Seq2[T, error] {
	type block struct {
		values []T
		err    error
	}
	return func(yield func(T, error) bool) {
		full, free, stop := make(chan block, 2), make(chan []T, 4), make(chan struct{})
		go func() {
			defer close(full)
			var b block
			send := func() bool {
				select {
				case full <- b:
				case <-stop:
					return false
				}
				select {
				case b.values = <-free:
				default:
					b.values = make([]T, 0, aheadBlock)
				}
				return true
			}
			for v, err := range all {
				if err != nil {
					b.err = err
					break
				}
				if b.values = append(b.values, v); len(b.values) == aheadBlock && !send() {
					return
				}
			}
			send()
		}()
		defer func() {
			close(stop)
			for range full { // until the walk has ended
			}
		}()
		for b := range full {
			for _, v := range b.values {
				if !yield(v, nil) {
					return
				}
			}
			if b.err != nil {
				var none T
				yield(none, b.err)
				return
			}
			select {
			case free <- b.values[:0]:
			default:
			}
		}
	}
}
