package cli

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"assay"
	"assay/store"
)

// progress tells how runs move, from the ledger alone: bars for every lane on a terminal, a plain line now and then
// otherwise. It is the same for batches and for live requests, and for whoever watches from elsewhere.
type progress struct {
	world  *World
	home   *home
	runs   []store.Run
	words  *narrator
	screen *screen // nil: plain lines

	mu     sync.Mutex
	others map[string]bool // who was said to be at work on it, too
	noted  notices
	last   string
	told   time.Time
	pace   map[string]*tempo
}

const (
	often = 5 * time.Second        // how often a plain line is told at most
	frame = 200 * time.Millisecond // how often bars are drawn at most
)

func newProgress(ctx context.Context, w *World, h *home, runs ...store.Run) (*progress, error) {
	p := &progress{world: w, home: h, runs: runs, pace: map[string]*tempo{}, others: map[string]bool{}, noted: notices{lanes: map[string]store.LaneState{}, told: map[string]time.Time{}}}
	if w.bars() {
		p.screen = &screen{to: w.Stderr}
	}
	var err error
	p.words, err = newNarrator(ctx, w, h, runs...)
	return p, err
}

// bars tells whether lines can be drawn over each other where progress is told.
func (w *World) bars() bool {
	term, _ := w.Env("TERM")
	return w.Terminal.Err && term != "dumb"
}

// close takes the bars away, so that whatever is said next begins on a clean line.
func (p *progress) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.say()
}

// say tells lines that stay, in place of the bars until they are drawn again.
func (p *progress) say(lines ...string) error {
	if p.screen != nil {
		return p.screen.draw(lines, nil)
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
	noted, err := p.noted.news(ctx, p.home.ledger, p.runs, now)
	if err != nil {
		return err
	}
	news = append(news, noted...)
	if p.screen != nil && len(news) == 0 && !p.told.IsZero() && now.Sub(p.told).Abs() < frame {
		return nil
	}
	lanes, total, err := p.look(ctx, now)
	if err != nil {
		return err
	}
	if p.screen != nil {
		p.told = now
		width, height := p.world.Terminal.size()
		return p.screen.draw(news, picture{lanes: lanes, total: total, width: width, height: height}.lines())
	}
	if err := p.say(news...); err != nil {
		return err
	}
	return p.plain(now, total)
}

// plain tells a line about all lanes, where there is something new to tell.
func (p *progress) plain(now time.Time, total stand) error {
	line := fmt.Sprintf("%s of %s answered or ended, %s on their way", assay.Thousands(total.ended()), assay.Thousands(total.planned), assay.Thousands(total.open))
	if line == p.last || p.last != "" && now.Sub(p.told) < often && total.ended() < total.planned {
		return nil
	}
	p.last, p.told = line, now
	if left, ok := total.eta(); ok {
		line += fmt.Sprintf(", %s, about %s left", total.pace(), short(left))
	}
	_, err := fmt.Fprintln(p.world.Stderr, line+", "+total.cost.String()+" spent")
	return err
}

// look reads where every lane stands, and all of them together.
func (p *progress) look(ctx context.Context, now time.Time) ([]stand, stand, error) {
	var all []stand
	total := stand{name: "all"}
	for _, run := range p.runs {
		lanes, err := p.home.ledger.Lanes(ctx, run.No)
		if err != nil {
			return nil, total, err
		}
		spending, err := p.home.ledger.Spending(ctx, run.No)
		if err != nil {
			return nil, total, err
		}
		costs := map[[2]string]assay.Cost{}
		for _, s := range spending {
			costs[[2]string{s.Stage, s.Lane}] = s.Cost
		}
		for _, l := range lanes {
			s := standOf(l, costs[[2]string{l.Stage, l.Name}])
			if len(p.runs) > 1 {
				s.name = run.ID + " " + s.name
			}
			s.rate = p.rate(s.name, now, s.ended())
			total = total.add(s)
			all = append(all, s)
		}
	}
	total.rate = p.rate("", now, total.ended())
	return all, total, nil
}

func (p *progress) rate(name string, now time.Time, ended int64) float64 {
	if p.pace[name] == nil {
		p.pace[name] = &tempo{}
	}
	return p.pace[name].see(now, ended)
}

// held says, once for each, who else is at work on the run.
func (p *progress) held(by *store.HeldError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.others[by.Holder] {
		p.others[by.Holder] = true
		_ = p.say(fmt.Sprintf("%s is at work on this run, too, and obeys orders; what it holds is free at %s at the latest, unless it gives a further sign",
			processOf(by.Holder), by.Until.Local().Format(time.TimeOnly))) // a stream that is gone is told by the next look
	}
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

// tempo is how many requests had ended when, over the last minutes.
type tempo struct{ marks []mark }

type mark struct {
	at    time.Time
	ended int64
}

const (
	lately    = 5 * time.Minute // what ended before does not count for the rate
	markEvery = 2 * time.Second
)

// see takes a look into account and tells how many end a second; 0: that is not known.
func (t *tempo) see(now time.Time, ended int64) float64 {
	if n := len(t.marks); n > 0 && (now.Before(t.marks[n-1].at) || ended < t.marks[n-1].ended) {
		t.marks = nil // the clock was set back, or what had ended is asked again
	}
	for len(t.marks) > 1 && now.Sub(t.marks[1].at) >= lately {
		t.marks = t.marks[1:]
	}
	if len(t.marks) == 0 {
		t.marks = []mark{{now, ended}}
		return 0
	}
	if now.Sub(t.marks[len(t.marks)-1].at) >= markEvery {
		t.marks = append(t.marks, mark{now, ended})
	}
	d := now.Sub(t.marks[0].at).Seconds()
	if d < 1 {
		return 0
	}
	return float64(ended-t.marks[0].ended) / d
}

// short is a duration as people say it.
func short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(math.Round(d.Minutes())))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(math.Round(d.Hours())))
	}
	return fmt.Sprintf("%dd", int(math.Round(d.Hours()/24)))
}
