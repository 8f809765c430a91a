package cli

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"assay"
	"assay/store"
)

// stand is how one lane, or several of them together, stands.
type stand struct {
	name             string
	planned, open    int64
	answered, errors int64
	cost             assay.Cost
	rate             float64       // requests that end a second; 0: not known
	halt             string        // why it does not move: stopped, held
	slowest          time.Duration // of several: how long the one that takes longest still does
}

func standOf(l store.Lane, cost assay.Cost) stand {
	s := stand{name: assay.Clean(l.Stage+" "+l.Name, 200), planned: l.Planned - l.Spared, open: l.Open, cost: cost}
	for e, n := range l.Endings {
		if e.Stands() {
			s.answered += n
		} else {
			s.errors += n
		}
	}
	if l.State != store.LaneOpen {
		s.halt = string(l.State)
	}
	return s
}

func (s stand) ended() int64 { return s.answered + s.errors }

func (s stand) add(t stand) stand {
	s.planned, s.open, s.answered, s.errors = s.planned+t.planned, s.open+t.open, s.answered+t.answered, s.errors+t.errors
	s.cost, s.rate = s.cost.Add(t.cost), s.rate+t.rate
	if left, ok := t.eta(); ok && t.halt == "" {
		s.slowest = max(s.slowest, left)
	}
	return s
}

// eta is how long the rest takes at this rate, where that can be told. Several are not done before the slowest is.
func (s stand) eta() (time.Duration, bool) {
	left := s.planned - s.ended()
	if s.rate <= 0 || left <= 0 {
		return 0, false
	}
	const longest = 1000 * 24 * time.Hour // farther nobody sees
	seconds := float64(left) / s.rate
	return max(s.slowest, time.Duration(min(seconds, longest.Seconds())*float64(time.Second))), true
}

// outlook is how long it still takes, in a word or two.
func (s stand) outlook() string {
	left, ok := s.eta()
	switch {
	case s.ended() >= s.planned:
		return "done"
	case s.halt != "":
		return s.halt
	case !ok:
		return "ETA unknown"
	}
	return "ETA " + short(left)
}

func (s stand) pace() string {
	switch {
	case s.rate <= 0:
		return ""
	case s.rate < 1:
		return fmt.Sprintf("%.3g/min", 60*s.rate)
	}
	return assay.Thousands(int64(math.Round(s.rate))) + "/s"
}

func (s stand) price() string {
	if s.cost.Priced == 0 && !s.cost.Known() {
		return "cost unknown"
	}
	return s.cost.String()
}

func (s stand) faults() string {
	if s.errors == 0 {
		return ""
	}
	return assay.Count(s.errors, "error")
}

// picture is how runs stand at a moment, for a terminal of some size.
type picture struct {
	lanes         []stand
	total         stand
	width, height int // 0: unknown
}

const (
	barWidth    = 20 // at most
	leastBar    = 5
	leastName   = 12
	usualHeight = 24
	usualWidth  = 80
)

// The columns beside name and bar.
const (
	countColumn = iota
	errorColumn
	rateColumn
	costColumn
	etaColumn
	columns
)

// lines draws a line for every lane and one for all of them. None is wider than the terminal, and all of them fit on it;
// lanes that do not are summed in one line.
func (p picture) lines() []string {
	rows := p.rows()
	cells, wide, names := make([][columns]string, len(rows)), [columns]int{}, 0
	for i, s := range rows {
		cells[i] = [columns]string{assay.Thousands(s.answered) + "/" + assay.Thousands(s.planned), s.faults(), s.pace(), s.price(), s.outlook()}
		for c, text := range cells[i] {
			wide[c] = max(wide[c], textWidth(text))
		}
		names = max(names, textWidth(s.name))
	}
	width := usualWidth
	if p.width > 0 {
		width = p.width
	}
	width-- // a full line would wrap on some terminals
	room := dropColumns(&wide, width, min(names, leastName)+leastBar+4)
	bars := min(barWidth, room-min(names, leastName)-4)
	names = min(names, room)
	if bars >= leastBar {
		names = min(names, room-leastBar-4)
		bars = min(barWidth, room-names-4)
	}
	lines := make([]string, len(rows))
	for i, s := range rows {
		line := fitted(s.name, names)
		if bars >= leastBar {
			line += "  " + bar(s.ended(), s.planned, bars)
		}
		for c, text := range cells[i] {
			if wide[c] > 0 {
				line += "  " + strings.Repeat(" ", wide[c]-textWidth(text)) + text
			}
		}
		lines[i] = strings.TrimRight(clipped(line, width), " ")
	}
	return lines
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
	for _, c := range []int{rateColumn, costColumn, errorColumn, etaColumn} {
		if room() >= least {
			break
		}
		wide[c] = 0
	}
	return max(room(), 0)
}

// rows are the lanes that have a line, the others as one, and the total. Lanes at work come before those that are done.
func (p picture) rows() []stand {
	room := usualHeight
	if p.height > 0 {
		room = p.height
	}
	room -= 2 // the total, and the cursor below it
	if len(p.lanes) <= room {
		return append(append([]stand{}, p.lanes...), p.total)
	}
	if room < 1 {
		return []stand{p.total}
	}
	shown := map[int]bool{}
	for _, done := range []bool{false, true} {
		for i, s := range p.lanes {
			if len(shown) < room-1 && (s.ended() >= s.planned) == done {
				shown[i] = true
			}
		}
	}
	var rows []stand
	others := stand{name: fmt.Sprintf("%d other lanes", len(p.lanes)-len(shown))}
	for i, s := range p.lanes {
		if shown[i] {
			rows = append(rows, s)
		} else {
			others = others.add(s)
		}
	}
	return append(rows, others, p.total)
}

func bar(done, of int64, width int) string {
	full := 0
	if of > 0 {
		full = int(min(float64(done)/float64(of), 1) * float64(width))
	}
	return "[" + strings.Repeat("█", full) + strings.Repeat("░", width-full) + "]"
}

// fitted is a text of exactly so many columns.
func fitted(text string, width int) string {
	text = clipped(text, width)
	return text + strings.Repeat(" ", width-textWidth(text))
}

// clipped is a text of at most so many columns.
func clipped(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used >= width {
			if width < 1 {
				return ""
			}
			return text[:i] + "…"
		}
	}
	return text
}

func textWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is how many columns a terminal gives a character: none to marks on others, two to those of East Asia and emoji.
func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
