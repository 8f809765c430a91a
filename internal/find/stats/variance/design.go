package variance

import (
	"encoding/binary"
	"slices"

	"assay/internal/find/stats"
)

// design is verdicts as units, and the parts that they tell apart.
type design struct {
	kinds  []Kind // within units, the rest last
	with   map[Kind][]Kind
	cross  []Kind // Templates, Judges: the same for all units
	width  []int  // how many of each there are
	blocks []*block
	units  []unit
	levels []int // of each part, over all units
	mean   float64
	total  float64 // variance of all
}

// unit is the verdicts on one unit, in the order of its block.
type unit struct {
	block   int
	cluster int32
	values  []float64
}

// block is units whose verdicts have the same places.
type block struct {
	levels  [][]int // by part, of each verdict
	size    []int   // by part: levels
	columns [][]int // by verdict: the columns of the mean, of its template and of its judge
	units   float64
	sum     []float64
	squares []float64 // sum of products, row by row
}

// newDesign returns the verdicts by unit; the reason where nothing can be told apart.
func newDesign(values []Value, out *Parts) (*design, string) {
	d := &design{with: map[Kind][]Kind{}}
	byUnit := map[int32][]Value{}
	for _, v := range dense(values) {
		byUnit[v.Unit] = append(byUnit[v.Unit], v)
	}
	ids := make([]int32, 0, len(byUnit))
	for id := range byUnit {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		slices.SortStableFunc(byUnit[id], inOrder)
		alike(byUnit[id])
	}
	out.describe(ids, byUnit)
	if out.Units < 2 {
		return nil, "parts of variance need two items"
	}
	d.choose(ids, byUnit, out)
	if len(d.kinds) < 2 {
		return nil, "no item was drawn or judged twice"
	}
	d.total = variance(values)
	if d.total < 1e-12 {
		return nil, "all verdicts are alike"
	}
	for _, v := range values {
		d.mean += v.Value / float64(len(values))
	}
	d.fill(ids, byUnit, out)
	return d, ""
}

// dense returns the verdicts with templates and judges numbered from 0.
func dense(values []Value) []Value {
	out := slices.Clone(values)
	for _, of := range []func(*Value) *int32{func(v *Value) *int32 { return &v.Template }, func(v *Value) *int32 { return &v.Judge }} {
		var there []int32
		for i := range out {
			there = append(there, *of(&out[i]))
		}
		slices.Sort(there)
		there = slices.Compact(there)
		for i := range out {
			at, _ := slices.BinarySearch(there, *of(&out[i]))
			*of(&out[i]) = int32(at)
		}
	}
	return out
}

func inOrder(a, b Value) int {
	for _, x := range [][2]int32{{a.Template, b.Template}, {a.Draw, b.Draw}, {a.Judge, b.Judge}} {
		if x[0] != x[1] {
			return int(x[0] - x[1])
		}
	}
	return 0
}

// alike numbers the draws of a unit anew, so that units of the same design look alike: answers that more judges judged come first.
func alike(values []Value) {
	type answer struct {
		template int32
		judges   []int32
		values   []Value
	}
	var all []*answer
	for i, v := range values {
		if i == 0 || v.Template != values[i-1].Template || v.Draw != values[i-1].Draw {
			all = append(all, &answer{template: v.Template})
		}
		last := all[len(all)-1]
		last.judges, last.values = append(last.judges, v.Judge), append(last.values, v)
	}
	slices.SortStableFunc(all, func(a, b *answer) int {
		if a.template != b.template {
			return int(a.template - b.template)
		}
		if len(a.judges) != len(b.judges) {
			return len(b.judges) - len(a.judges)
		}
		return slices.Compare(a.judges, b.judges)
	})
	at := 0
	for n, a := range all {
		for _, v := range a.values {
			v.Draw = int32(n)
			values[at] = v
			at++
		}
	}
}

// describe counts what there is.
func (p *Parts) describe(ids []int32, byUnit map[int32][]Value) {
	clusters, templates, judges := map[int32]bool{}, map[int32]bool{}, map[int32]bool{}
	questions := 0
	for _, id := range ids {
		for i, v := range byUnit[id] {
			clusters[v.Cluster], templates[v.Template], judges[v.Judge] = true, true, true
			question := i == 0 || v.Template != byUnit[id][i-1].Template
			if question {
				questions++
			}
			if question || v.Draw != byUnit[id][i-1].Draw {
				p.Answers++
			}
			p.Verdicts++
		}
	}
	p.Units, p.Clusters, p.templates, p.judges = len(ids), len(clusters), len(templates), len(judges)
	p.asked, p.answered = float64(questions)/float64(p.Units), float64(p.Answers)/float64(questions)
	p.judged = float64(p.Verdicts) / float64(p.Answers)
}

// level returns the number that tells the levels of a part apart within a unit.
func level(k Kind, v Value, repeat int32) [4]int32 {
	switch k {
	case ItemTemplates:
		return [4]int32{v.Template}
	case ItemJudges:
		return [4]int32{v.Judge}
	case Draws:
		return [4]int32{v.Template, v.Draw}
	case Readings:
		return [4]int32{v.Template, v.Draw, v.Judge}
	case Repeats:
		return [4]int32{v.Template, v.Draw, v.Judge, repeat}
	}
	return [4]int32{}
}

// numbered returns the levels of the verdicts on a unit under a part.
func numbered(k Kind, values []Value) (levels []int, size int) {
	seen, times := map[[4]int32]int{}, map[[4]int32]int32{}
	for _, v := range values {
		place := level(Readings, v, 0)
		at := level(k, v, times[place])
		times[place]++
		n, ok := seen[at]
		if !ok {
			n = len(seen)
			seen[at] = n
		}
		levels = append(levels, n)
	}
	return levels, len(seen)
}

// choose finds the parts that the design tells apart: two that have the same levels everywhere are one part, called by the simpler one.
func (d *design) choose(ids []int32, byUnit map[int32][]Value, out *Parts) {
	of := map[Kind][]int{}
	for _, k := range []Kind{Items, ItemTemplates, ItemJudges, Draws, Readings, Repeats} {
		for _, id := range ids {
			levels, size := numbered(k, byUnit[id])
			of[k] = append(append(of[k], levels...), -size)
		}
	}
	for _, k := range []Kind{Items, ItemTemplates, ItemJudges, Draws, Readings, Repeats} {
		same := slices.IndexFunc(d.kinds, func(have Kind) bool { return slices.Equal(of[have], of[k]) })
		switch {
		case same < 0:
			d.kinds = append(d.kinds, k)
		case k == ItemTemplates && out.templates == 1, k == ItemJudges && out.judges == 1,
			k == Readings && out.judges == 1, k == Repeats:
			// the design has no such thing
		default:
			d.with[d.kinds[same]] = append(d.with[d.kinds[same]], k)
		}
	}
	rest := slices.IndexFunc(d.kinds, func(k Kind) bool { return slices.Equal(of[k], of[Repeats]) })
	last := d.kinds[rest]
	d.kinds = append(slices.Delete(d.kinds, rest, rest+1), last)
	for _, c := range []struct {
		kind Kind
		n    int
	}{{Templates, out.templates}, {Judges, out.judges}} {
		if c.n > 1 {
			d.cross, d.width = append(d.cross, c.kind), append(d.width, c.n)
		}
	}
}

// work bounds the multiplications of a step: beyond it, parts are estimated from as many units as it allows.
const work = 100_000_000

// fill puts units into blocks.
func (d *design) fill(ids []int32, byUnit map[int32][]Value, out *Parts) {
	index := map[string]int{}
	d.levels = make([]int, len(d.kinds))
	cost := 0.0
	for _, id := range spread(ids) {
		values := byUnit[id]
		var key []byte
		for _, v := range values {
			for _, x := range []int32{v.Template, v.Draw, v.Judge} {
				key = binary.AppendUvarint(key, uint64(x))
			}
		}
		at, ok := index[string(key)]
		if !ok {
			n := float64(len(values))
			if cost += 3 * n * n * n; cost > work && out.Used >= 2 {
				continue
			}
			at = len(d.blocks)
			index[string(key)] = at
			d.blocks = append(d.blocks, d.newBlock(values))
		}
		b := d.blocks[at]
		u := unit{block: at, cluster: values[0].Cluster}
		for _, v := range values {
			u.values = append(u.values, v.Value-d.mean)
		}
		b.add(u.values)
		for k := range d.kinds {
			d.levels[k] += b.size[k]
		}
		d.units = append(d.units, u)
		out.Used++
	}
}

// spread returns ids so that a beginning of them is like all of them.
func spread(ids []int32) []int32 {
	out, n := make([]int32, 0, len(ids)), len(ids)
	step := max(1, int(0.618*float64(n)))
	for gcd(step, n) != 1 {
		step++
	}
	for i := range n {
		out = append(out, ids[i*step%n])
	}
	return out
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (d *design) newBlock(values []Value) *block {
	n := len(values)
	b := &block{sum: make([]float64, n), squares: make([]float64, n*n)}
	for _, k := range d.kinds {
		levels, size := numbered(k, values)
		b.levels, b.size = append(b.levels, levels), append(b.size, size)
	}
	for _, v := range values {
		columns, from := []int{0}, 1
		for i, k := range d.cross {
			at := v.Template
			if k == Judges {
				at = v.Judge
			}
			columns = append(columns, from+int(at))
			from += d.width[i]
		}
		b.columns = append(b.columns, columns)
	}
	return b
}

func (b *block) add(values []float64) {
	b.units++
	for i, x := range values {
		b.sum[i] += x
		for k, y := range values {
			b.squares[i*len(values)+k] += x * y
		}
	}
}

func variance(values []Value) float64 {
	var t stats.Total
	for _, v := range values {
		t.Add(v.Value)
	}
	mean, sum := t.Sum/float64(t.N), 0.0
	for _, v := range values {
		sum += (v.Value - mean) * (v.Value - mean)
	}
	return sum / float64(t.N)
}
