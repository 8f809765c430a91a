package adaptive

// narrowing returns what a round buys where all strengths are to be certain, whoever wins: a portion at a time, for the
// pair whose comparisons take most off the sum of their variances.
func (g *Progress) narrowing(l *Look, money int) []int {
	const portions = 40
	buy, c := make([]int, len(g.pairs)), make([][]float64, g.Lanes)
	for i := range c {
		c[i] = append([]float64(nil), l.covariance[i]...)
	}
	portion := max(1, (money+portions-1)/portions)
	for money > 0 {
		n, best, gain := 0, -1, 0.0
		for k, p := range g.pairs {
			left := min(portion, money, g.Most-g.Bought[k]-buy[k])
			if left <= 0 {
				continue
			}
			if fall := fallOf(c, p, float64(left)*l.Pairs[k].Information*l.Effect); best < 0 || fall > gain {
				n, best, gain = left, k, fall
			}
		}
		if best < 0 {
			break
		}
		buy[best] += n
		money -= n
		take(c, g.pairs[best], float64(n)*l.Pairs[best].Information*l.Effect)
	}
	return buy
}

// fallOf is by how much so much information about a pair lowers the sum of variances of all strengths.
func fallOf(c [][]float64, p [2]int, information float64) float64 {
	sum := 0.0
	for i := range c {
		sum += square(c[i][p[0]] - c[i][p[1]])
	}
	return sum * information / (1 + information*variance(c, p))
}

// take lowers covariances by so much information about a pair.
func take(c [][]float64, p [2]int, information float64) {
	f := information / (1 + information*variance(c, p))
	u := make([]float64, len(c))
	for i := range c {
		u[i] = c[i][p[0]] - c[i][p[1]]
	}
	for i := range c {
		for j := range c {
			c[i][j] -= f * u[i] * u[j]
		}
	}
}

func variance(c [][]float64, p [2]int) float64 {
	return c[p[0]][p[0]] + c[p[1]][p[1]] - 2*c[p[0]][p[1]]
}
