package tokens

import (
	"container/heap"
	"math"
	"unicode/utf8"
)

// Counter counts the tokens of texts. It is not safe for concurrent use.
type Counter struct {
	links []link
	pairs pairs
}

// NewCounter returns a counter.
func NewCounter() *Counter { return &Counter{} }

// Count returns the number of tokens in a text. Bytes that are not UTF-8 count as U+FFFD, each on its own.
func (c *Counter) Count(text string) int {
	all := []byte(text)
	if !utf8.ValidString(text) {
		all = []byte(string([]rune(text)))
	}
	n := 0
	for len(all) > 0 {
		end := cut(all)
		n += c.count(all[:end])
		all = all[end:]
	}
	return n
}

// noRank is the rank of what is no token.
const noRank = math.MaxUint32

// link is a byte of a piece at which a part may begin: a doubly linked list that loses a member with every merge.
type link struct {
	before, after int32  // where the parts around this one begin; after is len(piece) for the last
	rank          uint32 // of this part and the next one as one token
}

// count merges the bytes of a piece pair by pair, always the pair with the lowest rank, and returns how many parts remain.
func (c *Counter) count(piece []byte) int {
	if rankOf(piece) != noRank {
		return 1
	}
	c.links, c.pairs = c.links[:0], c.pairs[:0]
	for i := range piece {
		c.links = append(c.links, link{before: int32(i) - 1, after: int32(i) + 1, rank: noRank})
	}
	for i := range piece {
		c.offer(piece, int32(i))
	}
	parts := len(piece)
	for len(c.pairs) > 0 {
		best := heap.Pop(&c.pairs).(pair)
		first := &c.links[best.at]
		if first.rank != best.rank { // merged since, with another
			continue
		}
		parts--
		second := c.links[first.after]
		c.links[first.after].rank = noRank
		first.after = second.after
		if int(second.after) < len(piece) {
			c.links[second.after].before = best.at
		}
		c.offer(piece, best.at)
		if first.before >= 0 {
			c.offer(piece, first.before)
		}
	}
	return parts
}

// offer ranks the pair of a part and the next one, and queues it if it is a token.
func (c *Counter) offer(piece []byte, at int32) {
	l := &c.links[at]
	l.rank = noRank
	if int(l.after) == len(piece) {
		return
	}
	if l.rank = rankOf(piece[at:c.links[l.after].after]); l.rank != noRank {
		heap.Push(&c.pairs, pair{rank: l.rank, at: at})
	}
}

// pair is a part that may be merged with the next one.
type pair struct {
	rank uint32
	at   int32
}

// pairs is a heap: the lowest rank first, of equal ranks the leftmost.
type pairs []pair

func (p pairs) Len() int      { return len(p) }
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].at < p[j].at
}
func (p *pairs) Push(x any) { *p = append(*p, x.(pair)) }
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
