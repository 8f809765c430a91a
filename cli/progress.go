package cli

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"assay"
	"assay/store"
)

// progress tells how a run moves, from the ledger alone: bars for every lane on a terminal, a plain line now and then
// otherwise. It is the same for batches and for live requests, and for whoever watches from elsewhere.
type progress struct {
	world  *World
	home   *home
	run    store.Run
	holder string // who was said to hold part of it

	last  string
	told  time.Time
	drawn int // lines of bars on the terminal
	pace  map[string]*tempo
}

// often is how often a plain line is told at most.
const often = 5 * time.Second

// mostBars is how many lanes have a bar; the others are in the total.
const mostBars = 30

// stand is how one lane, or all of them together, stands.
type stand struct {
	name                 string
	planned, open, ended int64
	cost                 assay.Cost
}

func (p *progress) show(ctx context.Context) error {
	all, err := p.look(ctx)
	if err != nil {
		return err
	}
	now := p.world.Now()
	total := all[len(all)-1]
	if p.world.Terminal.Err {
		return p.draw(now, all)
	}
	line := fmt.Sprintf("%s of %s answered or ended, %s on their way", thousands(total.ended), thousands(total.planned), thousands(total.open))
	if line == p.last || p.last != "" && now.Sub(p.told) < often && total.ended < total.planned {
		return nil
	}
	p.last, p.told = line, now
	_, err = fmt.Fprintln(p.world.Stderr, line+p.outlook(now, total)+", "+total.cost.String()+" spent")
	return err
}

// look reads where every lane stands; the total comes last.
func (p *progress) look(ctx context.Context) ([]stand, error) {
	lanes, err := p.home.ledger.Lanes(ctx, p.run.No)
	if err != nil {
		return nil, err
	}
	spending, err := p.home.ledger.Spending(ctx, p.run.No)
	if err != nil {
		return nil, err
	}
	costs := map[string]assay.Cost{}
	for _, s := range spending {
		costs[s.Stage+" "+s.Lane] = s.Cost
	}
	var all []stand
	total := stand{name: "all"}
	for _, l := range lanes {
		s := stand{name: l.Stage + " " + l.Name, planned: l.Planned - l.Spared, open: l.Open, cost: costs[l.Stage+" "+l.Name]}
		for _, n := range l.Endings {
			s.ended += n
		}
		total.planned, total.open, total.ended, total.cost = total.planned+s.planned, total.open+s.open, total.ended+s.ended, total.cost.Add(s.cost)
		all = append(all, s)
	}
	return append(all, total), nil
}

// draw draws a bar for every lane over those that were drawn before.
func (p *progress) draw(now time.Time, all []stand) error {
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", p.drawn)
	}
	bars := all
	if len(bars) > mostBars {
		bars = append(append([]stand{}, all[:mostBars]...), all[len(all)-1])
	}
	wide := 0
	for _, s := range bars {
		wide = max(wide, len(s.name))
	}
	for _, s := range bars {
		text := fmt.Sprintf("%-*s %s %s of %s, %s on their way%s, %s", wide, s.name, bar(s.ended, s.planned), thousands(s.ended), thousands(s.planned),
			thousands(s.open), p.outlook(now, s), s.cost)
		if w := p.world.Terminal.Width; w > 0 && len([]rune(text)) >= w {
			text = string([]rune(text)[:w-1])
		}
		b.WriteString("\x1b[2K" + text + "\n")
	}
	p.drawn = len(bars)
	_, err := fmt.Fprint(p.world.Stderr, b.String())
	return err
}

const barWidth = 20

func bar(done, of int64) string {
	full := 0
	if of > 0 {
		full = int(min(done*barWidth/of, barWidth))
	}
	return "[" + strings.Repeat("█", full) + strings.Repeat("░", barWidth-full) + "]"
}

// tempo is how fast requests of a lane end.
type tempo struct {
	at    time.Time
	ended int64
	rate  float64 // a second
}

// outlook is how fast a lane moves and how long it still takes, where that can be told.
func (p *progress) outlook(now time.Time, s stand) string {
	if p.pace == nil {
		p.pace = map[string]*tempo{}
	}
	t := p.pace[s.name]
	if t == nil {
		p.pace[s.name] = &tempo{at: now, ended: s.ended}
		return ""
	}
	if d := now.Sub(t.at).Seconds(); d >= 1 {
		rate := float64(s.ended-t.ended) / d
		keep := math.Exp(-d / 30) // what was half a minute ago counts for a third
		if t.rate == 0 {
			keep = 0
		}
		t.at, t.ended, t.rate = now, s.ended, t.rate*keep+rate*(1-keep)
	}
	left := s.planned - s.ended
	if t.rate <= 0 || left <= 0 {
		return ""
	}
	eta := time.Duration(float64(left) / t.rate * float64(time.Second))
	return fmt.Sprintf(", %.3g/s, about %s left", t.rate, short(eta))
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

// held says, once for each, who else is at work on the run.
func (p *progress) held(by *store.HeldError) {
	if by.Holder != p.holder {
		p.holder = by.Holder
		fmt.Fprintf(p.world.Stderr, "%s holds part of this run and goes on with it, orders included\n", by.Holder)
		p.drawn = 0
	}
}
