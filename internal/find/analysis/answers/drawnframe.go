package answers

import (
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats/checked"
)

// frame holds which items a draw was made of, part after part: first those that were there, then with those that came next, and so on.
// As long as labels do not stand for items that came later, numbers are about those before.
type frame struct {
	blocks int            // 0: labels came with the probabilities of their answers, and there is one part
	block  map[string]int // of each item that may be drawn
	some   bool           // what may be drawn is itself a random part of all items
	beside []uint64       // by item that may not be drawn: the lanes that were judged
	among  int            // items that there were when a file declared probabilities; 0: that is not known
}

func newFrame(d *analysis.Draw) (f frame) {
	if d == nil {
		return f
	}
	f.blocks, f.block, f.some = 1+len(d.Grown), make(map[string]int, len(d.Items)), len(d.Items) >= analysis.MaxDrawn
	for i, it := range d.Items {
		f.block[it.Item] = 0
		for k := range d.Grown {
			f.block[it.Item] += int(gather.One(i >= d.Grown[k].Items))
		}
	}
	return f
}

// place is where a judged answer belongs.
type place struct {
	block int // of its item, as many as there are blocks where it may not be drawn
	first bool
}

// placeOf returns the place of a row, and notes items that may not be drawn.
func (d *drawnLabels) placeOf(r *analysis.Row, lane int) place {
	p := place{first: d.Stage.Each && r.Turn <= 1 && r.Branch == ""}
	block, in := d.frame.block[r.Item]
	if !in {
		block = d.frame.blocks
		item := int(d.Known.Of(r.Item))
		for item >= len(d.frame.beside) {
			d.frame.beside = append(d.frame.beside, make([]uint64, 1+len(d.frame.beside))...)
		}
		d.frame.beside[item] |= 1 << (lane % 64)
	}
	p.block = min(block, d.frame.blocks)
	return p
}

// later counts the judged items of which nothing may be drawn, and that were not there when the draw was made; without a draw, all that
// were judged.
func (d *drawnLabels) later() (n int) {
	all := ^uint64(0)
	if len(d.lanes) < 64 {
		all = 1<<len(d.lanes) - 1
	}
	for _, lanes := range d.frame.beside {
		n += int(gather.One(lanes == all))
	}
	if d.draw == nil || d.draw.Judged == 0 {
		return n * int(gather.One(!d.frame.some))
	}
	return max(0, n+len(d.draw.Items)-d.draw.Judged)
}

// judgedParts are the verdicts of one judge on the items of each part, and those on first answers alone.
type judgedParts struct{ all, first []*checked.Sample }

// enter enters a verdict into all parts that its item is in.
func (d *drawnLabels) enter(judge uint32, p place, cluster, lane int, value float64) {
	v := d.parts(judge)
	for part := p.block; part < len(v.all); part++ {
		v.all[part].Judged(cluster, lane, value)
		if p.first {
			v.first[part].Judged(cluster, lane, value)
		}
	}
}

// parts returns the verdicts of a judge.
func (d *drawnLabels) parts(judge uint32) *judgedParts {
	for int(judge) >= len(d.verdicts) {
		var v judgedParts
		for range max(1, d.frame.blocks+int(gather.One(d.frame.some))) {
			v.all, v.first = append(v.all, checked.NewSample(len(d.lanes))), append(v.first, checked.NewSample(len(d.lanes)))
		}
		d.verdicts = append(d.verdicts, v)
	}
	return &d.verdicts[judge]
}

// about returns the part that labels on some items stand for, and those of the items that are in it.
func (d *drawnLabels) about(items []string) (part int, kept []string) {
	if d.frame.blocks == 0 {
		return 0, items
	}
	part = max(0, d.draw.Covered(items)-1)
	if part == d.frame.blocks-1 && d.frame.some && !d.draw.Grows(d.later()) {
		return d.frame.blocks, items
	}
	return part, slices.DeleteFunc(slices.Clone(items), func(item string) bool { return d.frame.block[item] > part })
}

// without returns how many items numbers are not about, of those that came later, and how many they are about.
func (d *drawnLabels) without(part int) (about, later int) {
	if d.frame.blocks == 0 || part == d.frame.blocks {
		return 0, 0
	}
	for _, block := range d.frame.block {
		about += int(gather.One(block <= part))
	}
	if later = len(d.frame.block) - about + d.later(); later == 0 {
		return 0, 0
	}
	return about, later
}

// firsts returns what labels correct of the first answers of conversations alone: of the drawn items, those of which a person was shown
// the first answer.
func (d *drawnLabels) firsts(judge uint32, items []string, l checked.Look) *checked.Corrected {
	part, items := d.about(items)
	items = slices.DeleteFunc(slices.Clone(items), func(item string) bool {
		return slices.ContainsFunc(d.byItem[item], func(l *drawnLabel) bool { return !l.first })
	})
	if d.draw != nil && d.draw.Covered(items) <= min(part, d.frame.blocks-1) {
		return nil
	}
	s := d.verdicts[judge].first[part].With(d.labelsOf(judge, items, 0))
	if c := s.Correct(checked.Options{Scale: d.scale(), Level: 1 - l.Alpha}); c.Use != checked.FewClusters {
		return c
	}
	return nil
}

// next returns at how many labelled items numbers are corrected next, by the plan; 0: never.
func (d *drawnLabels) next(looks []checked.Look, items, fewest int) int {
	for _, l := range looks[:len(looks)-1] { // the last one is beyond the plan, or of all that was declared
		if l.Items > items {
			return max(l.Items, fewest)
		}
	}
	return 0
}

// sum returns how many items the probabilities of labels add up to.
func (d *drawnLabels) sum() (sum float64) {
	for _, labels := range d.byItem {
		if len(labels) > 0 {
			sum += labels[0].weight
		}
	}
	return sum
}
