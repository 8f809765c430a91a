package runs_test

import (
	"context"
	"io"
	"iter"

	"assay/internal/assay"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// deadly returns the provider as a process sees it that may die after a call took effect: the answer never reaches it.
func deadly(w *world, c *crash) func(string) (engine.Access, error) {
	d := &deadlyProvider{fake: w.fake, c: c}
	return func(name string) (engine.Access, error) {
		return engine.Access{Account: provider.Account{Name: name, Kind: "fake", BaseURL: "http://fake", Batch: d, Live: d},
			Fingerprint: "key1"}, nil
	}
}

type deadlyProvider struct {
	fake *fakeProvider
	c    *crash
}

// do makes a call, and dies before or after it if it is time. It reports whether the answer arrived.
func (d *deadlyProvider) do(name string, call func()) bool {
	may, dies := d.c.arrive("provider: " + name)
	if !may {
		return false
	}
	call()
	if dies {
		d.c.die()
	}
	return !dies
}

func (d *deadlyProvider) Limits() catalog.Limits { return d.fake.Limits() }

func (d *deadlyProvider) Prepare(ctx context.Context, p provider.BatchInput,
	h provider.Handle) (hd provider.Handle, r provider.Readiness, err error) {
	if !d.do("prepare", func() { hd, r, err = d.fake.Prepare(ctx, p, h) }) {
		return "", "", errDead
	}
	return hd, r, err
}

func (d *deadlyProvider) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) (r provider.Receipt) {
	if !d.do("launch", func() { r = d.fake.Launch(ctx, p, h) }) {
		return provider.Receipt{Status: provider.Unknown, Err: errDead}
	}
	return r
}

func (d *deadlyProvider) Check(ctx context.Context, job provider.Job) (st provider.Status, err error) {
	if !d.do("check", func() { st, err = d.fake.Check(ctx, job) }) {
		return provider.Status{}, errDead
	}
	return st, err
}

func (d *deadlyProvider) Fetch(ctx context.Context, job provider.Job, part provider.Part, into provider.Sink) (err error) {
	if !d.do("fetch", func() { err = d.fake.Fetch(ctx, job, part, into) }) {
		return errDead
	}
	return err
}

func (d *deadlyProvider) Decode(job provider.Job, part provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return d.fake.Decode(job, part, r)
}

func (d *deadlyProvider) Cancel(ctx context.Context, job provider.Job) (err error) {
	if !d.do("cancel", func() { err = d.fake.Cancel(ctx, job) }) {
		return errDead
	}
	return err
}

func (d *deadlyProvider) Stamped() bool { return d.fake.Stamped() }

func (d *deadlyProvider) Cursor(ctx context.Context) (cursor string, err error) {
	if !d.do("cursor", func() { cursor, err = d.fake.Cursor(ctx) }) {
		return "", errDead
	}
	return cursor, err
}

func (d *deadlyProvider) Find(ctx context.Context, s provider.Search) (f provider.Found, err error) {
	if !d.do("find", func() { f, err = d.fake.Find(ctx, s) }) {
		return provider.Found{}, errDead
	}
	return f, err
}

func (d *deadlyProvider) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	if !d.do("list", func() {}) {
		return func(yield func(provider.Status, error) bool) { yield(provider.Status{}, errDead) }
	}
	return d.fake.List(ctx)
}

func (d *deadlyProvider) Ask(ctx context.Context, r *assay.Request) (got provider.Reply, err error) {
	if !d.do("ask", func() { got, err = d.fake.Ask(ctx, r) }) {
		return provider.Reply{}, errDead
	}
	return got, err
}
