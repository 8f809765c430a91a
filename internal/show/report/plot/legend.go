package plot

import (
	"slices"

	"assay/internal/assay"
)

// legend returns the names of the series by line.
func (p *Intervals) legend() [][]int {
	var lines [][]int
	x := PlotWidth
	for i := range p.Series {
		w := p.legendWidth(i)
		if x+w > PlotWidth {
			lines, x = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], i)
		x += w
	}
	return lines
}

func (p *Intervals) legendWidth(i int) float64 {
	return 34 + min(220, WidthOf(assay.Clean(p.Series[i], MaxName), LabelSize))
}

// legendEnd returns how far to the right the legend reaches.
func (p *Intervals) legendEnd() float64 {
	end := 0.0
	for _, line := range p.legend() {
		x := 8.0
		for _, i := range line {
			x += p.legendWidth(i)
		}
		end = max(end, x)
	}
	return min(end, PlotWidth)
}

func (p *Intervals) drawLegend(s *Scene) {
	if len(p.Series) < 2 {
		return
	}
	for n, line := range p.legend() {
		x, y := 8.0, 12+22*float64(n)
		for _, i := range line {
			s.mark("dot "+p.hue(i), i, x+4, y-4, 4.6)
			s.Name("label", x+15, y, 220, p.Series[i])
			x += p.legendWidth(i)
		}
	}
}

func (p *Intervals) hue(series int) string {
	if p.Control > 0 && series == p.Control-1 {
		return "control"
	}
	return hue(series)
}

// SeriesOf gives names their numbers in the order in which they are met.
func SeriesOf(list *[]string, name string) int {
	if i := slices.Index(*list, name); i >= 0 {
		return i
	}
	*list = append(*list, name)
	return len(*list) - 1
}
