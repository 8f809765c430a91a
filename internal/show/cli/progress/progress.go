// Package progress shows how runs move, while they are driven or watched.
package progress

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// Progress shows how runs move, from the ledger alone: bars for every lane on a terminal, a plain line now and then
// otherwise. It is the same for batches and for live requests, and for a process that watches from elsewhere.
type Progress struct {
	World  *shell.World
	home   *shell.Home
	runs   []store.Run
	words  *Narrator
	screen *term.Screen // nil: plain lines
	colour bool
	before term.Widths // of the columns as they were drawn

	mu     sync.Mutex
	others map[string]bool // who was reported to be at work on it, too
	noted  notices
	last   string
	looked time.Time     // when the ledger was last asked how far it is
	warned time.Time     // when it was last printed that something cannot be written
	took   time.Duration // how long that took
	times  runs.Times    // of jobs that ended lately
	timed  time.Time     // when they were read
}

const (
	often = 5 * time.Second        // how often a plain line is printed at most
	frame = 200 * time.Millisecond // how often bars are drawn at most
	parts = 100                    // of the time, at most one such part is spent on looking how far a run with many jobs is
)

// NewProgress begins to show how runs of a home move.
func NewProgress(ctx context.Context, w *shell.World, h *shell.Home, runs ...store.Run) (*Progress, error) {
	p := &Progress{World: w, home: h, runs: runs, others: map[string]bool{},
		noted: notices{lanes: map[string]store.LaneState{}, compares: map[string]string{}, printed: map[string]time.Time{},
			past: map[int64]store.Reason{}}}
	if w.Draws() {
		p.screen, p.colour = term.NewScreen(w.Stderr), w.Colours()
	}
	var err error
	p.words, err = NewNarrator(ctx, w, h, runs...)
	return p, err
}

// Close takes the bars away, so that what is printed next begins on a clean line.
func (p *Progress) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.say()
}

// say prints lines that stay, in place of the bars until they are drawn again.
func (p *Progress) say(lines ...string) error {
	if p.screen != nil {
		return p.screen.Draw(lines, nil)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(p.World.Stderr, line); err != nil {
			return err
		}
	}
	return nil
}

// Show prints or draws how far the runs are.
func (p *Progress) Show(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	news, err := p.words.news(ctx)
	if err != nil {
		return err
	}
	for _, o := range p.World.Contact.News() {
		news = append(news, o.String())
	}
	now := p.World.Now()
	noted, err := p.noted.news(ctx, p.home.Ledger, p.runs, now)
	if err != nil {
		return err
	}
	if p.noted.looked.Equal(now) {
		p.noted.took = max(0, p.World.Now().Sub(now))
	}
	news = append(news, noted...)
	if p.screen == nil {
		return errors.Join(p.say(news...), p.plain(ctx, now))
	}
	if len(news) == 0 && p.rests(now, frame) {
		return nil
	}
	all, costs, err := p.look(ctx, now)
	if err == nil {
		err = p.time(ctx, now)
	}
	if err != nil {
		return err
	}
	return p.screen.Draw(news, p.bars(now, all, costs).Lines())
}

// plain prints a line about all lanes, where it says something new.
func (p *Progress) plain(ctx context.Context, now time.Time) error {
	if p.rests(now, often) {
		through, err := p.through(ctx, now)
		if err != nil || !through {
			return err
		}
	}
	all, costs, err := p.look(ctx, now)
	if err != nil {
		return err
	}
	line := countsOf(all.Progress)
	if all.Wanted == 0 || line == p.last {
		return nil
	}
	p.last = line
	cost := sumOf(costs)
	total := barOf("all", all.Progress, cost, all.Pace, now)
	if total.Left > 0 {
		line += fmt.Sprintf(", %s, about %s left", total.Pace(), term.Duration(total.Left))
	}
	spent := cost.Spent()
	if p.home.Rehearsal {
		spent = cost.WouldBe()
	}
	_, err = fmt.Fprintln(p.World.Stderr, line+", "+spent)
	return err
}

// countsOf returns how many requests are done and how many are open: each is one or the other.
func countsOf(p runs.Progress) string {
	return fmt.Sprintf("%s of %s done, %s open", assay.Thousands(p.Done()), assay.Thousands(p.Wanted), assay.Thousands(p.Open()-p.Ready))
}

// through reports whether all requests have ended, by the counters of lanes alone.
func (p *Progress) through(ctx context.Context, now time.Time) (bool, error) {
	if p.noted.looked.Equal(now) { // it was just counted
		return !p.noted.open, nil
	}
	for _, run := range p.runs {
		lanes, err := p.home.Ledger.Reader.Lanes(ctx, run.No)
		if err != nil {
			return false, err
		}
		for _, l := range lanes {
			if unfinished(l) {
				return false, nil
			}
		}
	}
	return true, nil
}

func unfinished(l store.Lane) bool { return l.Ended() < l.Planned-l.Spared }

// rests reports whether it is too soon to look again.
func (p *Progress) rests(now time.Time, least time.Duration) bool {
	return !p.looked.IsZero() && now.Sub(p.looked).Abs() < max(least, parts*p.took)
}

// look reads the state of every lane, and all of them together, with what each has cost.
func (p *Progress) look(ctx context.Context, now time.Time) (all runs.RunProgress, costs []assay.Cost, err error) {
	defer func() { p.looked, p.took = now, max(0, p.World.Now().Sub(now)) }()
	for i, run := range p.runs {
		now, err := p.home.Ledger.Reader.Run(ctx, run.No)
		if err != nil {
			return all, nil, err
		}
		p.runs[i] = now // not before it is known: the next look begins with its number
	}
	far, err := runs.ProgressOf(ctx, p.home.Results(), p.runs...)
	if err != nil {
		return all, nil, err
	}
	for _, run := range p.runs {
		spending, err := p.home.Ledger.Reader.Spending(ctx, run.No)
		if err != nil {
			return all, nil, err
		}
		spent := map[[2]string]assay.Cost{}
		for _, s := range spending {
			spent[[2]string{s.Stage, s.Lane}] = s.Cost
		}
		for _, l := range far[run.No].Lanes {
			costs = append(costs, spent[[2]string{l.Stage, l.Name}])
		}
		all = runs.RunProgress{Progress: all.Add(far[run.No].Progress), Lanes: append(all.Lanes, far[run.No].Lanes...)}
	}
	return all, costs, nil
}

// time reads how long jobs took that are like those that are away; again after a minute, as some of these may have ended.
func (p *Progress) time(ctx context.Context, now time.Time) (err error) {
	if !p.timed.IsZero() && now.Sub(p.timed).Abs() < time.Minute {
		return nil
	}
	p.timed = now
	p.times, err = runs.TimesOf(ctx, p.home.Results(), p.home.Rehearsal, now)
	return err
}

// outlook returns when what is at providers comes back, by what jobs like it took, where the pace of the run does not say it.
func (p *Progress) outlook(now time.Time, all runs.RunProgress) string {
	if _, known := all.Pace(now); known {
		return ""
	}
	back, known := all.Return(p.times, now)
	took := fmt.Sprintf("batches like this took %s to %s", term.Duration(back.Shortest), term.Duration(back.Longest))
	switch {
	case !known:
		return ""
	case back.Left == 0:
		return "late: " + took
	case back.All:
		return fmt.Sprintf("about %s left (%s)", term.Duration(back.Left), took)
	}
	return fmt.Sprintf("back in about %s (%s)", term.Duration(back.Left), took)
}

// bars returns what is drawn of it.
func (p *Progress) bars(now time.Time, all runs.RunProgress, costs []assay.Cost) term.Bars {
	width, height := p.World.Terminal.Current()
	out := term.Bars{Width: width, Height: height, Colour: p.colour, Before: &p.before,
		Total: barOf("all", all.Progress, sumOf(costs), all.Pace, now), There: all.There(now)}
	out.Total.Outlook = p.outlook(now, all)
	for _, run := range p.runs {
		out.Total.Elapsed = max(out.Total.Elapsed, now.Sub(run.Created))
	}
	names := map[int64]string{}
	if len(p.runs) > 1 {
		for _, run := range p.runs {
			names[run.No] = run.ID + " "
		}
	}
	for i, l := range all.Lanes {
		b := barOf(names[l.Run]+l.Stage+" "+l.Name, l.Progress, costs[i], l.Pace, now)
		b.Stage = assay.Clean(names[l.Run]+l.Stage, 200)
		if l.State != store.LaneOpen {
			b.Halt = string(l.State)
		}
		out.Lanes = append(out.Lanes, b)
	}
	return out
}

func sumOf(costs []assay.Cost) assay.Cost {
	var sum assay.Cost
	for _, c := range costs {
		sum = sum.Add(c)
	}
	return sum
}

// barOf returns how far a lane is, or all of them.
func barOf(name string, p runs.Progress, cost assay.Cost, pace func(time.Time) (runs.Pace, bool), now time.Time) term.Bar {
	at, _ := pace(now)
	return term.Bar{
		Name: assay.Clean(name, 200), Wanted: p.Wanted, Answered: p.Answered + p.Ready, Ready: p.Ready, Failed: p.Failed - p.Again,
		Errors: p.Failed, Cost: cost, Rate: at.Rate, Left: at.Left,
	}
}

// Held says, once for each, who else is at work on the run.
func (p *Progress) Held(by *store.HeldError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.others[by.Holder] {
		p.others[by.Holder] = true
		_ = p.say(fmt.Sprintf(
			"%s is at work on this run, too, and carries out orders; what it holds is free at %s at the latest, unless it renews its lease",
			shell.ProcessOf(by.Holder), by.Until.Local().Format(time.TimeOnly))) // a stream that is gone is noticed by the next look
	}
}

// Away prints that the ledger is waited for.
func (p *Progress) Away(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.say("the ledger cannot be reached, and is waited for: " + err.Error()) // a stream that is gone is noticed by the next look
}

// Unwritten prints that what came back cannot be written, and is tried again; not more often than every half minute.
func (p *Progress) Unwritten(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.World.Now(); now.Sub(p.warned) > warnEvery {
		p.warned = now
		// a stream that is gone is noticed by the next look
		_ = p.say("it cannot be written, and is tried again for two minutes: " + err.Error() + "; Ctrl-C stops, and what came back " +
			"and is not written by then is asked, and paid for, again")
	}
}

// warnEvery is how often the same warning is printed at most.
const warnEvery = 30 * time.Second

// Stopping prints what a stop waits for.
func (p *Progress) Stopping(flying int) {
	if flying == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// as above
	_ = p.say(fmt.Sprintf("stopping: %s in flight, paid for, and waited for; Ctrl-C again stops at once",
		assay.Count(flying, "live request")))
}
