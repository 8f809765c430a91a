package analysis

import (
	"slices"

	"assay/internal/find/stats"
)

// How many draws the chance of being best comes from: fewer where many compete, because each takes longer.
const (
	bestDraws = 10_000
	fewDraws  = 2_000
	manyPlace = 30
)

// FillRanks fills in the ranks that each place of a leaderboard may have, and its chance of being best, and puts them
// beside the findings of the table that the places come from.
func (s *Leaderboard) FillRanks(t *Table, seed uint64) {
	apart, tested := s.Apart()
	if !tested || s.Rounds != nil && s.Rounds.Width { // nothing is claimed
		return
	}
	s.chances(seed)
	for i := range s.Places {
		p := &s.Places[i]
		if !p.Value.OK {
			continue
		}
		p.Rank = s.RankOf(i, apart)
		by := append([]Value{{s.Field, p.Name}}, s.By...)
		for k := range t.Findings {
			if f := &t.Findings[k]; f.What == s.What && slices.Equal(f.By, by) {
				if f.Best = p.Best; f.Rank == nil {
					f.Rank = p.Rank
				}
			}
		}
	}
}

// chances fills in the chance of each place to be the best, from the errors of all differences together.
func (s *Leaderboard) chances(seed uint64) {
	var places []int
	var values []float64
	for i, p := range s.Places {
		if s.Places[i].Best = p.Value; p.Value.OK {
			places, values = append(places, i), append(values, p.Value.Value)
		}
	}
	if s.Rounds != nil {
		s.noBest(places, "pairs were bought by what was found")
		return
	}
	errors := map[[2]int]stats.Number{}
	clusters := 0 // the fewest of any two: their errors are known least well
	for _, c := range s.Tests {
		errors[[2]int{c.First, c.Second}], errors[[2]int{c.Second, c.First}] = c.SE, c.SE
		if c.SE.OK && (clusters == 0 || s.units(c) < clusters) {
			clusters = s.units(c)
		}
	}
	if _, uneven := s.Uneven(); uneven {
		values = s.shared(places, values)
	}
	if s.Less {
		for i := range values {
			values[i] = -values[i]
		}
	}
	draws := bestDraws
	if len(values) > manyPlace {
		draws = fewDraws
	}
	for k, n := range stats.BestChances(values, func(i, j int) stats.Number { return errors[[2]int{places[i], places[j]}] }, clusters,
		draws, seed) {
		s.Places[places[k]].Best = n
	}
}

// noBest records why no place has a chance of being the best.
func (s *Leaderboard) noBest(places []int, why string) {
	for _, i := range places {
		s.Places[i].Best = stats.Undefined("%s", why)
	}
}
