package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay"
	"assay/catalog"
	"assay/plan"
	"assay/provider"
	"assay/store"
	"assay/study"
	"assay/waves"
)

type runFlags struct {
	study    studyFlags
	home     homeFlags
	lanes    []string
	stages   []string
	limit    int
	budget   string
	note, by string
	settings waves.Settings
	scope    scopeFlags
	interval time.Duration
	yes      bool
	rehearse bool
	anew     bool
	detach   bool
}

func runCommand(w *World) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:     "run STUDY",
		GroupID: groupRun,
		Short:   "Continue (or start) the run of a study",
		Long: "Runs a study: what can go out goes out, what comes back is kept, and the next wave is made from it, until everything is answered.\n" +
			"Run it again to go on after a stop, a crash or Ctrl-C: nothing that has an answer is asked again.\n\n" +
			"--rehearse runs the whole study against the built-in simulator in seconds, with its own ledger, no key and no cost.",
		Args: args("STUDY"),
		RunE: func(c *cobra.Command, args []string) error { return runStudy(c, w, studyFile(w, args[0]), f) },
	}
	f.study.register(c)
	f.home.register(c)
	f.scope.register(c)
	flags := c.Flags()
	flags.BoolVarP(&f.yes, "yes", "y", false, "send without asking")
	flags.BoolVar(&f.rehearse, "rehearse", false, "run against the built-in simulator")
	flags.Uint64Var(&f.settings.Luck, "luck", 0, "with --rehearse: other answers and verdicts of the same models, by this number")
	flags.BoolVar(&f.anew, "new", false, "begin a new run: everything is asked again")
	flags.BoolVar(&f.detach, "detach", false, "stop when the first wave is on its way")
	flags.StringSliceVar(&f.lanes, "lane", nil, "only these lanes; globs allowed")
	flags.StringSliceVar(&f.stages, "stage", nil, "only these stages")
	flags.IntVar(&f.limit, "limit", 0, "only the first N items of each input")
	flags.StringVar(&f.budget, "budget", "", "the most this run may spend, over the study's")
	flags.BoolVar(&f.settings.VerifyFirst, "verify-first", false, "show each lane's first answer and wait for a yes")
	flags.BoolVar(&f.settings.NoCanary, "no-canary", false, "send batches without asking one request live first")
	flags.DurationVar(&f.interval, "interval", 0, "look at jobs this often (default: 15s at first, then less often)")
	flags.StringVar(&f.note, "note", "", "a note kept with the run")
	flags.StringVar(&f.by, "by", "", "who runs it")
	return c
}

func runStudy(c *cobra.Command, w *World, name string, f runFlags) error {
	ctx := c.Context()
	if f.settings.Luck != 0 && !f.rehearse {
		return usage("add --rehearse", "--luck is the simulator's: a real run has its own")
	}
	sets, err := f.scope.sets(w, name, f.study)
	if err != nil {
		return err
	}
	if _, err := budgetOf(&study.Study{}, f); err != nil {
		return err
	}
	f.study.set = append(f.study.set, sets...)
	if f.study.mode, err = f.scope.travel(); err != nil {
		return err
	}
	f.study.running = true
	o := plan.Options{Lanes: f.lanes, Stages: f.stages, Limit: f.limit, NoCanary: f.settings.NoCanary}
	d, p, err := planned(c, w, name, f.study, o)
	if err != nil {
		return err
	}
	if err := runnable(w, d, p, name, f.rehearse); err != nil {
		return err
	}
	h, err := f.home.open(ctx, w, f.rehearse)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.share(ctx); err != nil {
		return err
	}
	if err := h.files.Probe(); err != nil { // before a run is begun
		return fmt.Errorf("the artifacts cannot be used: %w", err)
	}
	run, err := theRun(ctx, w, h, d, p, name, f)
	if err != nil {
		return err
	}
	if f.detach {
		if left, err := handOver(ctx, w, h, run); left || err != nil {
			return err
		}
	}
	return drive(ctx, w, h, run, d.Study, driveOptions{detach: f.detach, interval: f.interval})
}

// runnable tells what keeps a good study from being run: keys and programs that are missing.
func runnable(w *World, d *plan.Input, p *plan.Plan, name string, rehearse bool) error {
	var problems assay.Problems
	for _, k := range keysOf(w, d, p) {
		if rehearse {
			continue
		}
		if name, trouble := w.keyTrouble(k.Names); trouble != "" {
			problems.Add(d.Study.At, "copy the key again, alone", "%s %s: lanes %s cannot run", name, trouble, strings.Join(k.Lanes, ", "))
			continue
		}
		if k.Set || k.Optional {
			continue
		}
		problems.Add(d.Study.At, "or rehearse without keys: assay run "+name+" --rehearse", "%s is not set: lanes %s cannot run",
			strings.Join(k.Names, " or "), strings.Join(k.Lanes, ", "))
	}
	checkPrograms(d, filepath.Dir(w.Disk.Path(name)), problems.Add)
	for _, q := range shown(problems.Warnings(), filepath.Dir(name)) {
		fmt.Fprintln(w.Stderr, q)
	}
	if problems = problems.Errors(); len(problems) > 0 {
		return shown(problems, filepath.Dir(name))
	}
	if len(p.Parts)+len(p.Imports) == 0 {
		return usage("", "there is nothing to send")
	}
	return nil
}

// keysOf are the keys that the lanes of a plan need: those of a study's other lanes are not asked for.
func keysOf(w *World, d *plan.Input, p *plan.Plan) []plan.Key {
	sends := map[string]bool{}
	for _, part := range p.Parts {
		sends[part.Lane.Name] = true
	}
	var keys []plan.Key
	for _, k := range d.Keys(w.isSet) {
		k.Lanes = slices.DeleteFunc(k.Lanes, func(lane string) bool { return !sends[lane] })
		if len(k.Lanes) > 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

// sameScope tells whether a run was about the same part of its study.
func (f runFlags) sameScope(r store.Run) bool {
	var s waves.Settings
	if json.Unmarshal([]byte(r.Settings), &s) != nil {
		return false
	}
	return slices.Equal(s.Lanes, f.lanes) && slices.Equal(s.Stages, f.stages) && s.Limit == f.limit && s.Luck == f.settings.Luck && slices.Equal(s.Set, f.study.set) && s.Profile == f.study.profile &&
		s.Mode == f.study.mode
}

// sameMode tells whether a run travels as the command line says, where it says anything.
func (f runFlags) sameMode(r store.Run) bool {
	var s waves.Settings
	return f.study.mode == "" || json.Unmarshal([]byte(r.Settings), &s) == nil && s.Mode == f.study.mode
}

// studyDigest tells whether a study, its texts or its items were changed.
func studyDigest(ctx context.Context, w *World, d *plan.Input, name string) (string, error) {
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

// confirm says what goes where and for how much, and asks. Without a terminal and without --yes nothing is sent.
func confirm(w *World, d *plan.Input, p *plan.Plan, f runFlags) error {
	if f.rehearse {
		return nil
	}
	fmt.Fprint(w.Stderr, summary(d, p))
	for _, k := range keysOf(w, d, p) {
		fmt.Fprintf(w.Stderr, "Lanes %s go to %s%s.\n", strings.Join(k.Lanes, ", "), whereTo(w, d.Study, k.Provider), withKey(w, k))
	}
	return ask(w, f.yes, "Send?")
}

// whereTo is a provider, with its address where that is not the vendor's own.
func whereTo(w *World, s *study.Study, name string) string {
	p, _ := s.Providers.Find(name)
	kind, _ := catalog.Default().Kind(name, p.Kind, p.BaseURL)
	v, _ := catalog.Default().Vendor(kind)
	a := accounts{world: w, study: s}
	cfg, _, _ := provider.Resolve(provider.Settings{Name: name, BaseURL: a.expand(p.BaseURL), KeyEnv: strings.Trim(p.Key, "${}")}, v, a.env) // whether it can be reached is told when it is
	if host := hostOf(cfg.BaseURL); host != "" && host != hostOf(v.BaseURL) {
		return name + " at " + host
	}
	return name
}

// withKey names the variable that holds the key of a provider.
func withKey(w *World, k plan.Key) string {
	for _, name := range k.Names {
		if w.isSet(name) {
			return " with the key in " + name
		}
	}
	return ", without a key"
}

// begin writes a run of a study file, with what the command line said about it.
func begin(ctx context.Context, w *World, h *home, b waves.Beginning, name string, f studyFlags) (store.Run, error) {
	rng, err := newRand()
	if err != nil {
		return store.Run{}, err
	}
	if b.Prices, err = priceFile(w, f.prices); err != nil {
		return store.Run{}, err
	}
	b.Files = w.Disk.Folder(filepath.Dir(name))
	b.Settings.BaseURLs = baseURLs(w, h, b)
	b.Settings.File, b.Settings.Profile, b.Settings.Set, b.Settings.Mode = filepath.Base(name), f.profile, f.set, f.mode
	b.Run.ID, b.Run.Folder, b.Run.By = newID(rng), filepath.Dir(w.Disk.Path(name)), cmp.Or(b.Run.By, currentUser(w))
	return h.planner.Begin(ctx, b)
}

// baseURLs are where the requests of a shared run go, by provider: workers that have no key of one may not know.
func baseURLs(w *World, h *home, b waves.Beginning) map[string]string {
	if !h.ledger.Postgres() {
		return nil
	}
	a := &accounts{world: w, study: b.Desk.Study}
	all := map[string]string{}
	for _, part := range b.Plan.Parts {
		if known, err := a.known(part.Lane.Provider); err == nil { // an account that cannot be opened is told when it is used
			all[part.Lane.Provider] = known.BaseURL
		}
	}
	return all
}

func budgetOf(s *study.Study, f runFlags) (*assay.Money, error) {
	if f.budget != "" {
		m, err := assay.ParseMoney(f.budget)
		if err != nil {
			return nil, usage("", "--budget: %s", err)
		}
		return &m, nil
	}
	if !s.Budget.Set {
		return nil, nil
	}
	return &s.Budget.Money, nil
}

func priceFile(w *World, name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	return os.ReadFile(w.Disk.Path(name))
}

func currentUser(w *World) string {
	user, _ := w.Env("USER")
	return user
}
