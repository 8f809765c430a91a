package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/judge/program"
	"assay/internal/keep/hub"
	"assay/internal/send/locks"
	"assay/internal/send/provider"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/show/notify"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/declare"
	"assay/internal/study/inputs"
	"assay/internal/study/media"
	"assay/internal/study/plan"
	"assay/internal/study/plan/check"
	"assay/internal/study/plan/estimate"
	"assay/internal/study/studyfile"
)

// StudyOptions change a study while it is read.
type StudyOptions struct {
	Profile string
	Set     []string   // path=value
	Prices  string     // a file of prices over the built-in table
	Mode    assay.Mode // how everything travels; empty: as in the study
	Running bool       // it is about to be run: missing keys and programs are no warnings here, Missing reports them as problems
}

// StudyFile returns the study that a name means: the file, or study.yaml in the folder.
func (w *World) StudyFile(name string) string {
	if w.Disk.IsFolder(name) {
		return filepath.Join(name, "study.yaml")
	}
	return name
}

// ReadStudy reads a study and finds every problem that can be found without reading its rows. Problems come with file names as
// the user would type them. The input is nil when the study cannot be used.
func (w *World) ReadStudy(ctx context.Context, name string, o StudyOptions) (*plan.Input, assay.Problems, error) {
	dir, base := filepath.Split(name)
	fsys := w.Disk.Folder(dir)
	s, problems := studyfile.Read(fsys, base, studyfile.Options{Profile: o.Profile, Set: o.Set, Mode: o.Mode})
	if s == nil {
		return nil, InFolder(problems, dir), nil
	}
	prices, err := w.Catalog(o.Prices)
	if err != nil {
		return nil, nil, err
	}
	prices, more := plan.Prices(prices, s)
	problems = append(problems, more...)
	source := inputs.Open(fsys, s.Specs())
	source.Now = w.Now
	d := &plan.Input{Study: s, Items: source, Rows: source, Catalog: prices, Today: catalog.DateOf(w.Now())}
	if s.Shows() {
		shelf := media.NewFolder(fsys)
		d.Open = shelf.Open
		source.Attach = func(input string, it *assay.Item) assay.Problems { return d.Attach(shelf.Find, input, it) }
	}
	d.Known = script.NewPreview(d).Known
	isSet := w.IsSet
	if o.Running {
		isSet = func(string) bool { return true }
	} else {
		checkPrograms(d, filepath.Dir(w.Disk.Path(name)), problems.Warn)
		w.checkNotify(s, &problems)
		w.checkAccounts(d, problems.Warn)
	}
	problems = append(problems, check.Study(d, isSet)...)
	if len(problems.Errors()) > 0 {
		// Broken rows are reported with the rest, as far as the inputs can be read.
		problems = append(append(problems, check.Alike(d)...), d.Items.Check(ctx)...)
		return nil, InFolder(problems, dir), nil
	}
	problems = append(problems, w.moved(s)...)
	if o.Running {
		d.Read, _ = w.StudyDigest(ctx, d, name) // broken rows are reported when the study is planned
	}
	return d, InFolder(problems, dir), nil
}

// moved returns a warning for every revision of a dataset that names another commit by now, and for every name without a revision.
func (w *World) moved(s *study.Study) assay.Problems {
	var p assay.Problems
	told := map[hub.Commit]bool{}
	remote := s.Remote()
	for _, name := range slices.Sorted(maps.Keys(remote)) {
		at := remote[name]
		c, ok := w.Disk.Hub.Commit(name)
		switch {
		case !ok || told[c]:
		case c.Newest != "":
			p.Warn(at, "write @"+c.Newest+" for the newer one", "%s: revision %s has moved on; commit %s is read, as before", c.Dataset,
				cmp.Or(c.Revision, "main"), c.Commit)
		case c.Revision == "":
			p.Warn(at, "write @"+c.Commit+" to name it", "%s: no revision is named; commit %s is read", c.Dataset, c.Commit)
		}
		told[c] = true
	}
	return p
}

// datasets returns the commits of the datasets that a study reads, by the names in it.
func (w *World) datasets(s *study.Study) map[string]string {
	commits := map[string]string{}
	for name := range s.Remote() {
		if c, ok := w.Disk.Hub.Commit(name); ok {
			commits[name] = c.Commit
		}
	}
	return commits
}

// InFolder puts a study's folder in front of file names, as the user would type them.
func InFolder(problems assay.Problems, dir string) assay.Problems {
	out := make(assay.Problems, len(problems))
	for i, p := range problems {
		if p.File != "" && !filepath.IsAbs(p.File) && !assay.IsRemote(p.File) && p.Line > 0 {
			p.File = filepath.Join(dir, p.File)
		}
		out[i] = p
	}
	return out.Sort()
}

// checkPrograms adds a problem for every program that a rubric names and that is not there.
func checkPrograms(d *plan.Input, folder string, add func(at assay.Place, hint, format string, args ...any)) {
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		r := d.Study.RubricOf(st)
		if r == nil || len(r.Command) == 0 {
			continue
		}
		if _, err := program.Find(folder, r.Command); err != nil {
			add(r.Where.Key("command"), "install it, or name it by its path from the study's folder", "stage %s: %s", st.Name, err)
		}
	}
}

// checkNotify adds a problem for every variable under notify that is not set or holds no notification URL: no news would arrive.
func (w *World) checkNotify(s *study.Study, problems *assay.Problems) {
	for i, url := range s.Notify.List {
		name, named := strings.CutPrefix(url, "${") // anything else was reported when the study was read, and is not repeated
		if name = strings.TrimSuffix(name, "}"); !named {
			continue
		}
		if !w.IsSet(name) {
			problems.Warn(s.Notify.Places[i], "set it to a notification URL, or leave it out: --set 'notify=[]'",
				"notify: %s is not set: no news will be sent", name)
			continue
		}
		if err := notify.Check(w.env(name)); err != nil {
			problems.Add(s.Notify.Places[i], "docs/automate.md shows the forms; `assay notify STUDY --test` sends a message",
				"notify: %s: %s", name, err)
		}
	}
}

// PricesError is a file of prices that cannot be used.
type PricesError struct {
	Err  error
	Form bool // it is not written as such a file is
}

// Error returns the reason.
func (e *PricesError) Error() string { return e.Err.Error() }

// Unwrap is why.
func (e *PricesError) Unwrap() error { return e.Err }

// Catalog returns the built-in catalogue, with the prices of a file over it; empty: without.
func (w *World) Catalog(prices string) (*catalog.Catalog, error) {
	c := catalog.Default()
	if prices == "" {
		return c, nil
	}
	f, err := w.Disk.Open(prices)
	if err != nil {
		return nil, &PricesError{Err: fmt.Errorf("read the prices in %s: %s", prices, assay.FileReason(err))}
	}
	defer f.Close()
	over, err := catalog.ReadOverrides(f)
	if err != nil {
		return nil, &PricesError{Err: fmt.Errorf("read the prices in %s: %w", prices, err), Form: true}
	}
	if c, err = c.With(over); err != nil {
		return nil, &PricesError{Err: fmt.Errorf("read the prices in %s: %w", prices, err)}
	}
	return c, nil
}

// priceFile returns the text of a file of prices.
func (w *World) priceFile(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	return w.Disk.ReadFile(name)
}

// Keys returns the keys that the lanes of a plan need: those of a study's other lanes are not asked for.
func (w *World) Keys(d *plan.Input, p *plan.Plan) []plan.Key {
	sends := map[string]bool{}
	for _, part := range p.Parts {
		sends[part.Lane.Name] = true
	}
	var keys []plan.Key
	for _, k := range d.Keys(w.IsSet) {
		k.Lanes = slices.DeleteFunc(k.Lanes, func(lane string) bool { return !sends[lane] })
		if len(k.Lanes) > 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

// Missing lists what keeps a good study from being run: keys and programs that are missing. A rehearsal needs no keys.
func (w *World) Missing(d *plan.Input, p *plan.Plan, name string, rehearsal Rehearsal) assay.Problems {
	var problems assay.Problems
	if !rehearsal {
		for _, k := range w.Keys(d, p) {
			if what, hint := w.KeyProblem(k, name); what != "" {
				problems.Add(d.Study.At, hint, "%s: %s cannot run", what, k.Users())
			}
			batch := slices.ContainsFunc(p.Parts, func(part plan.Part) bool {
				return part.Lane.Provider == k.Provider && part.Mode == assay.ModeBatch
			})
			if what, hint := plan.Lacks(d, k.Provider, batch, w.IsSet); what != "" {
				problems.Add(d.Study.At, hint, "%s: %s cannot run", what, k.Users())
			}
			w.checkAddress(d, k, problems.Add)
		}
		w.checkNotify(d.Study, &problems)
	}
	checkPrograms(d, filepath.Dir(w.Disk.Path(name)), problems.Add)
	return InFolder(problems, filepath.Dir(name))
}

// checkAccounts reports keys that are set and can be none, and addresses that are none.
func (w *World) checkAccounts(d *plan.Input, say func(at assay.Place, hint, format string, args ...any)) {
	for _, k := range d.Keys(w.IsSet) {
		if name, trouble := w.KeyTrouble(k.Names); trouble != "" {
			say(d.Study.At, "copy the key again, alone", "%s %s: %s cannot run", name, trouble, k.Users())
		}
		w.checkAddress(d, k, say)
	}
}

// checkAddress reports a variable that is to hold the address of a provider, and does not.
func (w *World) checkAddress(d *plan.Input, k plan.Key, say func(at assay.Place, hint, format string, args ...any)) {
	p, _ := d.Study.Providers.Find(k.Provider)
	kind, _ := d.Catalog.Kind(k.Provider, p.Kind, p.BaseURL)
	v, _ := d.Catalog.Vendor(kind)
	cfg, from, _ := provider.Resolve(provider.Settings{Name: k.Provider, BaseURL: p.BaseURL}, v, w.env) // of its key others tell
	if from.BaseURLEnv != "" && !provider.IsAddress(cfg.BaseURL) {
		say(d.Study.At, "such as http://localhost:8000/v1", "%s is no address: %s cannot run", from.BaseURLEnv, k.Users())
	}
}

// KeyProblem returns what is wrong with a key that a study needs, and what to do; empty: nothing is.
func (w *World) KeyProblem(k plan.Key, study string) (what, hint string) {
	name, trouble := w.KeyTrouble(k.Names)
	switch {
	case trouble != "":
		return name + " " + trouble, "copy the key again, alone"
	case k.Set || k.Optional:
		return "", ""
	}
	return strings.Join(k.Names, " or ") + " is not set", "or rehearse without keys: assay run " + study + " --rehearse"
}

// StudyDigest changes when a study, its texts or its items do.
func (w *World) StudyDigest(ctx context.Context, d *plan.Input, name string) (string, error) {
	h := sha256.New()
	fsys := w.Disk.Folder(filepath.Dir(name))
	for _, file := range append([]string{filepath.Base(name)}, d.Study.Loaded...) {
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return "", fmt.Errorf("read the study: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s\n", file, len(text), text)
	}
	for _, e := range d.Study.Inputs {
		digest, err := d.Items.Digest(ctx, e.Name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s\n", e.Name, digest)
	}
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		if st.Import == nil {
			continue
		}
		digest, err := d.Items.Digest(ctx, study.ImportRows(st.Name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "import %s %s\n", st.Name, digest)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// MakePlan plans a study in a folder; problems of its rows come back as an error.
func MakePlan(ctx context.Context, d *plan.Input, o plan.Options, dir string) (*plan.Plan, assay.Problems, error) {
	p, problems := estimate.Make(ctx, d, o)
	problems = InFolder(problems, dir)
	if p == nil {
		return nil, nil, problems
	}
	return p, problems, nil
}

// BudgetOf returns the budget of a run: the user's, else the study's; nil: no limit.
func BudgetOf(s *study.Study, said *assay.Money) *assay.Money {
	if said == nil && s.Budget.Set {
		return &s.Budget.Money
	}
	return said
}

// Lock writes a study into the ledger before anything is sent: texts, digests of items, and what it declares. It returns the lock,
// and the number of verdicts that were there already.
func Lock(ctx context.Context, h *Home, want Wanted) (declare.Lock, int64, error) {
	donors, err := h.Donors(ctx, want)
	if err != nil {
		return declare.Lock{}, 0, err
	}
	var ids []string
	for _, r := range donors {
		ids = append(ids, r.ID)
	}
	s, err := lockable(ctx, h, want)
	if err != nil {
		return declare.Lock{}, 0, err
	}
	return locks.Book{Runs: h.Ledger.Runs, Snapshots: &h.Planner.Store}.Lock(ctx, s, ids, h.World.Now())
}

// Locked returns the lock of a study with what was changed since; nil: it was not locked.
func Locked(ctx context.Context, h *Home, want Wanted) (*snapshot.Locked, error) {
	s, err := lockable(ctx, h, want)
	if err != nil {
		return nil, err
	}
	return locks.Book{Runs: h.Ledger.Runs, Snapshots: &h.Planner.Store}.Of(ctx, s)
}

// lockable returns a study as locks see it.
func lockable(ctx context.Context, h *Home, want Wanted) (locks.Study, error) {
	digest, err := h.World.StudyDigest(ctx, want.Input, want.File)
	s := want.Settings
	s.File, s.Profile, s.Set = filepath.Base(want.File), want.Study.Profile, want.Study.Set
	return locks.Study{Input: want.Input, Folder: want.folder(h.World), Files: h.World.Disk.Folder(filepath.Dir(want.File)), Digest: digest,
		Settings: s}, err
}
