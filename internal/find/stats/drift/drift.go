// Package drift tells a change of the judge from a change of the models, between two runs of a study.
//
// The judge's shift is how much its verdicts changed on answers that stay the same and were judged in both runs. The model's change of a
// lane is what remains of the lane's change on the items of both runs. Both have an error, and the remainder has both of them: the
// interval of the remainder joins the two intervals (Zou and Donner's MOVER), which are those of independent samples.
package drift

import (
	"math"

	"assay/internal/find/stats"
)

// Change is how much a mean changed from one run to the next, on what both have.
type Change struct {
	Value    stats.Number
	Interval stats.Interval
	P        stats.Number // of no change
	Holm     stats.Number // P adjusted over all lanes
	N        int          // items or answers that both runs have
	Clusters int          // independent units among them
	Step     float64      // by which one verdict changes the value, where all are yes or no; else 0
}

// Judge holds the evidence about the judge between two runs. The zero value is a judge of which nothing is known.
type Judge struct {
	Exact    bool   // a rule judges: the same answer gets the same verdict
	Measured bool   // Shift was measured on answers that were judged in both runs
	Shift    Change // of its verdicts on them
}

// Moved reports whether the judge was shown to have changed.
func (j Judge) Moved(level float64) bool {
	return j.Measured && !j.Exact && j.Shift.P.OK && j.Shift.P.Value < 1-level
}

// Mean is what a judge says of some answers on average, and its error.
type Mean struct{ Value, SE float64 }

// UnlikeBy is by which share of the scale a judge's mean verdict on a gold set may surely differ from that on a study's answers, before its
// shift there says nothing about these: a judge that becomes lenient moves where there are more of its no.
const UnlikeBy = 0.1

// Unlike reports whether a gold set is surely unlike a study's answers, by what a judge says of both before it moved.
func Unlike(gold, answers Mean, span, level float64) bool {
	in := stats.NormalInterval(gold.Value-answers.Value, math.Hypot(gold.SE, answers.SE), level)
	return in.OK && span > 0 && (in.Low > UnlikeBy*span || in.High < -UnlikeBy*span)
}

// Whose is who a lane's change belongs to.
type Whose string

// The owners of a change.
const (
	Nobodys    Whose = "none"        // no change was shown
	Judges     Whose = "judge"       // the judge moved, and no change of the model was shown
	Models     Whose = "model"       // the model changed beyond what the judge did
	Boths      Whose = "both"        // the judge moved, and the model changed besides
	CannotTell Whose = "cannot tell" // there is a change, and neither was shown to have made it
	NotAsked   Whose = "not asked"   // the answers are those of an earlier run: the model was not measured again
)

// Lane is the change of one lane, taken apart.
type Lane struct {
	Change
	Taken bool   // its answers were taken over from an earlier run
	Model Change // what is left of it without the judge's shift
	Whose Whose
	More  int // where it cannot be told: so many more answers that are judged in both runs would; 0: more of them alone do not help
}

// power is the chance with which the answers that are asked for would tell.
const power = 0.8

// Apportion takes the changes of lanes apart. P-values of lanes are adjusted over all of them (Holm).
func Apportion(judge Judge, lanes []Lane, level float64) error {
	if err := adjust(lanes, func(l *Lane) *Change { return &l.Change }); err != nil {
		return err
	}
	for i := range lanes {
		lanes[i].Model = remainder(lanes[i], judge, level)
	}
	if err := adjust(lanes, func(l *Lane) *Change { return &l.Model }); err != nil {
		return err
	}
	moved := judge.Moved(level)
	shown := func(c Change) bool { return c.Holm.OK && c.Holm.Value < 1-level }
	for i := range lanes {
		l := &lanes[i]
		switch model := shown(l.Model); {
		case l.Taken:
			l.Whose = NotAsked
		case model && moved:
			l.Whose = Boths
		case model:
			l.Whose = Models
		case moved:
			l.Whose = Judges
		case shown(l.Change):
			l.Whose, l.More = CannotTell, more(l, judge, level)
		default:
			l.Whose = Nobodys
		}
	}
	return nil
}

// adjust writes the p-values of changes after Holm. One without a p-value counts as a test that shows nothing.
func adjust(lanes []Lane, of func(*Lane) *Change) error {
	p := make([]float64, len(lanes))
	for i := range lanes {
		if p[i] = 1; of(&lanes[i]).P.OK {
			p[i] = of(&lanes[i]).P.Value
		}
	}
	adjusted, err := stats.Holm(p)
	for i := range adjusted {
		if c := of(&lanes[i]); c.P.OK {
			c.Holm = stats.Known(adjusted[i])
		} else {
			c.Holm = c.P
		}
	}
	return err
}

// remainder returns a lane's change without the judge's.
func remainder(l Lane, judge Judge, level float64) Change {
	none := func(why string) Change {
		return Change{Value: stats.Undefined("%s", why), Interval: stats.NoInterval("%s", why), P: stats.Undefined("%s", why)}
	}
	s := judge.Shift
	switch {
	case l.Taken:
		return none("its answers were taken over from an earlier run")
	case !l.Value.OK:
		return none(l.Value.Why)
	case judge.Exact:
		return l.Change
	case !judge.Measured:
		return none("no answers were judged in both runs")
	case !s.Interval.OK:
		return none(s.Interval.Why)
	case !l.Interval.OK:
		return none(l.Interval.Why)
	}
	out := Change{N: l.N, Clusters: min(l.Clusters, s.Clusters), Value: stats.Known(l.Value.Value - s.Value.Value)}
	at := out.Value.Value
	// half of a step on either side of both is the correction for continuity that McNemar's exact test has
	step := (l.Step + s.Step) / 2
	out.Interval = stats.Between(at-step-math.Hypot(l.Value.Value-l.Interval.Low, s.Interval.High-s.Value.Value),
		at+step+math.Hypot(l.Interval.High-l.Value.Value, s.Value.Value-s.Interval.Low))
	toZero := at - out.Interval.Low
	if at < 0 {
		toZero = out.Interval.High - at
	}
	out.P = stats.StudentTest(out.Value, stats.Known(toZero/stats.StudentCritical(1-level, out.Clusters)), out.Clusters)
	return out
}

// more returns how many more answers, judged in both runs, would show with a chance of 80% whose a change is, if the larger of the two
// parts is as large as it seems. Each is worth as much as one of those that there are.
func more(l *Lane, judge Judge, level float64) int {
	z := stats.NormalQuantile(1 - (1-level)/2)
	seen := func(size float64) float64 { return math.Pow(size/(z+stats.NormalQuantile(power)), 2) } // the most variance that shows it
	variance := func(in stats.Interval) float64 { return math.Pow((in.High-in.Low)/(2*z), 2) }
	have, each := 0, 0.09 // as of a judge of which 9 verdicts in 100 change
	wanted := seen(l.Value.Value) - variance(l.Interval)
	if judge.Measured && l.Model.Interval.OK {
		s := judge.Shift
		have, each = s.N, variance(s.Interval)*float64(s.N)
		wanted = seen(l.Model.Value.Value) - variance(l.Interval)
		if wanted <= 0 || math.Abs(l.Model.Value.Value) < math.Abs(s.Value.Value) {
			wanted = seen(s.Value.Value)
		}
	}
	if !(wanted > 0) || !l.Interval.OK {
		return 0
	}
	return max(int(math.Ceil(each/wanted))-have, 0)
}
