package stats

import "math"

// Gold counts a judge's labels against the true ones on the items that people labelled.
type Gold struct {
	TruePositive, FalsePositive, FalseNegative, TrueNegative int
}

// Sensitivity is the share of true yes that the judge calls yes.
func (g Gold) Sensitivity(level float64) Rate {
	return NewRate(g.TruePositive, g.TruePositive+g.FalseNegative, level)
}

// Specificity is the share of true no that the judge calls no.
func (g Gold) Specificity(level float64) Rate {
	return NewRate(g.TrueNegative, g.TrueNegative+g.FalsePositive, level)
}

// CorrectedRate is a judged share freed from the judge's known errors.
type CorrectedRate struct {
	Share    Number
	SE       Number   // by the delta method
	Interval Interval // Lang and Reiczigel's, which holds its level with small gold samples
}

// judged is a share of right judgements, pulled to the middle, and the number of labels it is known from.
type judged struct{ share, n float64 }

func (j judged) variance() float64 { return j.share * (1 - j.share) / j.n }

func correct(k, n, level, sens, spec float64, pulledSens, pulledSpec judged) CorrectedRate {
	var why Number
	switch {
	case !(n > 0) || !(k >= 0) || k > n:
		why = Undefined("%g of %g judged answers", k, n)
	case sens+spec <= 1:
		why = Undefined("the judge does no better than chance on the gold labels")
	default:
		c := CorrectedRate{Interval: corrected(k, n, level, pulledSens, pulledSpec)}
		p, power := k/n, sens+spec-1
		c.Share = Known(max(0, min(1, (p+spec-1)/power)))
		yes, no := square(c.Share.Value)*sens*(1-sens)/(pulledSens.n-2), square(1-c.Share.Value)*spec*(1-spec)/(pulledSpec.n-2)
		c.SE = Known(math.Sqrt(p*(1-p)/n+yes+no) / power)
		if !(pulledSens.n > 2) || !(pulledSpec.n > 2) {
			c.SE = Undefined("too few labels")
		}
		return c
	}
	return CorrectedRate{Share: why, SE: why, Interval: NoInterval("%s", why.Why)}
}

// corrected is the interval of Lang and Reiczigel (2014): all three shares are pulled to the middle, as Wilson's are, and
// the midpoint is shifted for the skew that the ratio brings.
func corrected(k, n, level float64, sens, spec judged) Interval {
	z := criticalZ(level)
	if !z.OK {
		return NoInterval("%s", z.Why)
	}
	zz := z.Value * z.Value
	all := n + zz
	p := (k + zz/2) / all
	power := sens.share + spec.share - 1
	if power <= 0 {
		return NoInterval("the judge does hardly better than chance on few gold labels")
	}
	share := (p + spec.share - 1) / power
	middle := share + 2*zz*(share*sens.variance()-(1-share)*spec.variance())
	half := z.Value * math.Sqrt(p*(1-p)/all+share*share*sens.variance()+square(1-share)*spec.variance()) / power
	return Between(max(0, min(1, middle-half)), max(0, min(1, middle+half)))
}

func square(x float64) float64 { return x * x }
