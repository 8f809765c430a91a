package recount

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// seen is one value that was found in a cluster.
type seen struct {
	cluster string
	x       float64
}

// ofItem is a value that was found on an item.
type ofItem struct {
	item string
	seen
}

// averaged returns the mean of each item, and the sum of one over the number of its values.
func averaged(all []ofItem) (means []seen, inverse float64) {
	groups, clusters := map[string][]float64{}, map[string]string{}
	for _, s := range all {
		groups[s.item], clusters[s.item] = append(groups[s.item], s.x), s.cluster
	}
	for _, item := range slices.Sorted(maps.Keys(groups)) {
		n := float64(len(groups[item]))
		means, inverse = append(means, seen{clusters[item], total(groups[item]) / n}), inverse+1/n
	}
	return means, inverse
}

// meanOfItems estimates the mean over items.
func meanOfItems(all []ofItem, level float64, low, high *float64) estimate {
	means, _ := averaged(all)
	e := meanOf(means, level, low, high)
	e.n = len(all)
	return e
}

// estimate is a number with its errors; nil: there is none.
type estimate struct {
	value, se, low, high, p *float64
	n, clusters             int
}

func some(x float64) *float64 { return &x }

// byCluster returns the values cluster by cluster, by name.
func byCluster(all []seen) [][]float64 {
	groups := map[string][]float64{}
	for _, s := range all {
		groups[s.cluster] = append(groups[s.cluster], s.x)
	}
	var out [][]float64
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, groups[name])
	}
	return out
}

func total(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum
}

// leftOut returns the variance of a mean of all values, from what it would be without one cluster after the other.
func leftOut(groups [][]float64, mean float64) float64 {
	g, squares := float64(len(groups)), 0.0
	for i := range groups {
		sum, left := 0.0, 0
		for j, values := range groups {
			if i != j {
				sum, left = sum+total(values), left+len(values)
			}
		}
		squares += math.Pow(sum/float64(left)-mean, 2)
	}
	return (g - 1) / g * squares
}

// evenly returns how many groups of one size would be as uneven a share of all values as these are.
func evenly(groups [][]float64) float64 {
	all, squares := 0.0, 0.0
	for _, values := range groups {
		n := float64(len(values))
		all, squares = all+n, squares+n*n
	}
	return all * all / squares
}

// freedom returns the degrees of freedom of Student's t over groups.
func freedom(groups [][]float64) int { return max(1, int(math.Round(evenly(groups)))-1) }

// meanOf estimates a mean by Student's t over clusters, within the range of the values.
func meanOf(all []seen, level float64, low, high *float64) estimate {
	groups := byCluster(all)
	e := estimate{n: len(all), clusters: len(groups)}
	if e.n == 0 {
		return e
	}
	mean := 0.0
	for _, s := range all {
		mean += s.x / float64(e.n)
	}
	e.value = some(mean)
	if e.clusters < 2 {
		return e
	}
	se := math.Sqrt(leftOut(groups, mean))
	if se < 1e-12 { // all clusters are alike: nothing shows how far they could differ
		if math.Abs(mean) < 1e-12 {
			e.p = some(1)
		}
		return e
	}
	df := freedom(groups)
	t := critical(level, df)
	e.se, e.p = some(se), some(tail(mean/se, df))
	e.low, e.high = some(mean-t*se), some(mean+t*se)
	if low != nil {
		e.low = some(max(*e.low, *low))
	}
	if high != nil {
		e.high = some(min(*e.high, *high))
	}
	return e
}

// shareOf estimates a share of values that are 0 or 1.
func shareOf(all []seen, level float64) estimate {
	alone := make([]ofItem, len(all))
	for i, s := range all {
		alone[i] = ofItem{fmt.Sprint(i), s}
	}
	return shareOfItems(alone, level)
}

// shareOfItems estimates the mean over items of the shares of their values, which are 0 or 1: Wilson's interval for as many
// independent answers as have the variance between clusters.
func shareOfItems(all []ofItem, level float64) estimate {
	var each []seen
	yes := 0.0
	for _, s := range all {
		each, yes = append(each, s.seen), yes+s.x
	}
	means, inverse := averaged(all)
	groups, raw := byCluster(means), byCluster(each)
	e := estimate{n: len(all), clusters: len(groups)}
	if e.n == 0 {
		return e
	}
	items := float64(len(means))
	share, n := total(values(means))/items, items*items/inverse
	e.value = some(share)
	alike := yes == 0 || yes == float64(e.n)
	z := normalCritical(level)
	if e.n == e.clusters {
		low, high := wilson(share, n, z)
		e.low, e.high = some(low), some(high)
		e.p = some(normalTail(2 * math.Sqrt(n) * (share - 0.5)))
		if !alike {
			e.se = some(math.Sqrt(share * (1 - share) / n))
		}
		return e
	}
	if e.clusters < 2 {
		return e
	}
	even, df := evenly(groups), freedom(groups)
	effective := even
	if !alike {
		effective = n / max(1, leftOut(groups, share)*n/(share*(1-share)))
		if rarer(raw) < min(10, e.clusters/3) {
			effective = min(effective, even)
		}
		e.se = some(math.Sqrt(share * (1 - share) / effective))
	}
	t := critical(level, df)
	low, high := wilson(share, effective*z*z/(t*t), z)
	e.low, e.high = some(low), some(high)
	e.p = some(tail(2*math.Sqrt(effective)*(share-0.5), df))
	return e
}

// rarer counts the clusters that hold the rarer of the two answers.
func rarer(groups [][]float64) int {
	with, without := 0, 0
	for _, values := range groups {
		if sum := total(values); sum > 0 {
			with++
		}
		if total(values) < float64(len(values)) {
			without++
		}
	}
	return min(with, without)
}

// twice is what two got on the same thing.
type twice struct {
	cluster       string
	first, second float64
}

// pairedOf estimates the mean of first minus second. Where each is one yes or no and things are independent, it is Newcombe's
// interval with McNemar's exact test, else Student's t over clusters.
func pairedOf(all []twice, single bool, level float64, low, high *float64) estimate {
	var differences []seen
	for _, t := range all {
		differences = append(differences, seen{t.cluster, t.first - t.second})
	}
	e := meanOf(differences, level, low, high)
	if !single || e.clusters < e.n || e.n == 0 {
		return e
	}
	var a, b, c, d float64 // both, first alone, second alone, neither
	for _, t := range all {
		switch {
		case t.first == 1 && t.second == 1:
			a++
		case t.first == 1:
			b++
		case t.second == 1:
			c++
		default:
			d++
		}
	}
	e.p = some(signTest(int(b), int(c)))
	down, up := newcombe(a, b, c, d, level)
	e.low, e.high = some(down), some(up)
	return e
}

// newcombe joins Wilson's intervals of two shares of the same things by the correlation of the two, which is corrected for
// continuity where it is positive.
func newcombe(a, b, c, d, level float64) (low, high float64) {
	n, z := a+b+c+d, normalCritical(level)
	p, q := (a+b)/n, (a+c)/n
	lowP, highP := wilson(p, n, z)
	lowQ, highQ := wilson(q, n, z)
	phi := 0.0
	if margins := (a + b) * (c + d) * (a + c) * (b + d); margins > 0 {
		over := a*d - b*c
		if over > 0 {
			over = max(0, over-n/2)
		}
		phi = over / math.Sqrt(margins)
	}
	joint := func(x, y float64) float64 { return math.Sqrt(max(0, x*x-2*phi*x*y+y*y)) }
	return p - q - joint(p-lowP, highQ-q), p - q + joint(highP-p, q-lowQ)
}

// spread returns the error of a number from what it is without one cluster after the other.
func spread(without []seen) float64 {
	g, mean, squares := float64(len(without)), 0.0, 0.0
	for _, s := range without {
		mean += s.x / g
	}
	for _, s := range without {
		squares += math.Pow(s.x-mean, 2)
	}
	return math.Sqrt((g - 1) / g * squares)
}
