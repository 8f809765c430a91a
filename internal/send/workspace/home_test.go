package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/send/origin"
	"assay/internal/send/script/snapshot"
)

func TestAHomeIsFoundHereOrAboveOrWhereItIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	root := r.world.Disk.Dir
	below := *r.world
	below.Disk.Dir = filepath.Join(root, "deep", "deeper")
	if err := os.MkdirAll(below.Disk.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, want := (Place{}).Dir(&below), filepath.Join(below.Disk.Dir, homeName); got != want {
		t.Errorf("without a home: %s, want %s", got, want)
	}
	if err := os.Mkdir(filepath.Join(root, homeName), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, want := (Place{}).Dir(&below), filepath.Join(root, homeName); got != want {
		t.Errorf("with a home above: %s, want %s", got, want)
	}
	r.env["ASSAY_HOME"] = "named"
	if got, want := (Place{}).Dir(&below), filepath.Join(below.Disk.Dir, "named"); got != want {
		t.Errorf("named by the environment: %s, want %s", got, want)
	}
	if got, want := (Place{Home: root}).Dir(&below), root; got != want {
		t.Errorf("named: %s, want %s", got, want)
	}
}

func TestLookingMakesNoLedger(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	_, _, err := r.place.Find(r.ctx, r.world, "")
	wants[*NoRunError](t, err, "there is no run yet")
	if open, err := r.place.OpenRuns(r.ctx, r.world); err != nil || len(open) > 0 {
		t.Error(open, err)
	}
	if exists(t, r.world.Disk.Dir, homeName) {
		t.Error("a home was made")
	}
	r.open(false)
	if !r.place.Exists(r.world, false) || r.place.Exists(r.world, true) {
		t.Error("want the ledger, and none of rehearsals")
	}
	_, _, err = r.place.Find(r.ctx, r.world, "nothing")
	wants[*NoRunError](t, err, `no run is called "nothing"`)
}

func TestAHomeWhoseLedgerIsGoneIsNotANewOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	folder := filepath.Join(r.place.Dir(r.world), artifactsName)
	if err := os.MkdirAll(filepath.Join(folder, "abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	says := (&origin.LostLedgerError{Folder: folder, Runs: []string{"abc"}}).Error()
	_, _, err := r.place.Find(r.ctx, r.world, "")
	wants[*origin.LostLedgerError](t, err, says)
	_, err = r.place.OpenRuns(r.ctx, r.world)
	wants[*origin.LostLedgerError](t, err, says)
	r.open(false) // an empty one is there now
	_, _, err = r.place.Find(r.ctx, r.world, "abc")
	wants[*origin.LostLedgerError](t, err, says)
}

func TestALedgerThatCannotBeOpenedIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	r.write("broken.db", strings.Repeat("no ledger ", 1000))
	r.place.DB = r.world.Disk.Path("broken.db")
	_, err := r.place.Open(r.ctx, r.world, false)
	e, ok := err.(*LedgerError)
	if !ok || e.DB != r.place.DB {
		t.Error(err)
	}
}

func TestARunIsFoundByItsIdItsStudyOrAsTheLatest(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	real := r.begin(r.open(false), r.wanted(StudyOptions{}, snapshot.Settings{}))
	rehearsed := r.begin(r.open(true), r.wanted(StudyOptions{}, snapshot.Settings{}))
	if open, err := r.place.OpenRuns(r.ctx, r.world); err != nil || len(open) != 1 || open[0].ID != real.ID {
		t.Error(open, err)
	}
	for ref, want := range map[string]string{"": real.ID, "small": real.ID, real.ID: real.ID, rehearsed.ID: rehearsed.ID} {
		h, run, err := r.place.Find(r.ctx, r.world, ref)
		if err != nil {
			t.Error(ref, err)
			continue
		}
		if run.ID != want || h.Rehearsal != (want == rehearsed.ID) {
			t.Errorf("%q: %s, want %s", ref, run.ID, want)
		}
		if newer := map[string]string{"small": rehearsed.ID}[ref]; h.Newer != newer {
			t.Errorf("%q: %q is newer, want %q", ref, h.Newer, newer)
		}
		h.Close()
	}
	_, _, err := r.place.Find(r.ctx, r.world, "nothing")
	e := wants[*NoRunError](t, err, `no run is called "nothing"`)
	if d := cmp.Diff([]string{real.ID + " of small", rehearsed.ID + " of small"}, e.Others); d != "" {
		t.Error(d)
	}
}

func TestRehearsalsThatCannotBeReadDoNotHideARealRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	real := r.begin(r.open(false), r.wanted(StudyOptions{}, snapshot.Settings{}))
	if err := os.MkdirAll(filepath.Join(r.place.Dir(r.world), rehearsalName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.place.Dir(r.world), rehearsalName, ledgerName), []byte(strings.Repeat("no ledger ", 1000)),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"", "latest", "small", real.ID} {
		h, run, err := r.place.Find(r.ctx, r.world, ref)
		if err != nil {
			t.Errorf("%q: %v", ref, err)
			continue
		}
		if run.ID != real.ID || h.Rehearsal {
			t.Errorf("%q: %s, want %s", ref, run.ID, real.ID)
		}
		h.Close()
	}
	h, l, err := r.place.Latest(r.ctx, r.world)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, ok := errors.AsType[*LedgerError](l.Unread); !ok || !l.Alone {
		t.Errorf("want the reason, and the only run that can be read: %+v", l)
	}
	_, _, err = r.place.Find(r.ctx, r.world, "nothing")
	if _, ok := errors.AsType[*LedgerError](err); !ok {
		t.Errorf("a run that may be a rehearsal is denied: %v", err)
	}
}

func TestATemporaryHomeGoesWhenItIsClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	r.place.Home = filepath.Join(t.TempDir(), "passing")
	h, err := r.place.Open(r.ctx, r.world, false)
	if err != nil {
		t.Fatal(err)
	}
	h.Temporary = r.place.Home
	if err := h.Close(); err != nil || exists(t, h.Temporary) {
		t.Error("it is still there", err)
	}
}

func TestTheDiskIsSeenFromTheWorkingFolder(t *testing.T) {
	t.Parallel()
	d := Disk{Dir: t.TempDir()}
	if err := d.WriteNew("a/b.txt", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteNew("a/b.txt", []byte("two")); err == nil {
		t.Error("a file was replaced")
	}
	if err := d.WriteNew("a/b.txt/c", nil); err == nil {
		t.Error("a file is no folder")
	}
	if !d.Exists("a") || !d.IsFolder("a") || d.IsFile("a") || !d.IsFile(d.Path("a/b.txt")) || d.IsFolder("a/b.txt") || d.Exists("c") {
		t.Error("the disk is not what was written")
	}
	f, err := d.Folder("a").Open("../a/b.txt")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if f, err = d.Folder("x").Open(d.Path("a/b.txt")); err != nil {
		t.Fatal(err)
	}
	f.Close()
}
