package formats_test

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/dispatch/local"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
	"assay/internal/send/planner"
	"assay/internal/send/provider"
	"assay/internal/send/provider/apis"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/formats"
	"assay/internal/show/export/studyfolder"
	"assay/internal/simulator"
	"assay/internal/study/catalog"
	"assay/internal/study/inputs"
	"assay/internal/study/plan"
	"assay/internal/study/plan/check"
	"assay/internal/study/plan/estimate"
	"assay/internal/study/studyfile"
)

// rig runs studies against a simulator in this process, and writes and reads what came of them.
type rig struct {
	t       *testing.T
	ledger  *ledger.Ledger
	files   *artifacts.Folder
	planner *script.Library
	sim     *simulator.Server
	engine  *runs.Engine
	folder  string // of the study
}

func newRig(t *testing.T, o simulator.Options) *rig {
	t.Helper()
	dir := t.TempDir()
	ledger, err := ledger.Open(context.Background(), filepath.Join(dir, "ledger.db"), ledger.Options{})
	ok(t, err)
	t.Cleanup(func() { ledger.Close() })
	files, err := artifacts.Open(filepath.Join(dir, "runs"))
	ok(t, err)
	t.Cleanup(func() { files.Close() })
	o.Seed, o.Dir = 1, dir
	sim, err := simulator.New(o)
	ok(t, err)
	t.Cleanup(func() { sim.Close() })
	r := &rig{t: t, ledger: ledger, files: files, sim: sim, planner: &script.Library{Files: files, Store: snapshot.Store{
		Runs: ledger.Runs, Leases: ledger.Leases, Imports: ledger.Imports, Reader: ledger.Reader, Catalog: catalog.Default()}}}
	timing := engine.DefaultTiming().Scaled(5000)
	timing.Cut = time.Minute // a wave goes out when it is whole, and is one batch
	r.engine = runs.New(engine.Config{
		Ledger: engine.Ledger{Work: ledger.Work, Leases: ledger.Leases, Limits: ledger.Limits, Reuse: ledger.Reuse, Reader: ledger.Reader},
		Files:  files, Planner: &planner.Planner{Library: r.planner}, Clock: engine.WallClock(), Timing: timing,
		Random: rand.New(rand.NewPCG(1, 2)), Holder: "test", Accounts: r.access,
	})
	return r
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) access(name string) (engine.Access, error) {
	v, _ := catalog.Default().Vendor(name)
	a, err := apis.Open(provider.Config{
		Name: name, Kind: name, BaseURL: r.sim.BaseURLs("http://sim.invalid")[name], Key: provider.NewSecret("k"), HTTP: r.sim.Transport(),
		Limits: v.Limits,
	})
	return engine.Access{Account: a, Fingerprint: "k"}, err
}

// begin makes a run of the study in a folder, under an id.
func (r *rig) begin(files fs.FS, id string) store.Run {
	r.t.Helper()
	ctx := context.Background()
	s, problems := studyfile.Read(files, studyfolder.StudyFile, studyfile.Options{})
	if s == nil || len(problems.Errors()) > 0 {
		r.t.Fatal(problems)
	}
	source := inputs.Open(files, s.Specs())
	d := &plan.Input{Study: s, Items: source, Rows: source, Catalog: catalog.Default(), Today: "2026-11-15"}
	if problems := check.Study(d, func(string) bool { return true }).Errors(); len(problems) > 0 {
		r.t.Fatal(problems)
	}
	p, problems := estimate.Make(ctx, d, plan.Options{})
	if p == nil {
		r.t.Fatal(problems)
	}
	run, err := r.planner.Begin(ctx, snapshot.Beginning{
		Run: store.NewRun{ID: id, Study: s.Study, Folder: r.folder}, Input: d, Plan: p, Files: files,
		Settings: snapshot.Settings{File: studyfolder.StudyFile},
	})
	ok(r.t, err)
	return run
}

// run drives the study in a folder to its end.
func (r *rig) run(files fs.FS, id string) export.Run {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	run := r.begin(files, id)
	st, err := (&local.Driver{Engine: r.engine}).Drive(ctx, run.No)
	ok(r.t, err)
	if !st.Closed {
		r.t.Fatalf("the run did not close: %+v", st)
	}
	run, err = r.ledger.Reader.Run(ctx, run.No)
	ok(r.t, err)
	return export.Run{Run: run, Results: &results.Reader{Ledger: r.ledger.Reader, Pages: r.ledger.Pages, Scripts: r.planner}, Raw: r.files}
}

// formatNamed returns a format by its name.
func formatNamed(t *testing.T, name string) export.Format {
	t.Helper()
	all := formats.All()
	i := slices.IndexFunc(all, func(f export.Format) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no format is called %s", name)
	}
	return all[i]
}

// write writes runs in a format; it returns the folder.
func (r *rig) write(t *testing.T, name string, runs ...export.Run) string {
	t.Helper()
	ctx := context.Background()
	out := filepath.Join(t.TempDir(), name)
	tree, err := folder.NewTree(out, folder.Keep)
	ok(t, err)
	ok(t, formatNamed(t, name).Write(ctx, tree, runs))
	ok(t, export.WriteMark(ctx, tree, name, runs))
	ok(t, tree.Commit())
	return out
}

// back reads an export and makes a run of it, with its verdicts.
func (r *rig) back(t *testing.T, name, dir, id string) export.Run {
	t.Helper()
	ctx := context.Background()
	out := filepath.Join(t.TempDir(), "study")
	tree, err := folder.NewTree(out, folder.Keep)
	ok(t, err)
	folder, err := studyfolder.New(tree)
	ok(t, err)
	bad := func(p assay.Problem) { t.Errorf("%s: %s", name, p) }
	ok(t, formatNamed(t, name).Read(ctx, export.From{Files: os.DirFS(dir)}, folder.Sink(bad)))
	folder.Analyses = export.ReadMark(os.DirFS(dir)).Analyses("")
	ok(t, folder.Close("back", "an export"))
	ok(t, tree.Commit())
	run := r.begin(os.DirFS(out), id)
	reader := &results.Reader{Ledger: r.ledger.Reader, Pages: r.ledger.Pages, Scripts: r.planner}
	ok(t, studyfolder.Load(ctx, r.planner, run, os.DirFS(out), bad))
	return export.Run{Run: run, Results: reader}
}
