package runs_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/storetest"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// world is a ledger, a folder, a provider and a study, with the engine that drives them.
type world struct {
	t       testing.TB
	ctx     context.Context
	where   string
	files   *artifacts.Folder
	clock   *clock
	fake    *fakeProvider
	plan    *planner
	s       *ledger.Ledger
	e       *runs.Engine
	second  *runs.Engine // extends the run instead, if there is one
	run     store.Run
	holders int
	timing  engine.Timing
	around  func(op string, call func() error) error
	budget  *assay.Money
	canary  store.Canary

	rehearsal bool // the run is one
}

func newWorld(t testing.TB, set ...func(w *world)) *world {
	c := newClock()
	w := &world{t: t, ctx: context.Background(), where: filepath.Join(t.TempDir(), "assay.db"), clock: c, fake: newFake(c),
		canary: store.CanaryOff, timing: engine.DefaultTiming()}
	w.plan = &planner{items: 3, lanes: []string{"red", "blue"}, turns: 1, mode: store.Batch, price: 1000, fake: w.fake}
	for _, s := range set {
		s(w)
	}
	if !strings.Contains(w.where, "://") {
		storetest.NewFile(t, w.where)
	}
	files, err := artifacts.Open(filepath.Join(t.TempDir(), "runs"))
	w.ok(err)
	w.files = files
	t.Cleanup(func() { files.Close() })
	w.reopen()
	w.begin()
	return w
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// reopen is a new process on the same ledger.
func (w *world) reopen() {
	if w.s != nil {
		w.s.Close()
	}
	s, err := ledger.Open(w.ctx, w.where, ledger.Options{Now: w.clock.Now, Around: w.around})
	w.ok(err)
	w.t.Cleanup(func() { s.Close() })
	w.holders++
	w.s = s
	w.plan.s = s
	w.e = runs.New(engine.Config{Ledger: engine.Ledger{Work: s.Work, Leases: s.Leases, Limits: s.Limits, Reuse: s.Reuse, Reader: s.Reader},
		Files: w.files, Planner: w.plan, Clock: w.clock, Timing: w.timing,
		Random: rand.New(rand.NewPCG(uint64(w.holders), 7)), Holder: fmt.Sprintf("process %d", w.holders),
		Accounts: func(name string) (engine.Access, error) {
			return engine.Access{Account: provider.Account{Name: name, Kind: "fake", BaseURL: "http://fake", Batch: w.fake, Live: w.fake},
				Fingerprint: "key1"}, nil
		}})
}

func (w *world) begin() {
	r, err := w.s.Runs.CreateRun(w.ctx, store.NewRun{ID: "run1", Study: "demo", Settings: "{}", Budget: w.budget, Rehearsal: w.rehearsal})
	w.ok(err)
	var lanes []store.Lane
	for _, l := range w.plan.lanes {
		lanes = append(lanes, store.Lane{Run: r.No, Stage: "answers", Name: l, Provider: "fake", Model: "m", Params: "{}",
			Planned: int64(w.plan.items * w.plan.turns), Canary: w.canary})
	}
	w.ok(w.s.Runs.PutLanes(w.ctx, lanes))
	w.ok(w.s.Runs.OpenRun(w.ctx, r.No))
	w.run, err = w.s.Reader.Run(w.ctx, r.No)
	w.ok(err)
}

// drive works until nothing is due any more, moving the clock to what comes next. It returns the state of the run.
func (w *world) drive() (engine.RunStatus, error) {
	var st engine.RunStatus
	for range 20000 {
		work, err := w.s.Leases.Due(w.ctx, w.run.No, 10)
		if err != nil {
			return st, err
		}
		for _, item := range work {
			if item.Segment != 0 {
				err = w.e.Advance(w.ctx, item.Segment)
			} else {
				st, err = cmp.Or(w.second, w.e).Extend(w.ctx, item.Run)
			}
			var held *store.HeldError
			if err != nil && !errors.As(err, &held) {
				return st, err
			}
		}
		if len(work) > 0 {
			continue
		}
		next, err := w.s.Reader.NextDue(w.ctx, w.run.No)
		if err != nil {
			return st, err
		}
		if next.IsZero() {
			return st, nil
		}
		if !next.After(w.clock.Now()) { // due, and held by the dead
			if w.s.Postgres() {
				<-time.After(20 * time.Millisecond) // no one can move the server's clock
				continue
			}
			next = w.clock.Now().Add(time.Minute)
		}
		w.clock.to(next)
	}
	return st, errors.New("it never ends\n" + w.history())
}

// until drives piece by piece until something is so.
func (w *world) until(so func() bool) {
	w.t.Helper()
	for range 1000 {
		work, err := w.s.Leases.Due(w.ctx, w.run.No, 1)
		w.ok(err)
		switch {
		case len(work) == 0:
			next, err := w.s.Reader.NextDue(w.ctx, w.run.No)
			w.ok(err)
			w.clock.to(next)
		case work[0].Segment != 0:
			w.ok(w.e.Advance(w.ctx, work[0].Segment))
		default:
			_, err := w.e.Extend(w.ctx, work[0].Run)
			w.ok(err)
		}
		if so() {
			return
		}
	}
	w.t.Fatal("it never comes to that\n" + w.history())
}

// finished drives to the end and wants the run closed with a result.
func (w *world) finished(want store.Result) engine.RunStatus {
	w.t.Helper()
	st, err := w.drive()
	w.ok(err)
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if r.State != store.RunClosed || r.Result != want {
		w.t.Fatalf("run is %s %q, want closed %q; standing %+v\n%s", r.State, r.Result, want, st, w.history())
	}
	return st
}

func (w *world) history() string {
	var b strings.Builder
	events, _ := w.s.Reader.Events(w.ctx, w.run.No, 0, 1000)
	for _, e := range events {
		fmt.Fprintf(&b, "%s s%d %s %s\n", e.At.Format("02 15:04:05"), e.Segment, e.Kind, e.Text)
	}
	segments, _ := w.s.Reader.Segments(w.ctx, w.run.No)
	for _, g := range segments {
		fmt.Fprintf(&b, "s%d %s %s due %s %v %s\n", g.No, g.Mode, g.State, g.Due.Format("15:04:05"), g.Endings, g.Reason)
	}
	return b.String()
}

// billedOnce wants every request billed exactly once over batch and live, except the doubtful live ones.
func (w *world) billedOnce(requests int) {
	w.t.Helper()
	total := 0
	for key, n := range w.fake.billed {
		total += n
		if n != 1 {
			w.t.Errorf("request %s was billed %d times\n%s", key, n, w.history())
		}
	}
	doubts := map[string]int{}
	for d, err := range w.s.Reader.Doubts(w.ctx, w.run.No) {
		w.ok(err)
		doubts[d.Lane+" q "+d.Item] += int(d.Times)
	}
	for prompt, n := range w.fake.asked {
		total++
		if n > 1+doubts[prompt] {
			w.t.Errorf("live request %q was billed %d times, %d doubts\n%s", prompt, n, doubts[prompt], w.history())
		}
	}
	if total != requests {
		w.t.Errorf("%d requests were billed, want %d\n%s", total, requests, w.history())
	}
}

// answers wants an answer to every request, each once.
func (w *world) answers(want int) {
	w.t.Helper()
	n := 0
	for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "") {
		w.ok(err)
		if !a.Ended || !a.Outcome.Ending.Stands() {
			w.t.Errorf("%s of %s has no answer: %+v", a.At.Item, a.Lane, a.Outcome)
		}
		n++
	}
	if n != want {
		w.t.Errorf("%d answers, want %d\n%s", n, want, w.history())
	}
}

// strays counts the result lines that belong to no open attempt, by kind.
func (w *world) strays() map[store.StrayKind]int64 {
	w.t.Helper()
	all := map[store.StrayKind]int64{}
	w.ok(w.s.Reader.Query(w.ctx, "SELECT kind, COUNT(*) FROM strays GROUP BY kind", func(_ []string, values []any) error {
		all[store.StrayKind(fmt.Sprintf("%s", values[0]))] = values[1].(int64)
		return nil
	}))
	return all
}

// planner is a study of items times lanes times turns; each turn follows the real answer to the one before.
type planner struct {
	s      *ledger.Ledger
	fake   *fakeProvider
	items  int
	lanes  []string
	turns  int
	mode   store.SegmentMode
	price  assay.Money
	tiers  map[string]catalog.Schedule
	policy engine.Policy
	cut    engine.Route // its Size and Segments
	live   engine.Live
	made   int // requests that were made, sent or not
	blind  int // so many walks see nothing: what they wait for settles while they walk

	verdict func(assay.Outcome) assay.Verdict // nil: the lanes judge nothing
}

func (p *planner) Policy(context.Context, store.Run) (engine.Policy, error) { return p.policy, nil }

func (p *planner) Route(_ context.Context, _ store.Run, _, lane string, _ store.SegmentMode) (engine.Route, error) {
	rate := catalog.Rates{Input: catalog.Rate{Million: assay.Dollar, Known: true}, Output: catalog.Rate{Million: assay.Dollar, Known: true}}
	return engine.Route{Lane: assay.Lane{Name: lane, Provider: "fake", Model: "m"}, Wire: fakeWire(), Live: p.live,
		Price: catalog.Price{Live: catalog.Schedule{Short: rate}, Batch: catalog.Schedule{Short: rate}, Tiers: p.tiers}, Size: p.cut.Size,
		Segments: p.cut.Segments, Verdict: p.verdict}, nil
}

func fakeWire() assay.Wire {
	return assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI, URL: "/v1/chat/completions", MaxTokensField: "max_tokens",
		SystemRole: "system", ModelInBody: true}
}

func (p *planner) OpenShown(context.Context, store.Run, assay.Sum) (io.ReadCloser, error) {
	return nil, fs.ErrNotExist
}

func (p *planner) Retries(context.Context, store.Run, []string) ([]store.Share, error) {
	return nil, nil
}

func (p *planner) Redo(context.Context, store.Run, store.Redo) ([]store.Share, error) {
	return nil, nil
}

func (p *planner) Absorb(context.Context, store.Run) error { return nil }

func (p *planner) Groups(ctx context.Context, run store.Run) ([]engine.Group, error) {
	var all []engine.Group
	for turn := 1; turn <= p.turns; turn++ {
		for _, lane := range p.lanes {
			final := turn == 1
			if turn > 1 {
				open, err := p.openBefore(ctx, run, lane, turn)
				if err != nil {
					return nil, err
				}
				final = open == 0
			}
			all = append(all, engine.Group{GroupKey: store.GroupKey{Stage: "answers", Lane: lane, Turn: turn}, Wave: turn, Mode: p.mode,
				Final: final})
		}
	}
	return all, nil
}

// openBefore counts the requests of the turn before that may still be answered.
func (p *planner) openBefore(ctx context.Context, run store.Run, lane string, turn int) (int, error) {
	n := 0
	for i := range p.items {
		a, err := p.s.Reader.AnswersTo(ctx, run.No, []assay.Ref{p.at(lane, i, turn-1).Ref()})
		if err != nil {
			return 0, err
		}
		for _, x := range a {
			if x.Ended && x.Outcome.Ending.Stands() {
				n++
			}
		}
	}
	return p.items - n, nil
}

func (p *planner) at(lane string, item, turn int) assay.Coordinates {
	return assay.Coordinates{Stage: "answers", Item: fmt.Sprint(item), Lane: lane, Turn: turn}
}

func (p *planner) Requests(ctx context.Context, run store.Run, g engine.Group, sent engine.Sent) iter.Seq2[engine.Planned, error] {
	return func(yield func(engine.Planned, error) bool) {
		if p.blind > 0 {
			p.blind--
			return
		}
		for i := range p.items {
			at := p.at(g.Lane, i, g.Turn)
			if sent != nil {
				before, err := sent(ctx, []assay.Ref{at.Ref()})
				if err != nil {
					yield(engine.Planned{}, err)
					return
				}
				if _, ok := before[at.Key()]; ok {
					continue
				}
			}
			p.made++
			built, err := p.Build(ctx, run, g.Mode, []assay.Coordinates{at})
			if err != nil {
				yield(engine.Planned{}, err)
				return
			}
			if len(built) == 1 && !yield(built[0], nil) {
				return
			}
		}
	}
}

func (p *planner) Build(ctx context.Context, run store.Run, mode store.SegmentMode, at []assay.Coordinates) ([]engine.Planned, error) {
	var all []engine.Planned
	for _, c := range at {
		route, _ := p.Route(ctx, run, c.Stage, c.Lane, mode)
		prompt := assay.Prompt{}
		ready := true
		for turn := 1; turn <= c.Turn; turn++ {
			if turn > 1 {
				before := c
				before.Turn = turn - 1
				a, err := p.s.Reader.AnswersTo(ctx, run.No, []assay.Ref{before.Ref()})
				if err != nil {
					return nil, err
				}
				got := a[before.Key()]
				ready = ready && got.Ended && got.Outcome.Ending.Stands()
				prompt.Messages = append(prompt.Messages, assay.Message{Role: assay.RoleAssistant, Text: got.Outcome.Text})
			}
			text := "q " + c.Item
			if turn > 1 {
				text += fmt.Sprint(" turn ", turn)
			}
			prompt.Messages = append(prompt.Messages, assay.Message{Role: assay.RoleUser, Text: text})
		}
		if ready {
			cost := assay.Cost{Sum: p.price, Priced: 1}
			all = append(all, engine.Planned{At: c, Expected: cost, High: cost,
				Request: &assay.Request{Key: c.Key(), Lane: &route.Lane, Wire: &route.Wire, Prompt: &prompt}})
		}
	}
	return all, nil
}

func order(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
