package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// fetch brings every part of an ended job here. A cut fetch goes on where it stopped.
func (w *work) fetch(ctx context.Context) error {
	if same, err := sameAccount(ctx, w.Work); err != nil {
		return err
	} else if !same {
		return w.keyElsewhere(ctx, "the job was made with another key ("+w.Seg.Account+")")
	}
	parts, err := partsOf(w.Seg)
	if err != nil {
		return err
	}
	if w.Seg.Refetches > 0 || w.Seg.Failures > 0 {
		here, err := w.partsHere(ctx)
		if err == nil && (len(parts) == 0 || len(here) < len(parts)) {
			err = w.lookAgain(ctx)
		}
		if err == nil {
			parts, err = partsOf(w.Seg)
		}
		if err != nil {
			return w.unfetched(ctx, err)
		}
	}
	have, err := w.Ledger.Reader.Artifacts(ctx, w.Seg.No)
	if err != nil {
		return err
	}
	for _, part := range parts {
		name := w.artifactName(part, fmt.Sprint(w.Seg.Refetches))
		if named(have, name) {
			continue
		}
		if _, err := w.fetchPart(ctx, part, name); err != nil {
			return w.unfetched(ctx, err)
		}
	}
	return w.Ledger.Work.Fetched(ctx, w.Lease, w.Clock.Now())
}

// partsHere returns the parts of the job that lie here whole.
func (w *work) partsHere(ctx context.Context) ([]provider.Part, error) {
	var parts []provider.Part
	begins := w.roundName(fmt.Sprint(w.Seg.Refetches))
	for k, err := range w.Files.List(ctx, w.Run.ID, begins) {
		if err != nil {
			return nil, &ledgerError{err}
		}
		if !k.Whole {
			continue
		}
		name, err := url.PathUnescape(strings.TrimPrefix(k.Name, begins))
		if err != nil {
			return nil, &ledgerError{fmt.Errorf("artifact %s: %w", k.Name, err)}
		}
		kind := provider.PartResults
		if name == string(provider.PartErrors) {
			kind = provider.PartErrors
		}
		parts = append(parts, provider.Part{Name: name, Kind: kind})
	}
	return parts, nil
}

// lookAgain asks for the parts anew: addresses go stale, and missing ones appear.
func (w *work) lookAgain(ctx context.Context) error {
	st, err := w.Access.Batch.Check(ctx, w.Job())
	if err != nil {
		return err
	}
	see := sighting(st)
	see.Due = w.Clock.Now()
	if err := w.Ledger.Work.RecordStatus(ctx, w.Lease, see); err != nil {
		return &ledgerError{err}
	}
	w.Seg.JobCounts, w.Seg.Parts = see.Counts, see.Parts
	return nil
}

// ledgerError marks an error that is ours, not the provider's.
type ledgerError struct{ error }

func (e *ledgerError) Unwrap() error { return e.error }

// unfetched decides about a fetch that failed. The results are paid for: it is tried until they are gone.
func (w *work) unfetched(ctx context.Context, err error) error {
	var ours *ledgerError
	if ctx.Err() != nil || errors.As(err, &ours) {
		return err
	}
	now := w.Clock.Now()
	f := provider.FaultOf(err)
	if f == nil {
		return err // our own disk, or the ledger
	}
	if f.Class == assay.FaultGone && w.didNothing() {
		return w.Ledger.Work.Fetched(ctx, w.Lease, w.Clock.Now())
	}
	gone := !w.Seg.CollectBefore.IsZero() && now.After(w.Seg.CollectBefore)
	if f.Class == assay.FaultGone && (gone || w.Seg.Failures >= 8) {
		return w.vanished(ctx, "the results of job "+w.Seg.Job+" are not there any more: "+f.Error())
	}
	if f.Class == assay.FaultDenied && w.Seg.Failures >= maxDenied {
		return w.keyless(ctx, f)
	}
	return w.Ledger.Work.RetryLater(ctx, w.Lease, store.Later{Due: now.Add(w.Backoff(w.Seg.Failures, f.RetryAfter)),
		Asked: f.RetryAfter > 0, Reason: "fetching results: " + f.Error()})
}

// didNothing reports whether the job was stopped before it did anything, as its provider counts: results that it names may not
// be there.
func (w *work) didNothing() bool {
	counts, state := countsOf(w.Seg), provider.State(w.Seg.JobState)
	return (state == provider.StateCancelled || state == provider.StateExpired) && counts.Known && counts.Succeeded+counts.Failed == 0
}

func (w *work) artifactName(part provider.Part, round string) string {
	return w.roundName(round) + artifacts.Name(part.Name)
}

// roundName returns the prefix of the names of all artifacts of one fetch.
func (w *work) roundName(round string) string { return fmt.Sprintf("s%d-%s-", w.Seg.No, round) }

func named(all []store.Artifact, name string) bool {
	for _, a := range all {
		if a.Name == name {
			return true
		}
	}
	return false
}

// fetchPart brings one part into an artifact and enters it into the ledger.
func (w *work) fetchPart(ctx context.Context, part provider.Part, name string) (store.Artifact, error) {
	d := Download{From: w.Access.Batch, Job: w.Job(), Part: part, Run: w.Run.ID, Name: name}
	// A kill may have come between the rename and the ledger: then the file is whole, and the fetch is not repeated.
	a, err := d.Here(ctx, w.Files)
	if errors.Is(err, fs.ErrNotExist) {
		a, err = d.Into(ctx, w.Files)
	}
	if err != nil {
		return a, err
	}
	no, err := w.Ledger.Work.AddArtifact(ctx, w.Lease, a)
	if err != nil {
		return a, &ledgerError{err}
	}
	a.No = no
	return a, nil
}

// Download is a part of a job that is to become an artifact of a run.
type Download struct {
	From provider.Provider
	Job  provider.Job
	Part provider.Part
	Run  string
	Name string // of the artifact
}

// artifact returns what is entered for the part, which is kept beside it so that it can be decoded on another machine.
func (d *Download) artifact() store.Artifact {
	part, _ := json.Marshal(d.Part) // plain strings and numbers
	return store.Artifact{Name: d.Name, Kind: store.ArtifactKind(cmp.Or(d.Part.Kind, provider.PartResults)), Part: string(part)}
}

// Here returns the artifact if it lies whole in a place.
func (d *Download) Here(ctx context.Context, place artifacts.Place) (store.Artifact, error) {
	a := d.artifact()
	f, err := place.Open(ctx, d.Run, d.Name)
	if err != nil {
		return a, &ledgerError{err}
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return a, &ledgerError{err}
	}
	a.Size, a.SHA256 = f.Size(), hex.EncodeToString(sum.Sum(nil))
	return a, nil
}

// Into fetches the part into a place, also an empty one. A fetch that was cut goes on where it stopped.
func (d *Download) Into(ctx context.Context, place artifacts.Place) (store.Artifact, error) {
	a := d.artifact()
	sink, err := place.Sink(ctx, d.Run, d.Name)
	if err != nil {
		return a, &ledgerError{err}
	}
	if err := d.From.Fetch(ctx, d.Job, d.Part, sink); err != nil {
		return a, errors.Join(err, sink.Close())
	}
	if sink.Size() == 0 {
		if err := sink.Begin(0, ""); err != nil {
			return a, &ledgerError{err}
		}
	}
	info, err := sink.Commit()
	if err != nil {
		return a, &ledgerError{err}
	}
	a.Size, a.SHA256 = info.Size, info.SHA256
	return a, nil
}
