package checked_test

import (
	"math/rand/v2"
	"testing"

	"assay/internal/find/stats/checked"
)

// apart simulates samples of 60 of 400 items of two lanes, of which a judge says yes in 60%, and counts those that are called unlike the
// rest. Items of which it says yes are chosen so many times as often as others.
func apart(likely float64) (unlike int, share float64) {
	const studies, items, labelled = 400, 400, 60
	for seed := range uint64(studies) {
		r := rand.New(rand.NewPCG(61, seed))
		s := checked.NewSample(2)
		var labels []checked.Label
		says := make([][2]float64, items)
		for i := range says {
			for lane := range 2 {
				if r.Float64() < 0.6 {
					says[i][lane] = 1
				}
				s.Judged(i, lane, says[i][lane])
			}
		}
		for n := 0; n < labelled; {
			i := r.IntN(items)
			if says[i][0] == 0 && r.Float64()*likely > 1 {
				continue
			}
			n++
			for lane := range 2 {
				x := says[i][lane]
				labels = append(labels, checked.Label{Item: n, Cluster: i, Lane: lane, Verdict: x, Value: x, Weight: 1})
			}
		}
		a := s.With(labels).Apart()
		if share += a.Labelled / studies; a.P.Value <= checked.Unlike {
			unlike++
		}
	}
	return unlike, share
}

func TestASampleThatIsNoneIsTold(t *testing.T) {
	t.Parallel()
	if unlike, _ := apart(1); unlike > 10 { // 1% of 400, and what chance adds
		t.Errorf("%d of 400 true samples are called unlike the answers", unlike)
	}
	if unlike, share := apart(8); unlike < 280 { // one lane alone is chosen by
		t.Errorf("%d of 400 chosen ones are called so, with %.2f of yes in place of 0.60", unlike, share)
	}
}

func TestFewLabelsThatAreAllAlikeAreNoCertainty(t *testing.T) {
	t.Parallel()
	s := checked.NewSample(1)
	var labels []checked.Label
	for i := range 200 {
		x := 1.0
		if i >= 194 {
			x = 0
		}
		if s.Judged(i, 0, x); i < 20 {
			labels = append(labels, checked.Label{Item: i, Cluster: i, Verdict: x, Value: x, Weight: 1})
		}
	}
	if a := s.With(labels).Apart(); !a.P.OK || a.P.Value < 0.2 || a.Labelled != 1 || a.All != 0.97 {
		t.Errorf("%+v", a)
	}
}
