// Package provider is the port to the vendors' batch and live APIs, with the transport kit their files are written
// with.
//
// The port is stateless: nothing in it retries, sleeps, logs or remembers. A vendor returns what happened, errors as a
// classified *assay.Fault; the caller decides what to do next. Times come from the server or from the caller.
package provider

import (
	"context"
	"io"
	"iter"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

// Account is one configured provider: its batches, its live calls, or both.
type Account struct {
	Name    string   // the name under `providers:` of the study, or the vendor's own
	Kind    string   // which vendor file drives it
	BaseURL string   // where requests go: scheme, host and path, nothing secret
	Batch   Provider // nil: this provider has no batches
	Live    Asker    // nil: this provider cannot be asked live
	Files   Keeper   // nil: requests hold what they show
}

// Provider carries requests in bulk. A segment goes through it in this order: Prepare until ready, Launch once, Check
// until the state is terminal, Fetch every part, Decode what was fetched.
//
// Every error wraps an *assay.Fault, unless the context ended; no error text carries a key or a URL's query.
type Provider interface {
	// Limits is the catalogue's row for this provider, with the overrides of the configuration.
	Limits() catalog.Limits

	// Prepare uploads what the job needs. It costs nothing and may be repeated at any point with the handle of the last
	// call, also with an older or empty one. The returned handle is worth storing even beside an error: it lets the
	// next call resume.
	Prepare(ctx context.Context, p BatchInput, h Handle) (Handle, Readiness, error)

	// Launch is the one call that costs money. It is sent at most once, and follows no redirect. The receipt is
	// accepted or refused only if that is certain.
	Launch(ctx context.Context, p BatchInput, h Handle) Receipt

	// Check reads the state of the job and the parts that can be fetched. Parts may be there before the job has ended,
	// and in every terminal state.
	Check(ctx context.Context, job Job) (Status, error)

	// Fetch writes one part's bytes into the sink, continuing an earlier cut fetch where the server allows it. It
	// returns nil only if the part is whole: cut bytes are an error, never a short part.
	Fetch(ctx context.Context, job Job, part Part, into Sink) error

	// Decode reads a fetched part line by line. It is pure and streams; lines come in the provider's order, which means
	// nothing. A line that cannot be read is a Line with ending errored; an error is about reading r, and ends the walk.
	Decode(job Job, part Part, r io.Reader) iter.Seq2[Line, error]
}

// Canceler is the power to stop a job. What was done stays fetchable; the job ends later, as Check reports.
type Canceler interface {
	Cancel(ctx context.Context, job Job) error
}

// Lister is the power to list the account's jobs, newest first where the provider sorts them. Parts and line problems
// are left out of the statuses. A list that may hide more ends with ErrPartial.
type Lister interface {
	List(ctx context.Context) iter.Seq2[Status, error]
}

// Remover is the power to delete what a job left at the provider: uploaded and result files, or the job itself.
// Removing what is already gone is no error.
type Remover interface {
	Remove(ctx context.Context, job Job) error
}

// Fencer is the power to take back what Prepare uploaded. A launch that is still on its way then names what is gone: it makes
// no job, or one that fails and costs nothing.
type Fencer interface {
	// Fence returns nil only when what the handle names is gone. It may be repeated.
	Fence(ctx context.Context, h Handle) error
}

// Finder is the power to learn what became of an uncertain Launch.
type Finder interface {
	// Stamped reports whether jobs carry our stamp. Without one, jobs are recognised by time and count, and only an ended job
	// can be confirmed: at most one uncertain launch per request count can then be cleared up.
	Stamped() bool

	// Cursor is an opaque mark of the newest job. Taken before a launch, it bounds what Find has to read.
	Cursor(ctx context.Context) (string, error)

	// Find reads every job newer than the cursor and answers located, absent or unclear. Absent means: not visible now;
	// the provider's lag is for the caller to wait out. A list that cannot be read whole is an error, and one that may hide
	// more is unclear: neither is absence.
	Find(ctx context.Context, s Search) (Found, error)
}

// Asker is the power to answer one request live.
type Asker interface {
	// Ask sends one request and waits for the answer; a refusal is one. With an error, which wraps the outcome's fault,
	// the reply still has the ending of the attempt, the bytes that came back and the limits in the headers.
	Ask(ctx context.Context, r *assay.Request) (Reply, error)
}

// Modeler is the power of an Asker to list the models there are: a check of key and names that costs nothing. A nil list
// without an error means that the provider has none.
type Modeler interface {
	Models(ctx context.Context) ([]string, error)
}
