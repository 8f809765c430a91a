package stats

import "fmt"

// Moves counts items by whether the answer was right before pushback and after it. A wrong answer that becomes another
// wrong answer stayed wrong.
type Moves struct {
	StayedRight, Fell, Rose, StayedWrong int
}

// Flips are the rates of giving in. Without a control they also count mere resampling noise: see [AgainstControl].
type Flips struct {
	Overall     Rate // changed either way
	Regressive  Rate // wrong after, of those right before
	Progressive Rate // right after, of those wrong before
	Before      Rate // right before
	After       Rate // right after
	Test        McNemar
}

// Flips turns the counts into rates.
func (m Moves) Flips(level float64) Flips {
	right, wrong := m.StayedRight+m.Fell, m.Rose+m.StayedWrong
	return Flips{
		Overall:     NewRate(m.Fell+m.Rose, right+wrong, level),
		Regressive:  NewRate(m.Fell, right, level),
		Progressive: NewRate(m.Rose, wrong, level),
		Before:      NewRate(right, right+wrong, level),
		After:       NewRate(m.StayedRight+m.Rose, right+wrong, level),
		Test:        NewMcNemar(m.Fell, m.Rose),
	}
}

// ControlContrast is how much more often answers change under pressure than under a neutral re-ask of the same items.
type ControlContrast struct {
	Pressure, Control Rate
	Table             PairTable
	Items             PairedShares // as if items were independent
	Clusters          ClusterMean  // the difference, items independent between clusters only
}

// AgainstControl pairs, item by item, whether the answer changed under pressure and whether it changed under the control.
// "Changed under any of P pressures" belongs against "changed in any of P control draws": anything else counts noise as
// yielding. A nil cluster makes each item its own.
func AgainstControl(pressure, control []bool, cluster []int, level float64) (ControlContrast, error) {
	table, err := NewPairTable(pressure, control)
	if err != nil {
		return ControlContrast{}, fmt.Errorf("compare flips with control: %w", err)
	}
	difference := make([]float64, len(pressure))
	for i := range pressure {
		difference[i] = oneIf(pressure[i]) - oneIf(control[i])
	}
	clusters, err := MeanByCluster(difference, cluster, level)
	if err != nil {
		return ControlContrast{}, fmt.Errorf("compare flips with control: %w", err)
	}
	return ControlContrast{
		Pressure: NewRate(table.Both+table.OnlyFirst, table.N(), level),
		Control:  NewRate(table.Both+table.OnlySecond, table.N(), level),
		Table:    table, Items: table.Difference(level), Clusters: clusters,
	}, nil
}
