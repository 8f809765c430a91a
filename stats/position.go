package stats

import (
	"cmp"
	"fmt"
	"slices"
)

// Vote is one decision between two items shown in an order; an empty winner is a missing one.
type Vote struct {
	First, Second, Winner string
}

// Direction is the majority of all votes on one pair in one direction.
type Direction struct {
	First, Second           string // the order in which the pair was shown most often
	Winner                  string
	Votes                   int
	FirstVotes, SecondVotes int
}

// Reversed is one pair that has a majority in both directions.
type Reversed struct {
	Key           string // both ids in alphabetical order, joined by ||
	Main, Reverse Direction
	Consistent    bool // the same item won both
}

// ReverseConsistency is how often the same item wins when the order is turned round.
type ReverseConsistency struct {
	Pairs, Consistent int
	Share             Number
	Details           []Reversed // in the order of their keys
	Tied              int        // pairs left out because a direction had no majority
}

// CompareReversed matches votes with votes on the same pairs the other way round: missing votes are dropped, each
// direction of each pair goes to its majority, a direction without majority takes its pair out, and so does a direction
// that is not there.
func CompareReversed(main, reverse []Vote) (*ReverseConsistency, error) {
	forth, err := majorities(main)
	if err != nil {
		return nil, fmt.Errorf("read votes: %w", err)
	}
	back, err := majorities(reverse)
	if err != nil {
		return nil, fmt.Errorf("read reversed votes: %w", err)
	}
	out := &ReverseConsistency{}
	for key, m := range forth {
		r, ok := back[key]
		if !ok {
			continue
		}
		if m.Winner == "" || r.Winner == "" {
			out.Tied++
			continue
		}
		same := m.Winner == r.Winner
		out.Details = append(out.Details, Reversed{Key: key.first + "||" + key.second, Main: m, Reverse: r, Consistent: same})
		out.Consistent += int(oneIf(same))
	}
	slices.SortFunc(out.Details, func(a, b Reversed) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Main.First, b.Main.First))
	})
	out.Pairs = len(out.Details)
	out.Share = ratio(float64(out.Consistent), float64(out.Pairs), "no pair was decided both ways")
	return out, nil
}

// order is two items in an order.
type order struct{ first, second string }

// majorities collapses the votes of each pair, by its alphabetical order; the winner is empty where there is no majority.
func majorities(votes []Vote) (map[order]Direction, error) {
	shown, won := make(map[order]int), make(map[order]int)
	for k, v := range votes {
		switch v.Winner {
		case "":
		case v.First:
			shown[order{v.First, v.Second}]++
			won[order{v.First, v.Second}]++
		case v.Second:
			shown[order{v.First, v.Second}]++
			won[order{v.Second, v.First}]++
		default:
			return nil, fmt.Errorf("vote %d: %q is neither %q nor %q", k, v.Winner, v.First, v.Second)
		}
		if v.First == v.Second {
			return nil, fmt.Errorf("vote %d: %q against itself", k, v.First)
		}
	}
	out := make(map[order]Direction)
	for o, n := range shown {
		turned := order{o.second, o.first}
		if m := shown[turned]; m > n || m == n && o.second < o.first {
			continue // the other order speaks for the pair
		}
		d := Direction{
			First: o.first, Second: o.second,
			Votes: n + shown[turned], FirstVotes: won[o], SecondVotes: won[turned],
		}
		switch {
		case d.FirstVotes > d.SecondVotes:
			d.Winner = d.First
		case d.SecondVotes > d.FirstVotes:
			d.Winner = d.Second
		}
		out[order{min(o.first, o.second), max(o.first, o.second)}] = d
	}
	return out, nil
}

// PositionBias is what the two directions say about a preference for a position. The tests of one direction confound the
// position with which item stood there, and the pooled one takes the two directions for independent: to estimate the
// effect of position fit [FitBT] with an order effect.
type PositionBias struct {
	Consistency      Replicates // share of consistent pairs over resamples of pairs
	MainTest         Number     // exact binomial: wins of the first position against a half
	ReverseTest      Number
	PooledTest       Number
	FirstWins        int // in both directions
	Comparisons      int
	Inconsistent     int
	FirstWonTwice    int // of the inconsistent: whoever stood first won
	SecondWonTwice   int
	InconsistentTest Number // exact binomial among the inconsistent: first against second, half and half
}

// Bias tests for a preference for a position and resamples the consistency.
func (c *ReverseConsistency) Bias(resamples int, seed uint64) (*PositionBias, error) {
	if c.Pairs == 0 {
		return nil, fmt.Errorf("test position bias: %s", c.Share.Why)
	}
	b := &PositionBias{Comparisons: 2 * c.Pairs, Inconsistent: c.Pairs - c.Consistent}
	mainWins, reverseWins := 0, 0
	for _, d := range c.Details {
		first, again := d.Main.Winner == d.Main.First, d.Reverse.Winner == d.Reverse.First
		mainWins += int(oneIf(first))
		reverseWins += int(oneIf(again))
		b.FirstWonTwice += int(oneIf(!d.Consistent && first && again))
		b.SecondWonTwice += int(oneIf(!d.Consistent && !first && !again))
	}
	b.FirstWins = mainWins + reverseWins
	b.MainTest = BinomialTest(mainWins, c.Pairs, 0.5)
	b.ReverseTest = BinomialTest(reverseWins, c.Pairs, 0.5)
	b.PooledTest = BinomialTest(b.FirstWins, b.Comparisons, 0.5)
	b.InconsistentTest = BinomialTest(b.FirstWonTwice, b.FirstWonTwice+b.SecondWonTwice, 0.5)
	var err error
	b.Consistency, err = Bootstrap(c.Pairs, resamples, seed, func(drawn []int) Number {
		same := 0
		for _, k := range drawn {
			same += int(oneIf(c.Details[k].Consistent))
		}
		return Known(float64(same) / float64(len(drawn)))
	})
	return b, err
}
