package term

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
)

// Bar is how far one lane is, or several of them together.
type Bar struct {
	Name     string
	Stage    string // of a lane; lanes of a stage are summed where they do not all fit
	Wanted   int64  // requests that are to have an answer
	Answered int64  // have one, here or ready at the provider
	Ready    int64  // of them, those that the provider reports and that are not here yet
	Failed   int64  // ended without one for good
	Errors   int64  // ended without one, also those that go out again
	Cost     assay.Cost
	Rate     float64       // requests done a second; 0: not known
	Left     time.Duration // how long the rest takes; 0: not known
	Outlook  string        // what else is known of the time; empty: nothing
	Halt     string        // why it does not move: stopped, held
	Elapsed  time.Duration // since it began; 0: not shown
}

// Done returns how many requests are through, with an answer or without.
func (b Bar) Done() int64 { return b.Answered + b.Failed }

// add is several lanes and one more.
func (b Bar) add(c Bar) Bar {
	b.Wanted, b.Answered, b.Failed, b.Errors = b.Wanted+c.Wanted, b.Answered+c.Answered, b.Failed+c.Failed, b.Errors+c.Errors
	b.Ready += c.Ready
	b.Cost = b.Cost.Add(c.Cost)
	return b
}

// word returns whether a lane is done or does not move; empty: it goes on.
func (b Bar) word() string {
	if b.Done() >= b.Wanted {
		return "done"
	}
	return b.Halt
}

// outlook returns how long all lanes together still take, why it is taken to be so, and how long they took so far.
func (b Bar) outlook() string {
	text := b.word()
	switch {
	case text != "":
	case b.Outlook != "":
		text = b.Outlook
	case b.Left == 0:
		text = "how long it takes is not known yet"
	default:
		text = "about " + Duration(b.Left) + " left"
		if pace := b.Pace(); pace != "" {
			text += ", at " + pace + " as so far"
		}
	}
	if b.Elapsed > 0 {
		text += "; " + Duration(b.Elapsed) + " since it began"
	}
	return text
}

// Pace returns the rate in words; empty where it is not known.
func (b Bar) Pace() string {
	switch {
	case b.Rate <= 0:
		return ""
	case b.Rate < 1:
		return fmt.Sprintf("%.2g/min", 60*b.Rate)
	}
	return assay.Thousands(int64(math.Round(b.Rate))) + "/s"
}

func (b Bar) price() string {
	if b.Cost.Priced == 0 && !b.Cost.Known() {
		return "cost unknown"
	}
	return b.Cost.String()
}

// ready returns what the provider reports and has not been fetched.
func (b Bar) ready() string {
	if b.Ready == 0 {
		return ""
	}
	return assay.Thousands(b.Ready) + " ready"
}

func (b Bar) faults() string {
	if b.Errors == 0 {
		return ""
	}
	return assay.Count(b.Errors, "error")
}

// Bars are lanes at a moment, for a terminal of some size.
type Bars struct {
	Lanes         []Bar
	Total         Bar
	There         string  // which providers have requests; empty: none
	Width, Height int     // 0: unknown
	Colour        bool    // errors, and what does not move, stand out
	Before        *Widths // of what was drawn before, so that bars keep their length from one drawing to the next; nil: none
}

// Widths are how wide the columns beside the bars have been.
type Widths [columns]int

// keep gives columns at least the width that they had. The first time there is a place for those that will come.
func (w *Widths) keep(wide *[columns]int) {
	if *w == (Widths{}) {
		*w = Widths{costColumn: len("$00.00"), etaColumn: len("stopped")}
	}
	for c := range wide {
		w[c] = max(w[c], wide[c])
		wide[c] = w[c]
	}
}

const (
	barWidth    = 40 // at most
	leastBar    = 5
	leastName   = 12
	usualHeight = 24
	usualWidth  = 80
)

// The columns beside name and bar.
const (
	countColumn = iota
	readyColumn
	errorColumn
	costColumn
	etaColumn
	columns
)

// Lines draws a line for every lane and one for all of them. None is wider than the terminal, and all of them fit on it;
// lanes that do not are summed in one line.
func (p Bars) Lines() []string {
	rows := p.rows()
	cells, wide, names := make([][columns]string, len(rows)), [columns]int{}, 0
	for i, s := range rows {
		cells[i] = [columns]string{assay.Thousands(s.Answered) + "/" + assay.Thousands(s.Wanted), s.ready(), s.faults(),
			s.price(), s.word()}
		for c, text := range cells[i] {
			wide[c] = max(wide[c], textWidth(text))
		}
		names = max(names, textWidth(s.Name))
	}
	width := usualWidth
	if p.Width > 0 {
		width = p.Width
	}
	width-- // a full line would wrap on some terminals
	if p.Before != nil {
		for _, s := range rows {
			wide[countColumn] = max(wide[countColumn], 2*len(assay.Thousands(s.Wanted))+1)
		}
		p.Before.keep(&wide)
	}
	room := dropColumns(&wide, width, min(names, leastName)+leastBar+4)
	bars := min(barWidth, room-min(names, leastName)-4)
	names = min(names, room)
	if bars >= leastBar {
		names = min(names, room-leastBar-4)
		bars = min(barWidth, room-names-4)
	}
	lines := make([]string, len(rows))
	for i, s := range rows {
		line := fitted(s.Name, names)
		if bars >= leastBar {
			line += "  " + bar(s.Done(), s.Wanted, bars)
		}
		for c, text := range cells[i] {
			if wide[c] > 0 {
				line += "  " + strings.Repeat(" ", wide[c]-textWidth(text)) + text
			}
		}
		lines[i] = strings.TrimRight(clipped(line, width), " ")
		if p.Colour {
			lines[i] = s.painted(lines[i])
		}
	}
	below := []string{p.Total.outlook()}
	if p.There != "" {
		below = append(below, strings.Split(Broken(p.There, width), "\n")...)
	}
	for _, text := range below {
		if room := p.Height; room == 0 || room > len(lines)+1 {
			lines = append(lines, clipped(text, width))
		}
	}
	return lines
}

// painted returns a line in which errors, and why it does not move, stand out.
func (b Bar) painted(line string) string {
	for _, text := range []string{b.Halt, b.faults()} {
		if i := strings.LastIndex(line, "  "+text); text != "" && i >= 0 {
			line = line[:i+2] + red(text) + line[i+2+len(text):]
		}
	}
	return line
}

// dropColumns leaves columns out, the least needed first, until name and bar have room. It returns the room that they have.
func dropColumns(wide *[columns]int, width, least int) int {
	room := func() int {
		left := width
		for _, w := range wide {
			if w > 0 {
				left -= w + 2
			}
		}
		return left
	}
	for _, c := range []int{readyColumn, costColumn, errorColumn, etaColumn} {
		if room() >= least {
			break
		}
		wide[c] = 0
	}
	return max(room(), 0)
}

// rows returns the lanes that have a line, the others as one, and the total. Lanes at work come before those that are done.
func (p Bars) rows() []Bar {
	room := usualHeight
	if p.Height > 0 {
		room = p.Height
	}
	room -= 3 // the total, how long it takes, and the cursor below them
	if p.There != "" && room > 1 {
		room--
	}
	for _, lanes := range [][]Bar{p.Lanes, p.stages()} {
		if len(lanes) <= room {
			return append(slices.Clone(lanes), p.Total)
		}
	}
	if room < 1 { // or only the total, and nothing about time
		return []Bar{p.Total}
	}
	shown := map[int]bool{}
	for _, done := range []bool{false, true} {
		for i, s := range p.Lanes {
			if len(shown) < room-1 && (s.Done() >= s.Wanted) == done {
				shown[i] = true
			}
		}
	}
	var rows []Bar
	others := Bar{Name: assay.Count(len(p.Lanes)-len(shown), "other lane")}
	for i, s := range p.Lanes {
		if shown[i] {
			rows = append(rows, s)
		} else {
			others = others.add(s)
		}
	}
	return append(rows, others, p.Total)
}

// stages sums the lanes of each stage; one that does not move keeps a line of its own.
func (p Bars) stages() []Bar {
	var sums, halted []Bar
	for _, s := range p.Lanes {
		if s.Halt != "" && s.word() != "done" {
			halted = append(halted, s)
			continue
		}
		i := slices.IndexFunc(sums, func(b Bar) bool { return b.Stage == s.Stage })
		if i < 0 {
			i, sums = len(sums), append(sums, Bar{Name: s.Stage, Stage: s.Stage})
		}
		sums[i] = sums[i].add(s)
	}
	return append(sums, halted...)
}

func bar(done, of int64, width int) string {
	full := 0
	if of > 0 {
		full = int(min(float64(done)/float64(of), 1) * float64(width))
	}
	return "[" + strings.Repeat("█", full) + strings.Repeat("░", width-full) + "]"
}
