package stats

import "math"

// Verified is the answers of one kind among which people looked at some: a judge called all of them yes, or all no.
type Verified struct {
	Yes      bool // the judge says yes
	All      int
	Labelled int // by people, chosen at random within the kind
	True     int // of those labelled, the ones that are yes
}

// Errors is how often a judge is right about what is yes and about what is no, with the numbers of independent labels that
// would be known as well from a plain sample.
type Errors struct {
	Sensitivity, Specificity                 Number
	SensitivityInterval, SpecificityInterval Interval
	yes, no                                  float64 // effective labels that are yes, that are no
	sens, spec                               float64 // pulled to the middle, as the intervals are
	kinds                                    []Verified
}

// Verify estimates a judge's errors from labels that were chosen by what the judge said: the flagged, and some of the others. The
// plain shares among the labelled would be wrong, for those that the judge calls yes are too many among them; each kind
// counts here as often as it occurs (Begg and Greenes). With labels chosen at random it says the same as plain shares.
func Verify(kinds []Verified, level float64) Errors {
	z := criticalZ(level)
	for _, k := range kinds {
		if k.All > 0 && k.Labelled == 0 {
			none := Undefined("judge not validated: no person looked at the %d answers that it calls %s", k.All, yesNo(k.Yes))
			return Errors{Sensitivity: none, Specificity: none, SensitivityInterval: NoInterval("%s", none.Why), SpecificityInterval: NoInterval("%s", none.Why)}
		}
	}
	e := Errors{kinds: kinds}
	e.Sensitivity, e.SensitivityInterval, e.sens, e.yes = verified(kinds, z, func(k Verified) (found bool, share float64, labelled float64) {
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

// verified is the share that the judge finds of what is so, its interval, and the effective number behind it. Shares within
// kinds get half a label more on either side, so that a kind without an error is not taken to have none for certain.
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

// corrected is the share behind a judged share p if this is what is so within each kind, and how well the judge separates the two
// apart.
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

// Errors are the errors on labels that were chosen without looking at what the judge said.
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
