package worlds

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"assay/internal/simulator/dice"
)

// World is one history, before it is played.
type World struct {
	Seed    uint64
	Study   Study
	Faults  []string // rules of the simulator
	Queue   time.Duration
	Rate    float64       // requests of a job that complete a second; 0: all at once
	Idle    time.Duration // the longest sleep of a process that drives a run; 0: as in the program
	Slow    time.Duration // how long a judging program takes
	Actions []Action

	Thorough bool `json:"-"` // findings are looked at in every form; otherwise in one of three
}

// Action is one thing that the person does, or that happens to the machine.
type Action struct {
	Do    string   // a command of the program, or one of the words below
	Args  []string // of a command
	Edit  string   // which edit
	Wait  time.Duration
	End   ending
	Aside []string // a second process with these arguments, begun when the first has taken some steps
}

// What a person does besides typing commands.
const (
	doEdit   = "edit"
	doWait   = "wait"
	doBackup = "backup"
	doBack   = "restore" // the home as it was at the last backup
	doClock  = "clock"   // set it, by Wait
	doRead   = "read"    // look at everything
	doLabel  = "label"   // judge some answers
	doRotate = "key"     // other keys at every provider, or the first ones again
	doCopy   = "copy"    // a copy of the home is resumed beside it
	doCall   = "gateway" // a program asks the gateway
	doDamage = "damage"  // a file of a run is deleted, or a bit of it changes
	doLost   = "lost"    // the home is lost, and what providers hold is recovered
	doTune   = "tune"    // lanes are paused or go on, and limits change
)

// shows reports whether the world looks at findings in one of three forms.
func (w World) shows(form uint64) bool { return w.Thorough || w.Seed%3 == form }

// Make returns the world of a seed.
func Make(seed uint64) World {
	r := rand.New(rand.NewPCG(seed, 0x776f726c64))
	w := World{Seed: seed, Study: newStudy(r), Queue: time.Duration(r.IntN(4)) * 20 * time.Second}
	if r.IntN(3) == 0 {
		w.Rate = 0.5
	}
	if r.IntN(8) > 0 {
		w.Idle = time.Minute // it sleeps for most of a world, and twelve times fewer looks at nothing new find the same
	}
	w.Slow = time.Duration(r.IntN(3)) * 4 * time.Minute
	for range r.IntN(4) {
		w.Faults = append(w.Faults, newFault(r, w.Study))
	}
	if r.IntN(6) == 0 {
		w.Faults = append(w.Faults, together(r, w.Study)...)
	}
	if dice.Mix(seed)%10 == 2 {
		w.Faults = []string{brief[r.IntN(len(brief))], brief[r.IntN(len(brief))]}
	}
	if dice.Mix(seed)%10 == 0 { // before the study is run: of the newest run all is computed again
		for range 1 + r.IntN(3) {
			w.Actions = append(w.Actions, w.command(r, doCall))
		}
	}
	if dice.Mix(seed)%10 == 1 {
		w.aim(r)
		return w
	}
	w.Actions = append(w.Actions, w.command(r, "run"))
	if r.IntN(8) == 0 {
		w.Actions = append(w.Actions, w.disaster(r)...)
		return w
	}
	for range r.IntN(7) {
		w.Actions = append(w.Actions, w.action(r))
	}
	return w
}

// newFault returns a rule that passes: the provider works again after some calls or some time. It is often one that hits what the study
// sends.
func newFault(r *rand.Rand, s Study) string {
	vendor := vendorOf(r, s)
	limit := pick(r, "once", "x2", "x3", "nth=2", "after=1 x2", "30% x5")
	if s.Mode == "live" && r.IntN(3) > 0 {
		what := pick(r, "drop-reply", "drop-reply", "drop", "500", "429=5s", "truncate", "stall=30s", "slow=40s")
		return vendor + " ask " + what + " " + limit
	}
	return vendor + " " + pick(r,
		"create drop-reply", "create drop", "create 500", "create 429=30s", "create expire=50%", "create fail-lines=30%",
		"create stuck=20m", "create stall=30s", "create truncate", "list hide=2m", "list 500", "check 500", "check freeze", "check drop",
		"check state=strange", "fetch drop", "fetch truncate", "fetch 503", "fetch missing=1", "fetch duplicate=1", "fetch foreign=1",
		"fetch malformed=1", "upload drop", "upload drop-reply", "upload 500", "upload truncate", "ask drop-reply", "ask drop", "ask 500",
		"ask 429=5s", "ask 429=bare", "ask truncate", "ask slow=40s", "ask error-200", "ask refuse=100%", "create refuse=50%", "cancel 500",
		"cancel slow-cancel=10m", "* slow=3s",
	) + " " + limit
}

// brief are faults of every call that strike once or twice: a run gets over any two of them.
var brief = []string{
	"* upload 500 once", "* upload drop-reply once", "* upload truncate once", "* upload error-200 once",
	"* create 429 once", "* create 500 once", "* create drop-reply once", "* create truncate once", "* create error-200 once",
	"* create stall=600ms once", "openai create fail=token_limit_exceeded once",
	"* check 500 x2", "* check 404 once", "* check drop once", "* check truncate once", "* check error-200 once", "* check freeze x2",
	"openai check no-output once", "* check state=puzzled once",
	"* list 500 once", "* list drop once", "* list truncate once", "* list error-200 once", "* list hide=24h x2",
	"* fetch 500 once", "* fetch 404 once", "* fetch drop-reply once", "* fetch truncate once", "* fetch stall=50ms once",
	"* fetch error-200 once", "* fetch missing once", "* fetch malformed once",
}

// vendorOf names a provider that the study asks, or all.
func vendorOf(r *rand.Rand, s Study) string {
	vendor := "*"
	switch n := r.IntN(6); {
	case n < 3:
		vendor, _, _ = strings.Cut(s.Lanes[r.IntN(len(s.Lanes))].Model, "/")
	case n < 4 && s.judged():
		vendor, _, _ = strings.Cut(judgeModel, "/")
	}
	return vendor
}

// together returns faults that say more with each other than alone: a create call whose reply is lost beside a list that lags, less than
// the program waits or more; results that are missing for longer than they are fetched again.
func together(r *rand.Rand, s Study) []string {
	vendor := vendorOf(r, s) + " "
	switch r.IntN(3) {
	case 0:
		return []string{vendor + "create drop-reply " + pick(r, "once", "nth=2"), vendor + "list hide=40s"}
	case 1:
		return []string{vendor + "create drop-reply " + pick(r, "once", "nth=2"), vendor + "list hide=" + pick(r, "15m", "45m")}
	}
	return []string{vendor + "fetch missing=1 " + pick(r, "x4", "x5", "x8")}
}

// disaster is a home that is lost and comes back as it was before, or a disk that fails under a run that was stopped.
func (w *World) disaster(r *rand.Rand) []Action {
	if r.IntN(3) == 0 {
		w.Actions[len(w.Actions)-1].End = at(r, kill)
		return []Action{{Do: doDamage}, w.command(r, "run"), {Do: doDamage}, w.command(r, "resume")}
	}
	if r.IntN(4) == 0 { // what comes late
		return []Action{{Do: doWait, Wait: 7 * time.Hour}, w.command(r, "resume", "--all"), {Do: doWait, Wait: 20 * time.Hour}}
	}
	calls := slices.ContainsFunc(w.Actions, func(a Action) bool { return a.Do == doCall }) // nobody recovers those
	if r.IntN(3) == 0 && !calls {
		lost := w.command(r, doLost)
		lost.Aside = nil
		return []Action{{Do: doWait, Wait: time.Duration(r.IntN(40)) * time.Hour}, lost, w.command(r, "run")}
	}
	return []Action{
		{Do: doWait, Wait: time.Duration(r.IntN(90)) * time.Second}, {Do: doBackup}, w.command(r, "resume"),
		{Do: doWait, Wait: time.Duration(r.IntN(60)) * time.Minute}, {Do: doBack}, w.command(r, "run"),
	}
}

// aim makes a world in which something happens at the moment that one guard of the program is for: a kill around a create call whose job
// no list names yet, and perhaps a clock that jumps then; a loss of power while live calls are out; a hard budget that covers a part of
// what several lanes cost at once, beside replies that are lost; results that come hours late; a model that is gone; a judge that declines.
func (w *World) aim(r *rand.Rand) {
	run := Action{Do: "run", Args: []string{"run", "study.yaml", "--yes"}}
	for len(w.Study.Lanes) < 2 {
		w.Study.addLane(r)
	}
	then := []Action{{Do: "resume", Args: []string{"resume"}}}
	switch r.IntN(7) {
	case 0:
		w.Study.Mode, w.Study.Budget, w.Study.LiveBelow, w.Study.Canary = "batch", 0, 0, false
		w.Faults = []string{vendorOf(r, w.Study) + " list hide=40s"}
		run.End = ending{kill, 1 + r.IntN(8), pick(r, "POST", "POST", "POST", "ledger intend", "ledger launched", "ledger ended")}
		if r.IntN(2) == 0 {
			w.Actions = append(w.Actions, run)
			run = Action{Do: doClock, Wait: jump(40 * r.IntN(2))}
		}
	case 1:
		w.Study.Mode, w.Study.Budget = "live", 0
		run.End = ending{power, 1 + r.IntN(12), "POST"}
	case 2:
		w.Study.Mode, w.Study.Repeats, w.Study.High = pick(r, "batch", "live"), 2, true
		w.Study.Budget = w.Study.guess() * int64(2+r.IntN(8)) / 8
	case 3:
		w.Study.Mode, w.Study.Repeats, w.Study.High = "live", 2, true
		w.Study.Budget = w.Study.guess() * int64(4+r.IntN(8)) / 8
		w.Faults = []string{"* ask drop-reply 50% x" + pick(r, "8", "20")}
	case 4:
		w.Study.Mode, w.Study.Budget, w.Study.LiveBelow = "batch", 0, 0
		w.Study.Compare = ""
		w.Study.Lanes = []Lane{{"l0", "openai/" + pick(r, "gpt-4.1-mini", "gpt-4.1-nano")}}
		w.Faults = []string{"openai check no-output for=2h"}
		later := Action{Do: doWait, Wait: 7 * time.Hour}
		then = []Action{later, then[0], later, then[0]}
	case 5:
		vendor, _, _ := strings.Cut(w.Study.Lanes[0].Model, "/")
		w.Study.Mode, w.Study.Budget, w.Faults = "live", 0, []string{vendor + " ask 404 x60"}
		w.Study.Items, w.Study.Repeats, w.Study.Turns = w.Study.Items[:1], 2, nil // few enough that all are asked before the lane stops
		then = append([]Action{{Do: doRead}}, then...)
	case 6:
		vendor, _, _ := strings.Cut(judgeModel, "/")
		w.Study.Judge, w.Faults = "model", []string{vendor + " ask refuse=50%", vendor + " create refuse=50%"}
	}
	w.Actions = append(append(w.Actions, run), then...)
}

func (w *World) action(r *rand.Rand) Action {
	switch n := r.IntN(22); {
	case n < 3:
		return Action{Do: doEdit, Edit: slices.Sorted(maps.Keys(edits))[r.IntN(len(edits))]}
	case n < 6:
		return Action{Do: doWait, Wait: time.Duration(1+r.IntN(60)) * pickWait(r)}
	case n < 7 && r.IntN(2) == 0:
		return Action{Do: doClock, Wait: jump(r.IntN(41))}
	case n < 7:
		return Action{Do: pick(r, doRead, doLabel, doLabel, doRotate, doCopy, doDamage, doDamage)}
	case n < 12:
		return w.command(r, "run")
	case n < 16:
		return w.command(r, "resume")
	case n < 17:
		return w.command(r, "resume", "--once")
	case n < 18:
		return w.command(r, "retry", "--yes")
	case n < 19:
		it, l := w.Study.Items[r.IntN(len(w.Study.Items))], w.Study.Lanes[r.IntN(len(w.Study.Lanes))]
		return w.command(r, "redo", "--yes", "--stage", "answers", "--item", it.ID, "--lane", l.Name)
	case n < 20:
		return w.command(r, "cancel", "--yes")
	case n < 21:
		return w.command(r, doTune)
	}
	return w.command(r, "clean", pick(r, "--yes", "--remote", "--check"), pick(r, "--yes", "--hash"))
}

// jump is how far the clock is set: minutes, or a day.
func jump(n int) time.Duration {
	switch {
	case n < 4:
		return -24 * time.Hour
	case n > 36:
		return 24 * time.Hour
	}
	return time.Duration(n-20) * time.Minute
}

func pickWait(r *rand.Rand) time.Duration {
	return []time.Duration{time.Second, time.Minute, time.Hour}[r.IntN(3)]
}

// command is one that may be disturbed.
func (w *World) command(r *rand.Rand, args ...string) Action {
	a := Action{Do: args[0], Args: args}
	if args[0] == "run" {
		a.Args = append(a.Args, "study.yaml", "--yes")
		if r.IntN(4) == 0 {
			a.Args = append(a.Args, "--detach")
		}
	}
	switch n := r.IntN(10); {
	case n < 3:
		a.End = at(r, kill)
	case n < 4:
		a.End = at(r, power)
	case n < 5 && r.IntN(4) == 0:
		a.End = at(r, full)
	case n < 5:
		a.End = at(r, interrupt)
	case n < 6:
		a.End, a.Aside = at(r, pause), []string{"resume", "--all"}
	}
	if r.IntN(8) == 0 {
		a.Aside = []string{"resume"}
	}
	return a
}

// at returns an ending at one of the first few hundred moments, early ones as often as late ones, or around a step on which money or an
// answer depends.
func at(r *rand.Rand, how howEnds) ending {
	if r.IntN(2) == 0 {
		return ending{How: how, At: 1 + r.IntN(1<<r.IntN(10))}
	}
	on := pick(r, "POST", "POST", "POST", "GET", "ledger intend", "ledger launched", "ledger settle", "ledger go live",
		"ledger hold segments", "file write", "file sync")
	return ending{how, 1 + r.IntN(1<<r.IntN(4)), on}
}

// String tells the world on one screen.
func (w World) String() string {
	var b strings.Builder
	s := w.Study
	fmt.Fprintf(&b, "study: %d items, lanes", len(s.Items))
	for _, l := range s.Lanes {
		fmt.Fprintf(&b, " %s=%s", l.Name, l.Model)
	}
	fmt.Fprintf(&b, "; mode %s, %d turns × %d, canary %t, live_below %d", s.Mode, 1+len(s.Turns), s.Repeats, s.Canary, s.LiveBelow)
	if s.Judge != "" {
		fmt.Fprintf(&b, ", judged by %s", s.Judge)
	}
	if s.Jury != "" {
		fmt.Fprintf(&b, ", two judges (%s)", s.Jury)
	}
	if s.Gold != "" {
		fmt.Fprintf(&b, ", gold labels (%s)", s.Gold)
	}
	if s.Compare != "" {
		fmt.Fprintf(&b, ", pairs %s", s.Compare)
	}
	if s.Pictures {
		b.WriteString(", pictures")
	}
	if s.Tool {
		b.WriteString(", a tool")
	}
	if s.Budget > 0 {
		fmt.Fprintf(&b, ", budget $%.4f", float64(s.Budget)/1e9)
		if s.High {
			b.WriteString(" at high")
		}
	}
	fmt.Fprintf(&b, "\nproviders: queue %s, rate %g", w.Queue, w.Rate)
	for _, f := range w.Faults {
		fmt.Fprintf(&b, "; %s", f)
	}
	for i, a := range w.Actions {
		fmt.Fprintf(&b, "\n%2d. %s", i+1, a)
	}
	return b.String()
}

// String tells the action.
func (a Action) String() string {
	text := ""
	switch a.Do {
	case doEdit:
		return "edit: " + a.Edit
	case doWait:
		return "wait " + a.Wait.String()
	case doClock:
		return "the clock is set by " + a.Wait.String()
	case doBackup, doBack, doRead, doLabel, doRotate, doCopy, doDamage, doLost, doTune:
		return a.Do
	default:
		text = "assay " + strings.Join(a.Args, " ")
	}
	if a.End.How != "" {
		text += strings.TrimSuffix(fmt.Sprintf("   (%s at moment %d of %s", a.End.How, a.End.At, a.End.On), " of ") + ")"
	}
	if len(a.Aside) > 0 {
		text += "   beside: assay " + strings.Join(a.Aside, " ")
	}
	return text
}
