package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"assay"
	"assay/cli/term"
	"assay/store"
)

// progress shows how runs move, from the ledger alone: bars for every lane on a terminal, a plain line now and then
// otherwise. It is the same for batches and for live requests, and for a process that watches from elsewhere.
type progress struct {
	world  *World
	home   *home
	runs   []store.Run
	words  *narrator
	screen *term.Screen // nil: plain lines

	mu     sync.Mutex
	others map[string]bool // who was said to be at work on it, too
	noted  notices
	last   string
	shown  time.Time
	pace   map[string]*term.Pace
}

const (
	often = 5 * time.Second        // how often a plain line is printed at most
	frame = 200 * time.Millisecond // how often bars are drawn at most
)

func newProgress(ctx context.Context, w *World, h *home, runs ...store.Run) (*progress, error) {
	p := &progress{world: w, home: h, runs: runs, pace: map[string]*term.Pace{}, others: map[string]bool{}, noted: notices{lanes: map[string]store.LaneState{}, said: map[string]time.Time{}}}
	if w.draws() {
		p.screen = term.NewScreen(w.Stderr)
	}
	var err error
	p.words, err = newNarrator(ctx, w, h, runs...)
	return p, err
}

// draws reports whether progress can be drawn in place.
func (w *World) draws() bool {
	kind, _ := w.Env("TERM")
	return w.Terminal.Draws(kind)
}

// close takes the bars away, so that what is printed next begins on a clean line.
func (p *progress) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.say()
}

// say prints lines that stay, in place of the bars until they are drawn again.
func (p *progress) say(lines ...string) error {
	if p.screen != nil {
		return p.screen.Draw(lines, nil)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(p.world.Stderr, line); err != nil {
			return err
		}
	}
	return nil
}

func (p *progress) show(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	news, err := p.words.news(ctx)
	if err != nil {
		return err
	}
	for _, o := range p.world.contact.News() {
		news = append(news, o.String())
	}
	now := p.world.Now()
	noted, err := p.noted.news(ctx, p.home.Ledger.Reader, p.runs, now)
	if err != nil {
		return err
	}
	news = append(news, noted...)
	if p.screen != nil && len(news) == 0 && !p.shown.IsZero() && now.Sub(p.shown).Abs() < frame {
		return nil
	}
	lanes, total, err := p.look(ctx, now)
	if err != nil {
		return err
	}
	if p.screen != nil {
		p.shown = now
		width, height := p.world.Terminal.Current()
		return p.screen.Draw(news, term.Bars{Lanes: lanes, Total: total, Width: width, Height: height}.Lines())
	}
	if err := p.say(news...); err != nil {
		return err
	}
	return p.plain(now, total)
}

// plain prints a line about all lanes, where it says something new.
func (p *progress) plain(now time.Time, total term.Bar) error {
	line := fmt.Sprintf("%s of %s answered or ended, %s open", assay.Thousands(total.Ended()), assay.Thousands(total.Planned), assay.Thousands(total.Open))
	if line == p.last || p.last != "" && now.Sub(p.shown) < often && total.Ended() < total.Planned {
		return nil
	}
	p.last, p.shown = line, now
	if left, ok := total.Left(); ok {
		line += fmt.Sprintf(", %s, about %s left", total.Pace(), term.Duration(left))
	}
	_, err := fmt.Fprintln(p.world.Stderr, line+", "+total.Cost.Spent())
	return err
}

// look reads where every lane stands, and all of them together.
func (p *progress) look(ctx context.Context, now time.Time) ([]term.Bar, term.Bar, error) {
	var all []term.Bar
	total := term.Bar{Name: "all"}
	for _, run := range p.runs {
		lanes, err := p.home.Ledger.Lanes(ctx, run.No)
		if err != nil {
			return nil, total, err
		}
		spending, err := p.home.Ledger.Spending(ctx, run.No)
		if err != nil {
			return nil, total, err
		}
		costs := map[[2]string]assay.Cost{}
		for _, s := range spending {
			costs[[2]string{s.Stage, s.Lane}] = s.Cost
		}
		for _, l := range lanes {
			s := barOf(l, costs[[2]string{l.Stage, l.Name}])
			if len(p.runs) > 1 {
				s.Name = run.ID + " " + s.Name
			}
			s.Rate = p.rate(s.Name, now, s.Ended())
			total = total.Add(s)
			all = append(all, s)
		}
	}
	total.Rate = p.rate("", now, total.Ended())
	return all, total, nil
}

// barOf is how far a lane is.
func barOf(l store.Lane, cost assay.Cost) term.Bar {
	s := term.Bar{Name: assay.Clean(l.Stage+" "+l.Name, 200), Planned: l.Planned - l.Spared, Open: l.Open, Cost: cost}
	for e, n := range l.Endings {
		if e.Stands() {
			s.Answered += n
		} else {
			s.Errors += n
		}
	}
	if l.State != store.LaneOpen {
		s.Halt = string(l.State)
	}
	return s
}

func (p *progress) rate(name string, now time.Time, ended int64) float64 {
	if p.pace[name] == nil {
		p.pace[name] = &term.Pace{}
	}
	return p.pace[name].See(now, ended)
}

// held says, once for each, who else is at work on the run.
func (p *progress) held(by *store.HeldError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.others[by.Holder] {
		p.others[by.Holder] = true
		_ = p.say(fmt.Sprintf("%s is at work on this run, too, and carries out orders; what it holds is free at %s at the latest, unless it renews its lease",
			processOf(by.Holder), by.Until.Local().Format(time.TimeOnly))) // a stream that is gone is noticed by the next look
	}
}

// away says that the ledger is waited for.
func (p *progress) away(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.say("the ledger cannot be reached, and is waited for: " + err.Error()) // a stream that is gone is noticed by the next look
}

// processOf is the holder of a lease as people say it.
func processOf(holder string) string {
	parts := strings.Split(holder, "/")
	if len(parts) < 2 {
		return holder
	}
	return "process " + parts[1] + " on " + parts[0]
}

// stopping says what a stop waits for.
func (p *progress) stopping(flying int) {
	if flying == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.say(fmt.Sprintf("stopping: %s in flight, paid for, and waited for; Ctrl-C again stops at once", assay.Count(flying, "live request"))) // as above
}
