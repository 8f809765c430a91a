package stage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/dialect"
	"assay/internal/send/engine"
	"assay/internal/send/inlay"
	"assay/internal/send/provider"
	"assay/internal/study/media"
)

// Cutter writes requests of one group into segments: as the bytes that go out, or as a live slice.
type Cutter struct {
	*Extension
	group   engine.Group
	Route   engine.Route
	access  engine.Access
	mode    store.SegmentMode
	purpose store.Purpose
	recuts  int
	params  []byte // of the lane, for digests
	line    []byte
	grown   int64 // by how much the line is longer when it goes out
	cold    bool  // cache marks are left out: nothing would be read
	open    *draft
	instant []Known
	piece   piece   // of a failed segment, that the open one is made of
	shares  []int64 // what segments to come are to hold, where their number is set
	share   int64   // what the open one may still take
	sizes   *sizes  // of segments whose jobs will carry no stamp; nil: they will
}

// draft is the segment that is being written.
type draft struct {
	store.Segment
	sink     artifacts.Sink
	out      *bufio.Writer
	frame    dialect.Frame
	bytes    int64
	block    []store.Attempt
	cost     assay.Cost
	prompts  int64 // bytes of them
	requests int64
}

// attemptBlock is how many attempts are written in one transaction.
const attemptBlock = 1000

// NewCutter returns what cuts requests of a group into segments of a mode.
func (x *Extension) NewCutter(ctx context.Context, g engine.Group, mode store.SegmentMode, purpose store.Purpose) (*Cutter, error) {
	route, err := x.Planner.Route(ctx, x.Run, g.Stage, g.Lane, mode)
	if err != nil {
		return nil, err
	}
	access, err := x.Accounts(route.Lane.Provider)
	if err != nil {
		return nil, err
	}
	params, err := json.Marshal(route.Lane.Params)
	if err != nil {
		return nil, err
	}
	c := &Cutter{Extension: x, group: g, Route: route, access: access, mode: mode, purpose: purpose, params: params}
	if mode == store.Batch && route.Wire.CacheMarks {
		if c.cold, err = cold(ctx, x, g, purpose); err != nil {
			return nil, err
		}
	}
	if f, ok := access.Batch.(provider.Finder); ok && mode == store.Batch && !f.Stamped() {
		used, err := x.Ledger.Work.UnsentSizes(ctx, route.Lane.Provider)
		if err != nil {
			return nil, err
		}
		c.sizes = &sizes{used: used}
	}
	return c, nil
}

// add puts one request into the open segment, or into a new one if it does not fit.
func (c *Cutter) add(ctx context.Context, p engine.Planned, try int64) error {
	a := store.Attempt{Key: p.At.Key(), Try: try, At: p.At, Digest: c.Digest(p)}
	if c.open == nil {
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	if c.mode == store.Batch {
		if err := c.encode(a.Key, p); err != nil {
			return c.reject(a, assay.Fault{Class: assay.FaultInvalid, Message: err.Error()})
		}
		if most := c.limits().lineBytes; most > 0 && c.size() > most {
			why := fmt.Sprintf("the request has %d bytes, %s takes %d", c.size(), c.Route.Lane.Provider, most)
			return c.reject(a, assay.Fault{Class: assay.FaultLarge, Message: why})
		}
	}
	if c.open.requests > 0 && !c.fits() {
		if err := c.close(ctx); err != nil {
			return err
		}
		if err := c.begin(ctx); err != nil {
			return err
		}
		if c.mode == store.Batch { // under the new segment's nonce
			if err := c.encode(a.Key, p); err != nil {
				return err
			}
		}
	}
	return c.put(ctx, a, p)
}

// encode writes a request's line under the open segment's nonce.
func (c *Cutter) encode(key assay.Key, p engine.Planned) (err error) {
	if c.cold && p.Request.Wire.CacheMarks {
		plain, request := *p.Request.Wire, *p.Request
		plain.CacheMarks = false
		request.Wire, p.Request = &plain, &request
	}
	request := *p.Request
	if c.Route.Shows {
		request.Prompt, c.grown = inlay.Marked(request.Prompt, c.open.Nonce, c.uploads())
	}
	c.line, err = dialect.AppendLine(c.line[:0], assay.CustomID(c.open.Nonce, key), &request)
	return err
}

// uploads returns which files go out as ids.
func (c *Cutter) uploads() media.Uploads {
	if c.access.Files == nil {
		return media.Uploads{}
	}
	return c.Route.Uploads
}

// size returns the bytes of the line as it goes out.
func (c *Cutter) size() int64 { return int64(len(c.line)) + c.grown }

type cutLimits struct {
	requests         int64
	bytes, lineBytes int64
}

func (c *Cutter) limits() cutLimits {
	l := cutLimits{requests: int64(c.Route.Size)}
	if c.mode == store.Live {
		l.requests = liveSlice
		return l
	}
	p := c.access.Batch.Limits()
	if n := int64(p.Requests); n > 0 && (l.requests == 0 || n < l.requests) {
		l.requests = n
	}
	l.bytes, l.lineBytes = p.Bytes, p.LineBytes
	if c.sizes != nil {
		l.requests = c.sizes.next(l.requests)
	}
	return l
}

// liveSlice is how many live requests travel as one segment.
const liveSlice = 5000

func (c *Cutter) fits() bool {
	l := c.limits()
	if c.shares != nil && c.share == 0 {
		return false
	}
	if l.requests > 0 && c.open.requests >= l.requests {
		return false
	}
	after := c.open.frame.Size(int(c.open.requests)+1, c.open.bytes+c.size())
	if l.bytes == 0 || after <= l.bytes {
		return true
	}
	c.sizes.full(c.open.requests)
	return false
}

// parts returns the number of segments that n requests are divided into: as the study sets it, or so that none is left
// with too few; 0: they are cut where they are full.
func (c *Cutter) parts(n, least int64) int64 {
	full := c.limits().requests
	if c.Route.Segments > 0 || full == 0 || n <= full || n%full == 0 || n%full >= least {
		return int64(c.Route.Segments)
	}
	return n/full + 1
}

// divide makes the next n requests travel in so many segments, which differ by one request at most, the larger ones first.
// Those without a stamp differ by one from the next. One over the provider's limits is cut again.
func (c *Cutter) divide(n, parts int64) {
	if parts == 0 {
		return
	}
	c.shares = make([]int64, parts)
	apart := int64(0) // how much one is to differ from the next
	if c.sizes != nil && n >= parts*(parts+1)/2 {
		apart = 1
	}
	each := n - apart*parts*(parts-1)/2
	for i := range c.shares {
		c.shares[i] = each/parts + apart*(parts-1-int64(i))
		if int64(i) < each%parts {
			c.shares[i]++
		}
	}
}

func (c *Cutter) begin(ctx context.Context) error {
	if len(c.shares) > 0 && c.share <= 0 {
		c.share, c.shares = c.shares[0], c.shares[1:]
	}
	g, err := c.Ledger.Work.AddSegment(ctx, store.NewSegment{Run: c.Run.No, GroupKey: c.group.GroupKey, Mode: c.mode,
		Purpose: c.purpose, Provider: c.Route.Lane.Provider, Model: c.Route.Lane.Model, Nonce: c.Nonce(), Recuts: c.recuts}, c.Holder,
		c.Timing.Lease)
	if err != nil {
		return err
	}
	d := &draft{Segment: g}
	if c.mode == store.Batch {
		name := inputNames(g.No)[0]
		if c.Route.Shows {
			name = inputNames(g.No)[1]
		}
		if d.sink, err = artifacts.Create(ctx, c.Files, c.Run.ID, name); err != nil {
			return err
		}
		d.out = bufio.NewWriterSize(d.sink, 1<<17)
		d.frame = dialect.FrameOf(c.Route.Wire, c.Route.Lane.Model)
		if _, err := d.out.WriteString(d.frame.Open); err != nil {
			return err
		}
	}
	c.open = d
	return nil
}

// inputNames returns what the lines of a segment may be called: whole, and with marks in the place of files.
func inputNames(segment int64) [2]string {
	name := fmt.Sprintf("s%d-in", segment)
	return [2]string{name, name + inlay.Suffix}
}

// put writes a request's line and its attempt.
func (c *Cutter) put(ctx context.Context, a store.Attempt, p engine.Planned) error {
	d := c.open
	if c.mode == store.Batch {
		if d.requests > 0 {
			if _, err := d.out.WriteString(d.frame.Separator); err != nil {
				return err
			}
		}
		if _, err := d.out.Write(c.line); err != nil {
			return err
		}
		d.bytes += c.size()
	}
	a.Ord = d.requests
	d.requests++
	c.share--
	cost := p.Expected
	if c.Policy.ReserveHigh {
		cost = p.High
	}
	d.cost = d.cost.Add(cost)
	d.prompts += p.Request.PromptBytes()
	if d.block = append(d.block, a); len(d.block) < attemptBlock {
		return nil
	}
	return c.flush(ctx)
}

func (c *Cutter) flush(ctx context.Context) error {
	err := c.Ledger.Work.AddAttempts(ctx, c.open.Lease, c.open.block)
	c.open.block = c.open.block[:0]
	return err
}

// close stages the open segment: from here on it can go.
func (c *Cutter) close(ctx context.Context) error {
	if c.open == nil || c.open.requests == 0 {
		return c.giveUp(ctx)
	}
	d := c.open
	if err := c.flush(ctx); err != nil {
		return err
	}
	bytes := store.Bytes{Tokens: d.prompts / bytesPerToken}
	if c.mode == store.Batch {
		_, err := d.out.WriteString(d.frame.Close)
		if err = errors.Join(err, d.out.Flush()); err != nil {
			return err
		}
		info, err := d.sink.Commit()
		if err != nil {
			return err
		}
		bytes.Name, bytes.Size, bytes.SHA256 = info.Name, info.Size, info.SHA256
	}
	c.open = nil
	if err := c.Ledger.Work.Stage(ctx, d.Lease, bytes, d.cost.Sum, d.cost.Unknown, c.Clock.Now()); err != nil {
		return err
	}
	c.Made++
	c.sizes.take(d.requests)
	return c.Ledger.Leases.Release(ctx, d.Lease)
}

// bytesPerToken is the size of a token of a prompt on average. Where it matters, the provider's refusals set it right.
const bytesPerToken = store.BytesPerToken

// finish stages what is open and settles what needs no sending.
func (c *Cutter) finish(ctx context.Context) error {
	if err := c.close(ctx); err != nil {
		return err
	}
	return c.SettleKnown(ctx)
}

// giveUp takes an empty or unfinished segment away.
func (c *Cutter) giveUp(ctx context.Context) error {
	if c.open == nil {
		return nil
	}
	d := c.open
	c.open = nil
	var err error
	if d.sink != nil {
		err = d.sink.Discard()
	}
	return errors.Join(err, c.Ledger.Work.Discard(context.WithoutCancel(ctx), d.Lease))
}

// baseURL returns where the requests go.
func (c *Cutter) baseURL() string {
	if c.access.Missing != nil && c.Route.BaseURL != "" {
		return c.Route.BaseURL
	}
	return c.access.BaseURL
}

// Digest returns the canonical value of a request.
func (c *Cutter) Digest(p engine.Planned) []byte {
	return p.Request.Digest(c.baseURL(), c.params, p.At.Draw)
}
