// Package snapshot keeps what a run works from: its study with all texts, its settings, items, prices, and answers that were
// made elsewhere. From the beginning of a run on nothing else is read.
package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/runs"
	"assay/internal/keep/store/sending"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
	"assay/internal/study/studyfile"
)

// Store writes and reads the snapshots of a ledger's runs. It is safe for concurrent use.
type Store struct {
	Runs    *runs.Store
	Leases  *sending.Leases
	Imports *sending.Importer
	Reader  *read.Reader
	Catalog *catalog.Catalog
	Files   artifacts.Place // where what requests show is kept; nil: nothing is shown

	Folder func(name string) fs.FS // of a study, from which it may be kept again; nil: it is not

	items atomic.Pointer[keptItems] // of the input that was walked over last; nil: none, or too many
}

// Settings are the options of the command line that a run began with.
type Settings struct {
	File        string     `json:"file"` // the study's name in its folder
	Profile     string     `json:"profile,omitempty"`
	Set         []string   `json:"set,omitempty"`
	Mode        assay.Mode `json:"mode,omitempty"`
	Lanes       []string   `json:"lanes,omitempty"`
	Stages      []string   `json:"stages,omitempty"`
	Limit       int        `json:"limit,omitempty"`
	VerifyFirst bool       `json:"verify_first,omitempty"`
	NoCanary    bool       `json:"no_canary,omitempty"`
	Pilot       bool       `json:"pilot,omitempty"`   // only first questions, live
	Imports     []string   `json:"imports,omitempty"` // the stages that import
	Luck        uint64     `json:"luck,omitempty"`    // seed of a rehearsal's simulator; 0: the usual one
	// a pilot, and the runs before the study was changed, whose answers are taken over
	ReuseRuns []string `json:"reuse_runs,omitempty"`

	// BaseURLs are where requests go, by provider, for workers that have no key of one and do not know.
	BaseURLs map[string]string `json:"base_urls,omitempty"`

	// Datasets are the commits of datasets that were read, by the names in the study.
	Datasets map[string]string `json:"datasets,omitempty"`
}

// Wants reports whether a stage is among those that were chosen.
func (s Settings) Wants(stage string) bool {
	return len(s.Stages) == 0 || slices.Contains(s.Stages, stage)
}

// Names of parts; those that end with a slash come before the name of a file or a stage.
const (
	filePart   = "file/"
	pricesPart = "prices"
	ratesPart  = "rates"
	importPart = "import/"
	drawnPart  = "pairs/"
)

// GoldPart comes before the name of a file of gold labels that was there when a run began. Those in the folder of the run count more:
// labels come after answers. Machines without the folder have these.
const GoldPart = "gold-at-start/"

// Open returns what a run works from, and the settings it began with.
func (s *Store) Open(ctx context.Context, run store.Run) (*plan.Input, Settings, error) {
	st, settings, err := s.Kept(ctx, run)
	if err != nil {
		return nil, settings, err
	}
	cat, err := s.prices(ctx, run.No)
	if err != nil {
		return nil, settings, err
	}
	cat, more := plan.Prices(cat, st)
	if len(more.Errors()) > 0 {
		return nil, settings, more.Errors()
	}
	rates, err := s.Rates(ctx, run.No)
	if err != nil {
		return nil, settings, err
	}
	if rates != nil { // else it has those of the catalogue
		cat = cat.Fixed(rates)
	}
	in := &plan.Input{Study: st, Rows: &ledgerRows{s, run.No}, Catalog: cat}
	in.Drawn, err = s.drawn(ctx, run.No, st)
	return in, settings, err
}

// Kept returns the study that a run works from, and the settings it was read with.
func (s *Store) Kept(ctx context.Context, run store.Run) (*study.Study, Settings, error) {
	var settings Settings
	if err := json.Unmarshal([]byte(run.Settings), &settings); err != nil {
		return nil, settings, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	st, err := s.study(ctx, run.No, settings)
	if err != nil {
		return nil, settings, fmt.Errorf("read the study of run %s: %w", run.ID, err)
	}
	return st, settings, nil
}

// study reads the study out of a run's snapshot.
func (s *Store) study(ctx context.Context, run int64, o Settings) (*study.Study, error) {
	imported, err := s.importsOf(ctx, run, o.Imports)
	if err != nil {
		return nil, err
	}
	files := partFS{ctx: ctx, ledger: s.Reader, run: run}
	st, problems := studyfile.Read(files, o.File, studyfile.Options{Profile: o.Profile, Set: o.Set, Mode: o.Mode, Imported: imported})
	if st == nil || len(problems.Errors()) > 0 {
		return nil, problems.Errors()
	}
	return st, nil
}

// prices returns the catalogue with the price file that the run began with.
func (s *Store) prices(ctx context.Context, run int64) (*catalog.Catalog, error) {
	text, err := io.ReadAll(s.Reader.Part(ctx, run, pricesPart))
	if errors.Is(err, store.ErrNotFound) {
		return s.Catalog, nil
	}
	if err != nil {
		return nil, err
	}
	over, err := catalog.ReadOverrides(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return s.Catalog.With(over)
}

// Texts returns the files that a run works from, by name: the study under its own, and what it loads.
func (s *Store) Texts(ctx context.Context, run store.Run) (study string, texts map[string]string, err error) {
	st, settings, err := s.Kept(ctx, run)
	if err != nil {
		return "", nil, err
	}
	texts = map[string]string{}
	for _, name := range append([]string{settings.File}, st.Loaded...) {
		text, err := io.ReadAll(s.Reader.Part(ctx, run.No, filePart+name))
		if err != nil {
			return "", nil, fmt.Errorf("read %s of run %s: %w", name, run.ID, err)
		}
		texts[name] = string(text)
	}
	return settings.File, texts, nil
}

// Rates returns the prices that a run began with; none where it kept none.
func (s *Store) Rates(ctx context.Context, run int64) ([]catalog.Price, error) {
	var prices []catalog.Price
	if _, err := s.decode(ctx, run, ratesPart, &prices); err != nil {
		return nil, fmt.Errorf("read the prices of the run: %w", err)
	}
	return prices, nil
}

// ratesOf returns what the lanes of a run cost when it begins: a later program, with other prices built in, bills it the same.
func ratesOf(in *plan.Input) ([]byte, error) {
	text, err := json.Marshal(in.LanePrices())
	if err != nil {
		return nil, fmt.Errorf("keep prices: %w", err)
	}
	return text, nil
}

// drawn reads the pairs that were drawn for a run, by stage. A run has them where lanes or items were added to what it compares: which
// are drawn depends on all that can meet, and those that were drawn before stay.
func (s *Store) drawn(ctx context.Context, run int64, st *study.Study) (map[string][]plan.Drawn, error) {
	out := map[string][]plan.Drawn{}
	for i := range st.Stages {
		if st.Stages[i].Verb() != study.VerbCompare {
			continue
		}
		name := st.Stages[i].Name
		var all []plan.Drawn
		there, err := s.decode(ctx, run, drawnPart+name, &all)
		if err != nil {
			return nil, fmt.Errorf("read the pairs of stage %s: %w", name, err)
		}
		if there {
			out[name] = all
		}
	}
	return out, nil
}

// decode reads a part of JSON; false where the run has none.
func (s *Store) decode(ctx context.Context, run int64, part string, to any) (bool, error) {
	err := json.NewDecoder(s.Reader.Part(ctx, run, part)).Decode(to)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// partFS is the texts of a snapshot as a file system.
type partFS struct {
	ctx    context.Context
	ledger *read.Reader
	run    int64
}

func (p partFS) Open(name string) (fs.File, error) {
	text, err := io.ReadAll(p.ledger.Part(p.ctx, p.run, filePart+name))
	if errors.Is(err, store.ErrNotFound) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	return &partFile{Reader: bytes.NewReader(text), name: name}, nil
}

// partFile is one text of a snapshot.
type partFile struct {
	*bytes.Reader
	name string
}

func (f *partFile) Close() error               { return nil }
func (f *partFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *partFile) Name() string               { return f.name }
func (f *partFile) Mode() fs.FileMode          { return 0o400 }
func (f *partFile) ModTime() time.Time         { return time.Time{} }
func (f *partFile) IsDir() bool                { return false }
func (f *partFile) Sys() any                   { return nil }
