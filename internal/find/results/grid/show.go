package grid

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/show/report"
)

// The signs of a cell. They mean the same as its shade.
const (
	signRight   = "✓"
	signWrong   = "✕"
	signNone    = "–"
	signInvalid = "?"
	signFlip    = "↯"
	signKept    = "·"
	signSplit   = "±"
	signRefused = "⊘"
	signCut     = "✂"
	signAnswer  = "•"
)

// Show makes rows fit to be shown. The address of a cell is asked of link, that of an item with an empty lane; nil:
// nothing leads further.
func (m *Matrix) Show(rows []Row, link func(item, lane string) string) *report.Matrix {
	out := &report.Matrix{Caption: "Items by lanes: " + m.Stage, Item: report.MatrixHead{Name: SortItem}, Legend: m.legend()}
	for _, lane := range m.Lanes {
		out.Lanes = append(out.Lanes, report.MatrixHead{Name: lane})
	}
	for _, row := range rows {
		shown := report.MatrixRow{Item: shortItem(row.Item), Is: row.Is.Words()}
		for i, c := range row.Cells {
			cell := m.cell(c)
			cell.Tip = m.Lanes[i] + ": " + cell.Tip
			if link != nil {
				cell.Link = link(row.Item, m.Lanes[i])
			}
			shown.Cells = append(shown.Cells, cell)
		}
		if link != nil {
			shown.Link = link(row.Item, "")
		}
		out.Rows = append(out.Rows, shown)
	}
	return out
}

// maxItemShown is how many letters of an id a row shows.
const maxItemShown = 40

func shortItem(id string) string { return assay.Clean(id, maxItemShown) }

// Show makes rows of both runs fit to be shown: each cell has its old and its new state.
func (p *Pair) Show(rows []PairRow, link func(run int, item, lane string) string) *report.Matrix {
	out := &report.Matrix{Caption: "Items in both runs: " + p.Now.Stage, Item: report.MatrixHead{Name: SortItem},
		Legend: append([]string{"was → is"}, p.Now.legend()...)}
	for _, lane := range p.Lanes {
		out.Lanes = append(out.Lanes, report.MatrixHead{Name: lane})
	}
	for _, row := range rows {
		shown := report.MatrixRow{Item: shortItem(row.Item), Link: link(1, row.Item, "")}
		for i := range p.Lanes {
			was, cell := p.Was.cell(row.Was[i]), p.Now.cell(row.Now[i])
			cell.Tip = fmt.Sprintf("%s: was %s; is %s", p.Lanes[i], was.Tip, cell.Tip)
			a, b := row.Was[i].Value, row.Now[i].Value
			cell.Worse = a != nil && b != nil && *b < *a
			cell.Was, cell.Link = &was, link(1, row.Item, p.Lanes[i])
			shown.Cells = append(shown.Cells, cell)
		}
		if row.Worse > 0 {
			shown.Is = append(shown.Is, "worse in "+assay.Count(row.Worse, "lane"))
		}
		if row.Better > 0 {
			shown.Is = append(shown.Is, "better in "+assay.Count(row.Better, "lane"))
		}
		out.Rows = append(out.Rows, shown)
	}
	return out
}

// Words returns what is to be seen of an item.
func (k Kind) Words() []string {
	var out []string
	for _, n := range Kinds() {
		if k&n.Kind != 0 {
			out = append(out, n.Says)
		}
	}
	return out
}

// cell shows one cell.
func (m *Matrix) cell(c Cell) report.MatrixCell {
	out := report.MatrixCell{Sign: m.sign(c)}
	if c.Value != nil {
		out.Shade = "h" + strconv.Itoa(2+int(math.Round(6**c.Value))) // the ends of the scale are too strong to read text on
	}
	tip := []string{m.words(c)}
	if c.N > 1 {
		tip[0] += fmt.Sprintf(" (%d verdicts)", c.N)
	}
	var taken []string
	places := m.Marks()
	for i, f := range c.Flips {
		switch f {
		case TakenBack:
			out.Flips += signFlip
			taken = append(taken, places[i])
		case Kept:
			out.Flips += signKept
		}
	}
	if len(places) > maxPlacesNamed { // one sign for all of them
		if out.Flips = ""; c.Flipped {
			out.Flips = signFlip
		}
	}
	switch {
	case len(taken) > maxPlacesNamed:
		tip = append(tip, fmt.Sprintf("taken back at %d of %d places, the first %s", len(taken), len(c.Flips), taken[0]))
	case len(taken) > 0:
		tip = append(tip, "taken back at "+strings.Join(taken, " / "))
	}
	if c.Split {
		out.Also += signSplit
		tip = append(tip, "judges are split")
	}
	if m.Judged {
		switch c.Ending {
		case assay.Refused:
			out.Also += signRefused
			tip = append(tip, "refused")
		case assay.Cut:
			out.Also += signCut
			tip = append(tip, "cut short")
		}
	}
	out.Tip = strings.Join(tip, "; ")
	return out
}

// sign returns a cell in one sign, or in a short word.
func (m *Matrix) sign(c Cell) string {
	switch {
	case !m.Judged:
		return map[assay.Ending]string{assay.Answered: signAnswer, assay.Refused: signRefused, assay.Cut: signCut, "": signNone}[c.Ending]
	case c.N == 0 && c.Invalid:
		return signInvalid
	case c.N == 0:
		return signNone
	case m.Pairs && c.Value != nil:
		return fmt.Sprintf("%s/%d", shortNumber(*c.Value*float64(c.N)), c.N)
	case c.Value == nil && c.Label == "":
		return signAnswer
	case c.Value == nil:
		return assay.Clean(c.Label, 12)
	case m.ranged:
		return shortNumber(m.low + *c.Value*(m.high-m.low))
	case *c.Value == 1:
		return signRight
	case *c.Value == 0:
		return signWrong
	}
	return strconv.Itoa(int(math.Round(100**c.Value))) + "%"
}

// words returns the meaning of the sign.
func (m *Matrix) words(c Cell) string {
	switch {
	case !m.Judged && c.Ending == "":
		return "no answer"
	case !m.Judged:
		return string(c.Ending)
	case c.N == 0 && c.Invalid:
		return "no verdict that counts"
	case c.N == 0:
		return "not judged"
	case m.Pairs:
		return "won " + m.sign(c)
	case c.Label != "" && !m.ranged:
		return c.Label
	case c.Value == nil:
		return "scored"
	}
	return m.sign(c)
}

// maxPlacesNamed is how many places a legend names one by one.
const maxPlacesNamed = 6

func shortNumber(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// legend explains the signs that this matrix may have.
func (m *Matrix) legend() []string {
	if !m.Judged {
		return []string{signAnswer + " answered", signCut + " cut short", signRefused + " refused", signNone + " no answer"}
	}
	var out []string
	switch {
	case m.Pairs:
		out = append(out, "a/b: won a of b comparisons")
	case m.ranged:
		out = append(out, "mean score, "+shortNumber(m.low)+" to "+shortNumber(m.high))
	case m.Scored:
		out = append(out, signRight+" "+m.best+", "+signWrong+" "+m.worst+"; a number is the mean: 0% is "+m.worst+", 100% is "+m.best)
	}
	if m.Scored {
		out = append(out, "orange is the worse end, blue the better")
	}
	switch places := m.Marks(); {
	case len(places) > maxPlacesNamed:
		all := len(places) + m.Unshown
		out = append(out, fmt.Sprintf("%s taken back at one of %d places or more, the first %s", signFlip, all, places[0]))
	case len(places) > 0:
		out = append(out, signFlip+" taken back, "+signKept+" kept, at "+strings.Join(places, " / "))
	}
	return append(out, signSplit+" judges split", signRefused+" refused", signCut+" cut short", signInvalid+" no verdict that counts",
		signNone+" not judged")
}
