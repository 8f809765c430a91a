package recount

import (
	"fmt"
	"maps"
	"slices"
)

// decide returns what a jury, or several votes and draws together, come to; nil: all verdicts stay apart.
func decide(s *stage) []row {
	r := s.rubric
	if r.Jury == "" && r.Votes == "" && r.Draws == "" {
		return nil
	}
	type unit struct {
		row
		said map[int]map[string][]row // by draw and judge
	}
	units := map[string]*unit{}
	for _, v := range s.rows {
		if v.person() == s.machines { // people sit on no jury with machines
			continue
		}
		one := v
		if r.Jury != "" {
			one.Judge = "jury"
		}
		if r.Draws != "" {
			one.Draw = (v.Draw-1)/max(1, r.Repeats) + 1
		}
		if r.Votes != "" || r.Jury != "" {
			one.Vote = 0
		}
		key := fmt.Sprintf("%q", []any{one.Judge, one.Lane, one.First, one.Second, one.Item, one.Template, one.Prompt, one.Trait,
			one.Branch, one.Turn, one.Draw, one.Vote, one.Source})
		if units[key] == nil {
			units[key] = &unit{row: one, said: map[int]map[string][]row{}}
		}
		u := units[key]
		if u.said[v.Draw] == nil {
			u.said[v.Draw] = map[string][]row{}
		}
		u.said[v.Draw][v.Judge] = append(u.said[v.Draw][v.Judge], v)
	}
	out := []row{}
	for _, key := range slices.Sorted(maps.Keys(units)) {
		u := units[key]
		var draws []row
		for _, draw := range slices.Sorted(maps.Keys(u.said)) {
			var bench []row
			for _, judge := range slices.Sorted(maps.Keys(u.said[draw])) {
				bench = append(bench, together(r.Votes, u.said[draw][judge])...)
			}
			draws = append(draws, together(r.Jury, bench)...)
		}
		for _, d := range together(r.Draws, draws) {
			one := u.row
			one.State, one.Label, one.Score = d.State, d.Label, d.Score
			out = append(out, one)
		}
	}
	return out
}

// together returns several verdicts as one.
func together(how string, all []row) []row {
	if how == "" || how == "each" || len(all) == 0 {
		return all
	}
	var valid []row
	votes, first := map[string]int{}, map[string]row{}
	for _, v := range all {
		if !v.valid() {
			continue
		}
		valid = append(valid, v)
		said := v.Label
		if said == "" && v.Score != nil {
			said = fmt.Sprint(*v.Score)
		}
		if votes[said]++; votes[said] == 1 {
			first[said] = v
		}
	}
	out := all[0]
	if len(valid) == 0 {
		out.State = nearest(all)
		out.Label, out.Score = "", nil
		return []row{out}
	}
	out.State, out.Label, out.Score = "abstained", "", nil
	switch how {
	case "majority":
		sides := true
		for said, n := range votes {
			if 2*n > len(valid) {
				out.State, out.Label, out.Score = "valid", first[said].Label, first[said].Score
				return []row{out}
			}
			sides = sides && (said == "a" || said == "b" || said == "tie")
		}
		if sides {
			out.State, out.Label, out.Score = "valid", "tie", some(0.5)
		}
	case "unanimous":
		if len(votes) == 1 && len(valid) == len(all) {
			out.State, out.Label, out.Score = "valid", valid[0].Label, valid[0].Score
		}
	default:
		out.State, out.Label, out.Score = extreme(how, valid)
	}
	return []row{out}
}

// extreme returns the mean, or the verdict with the highest (any) or the lowest (all) score.
func extreme(how string, valid []row) (state, label string, score *float64) {
	sum := 0.0
	for i, v := range valid {
		if v.Score == nil {
			return "abstained", "", nil
		}
		sum += *v.Score
		if i == 0 || how == "any" && *v.Score > *score || how == "all" && *v.Score < *score {
			label, score = v.Label, v.Score
		}
	}
	if how == "mean" {
		return "valid", "", some(sum / float64(len(valid)))
	}
	return "valid", label, score
}

// nearest returns the state of several verdicts none of which is valid: that of the one that came closest.
func nearest(all []row) string {
	for _, state := range []string{"abstained", "malformed", "failed", "missing", "excluded"} {
		if slices.ContainsFunc(all, func(r row) bool { return r.State == state }) {
			return state
		}
	}
	return "missing"
}
