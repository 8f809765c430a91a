package stats

import "math"

// Verified is the answers of one kind among which people looked at some: a judge called all of them yes, or all no.
type Verified struct {
	Yes      bool // the judge's verdict is yes
	All      int
	Labelled int // by people, chosen at random within the kind
	True     int // of those labelled, the ones that are yes
}

// Errors is how often a judge is right about what is yes and about what is no, with the numbers of independent labels
// that would be known as well from a plain sample.
type Errors struct {
	Sensitivity, Specificity                 Number
	SensitivityInterval, SpecificityInterval Interval
	yes, no                                  float64 // effective labels that are yes, that are no
	sens, spec                               float64 // pulled to the middle, as the intervals are
	kinds                                    []Verified
}

// Verify estimates a judge's errors from labels that were chosen by the judge's verdict: the flagged, and some of the
// others. The plain shares among the labelled would be wrong, for those that the judge calls yes are too many among
// them; each kind counts here as often as it occurs (Begg and Greenes). With labels chosen at random it equals plain
// shares.
func Verify(kinds []Verified, level float64) Errors {
	z := criticalZ(level)
	for _, k := range kinds {
		if k.All > 0 && k.Labelled == 0 {
			none := Undefined("judge not validated: no person looked at the %d answers that it calls %s", k.All, yesNo(k.Yes))
			return Errors{Sensitivity: none, Specificity: none, SensitivityInterval: NoInterval("%s", none.Why),
				SpecificityInterval: NoInterval("%s", none.Why)}
		}
	}
	e := Errors{kinds: kinds}
	e.Sensitivity, e.SensitivityInterval, e.sens, e.yes = verified(kinds, z,
		func(k Verified) (found bool, share float64, labelled float64) {
			return k.Yes, float64(k.True), float64(k.Labelled)
		})
	e.Specificity, e.SpecificityInterval, e.spec, e.no = verified(kinds, z, func(k Verified) (found bool, share float64, labelled float64) {
		return !k.Yes, float64(k.Labelled - k.True), float64(k.Labelled)
	})
	if !e.Sensitivity.OK {
		e.Sensitivity = Undefined("judge not validated: no label is yes")
	}
	if !e.Specificity.OK {
		e.Specificity = Undefined("judge not validated: no label is no")
	}
	return e
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// verified returns the share that the judge finds of what is so, its interval, and the effective number behind it.
// Shares within kinds get half a label more on either side, so that a kind without an error is not taken to have none
// for certain.
func verified(kinds []Verified, z Number, of func(Verified) (found bool, so, labelled float64)) (Number, Interval, float64, float64) {
	var all, is, hit, pulledIs, pulledHit float64
	for _, k := range kinds {
		if k.All == 0 {
			continue
		}
		found, so, labelled := of(k)
		n := float64(k.All)
		plain, pulled := so/labelled, (so+0.5)/(labelled+1)
		all, is, pulledIs = all+n, is+n*plain, pulledIs+n*pulled
		if found {
			hit, pulledHit = hit+n*plain, pulledHit+n*pulled
		}
	}
	if is == 0 || !z.OK {
		return Undefined("no label"), NoInterval("no label"), 0, 0
	}
	share := pulledHit / pulledIs
	variance := 0.0
	for _, k := range kinds {
		if k.All == 0 {
			continue
		}
		found, so, labelled := of(k)
		n, q := float64(k.All), (so+0.5)/(labelled+1)
		lever := -share
		if found {
			lever = 1 - share
		}
		variance += square(n*lever)*q*(1-q)/(labelled+1)/square(pulledIs) + n*square(q*lever)/square(pulledIs)
	}
	spread := math.Sqrt(variance) / (share * (1 - share)) // on the scale of log odds
	low, high := logistic(logit(share)-z.Value*spread), logistic(logit(share)+z.Value*spread)
	value := hit / is
	return Known(value), Between(min(low, value), max(high, value)), share, share * (1 - share) / variance
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// Correct frees a judged share of k in n from the judge's errors, as Gold.Correct does.
func (e Errors) Correct(k, n, level float64) CorrectedRate {
	for _, s := range []Number{e.Sensitivity, e.Specificity} {
		if !s.OK {
			return CorrectedRate{Share: s, SE: s, Interval: NoInterval("%s", s.Why)}
		}
	}
	c := correct(k, n, level, e.Sensitivity.Value, e.Specificity.Value, judged{e.sens, e.yes}, judged{e.spec, e.no})
	if e.kinds != nil && c.Share.OK {
		c.SE, c.Interval = e.propagate(k, n, level)
	}
	return c
}

// propagate carries the errors of the labels within each kind to the corrected share. A label moves sensitivity and
// specificity at once, so that their errors cannot be added up as if they were independent.
func (e Errors) propagate(k, n, level float64) (Number, Interval) {
	z := criticalZ(level)
	if !z.OK {
		return z, NoInterval("%s", z.Why)
	}
	shares := make([]float64, len(e.kinds))
	for i, kind := range e.kinds {
		shares[i] = (float64(kind.True) + 0.5) / (float64(kind.Labelled) + 1)
	}
	p := (k + z.Value*z.Value/2) / (n + z.Value*z.Value)
	value, power := e.corrected(p, shares)
	if !(power > 0) {
		none := Undefined("the judge does hardly better than chance on few gold labels")
		return none, NoInterval("%s", none.Why)
	}
	variance := p * (1 - p) / n / square(power)
	const step = 1e-4
	for i, kind := range e.kinds {
		if kind.All == 0 {
			continue
		}
		q := shares[i]
		shares[i] = q + step
		moved, _ := e.corrected(p, shares)
		shares[i] = q
		variance += square((moved-value)/step) * q * (1 - q) / (float64(kind.Labelled) + 1)
	}
	half := z.Value * math.Sqrt(variance)
	return Known(math.Sqrt(variance)), Between(max(0, min(1, value-half)), max(0, min(1, value+half)))
}

// corrected returns the share behind a judged share p if these are the true values within each kind, and how well the
// judge separates the two apart.
func (e Errors) corrected(p float64, shares []float64) (value, power float64) {
	var yes, no, hit, kept float64
	for i, kind := range e.kinds {
		n := float64(kind.All)
		yes, no = yes+n*shares[i], no+n*(1-shares[i])
		if kind.Yes {
			hit += n * shares[i]
		} else {
			kept += n * (1 - shares[i])
		}
	}
	power = hit/yes + kept/no - 1
	return (p + kept/no - 1) / power, power
}

// Errors returns the errors on labels that were chosen independently of the judge's verdict.
func (g Gold) Errors(level float64) Errors {
	sens, spec := g.Sensitivity(level), g.Specificity(level)
	e := Errors{
		Sensitivity: sens.Share, Specificity: spec.Share, SensitivityInterval: sens.Interval, SpecificityInterval: spec.Interval,
		yes: float64(g.TruePositive+g.FalseNegative) + 2, no: float64(g.TrueNegative+g.FalsePositive) + 2,
	}
	e.sens, e.spec = (float64(g.TruePositive)+1)/e.yes, (float64(g.TrueNegative)+1)/e.no
	if !sens.Share.OK {
		e.Sensitivity = Undefined("judge not validated: no gold label is yes")
		e.SensitivityInterval = NoInterval("%s", e.Sensitivity.Why)
	}
	if !spec.Share.OK {
		e.Specificity = Undefined("judge not validated: no gold label is no")
		e.SpecificityInterval = NoInterval("%s", e.Specificity.Why)
	}
	return e
}

// Gold counts a judge's labels against the true ones on the items that people labelled.
type Gold struct {
	TruePositive, FalsePositive, FalseNegative, TrueNegative int
}

// Sensitivity returns the share of true yes that the judge calls yes.
func (g Gold) Sensitivity(level float64) Rate {
	return NewRate(g.TruePositive, g.TruePositive+g.FalseNegative, level)
}

// Specificity returns the share of true no that the judge calls no.
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

// corrected returns the interval of Lang and Reiczigel (2014): all three shares are pulled to the middle, as Wilson's
// are, and the midpoint is shifted for the skew that the ratio brings.
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
