package checked

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"assay/internal/find/stats"
)

// reference is a case that two other programs computed.
type reference struct {
	Name, Kind string
	Input      json.RawMessage
	Expect     json.RawMessage
	Tolerance  float64
}

// cases returns those of a kind, with input and expectation read.
func cases[In, Out any](t *testing.T, kind string, do func(t *testing.T, in In, want Out, tolerance float64)) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []reference
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range all {
		if c.Kind != kind {
			continue
		}
		found++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var in In
			var want Out
			if err := json.Unmarshal(c.Input, &in); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(c.Expect, &want); err != nil {
				t.Fatal(err)
			}
			do(t, in, want, c.Tolerance)
		})
	}
	if found == 0 {
		t.Fatalf("no case of kind %q", kind)
	}
}

// near compares a number with the expected one; nil: there is none.
func near(t *testing.T, what string, got stats.Number, want *float64, tolerance float64) {
	t.Helper()
	if got.OK != (want != nil) || want != nil && math.Abs(got.Value-*want) > tolerance {
		t.Errorf("%s is %v, want %v", what, got, describe(want))
	}
}

func describe(want *float64) any {
	if want == nil {
		return "none"
	}
	return *want
}

func nearBoth(t *testing.T, what string, got stats.Interval, low, high, tolerance float64) {
	t.Helper()
	near(t, what+", low", stats.Known(got.Low), &low, tolerance)
	near(t, what+", high", stats.Known(got.High), &high, tolerance)
}

// study is a case: items with the verdicts, labels and weights of all lanes.
type study struct {
	Kind  string
	Step  float64
	Span  [2]float64
	Level float64
	Lanes []string
	Items []item
	Fixed *float64 `json:"lambda_fixed"`
}

type item struct {
	cluster string
	judge   []float64
	label   []*float64
	weight  []float64
}

func (i *item) UnmarshalJSON(text []byte) error {
	var name string
	return json.Unmarshal(text, &[]any{&name, &i.cluster, &i.judge, &i.label, &i.weight})
}

func (s study) scale() Scale {
	return Scale{YesNo: s.Kind == "rate", Low: s.Span[0], High: s.Span[1], Step: s.Step}
}

func (s study) sample() *Sample {
	out, clusters := NewSample(len(s.Lanes)), map[string]int{}
	var labels []Label
	for i, it := range s.Items {
		c, ok := clusters[it.cluster]
		if !ok {
			c = len(clusters)
			clusters[it.cluster] = c
		}
		for l := range s.Lanes {
			out.Judged(c, l, it.judge[l])
			if it.label[l] != nil {
				labels = append(labels,
					Label{Item: i, Cluster: c, Lane: l, Verdict: it.judge[l], Value: *it.label[l], Weight: it.weight[l]})
			}
		}
	}
	return out.With(labels)
}

// found is what is expected of a study.
type found struct {
	Lam              float64
	Slope, R2        *float64
	Clusters         int
	LabelledClusters int `json:"labelled_clusters"`
	Values           []struct{ Value, SE, K, Low, High, DF, Labels float64 }
	Differences      []struct {
		D, SE, K, Low, High, P, DF float64
		Holm                       float64 `json:"p_holm"`
	}
	Letters map[string]string
	Favours struct {
		Favour, SE []float64
		P          *float64
		Lane       []float64 `json:"p_lane"`
		Holm       []float64 `json:"p_lane_holm"`
	}
	Chance struct{ Slope, SE, P *float64 }
	Error  *struct{ Error, Low, High float64 }
}

func TestStudiesAreCorrectedAsTwoOtherProgramsDo(t *testing.T) {
	t.Parallel()
	cases(t, "study", func(t *testing.T, in study, want found, tolerance float64) {
		s := in.sample()
		got := s.Correct(Options{in.scale(), in.Level, in.Fixed})
		near(t, "share", stats.Known(got.Share), &want.Lam, tolerance)
		near(t, "slope", got.Slope, want.Slope, tolerance)
		near(t, "R²", got.R2, want.R2, tolerance)
		if got.Clusters != want.Clusters || got.Labelled != want.LabelledClusters {
			t.Errorf("%d clusters, %d labelled", got.Clusters, got.Labelled)
		}
		for i, w := range want.Values {
			v := got.Values[i]
			near(t, "value", v.Value, &w.Value, tolerance)
			near(t, "its error", v.SE, &w.SE, tolerance)
			nearBoth(t, "its interval", v.Interval, w.Low, w.High, tolerance)
			near(t, "its disagreements", stats.Known(v.Differing), &w.K, tolerance)
			if v.Clusters-1 != int(w.DF) || v.Labels != int(w.Labels) {
				t.Errorf("%d labels in %d clusters", v.Labels, v.Clusters)
			}
		}
		for i, w := range want.Differences {
			d := got.Differences[i]
			near(t, "difference", d.Value, &w.D, tolerance)
			near(t, "its error", d.SE, &w.SE, tolerance)
			nearBoth(t, "its interval", d.Interval, max(w.Low, in.Span[0]-in.Span[1]), min(w.High, in.Span[1]-in.Span[0]), tolerance)
			near(t, "its p", d.P, &w.P, tolerance)
			near(t, "its corrected p", d.Holm, &w.Holm, tolerance)
			near(t, "its disagreements", stats.Known(d.Differing), &w.K, tolerance)
		}
		if len(got.Differences) != len(want.Differences) {
			t.Errorf("%d differences", len(got.Differences))
		}
		lettersAre(t, in, got, want.Letters)
		judgeIs(t, s, in, want, tolerance)
	})
}

// lettersAre compares the groups of lanes that cannot be told apart.
func lettersAre(t *testing.T, in study, got *Corrected, want map[string]string) {
	t.Helper()
	order := make([]int, len(in.Lanes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if x, y := got.Values[a].Value.Value, got.Values[b].Value.Value; !stats.Same(x, y) {
			return int(math.Copysign(1, y-x))
		}
		return a - b
	})
	groups, ok := stats.Letters(len(order), func(i, j int) bool {
		for _, d := range got.Differences {
			if a, b := order[i], order[j]; d.A == min(a, b) && d.B == max(a, b) {
				return d.Holm.Value <= 1-in.Level
			}
		}
		return false
	})
	if !ok {
		t.Fatal("no letters")
	}
	for place, lane := range order {
		letters := ""
		for _, g := range groups[place] {
			letters += string(rune('a' + g))
		}
		if letters != want[in.Lanes[lane]] {
			t.Errorf("%s has letters %q, want %q", in.Lanes[lane], letters, want[in.Lanes[lane]])
		}
	}
}

func judgeIs(t *testing.T, s *Sample, in study, want found, tolerance float64) {
	t.Helper()
	together, lanes := s.Favours()
	near(t, "favours any", together, want.Favours.P, tolerance)
	for i, f := range lanes {
		near(t, "favour", f.Value, &want.Favours.Favour[i], tolerance)
		near(t, "its error", f.SE, &want.Favours.SE[i], tolerance)
		if together.OK {
			near(t, "its p", f.P, &want.Favours.Lane[i], tolerance)
			near(t, "its corrected p", f.Holm, &want.Favours.Holm[i], tolerance)
		}
	}
	chance := s.Chance()
	near(t, "slope of chance", chance.Slope, want.Chance.Slope, tolerance)
	near(t, "p of chance", chance.P, want.Chance.P, tolerance)
	if want.Error != nil {
		value, interval := s.ErrorRate(in.scale(), 0.95)
		near(t, "error", value, &want.Error.Error, tolerance)
		nearBoth(t, "its interval", interval, want.Error.Low, want.Error.High, tolerance)
	}
}

func TestAPointIsThatOfPredictionPoweredInference(t *testing.T) {
	t.Parallel()
	type input struct {
		Labelled     int
		Judge, Label []float64
	}
	type output struct {
		Point float64
		Share float64 `json:"lambda_all_items_form"`
	}
	cases(t, "ppi", func(t *testing.T, in input, want output, tolerance float64) {
		s := NewSample(1)
		var labels []Label
		for i, f := range in.Judge {
			s.Judged(i, 0, f)
			if i < in.Labelled {
				labels = append(labels, Label{Item: i, Cluster: i, Verdict: f, Value: in.Label[i], Weight: 1})
			}
		}
		scale := Scale{Step: 1} // without ends, so that nothing is cut
		got := s.With(labels).Correct(Options{scale, 0.95, &want.Share})
		near(t, "value", got.Values[0].Value, &want.Point, tolerance)
	})
}

func TestHowManyLabelsAreNeeded(t *testing.T) {
	t.Parallel()
	type input struct {
		Target, Power float64
		Residual      float64 `json:"residual_variance"`
		Label         float64 `json:"label_variance"`
		Items, K      int
	}
	type output struct {
		Items *int `json:"items_to_label"`
	}
	cases(t, "labels needed", func(t *testing.T, in input, want output, _ float64) {
		n, ok := Wanted{in.Target, in.Power, 0.95, max(in.K, 1), in.Residual, in.Label, in.Items}.ItemsToLabel()
		if ok != (want.Items != nil) || ok && n != *want.Items {
			t.Errorf("%d, %v", n, ok)
		}
	})
}

func TestStrataAreDealtInProportion(t *testing.T) {
	t.Parallel()
	type input struct {
		Sizes []int
		Items int
	}
	type output struct {
		Order   []int
		Weights []float64
	}
	cases(t, "deal", func(t *testing.T, in input, want output, tolerance float64) {
		dealt, order := make([]int, len(in.Sizes)), []int{}
		for range in.Items {
			h := Next(in.Sizes, dealt)
			dealt[h]++
			order = append(order, h)
		}
		if !slices.Equal(order, want.Order) {
			t.Errorf("%v", order)
		}
		f, names, of := NewFrame(1), []string{}, []int{}
		for h, n := range in.Sizes {
			for range n {
				names, of = append(names, fmt.Sprint(len(names))), append(of, h)
			}
		}
		f.Add(names, of, 0)
		drawn := f.Order(in.Items)
		weights := f.Weights(drawn)
		for k, i := range drawn {
			h := f.Strata[i]
			if near(t, "weight", stats.Known(weights[i]), &want.Weights[h], tolerance); h != want.Order[k] {
				t.Errorf("item %d of the order is of stratum %d, not %d", k, h, want.Order[k])
			}
		}
	})
}

func TestPeopleAgreeAsOften(t *testing.T) {
	t.Parallel()
	type input struct{ Labels [][]float64 }
	type output struct {
		Label     []float64
		Agreement float64
		Twice     int `json:"labelled_twice"`
	}
	cases(t, "raters", func(t *testing.T, in input, want output, tolerance float64) {
		got := Agree(in.Labels)
		near(t, "agreement", got.Agreement, &want.Agreement, tolerance)
		if got.Twice != want.Twice || got.Differ() {
			t.Errorf("%+v", got)
		}
	})
	for name, c := range map[string]struct {
		said   [2]float64 // of every second answer; of the others all say yes
		n      int
		differ bool
	}{"half of them differ": {[2]float64{1, 0}, 20, true}, "few": {[2]float64{1, 0}, 18, false}, "alike": {[2]float64{0, 0}, 20, false}} {
		var all [][]float64
		for i := range c.n {
			if all = append(all, []float64{1, 1}); i%2 == 1 {
				all[i] = c.said[:]
			}
		}
		if got := Agree(all); got.Differ() != c.differ {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestLooksSpendTheErrorInParts(t *testing.T) {
	t.Parallel()
	type input struct {
		Items int
		Alpha float64
	}
	type output struct {
		At       []int
		Levels   []float64
		Critical []float64 `json:"critical_t"`
	}
	cases(t, "looks", func(t *testing.T, in input, want output, tolerance float64) {
		for i, l := range Looks(in.Items, in.Alpha) {
			if l.Items != want.At[i] {
				t.Errorf("look %d at %d items", i, l.Items)
			}
			near(t, "its error", stats.Known(l.Alpha), &want.Levels[i], tolerance)
			near(t, "its t", stats.Known(stats.StudentCritical(l.Alpha, l.Items)), &want.Critical[i], tolerance)
		}
	})
}

func TestWhatALabelIsWorth(t *testing.T) {
	t.Parallel()
	type input struct {
		Labelled, Items int
		R2              float64
	}
	type output struct {
		Verdicts float64 `json:"verdicts_per_label"`
		Labels   float64 `json:"labels_it_stands_for"`
	}
	cases(t, "cost", func(t *testing.T, in input, want output, tolerance float64) {
		w := WorthOf(in.Labelled, in.Items, in.R2)
		near(t, "verdicts", stats.Known(w.Verdicts), &want.Verdicts, tolerance)
		near(t, "labels", stats.Known(w.Labels), &want.Labels, tolerance)
	})
}
