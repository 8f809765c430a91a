package apis

import (
	"context"
	"fmt"
	"io"
	"iter"

	"assay/internal/assay"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// unfit is a batch provider whose configuration lacks something that live calls do not need. Every call says what.
func unfit(why string, limits catalog.Limits) provider.Provider {
	return &lacking{limits: limits, fault: assay.Fault{Class: assay.FaultInvalid, Code: "not_configured", Message: why}}
}

type lacking struct {
	limits catalog.Limits
	fault  assay.Fault
}

func (l *lacking) err() error {
	f := l.fault
	return fmt.Errorf("use batches: %w", &f)
}

// Limits is the catalogue's row.
func (l *lacking) Limits() catalog.Limits { return l.limits }

// Prepare says what is lacking.
func (l *lacking) Prepare(context.Context, provider.BatchInput, provider.Handle) (provider.Handle, provider.Readiness, error) {
	return "", "", l.err()
}

// Launch says what is lacking.
func (l *lacking) Launch(context.Context, provider.BatchInput, provider.Handle) provider.Receipt {
	return provider.NotSent(l.err())
}

// Check says what is lacking.
func (l *lacking) Check(context.Context, provider.Job) (provider.Status, error) {
	return provider.Status{}, l.err()
}

// Fetch says what is lacking.
func (l *lacking) Fetch(context.Context, provider.Job, provider.Part, provider.Sink) error {
	return l.err()
}

// Decode says what is lacking.
func (l *lacking) Decode(provider.Job, provider.Part, io.Reader) iter.Seq2[provider.Line, error] {
	return func(yield func(provider.Line, error) bool) { yield(provider.Line{}, l.err()) }
}
