package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Effect is the effect of a rule on one call.
type Effect struct {
	Name     string
	Status   int           // of a plain error
	Duration time.Duration // waits and ages; 0: without end, where that makes sense
	Count    int           // lines, shards
	Share    float64       // of lines, of bytes
	Word     string        // states, codes, addresses
	Roll     uint64        // the luck of this very strike
	action   *action
}

func (e Effect) fits(k Kind) bool {
	return e.action == nil || len(e.action.kinds) == 0 || slices.Contains(e.action.kinds, k)
}

// action is one thing a rule can do: on which kinds of calls, with what value.
type action struct {
	name  string
	kinds []Kind // none: any
	value string // what a value is: "", "duration", "count", "share" or "word"
	std   string // the value when none is given
}

func actions() []action {
	results := []Kind{Fetch, Check}
	made := []Kind{Create, Add}
	return []action{
		{name: "quota"}, {name: "revoke"}, {name: "drop"}, {name: "drop-reply"}, {name: "error-200"},
		{name: "slow", value: "duration", std: "1s"},
		{name: "stall", value: "duration", std: "0s"},
		{name: "truncate", value: "share", std: "50%"},
		{name: "redirect", value: "word", std: "https://elsewhere.invalid"},
		{name: "missing", kinds: results, value: "count", std: "1"},
		{name: "duplicate", kinds: results, value: "count", std: "1"},
		{name: "foreign", kinds: results, value: "count", std: "1"},
		{name: "malformed", kinds: results, value: "count", std: "1"},
		{name: "freeze", kinds: []Kind{Check}},
		{name: "wrong-counts", kinds: []Kind{Check}},
		{name: "no-output", kinds: []Kind{Check}},
		{name: "blank-ids", kinds: []Kind{Check}},
		{name: "state", kinds: []Kind{Check}, value: "word", std: "puzzled"},
		{name: "hide", kinds: []Kind{Check, List, Fetch}, value: "duration", std: "10s"},
		{name: "expire", kinds: made, value: "share", std: "50%"},
		{name: "fail-lines", kinds: made, value: "share", std: "10%"},
		{name: "stuck", kinds: made, value: "duration", std: "0s"},
		{name: "fail", kinds: made, value: "word", std: "invalid_request"},
		{name: "refuse", kinds: []Kind{Create, Add, Ask}, value: "share", std: "10%"},
		{name: "in-order", kinds: made},
		{name: "shards", kinds: made, value: "count", std: "3"},
		{name: "slow-cancel", kinds: []Kind{Cancel}, value: "duration", std: "10m"},
	}
}

func parseEffect(word string, kind Kind) (Effect, error) {
	name, value, given := strings.Cut(word, "=")
	if status, err := strconv.Atoi(name); err == nil {
		return parseStatus(status, value)
	}
	all := actions()
	at := slices.IndexFunc(all, func(a action) bool { return a.name == name })
	if at < 0 {
		names := []string{"429", "500", "529"}
		for _, a := range all {
			names = append(names, a.name)
		}
		return Effect{}, fmt.Errorf("unknown action %q (%s)", name, hint(name, names))
	}
	a := all[at]
	e := Effect{Name: name, action: &a}
	if kind != "*" && !e.fits(kind) {
		return Effect{}, fmt.Errorf("%s does not fit %s (it fits %s)", name, kind, joinKinds(a.kinds))
	}
	if !given {
		value = a.std
	} else if a.value == "" {
		return Effect{}, fmt.Errorf("%s takes no value", name)
	}
	return e, e.setValue(value)
}

// parseStatus reads "429=30s" and its like.
func parseStatus(status int, value string) (Effect, error) {
	if status < 400 || status > 599 {
		return Effect{}, fmt.Errorf("status %d is no error (want 400 to 599)", status)
	}
	e := Effect{Name: "status", Status: status}
	switch {
	case value == "bare":
	case value != "":
		d, err := time.ParseDuration(value)
		if err != nil {
			return Effect{}, fmt.Errorf("retry-after %q: want a duration such as 30s, or bare", value)
		}
		e.Duration = d
	case status == 429:
		e.Duration = time.Second
	}
	return e, nil
}

func (e *Effect) setValue(v string) (err error) {
	switch e.action.value {
	case "duration":
		if e.Duration, err = time.ParseDuration(v); err != nil {
			return fmt.Errorf("%s=%s: want a duration such as 30s", e.Name, v)
		}
	case "count":
		if e.Count, err = strconv.Atoi(v); err != nil || e.Count < 1 {
			return fmt.Errorf("%s=%s: want a number of at least 1", e.Name, v)
		}
	case "share":
		e.Share, err = parseShare(v)
	case "word":
		e.Word = v
	}
	return err
}

func parseShare(v string) (float64, error) {
	p, err := strconv.ParseFloat(strings.TrimSuffix(v, "%"), 64)
	if err != nil || p < 0 || p > 100 || !strings.HasSuffix(v, "%") {
		return 0, fmt.Errorf("share %q: want a percentage such as 20%%", v)
	}
	return p / 100, nil
}

func joinKinds(ks []Kind) string {
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// hint names the word that was probably meant, or all of them.
func hint(got string, names []string) string {
	best, dist := "", 3
	for _, n := range names {
		if d := distance(got, n); d < dist {
			best, dist = n, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "one of " + strings.Join(names, ", ")
}

// distance counts the letters that must be put in, taken out or changed to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diag
			if a[i] != b[j] {
				change++
			}
			diag = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
