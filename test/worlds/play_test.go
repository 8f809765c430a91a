package worlds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/internal/judge/program"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/simulator"
	"assay/internal/study/catalog"
)

// history is a world while it is played, and after.
type history struct {
	World
	t      testing.TB
	dir    string // the folder of the study; the home is below it
	sim    *simulator.Server
	models *steadfast
	m      *machine
	rng    *rand.Rand
	env    map[string]string
	study  Study         // as it is now
	now    int           // the action
	ran    bool          // the study as it is now was run to its end
	saved  bool          // there is a backup of a home with a run
	back   bool          // it was restored
	skew   time.Duration // of the machine's clock

	mu      sync.Mutex
	live    []simulator.Charge
	calls   []simulator.Charge // live, through the gateway
	calling bool               // now
	trace   []string
	said    []saying // what commands printed
	cancels int
	redos   int
	raised  bool // the budget, by the person
	rotated bool // the keys are others
	rekeyed bool // they were, at some time
	labels  int  // that the program has acknowledged

	held    map[string]int    // how often requests were billed in batches when the home was lost
	severed bool              // live answers were lost with it, and what follows them
	damaged map[string]string // files that the person did not change: what happened to them
}

// saying is what a command printed and how it ended.
type saying struct {
	args []string
	code int
	out  string
	err  string
}

func (s saying) String() string {
	return fmt.Sprintf("$ assay %s\n%s%s[exit %d]", strings.Join(s.args, " "), s.out, s.err, s.code)
}

// secret is the key at every provider. It may stand nowhere.
const secret = "world7f3a9c51d2e8b604"

// virtual is when worlds begin: the models that they ask are for sale then.
func virtual() time.Time { return time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC) }

// newHistory makes the folder, the providers and the machine of a world. It is called in the bubble.
func newHistory(t testing.TB, w World, in *slot) (*history, error) {
	h := &history{World: w, t: t, dir: in.dir, study: w.Study, env: map[string]string{"USER": "ada"}, models: &steadfast{},
		rng: rand.New(rand.NewPCG(w.Seed, 0x706c6179))}
	o := simulator.Options{Seed: w.Seed, Queue: w.Queue, Rate: w.Rate, Dir: in.dir, Responder: h.models, Charged: h.charged}
	for _, text := range w.Faults {
		rule, err := simulator.ParseRule(text)
		if err != nil {
			return nil, err
		}
		o.Faults = append(o.Faults, rule)
	}
	var err error
	if h.sim, err = simulator.New(o); err != nil {
		return nil, err
	}
	for name, url := range h.sim.BaseURLs("http://simulator.invalid") {
		v, ok := catalog.Default().Vendor(name)
		if !ok || v.BaseURLEnv == "" {
			continue
		}
		h.env[v.BaseURLEnv] = url
		if len(v.KeyEnv) > 0 {
			h.env[v.KeyEnv[0]] = secret
		}
	}
	h.m = newMachine(w.Seed, h.home(), &in.links, h.note)
	return h, h.write()
}

func (h *history) home() string { return filepath.Join(h.dir, "assay-data") }

func (h *history) close() error {
	h.m.close()
	return h.sim.Close()
}

func (h *history) note(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trace = append(h.trace, line)
}

func (h *history) charged(c simulator.Charge) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calling {
		h.calls = append(h.calls, c)
		return
	}
	h.live = append(h.live, c)
}

// write writes the study as it is now.
func (h *history) write() error {
	var err error
	for name, text := range map[string]string{"study.yaml": h.study.Text(), "items.csv": h.study.Table(), "gold.csv": h.study.GoldTable(),
		"score.sh": h.study.Script(), "number.json": `{"type": "object", "properties": {"number": {"type": "string"}}}`} {
		err = errors.Join(err, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600))
	}
	if !h.study.Pictures {
		return err
	}
	err = errors.Join(err, os.MkdirAll(filepath.Join(h.dir, "pictures"), 0o700))
	for _, it := range h.study.Items {
		err = errors.Join(err, os.WriteFile(filepath.Join(h.dir, "pictures", it.ID+".png"), it.picture(), 0o600))
	}
	return err
}

// patience is how long a command may take: no provider needs that long.
const patience = 30 * 24 * time.Hour

// play lets the person act, and then drives everything to its end.
func (h *history) play(ctx context.Context) error {
	for i, a := range h.Actions {
		h.now = i + 1
		if err := h.act(ctx, a); err != nil {
			return fmt.Errorf("action %d (%s): %w", i+1, a, err)
		}
	}
	h.now = 0
	return nil
}

func (h *history) act(ctx context.Context, a Action) error {
	switch a.Do {
	case doEdit:
		was := h.study
		if !edits[a.Edit](&h.study, h.rng) {
			h.study = was
		}
		h.ran = false
		return h.write()
	case doWait:
		time.Sleep(a.Wait)
		return nil
	case doRead:
		all, err := h.runs(ctx)
		if err == nil {
			err = h.checkStates(ctx, all, bill{})
		}
		return errors.Join(err, h.readAll(ctx))
	case doClock:
		h.skew += a.Wait
		return nil
	case doBackup:
		return h.backUp(ctx)
	case doBack:
		return h.restore(ctx)
	case doLabel:
		return h.label(ctx, a)
	case doRotate:
		h.rotate()
		return nil
	case doLost:
		return h.lost(ctx, a)
	case doTune:
		return h.tune(ctx, a)
	case doCopy:
		return h.copied(ctx)
	case doDamage:
		return h.damage()
	case doCall:
		return h.gateway(ctx, a)
	case "cancel":
		h.cancels++
	case "redo":
		h.redos++
	}
	return h.typed(ctx, a)
}

// typed gives a command to the machine, and another one beside it.
func (h *history) typed(ctx context.Context, a Action) error {
	var beside sync.WaitGroup
	if len(a.Aside) > 0 {
		beside.Go(func() {
			time.Sleep(time.Duration(1+h.Seed%50) * time.Second)
			if !h.m.flag(&h.m.off) {
				h.assay(ctx, ending{}, a.Aside...)
			}
		})
	}
	s := h.assay(ctx, a.End, a.Args...)
	beside.Wait()
	if a.End.How == power {
		if err := h.m.loseUnsynced(); err != nil {
			return err
		}
	}
	if a.End.How == full && s.code == shell.ExitFailed && strings.Contains(s.err, syscall.ENOSPC.Error()) {
		return nil // it says so
	}
	if a.Do == "run" && s.code == shell.ExitDone && !slices.Contains(a.Args, "--detach") {
		h.ran = true
	}
	return h.sane(s)
}

// assay runs one command in a process of the machine.
func (h *history) assay(ctx context.Context, end ending, args ...string) saying {
	return h.tells(ctx, end, "", args...)
}

// tells runs one command to which the person types something.
func (h *history) tells(ctx context.Context, end ending, types string, args ...string) saying {
	s := h.process(ctx, end, shell.World{Args: args, Stdin: strings.NewReader(types)})
	if *tell { // at once: who looks for why a world does not end has to see it
		fmt.Printf("%s %s\n", time.Now().Format("2 Jan 15:04:05"), s)
	}
	h.mu.Lock()
	h.said = append(h.said, s)
	h.mu.Unlock()
	h.note(fmt.Sprintf("exit %d of assay %s", s.code, strings.Join(args, " ")))
	return s
}

// process runs a command in a process of the machine.
func (h *history) process(ctx context.Context, end ending, w shell.World) saying {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	ctx, p := h.m.start(ctx, end)
	defer p.finish()
	p.synced() // what is there when it begins stays
	var out, errs bytes.Buffer
	w.Env = func(name string) (string, bool) { v, ok := h.env[name]; return v, ok }
	w.Stdout, w.Stderr, w.Now = &out, &errs, func() time.Time { return time.Now().Add(h.skew) }
	w.Disk = shell.Disk{Dir: h.dir}
	w.HTTP = trips(func(r *http.Request) (*http.Response, error) { return p.roundTrip(h.sim.Transport(), r) })
	w.Seams = workspace.Seams{
		Around: func(op string, call func() error) error { return p.do("ledger "+op, call) },
		Synced: p.synced, Files: p.file, Random: &entropy{rand.New(rand.NewPCG(h.Seed, uint64(p.pid)))}, Self: p.self(),
		Ended: h.m.gone, Boot: h.m.boot(), Connect: h.m.links.open, Timing: h.idle, Sleep: p.sleep,
		Judges: func(ctx context.Context, s program.Start) error { return p.judges(ctx, s, h.World.Slow) },
	}
	s := saying{args: w.Args, code: cli.Main(ctx, w)}
	s.out, s.err = out.String(), errs.String()
	if p.isDead() {
		s.code = codeKilled
	} else if time.Since(began) >= patience || p.circles() {
		s.code = codeStuck
	}
	return s
}

// idle returns the waits of a process.
func (h *history) idle(t engine.Timing) engine.Timing {
	if h.World.Idle > 0 {
		t.Idle, t.Busy = h.World.Idle, h.World.Idle/3
	}
	return t
}

// Codes of processes that did not end by themselves.
const (
	codeKilled = -1
	codeStuck  = -2
)

type trips func(*http.Request) (*http.Response, error)

func (t trips) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// entropy is randomness that is the same every time.
type entropy struct{ r *rand.Rand }

func (e *entropy) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e.r.Uint32())
	}
	return len(p), nil
}

// sane reports what no command may do: panic, fail for a reason of its own, or wait for ever.
func (h *history) sane(s saying) error {
	switch {
	case s.code == codeStuck:
		return breaks(L12, s.String(), "it ends or says what it waits for", "it still ran after %s or %d steps", patience, mostSteps)
	case s.code == shell.ExitFailed && !h.names(s.err):
		return &broken{L5, "a command works, or says what to do", "exit 1", s.String()}
	}
	return nil
}

// backUp saves the home, if there is a run in it.
func (h *history) backUp(ctx context.Context) error {
	all, err := h.runs(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	h.saved = true
	return h.sane(h.assay(ctx, ending{}, "backup", "saved"))
}

// restore loses the home, and brings it back from the last backup.
func (h *history) restore(ctx context.Context) error {
	if !h.saved {
		return nil
	}
	h.back, h.ran = true, false
	if err := errors.Join(h.m.links.drop(), os.RemoveAll(h.home())); err != nil {
		return err
	}
	return h.sane(h.assay(ctx, ending{}, "restore", "saved"))
}
