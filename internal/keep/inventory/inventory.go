// Package inventory compares the artifacts in a folder or a bucket with what the ledger knows of them. It changes nothing.
package inventory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
)

// Kind is how an artifact differs.
type Kind string

// The kinds of differences.
const (
	Missing    Kind = "missing"    // the ledger knows it, and it is not there
	Damaged    Kind = "damaged"    // it is there, with other bytes, or without some of them
	Extra      Kind = "extra"      // it is there, and the ledger does not know it
	Unfinished Kind = "unfinished" // writers left it in a closed run
)

// Difference is one artifact that is not as the ledger knows it.
type Difference struct {
	Kind  Kind
	Run   string // or the gateway's shelf
	Name  string // empty: all of a run that the ledger does not know
	Bytes int64  // missing and damaged: that the ledger knows, otherwise those that are there
	Why   string
}

// Sum counts what was looked at.
type Sum struct {
	Runs, Artifacts int
	Bytes           int64 // that they take, packed or not
}

// Check tells what to compare, and how.
type Check struct {
	Ledger *ledger.Ledger
	Files  artifacts.Place
	Others func(run store.Run) []string // names of a run's artifacts that have no row of their own
	Hash   bool                         // all bytes are read, and their SHA-256 is compared
}

// artifact is one that the ledger knows.
type artifact struct {
	size     int64 // -1: not known
	sha256   string
	replaced bool // by one that was fetched again: nobody needs it
}

// Run compares the artifacts of one run.
func (c Check) Run(ctx context.Context, run store.Run) ([]Difference, Sum, error) {
	return c.compare(ctx, run.ID, run.State == store.RunClosed, func() (map[string]artifact, error) { return c.known(ctx, run) })
}

// Clients compares the files that clients have sent to a gateway. Those that are being sent are not looked at.
func (c Check) Clients(ctx context.Context) ([]Difference, Sum, error) {
	return c.compare(ctx, artifacts.Shelf, false, func() (map[string]artifact, error) {
		files, err := c.Ledger.Clients.ClientFilesOf(ctx, 0)
		return clientFiles(map[string]artifact{}, files), err
	})
}

// Shown compares the files that requests show. Which of them no run shows is not told while one is being prepared.
func (c Check) Shown(ctx context.Context, known []store.Run) ([]Difference, Sum, error) {
	prepares := slices.ContainsFunc(known, func(r store.Run) bool { return r.State == store.RunPreparing && !r.Abandoned() })
	all, sum, err := c.compare(ctx, artifacts.Shown, !prepares, func() (map[string]artifact, error) {
		all := map[string]artifact{}
		for files, err := range read.Shown(ctx, c.Ledger.Reader) {
			if err != nil {
				return nil, err
			}
			for _, f := range files {
				if !f.Remote() {
					all[f.Sum.String()] = artifact{size: f.Size, sha256: f.Sum.String()}
				}
			}
		}
		return all, nil
	})
	for i := range all {
		if all[i].Kind == Extra {
			all[i].Why = "no run shows it"
		}
	}
	return all, sum, err
}

// Unknown lists the runs of which there are artifacts, and no row.
func (c Check) Unknown(ctx context.Context, known []store.Run) (all []Difference, err error) {
	for id, err := range c.Files.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(artifacts.Shelves(), id) || slices.ContainsFunc(known, func(r store.Run) bool { return r.ID == id }) {
			continue
		}
		bytes, err := artifacts.Bytes(ctx, c.Files, id)
		if err != nil {
			return nil, err
		}
		all = append(all, Difference{Kind: Extra, Run: id, Bytes: bytes, Why: "the ledger has no such run"})
	}
	return all, nil
}

// known returns the artifacts that the ledger knows of a run.
func (c Check) known(ctx context.Context, run store.Run) (map[string]artifact, error) {
	all := map[string]artifact{}
	rows, err := c.Ledger.Pages.ArtifactsOf(ctx, run.No)
	if err != nil {
		return nil, err
	}
	for _, a := range rows {
		all[a.Name] = artifact{a.Size, a.SHA256, a.Replaced}
		if a.SHA256 == "" { // a log, which grows
			all[a.Name] = artifact{size: -1}
		}
	}
	for _, name := range c.Others(run) {
		all[name] = artifact{size: -1}
	}
	files, err := c.Ledger.Clients.ClientFilesOf(ctx, run.No)
	return clientFiles(all, files), err
}

func clientFiles(all map[string]artifact, files []store.ClientFile) map[string]artifact {
	for _, f := range files {
		if !f.Deleted {
			all[f.ID+".jsonl"] = artifact{size: f.Bytes}
		}
	}
	return all
}

// compare lists what is there first, and reads what is known then: what is finished meanwhile is known. In an open run more may be there
// than is known.
func (c Check) compare(ctx context.Context, run string, closed bool, known func() (map[string]artifact, error)) (
	all []Difference, sum Sum, err error) {
	there := map[string]artifacts.Kept{}
	for k, err := range c.Files.List(ctx, run, "") {
		if err != nil {
			return nil, sum, err
		}
		if was, ok := there[k.Name]; !ok || !was.Whole {
			there[k.Name] = k
		}
		sum.Bytes += k.Bytes
	}
	want, err := known()
	if err != nil {
		return nil, sum, err
	}
	sum.Runs = 1
	for name, a := range want {
		if a.replaced {
			continue
		}
		sum.Artifacts++
		d, err := c.look(ctx, run, name, a)
		if err != nil {
			return nil, sum, err
		}
		if d.Kind != "" {
			all = append(all, d)
		}
	}
	for name, k := range there {
		if _, ok := want[name]; ok || !closed {
			continue
		}
		d := Difference{Kind: Extra, Run: run, Name: name, Bytes: k.Bytes, Why: "the ledger does not know it"}
		if !k.Whole {
			d.Kind, d.Why = Unfinished, "a writer left it"
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Difference) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return all, sum, nil
}

// look compares one artifact that the ledger knows; no kind: it is as it should be.
func (c Check) look(ctx context.Context, run, name string, want artifact) (Difference, error) {
	d := Difference{Run: run, Name: name, Bytes: max(want.size, 0)}
	f, err := c.Files.Open(ctx, run, name)
	if errors.Is(err, fs.ErrNotExist) {
		d.Kind, d.Why = Missing, "it is not there"
		return d, nil
	}
	if err != nil {
		return d, err
	}
	defer f.Close()
	have := f.Size()
	if want.size < 0 {
		d.Bytes = have
	} else if have != want.size {
		d.Kind, d.Why = Damaged, fmt.Sprintf("it has %d bytes, the ledger knows %d", have, want.size)
		return d, nil
	}
	if parts, ok := c.Files.(interface {
		Lacks(ctx context.Context, run, name string) (int, error)
	}); ok {
		if n, err := parts.Lacks(ctx, run, name); err != nil || n > 0 {
			d.Kind, d.Why = Damaged, fmt.Sprintf("%d of its objects are gone or have another size", n)
			return d, err
		}
	}
	if !c.Hash || want.sha256 == "" {
		return d, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		if ctx.Err() != nil {
			return d, ctx.Err()
		}
		d.Kind, d.Why = Damaged, "it cannot be read: "+err.Error()
	} else if hex.EncodeToString(hash.Sum(nil)) != want.sha256 {
		d.Kind, d.Why = Damaged, "its SHA-256 is not the one that the ledger knows"
	}
	return d, nil
}
