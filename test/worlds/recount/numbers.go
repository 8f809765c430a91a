package recount

import "math"

// root returns where a function that is positive at from and negative at to crosses zero.
func root(f func(float64) float64, from, to float64) float64 {
	for range 100 {
		middle := (from + to) / 2
		if f(middle) > 0 {
			from = middle
		} else {
			to = middle
		}
	}
	return (from + to) / 2
}

// cosines returns the integral of a power of the cosine from 0 to a, two powers down at a time.
func cosines(a float64, power int) float64 {
	switch power {
	case 0:
		return a
	case 1:
		return math.Sin(a)
	}
	n := float64(power)
	return math.Pow(math.Cos(a), n-1)*math.Sin(a)/n + (n-1)/n*cosines(a, power-2)
}

// tail returns the chance that Student's t with so many degrees of freedom is further from 0 than t. With t = √df·tan(a) its
// density is a power of a cosine.
func tail(t float64, df int) float64 {
	a := math.Atan(math.Abs(t) / math.Sqrt(float64(df)))
	return max(0, 1-cosines(a, df-1)/cosines(math.Pi/2, df-1))
}

// critical returns the t that is passed with a chance of one less the level.
func critical(level float64, df int) float64 {
	return root(func(t float64) float64 { return tail(t, df) - (1 - level) }, 0, 1e5)
}

// normalTail returns the chance that a standard normal is further from 0 than z.
func normalTail(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

func normalCritical(level float64) float64 {
	return root(func(z float64) float64 { return normalTail(z) - (1 - level) }, 0, 100)
}

// wilson returns the shares from which one of n answers is no more than z errors away.
func wilson(share, n, z float64) (low, high float64) {
	away := func(p float64) float64 { return math.Abs(share-p) - z*math.Sqrt(p*(1-p)/n) }
	if low = 0; share > 0 {
		low = root(away, 0, share)
	}
	if high = 1; share < 1 {
		high = root(func(p float64) float64 { return -away(p) }, share, 1)
	}
	return low, high
}

// binomial returns the chances of 0 to n successes.
func binomial(n int, p float64) []float64 {
	out := make([]float64, n+1)
	choose := 0.0
	for k := range out {
		if k > 0 {
			choose += math.Log(float64(n-k+1)) - math.Log(float64(k))
		}
		out[k] = math.Exp(choose + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
	}
	return out
}

// signTest returns the two-sided exact p-value of b against c when either is as likely.
func signTest(b, c int) float64 {
	sum := 0.0
	for _, p := range binomial(b+c, 0.5)[:min(b, c)+1] {
		sum += p
	}
	return min(1, 2*sum)
}

// exact returns the bounds of Clopper and Pearson.
func exact(k, n int, level float64) (low, high float64) {
	half := (1 - level) / 2
	sum := func(p float64, from, to int) float64 {
		all := 0.0
		for _, x := range binomial(n, p)[from:to] {
			all += x
		}
		return all
	}
	if low = 0; k > 0 {
		low = root(func(p float64) float64 { return half - sum(p, k, n+1) }, 0, 1)
	}
	if high = 1; k < n {
		high = root(func(p float64) float64 { return sum(p, 0, k+1) - half }, 0, 1)
	}
	return low, high
}

// holm returns p-values corrected for there being many.
func holm(p []float64) []float64 {
	out := make([]float64, len(p))
	for i := range p {
		worst := 0.0 // of all that are as small or smaller
		for j := range p {
			if p[j] > p[i] {
				continue
			}
			smaller := 0
			for k := range p {
				if p[k] < p[j] {
					smaller++
				}
			}
			worst = max(worst, min(1, float64(len(p)-smaller)*p[j]))
		}
		out[i] = worst
	}
	return out
}
