package engine

import (
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
	if w.access.Fingerprint != w.g.Account {
		return w.Ledger.Wake(ctx, w.l, w.otherKey(), "the job was made with another key ("+w.g.Account+")")
	}
	parts, err := w.parts()
	if err != nil {
		return err
	}
	if w.g.Refetches > 0 || w.g.Failures > 0 {
		here, err := w.partsHere(ctx)
		if err == nil && (len(parts) == 0 || len(here) < len(parts)) {
			err = w.lookAgain(ctx)
		}
		if err == nil {
			parts, err = w.parts()
		}
		if err != nil {
			return w.unfetched(ctx, err)
		}
	}
	have, err := w.Ledger.Artifacts(ctx, w.g.No)
	if err != nil {
		return err
	}
	for _, part := range parts {
		name := w.artifactName(part, fmt.Sprint(w.g.Refetches))
		if named(have, name) {
			continue
		}
		if _, err := w.fetchPart(ctx, part, name); err != nil {
			return w.unfetched(ctx, err)
		}
	}
	return w.Ledger.Fetched(ctx, w.l, w.soon())
}

// partsHere are the parts of the job that lie here whole.
func (w *work) partsHere(ctx context.Context) ([]provider.Part, error) {
	var parts []provider.Part
	for k, err := range w.Files.List(ctx, w.run.ID) {
		if err != nil {
			return nil, &ledgerError{err}
		}
		name, ok := strings.CutPrefix(k.Name, w.roundName(fmt.Sprint(w.g.Refetches)))
		if !ok || !k.Whole {
			continue
		}
		if name, err = url.PathUnescape(name); err != nil {
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
	st, err := w.access.Batch.Check(ctx, w.job())
	if err != nil {
		return err
	}
	see := sighting(st)
	see.Due = w.Clock.Now()
	if err := w.Ledger.RecordStatus(ctx, w.l, see); err != nil {
		return &ledgerError{err}
	}
	w.g.JobCounts, w.g.Parts = see.Counts, see.Parts
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
		return w.Ledger.Fetched(ctx, w.l, w.soon())
	}
	gone := !w.g.CollectBefore.IsZero() && now.After(w.g.CollectBefore)
	if f.Class == assay.FaultGone && (gone || w.g.Failures >= 8) {
		return w.vanished(ctx, "the results of job "+w.g.Job+" are not there any more: "+f.Error())
	}
	if f.Class == assay.FaultDenied && w.g.Failures >= maxDenied {
		return w.Ledger.Hold(ctx, w.l, w.keyless(f))
	}
	return w.Ledger.RetryLater(ctx, w.l, now.Add(w.backoff(w.g.Failures, f.RetryAfter)), "fetching results: "+f.Error())
}

// didNothing reports whether the job was stopped before it did anything, as its provider counts: results that it names may not
// be there.
func (w *work) didNothing() bool {
	counts, state := w.counts(), provider.State(w.g.JobState)
	return (state == provider.StateCancelled || state == provider.StateExpired) && counts.Known && counts.Succeeded+counts.Failed == 0
}

func (w *work) artifactName(part provider.Part, round string) string {
	return w.roundName(round) + artifacts.Name(part.Name)
}

// roundName is what the names of all artifacts of one fetch begin with.
func (w *work) roundName(round string) string { return fmt.Sprintf("s%d-%s-", w.g.No, round) }

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
	a := store.Artifact{Name: name, Kind: string(part.Kind), Part: partText(part)}
	if a.Kind == "" {
		a.Kind = string(provider.PartResults)
	}
	// A kill may have come between the rename and the ledger: then the file is whole, and the fetch is not repeated.
	if f, err := w.Files.Open(ctx, w.run.ID, name); err == nil {
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return a, &ledgerError{err}
		}
		a.Size, a.SHA256 = f.Size(), hex.EncodeToString(sum.Sum(nil))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return a, &ledgerError{err}
	} else {
		sink, err := w.Files.Sink(ctx, w.run.ID, name)
		if err != nil {
			return a, &ledgerError{err}
		}
		if err := w.access.Batch.Fetch(ctx, w.job(), part, sink); err != nil {
			return a, errors.Join(err, sink.Close())
		}
		info, err := commit(sink)
		if err != nil {
			return a, &ledgerError{err}
		}
		a.Size, a.SHA256 = info.Size, info.SHA256
	}
	no, err := w.Ledger.AddArtifact(ctx, w.l, a)
	if err != nil {
		return a, &ledgerError{err}
	}
	a.No = no
	return a, nil
}

// commit finishes a sink, also one into which an empty part was fetched.
func commit(sink artifacts.Sink) (artifacts.Info, error) {
	if sink.Size() == 0 {
		if err := sink.Begin(0, ""); err != nil {
			return artifacts.Info{}, err
		}
	}
	return sink.Commit()
}

// partText keeps a part beside its artifact, so that it can be decoded on another machine.
func partText(part provider.Part) string {
	text, _ := json.Marshal(part) // plain strings and numbers
	return string(text)
}
