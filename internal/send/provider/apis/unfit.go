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

// unfit returns a batch provider whose configuration lacks something that live calls do not need. Every call returns an
// error that names it.
func unfit(why string, limits catalog.Limits) provider.Provider {
	return &lacking{limits: limits, fault: assay.Fault{Class: assay.FaultInvalid, Code: "not_configured", Message: why}}
}

type lacking struct {
	limits catalog.Limits
	fault  assay.Fault
}

func (l *lacking) err() error {
	return fmt.Errorf("use batches: %w", new(l.fault))
}

// Limits returns the catalogue's row.
func (l *lacking) Limits() catalog.Limits { return l.limits }

// Prepare returns the error.
func (l *lacking) Prepare(context.Context, provider.BatchInput, provider.Handle) (provider.Handle, provider.Readiness, error) {
	return "", "", l.err()
}

// Launch returns the error.
func (l *lacking) Launch(context.Context, provider.BatchInput, provider.Handle) provider.Receipt {
	return provider.NotSent(l.err())
}

// Check returns the error.
func (l *lacking) Check(context.Context, provider.Job) (provider.Status, error) {
	return provider.Status{}, l.err()
}

// Fetch returns the error.
func (l *lacking) Fetch(context.Context, provider.Job, provider.Part, provider.Sink) error {
	return l.err()
}

// Decode returns the error.
func (l *lacking) Decode(provider.Job, provider.Part, io.Reader) iter.Seq2[provider.Line, error] {
	return func(yield func(provider.Line, error) bool) { yield(provider.Line{}, l.err()) }
}
