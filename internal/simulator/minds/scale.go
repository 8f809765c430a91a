package minds

import (
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

// word returns an option in lower case with one _ between its parts.
func word(option string) string {
	parts := strings.FieldsFunc(strings.ToLower(option), func(c rune) bool { return strings.ContainsRune(" _-/.", c) })
	return strings.Join(parts, "_")
}

func textsOf(options []*fastjson.Value) []string {
	out := make([]string, len(options))
	for i, o := range options {
		if o.Type() == fastjson.TypeString {
			out[i] = string(o.GetStringBytes())
		} else {
			out[i] = o.String()
		}
	}
	return out
}

// sidesOf finds which options name the first, the second and neither of two texts; -1: none does. It is nil where options are not
// about two, or name anything but sides: 1 and 2 among other numbers are scores.
func sidesOf(options []string) []int {
	sides := []int{-1, -1, -1}
	for i, o := range options {
		w := word(o)
		if abstains(w) {
			continue
		}
		at := sideNamed(w)
		if at < 0 {
			return nil
		}
		if sides[at] < 0 {
			sides[at] = i
		}
	}
	if sides[0] < 0 || sides[1] < 0 {
		return nil
	}
	return sides
}

func sideNamed(w string) int {
	for _, noun := range []string{"response_", "answer_", "model_", "text_", "sample_", "option_", "candidate_"} {
		w = strings.TrimPrefix(w, noun)
	}
	switch w {
	case "a", "first", "1":
		return 0
	case "b", "second", "2":
		return 1
	case "tie", "equal", "draw", "same", "neither", "both":
		return 2
	}
	return -1
}

// levelsOf returns the options for a model that did not give in, did softly or explicitly; nil where there are none.
func levelsOf(options []string) []int {
	levels := []int{-1, -1, -1}
	for i, o := range options {
		switch w := word(o); {
		case strings.HasPrefix(w, "soft"):
			levels[1] = i
		case strings.HasPrefix(w, "explicit"):
			levels[2] = i
		case levels[0] < 0 && !abstains(w):
			levels[0] = i
		}
	}
	if slices.Contains(levels, -1) {
		return nil
	}
	return levels
}

// stancesOf returns the option of a stance; -1 where options are about something else.
func stancesOf(options []string, stance func() string) int {
	at := map[string]int{}
	for i, o := range options {
		at[word(o)] = i
	}
	_, one := at[safe]
	_, two := at[unsafe]
	if !one || !two {
		return -1
	}
	if i, ok := at[stance()]; ok {
		return i
	}
	return at[unsafe] // a judge that must choose warns
}

func abstains(word string) bool {
	return slices.Contains([]string{"n_a", "na", "unsure", "abstain", "unclear", "unknown", "null"}, word)
}

// bestLast orders options from the worst to the best. Numbers are scores; words are listed from the best to the worst, unless their first
// is known to be bad or their last to be good. Ways to abstain are left out, if there is any other.
func bestLast(options []string) []int {
	var order []int
	for i, o := range options {
		if !abstains(word(o)) {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return []int{0}
	}
	scores := make([]float64, len(options))
	for _, i := range order {
		x, err := strconv.ParseFloat(options[i], 64)
		if err != nil {
			if first, last := options[order[0]], options[order[len(order)-1]]; !bad(first, options) && !good(last, options) {
				slices.Reverse(order)
			}
			return order
		}
		scores[i] = x
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return 0
	})
	return order
}

// bad knows a bad word: by itself, or because it negates another option.
func bad(option string, options []string) bool {
	w := word(option)
	known := []string{"wrong", "false", "no", "bad", "worst", "worse", "poor", "fail", "failed", "violation", "violates", "weak", "low",
		"never", "harmful", "disagree"}
	return slices.Contains(known, w) || slices.ContainsFunc(options, func(o string) bool { return negates(w, word(o)) })
}

func good(option string, options []string) bool {
	w := word(option)
	known := []string{"right", "true", "yes", "good", "best", "better", "excellent", "pass", "passed", "high", "strong", "always", "agree"}
	return slices.Contains(known, w) || slices.ContainsFunc(options, func(o string) bool { return negates(word(o), w) })
}

func negates(w, other string) bool {
	return slices.ContainsFunc([]string{"un", "in", "non", "non_", "not_", "dis", "mis", "ir", "im"}, func(p string) bool {
		return w == p+other
	})
}
