package runs

import (
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// Cache is how many requests of a lane in a stage read a part of their prompt from the provider's cache.
type Cache struct {
	Stage, Lane string
	Requests    int64 // that reported their tokens, without one that was sent ahead to write
	Hits        int64 // of them: those that read
	Paid        bool  // tokens were written to the cache, at a price of their own, or a request was sent ahead for it
}

// Rate returns the share of requests that read from the cache.
func (c Cache) Rate() float64 { return float64(c.Hits) / float64(c.Requests) }

// Low reports whether the cache was paid for, and fewer than half of the requests read from it.
func (c Cache) Low() bool { return c.Paid && 2*c.Hits < c.Requests }

// Words returns how many requests read from the cache.
func (c Cache) Words() string {
	return fmt.Sprintf("%s of %s read from the provider's cache (%.0f%%)", assay.Thousands(c.Hits), assay.Count(c.Requests, "request"),
		100*c.Rate())
}

// Warning returns what to do about a cache that is paid for and hardly read.
func (c Cache) Warning() string {
	return fmt.Sprintf("Warning: lane %s in stage %s: only %s, and writing to it costs extra: "+
		"`prompt_cache: false` in the study writes nothing.", c.Lane, c.Stage, c.Words())
}

// Caches returns those lanes of a run that read from a provider's cache or paid for it, in the order of their segments.
func Caches(segments []store.Segment) []Cache {
	var all []Cache
	at := map[store.Share]int{}
	for _, g := range segments {
		if g.Mode != store.Batch && g.Mode != store.Live {
			continue
		}
		lane := store.Share{Stage: g.Stage, Lane: g.Lane}
		i, ok := at[lane]
		if !ok {
			i = len(all)
			at[lane], all = i, append(all, Cache{Stage: g.Stage, Lane: g.Lane})
		}
		c := &all[i]
		ahead := g.Purpose == store.ForCanary && g.Mode == store.Batch
		c.Paid = c.Paid || ahead || g.WrittenTokens > 0
		if !ahead {
			c.Hits += g.CacheHits
			c.Requests += reported(g)
		}
	}
	kept := all[:0]
	for _, c := range all {
		if c.Requests > 0 && (c.Paid || c.Hits > 0) {
			kept = append(kept, c)
		}
	}
	return kept
}

// reported counts the replies of a segment that reported their tokens.
func reported(g store.Segment) int64 {
	n := -g.UsageUnknown
	for _, e := range []assay.Ending{assay.Answered, assay.Cut, assay.Empty, assay.Refused} {
		n += g.Endings[e]
	}
	return max(n, 0)
}
