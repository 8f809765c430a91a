package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/simulator"
)

// awayPlace is a place of artifacts that one run cannot be read from.
type awayPlace struct {
	artifacts.Place
	run string
	err error
}

func (p awayPlace) Open(ctx context.Context, run, name string) (artifacts.File, error) {
	if run == p.run {
		return nil, p.err
	}
	return p.Place.Open(ctx, run, name)
}

// readFrom has a home read its artifacts from another place.
func readFrom(h *Home, files artifacts.Place) {
	was := h.Planner.Library
	h.Planner.Library = &script.Library{Files: files, Programs: was.Programs, Store: snapshot.Store{Runs: was.Runs, Leases: was.Leases,
		Imports: was.Imports, Reader: was.Reader, Catalog: was.Catalog, Files: was.Store.Files, Folder: was.Folder}}
}

// longAnswers has run a study whose answers are too long for a row, and has changed what judges them.
func longAnswers(t *testing.T) (*rig, *Home, store.Run) {
	t.Helper()
	study := strings.Replace(smallStudy, "max_tokens: 100", "max_tokens: 30000", 1)
	r := newRig(t, study, func(o *simulator.Options) { o.Responder = wordy{} })
	h := r.open(false)
	before := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.write("study.yaml", strings.Replace(study, "name: checked", "name: proved", 1))
	return r, h, before
}

func TestAnswersAreNotPaidForAgainWhileTheirBytesAreAway(t *testing.T) {
	t.Parallel()
	r, h, before := longAnswers(t)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	files := h.Planner.Files
	readFrom(h, awayPlace{files, before.ID, errors.New("the bucket is away")})
	s, err := h.Planner.Study(r.ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	e, err := h.Engine(r.ctx, run, s)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Extend(r.ctx, run.No); err == nil || !strings.Contains(err.Error(), "the bucket is away") {
		t.Errorf("the error is %v", err)
	}
	segments, err := h.Ledger.Reader.Segments(r.ctx, run.No)
	if err != nil || slices.ContainsFunc(segments, func(g store.Segment) bool { return g.Mode != store.Reuse }) {
		t.Errorf("something is to be sent: %+v, %v", segments, err)
	}
	readFrom(h, files)
	if c := r.drive(h, run, Drive{}); c.State != runs.StateDone || r.spent(h, run) != 0 {
		t.Errorf("it is %s, %s spent", c.State, r.spent(h, run))
	}
}

func TestAnswersWhoseBytesAreGoneAreAskedAgainAndTheHistorySaysSo(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]error{"gone": fs.ErrNotExist, "damaged": artifacts.ErrDamaged} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, h, before := longAnswers(t)
			readFrom(h, awayPlace{h.Planner.Files, before.ID, gone})
			run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			if r.spent(h, run) == assay.Money(0) {
				t.Error("nothing was asked")
			}
			events, err := h.Ledger.Reader.Events(r.ctx, run.No, 0, 1000)
			said := slices.ContainsFunc(events, func(e store.Event) bool {
				return e.Kind == "asked again" &&
					strings.HasPrefix(e.Text, "lane a in answers: 2 answers of earlier runs cannot be taken over: ")
			})
			if err != nil || !said {
				t.Errorf("%+v, %v", events, err)
			}
		})
	}
}
