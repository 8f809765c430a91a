package rounds

import (
	"encoding/json"
	"fmt"
	"slices"

	"assay/internal/keep/store"
	"assay/internal/study/adaptive"
)

// lookFound has the results of a look, as they are kept.
type lookFound struct {
	Valid     int         `json:"valid"`           // verdicts
	Again     int         `json:"again,omitempty"` // verdicts that are not valid, and might be if they were asked for again
	Strengths []strength  `json:"strengths,omitempty"`
	Claims    []Claim     `json:"claims,omitempty"`   // new ones
	Given     [][2]string `json:"given_up,omitempty"` // all pairs that are given up by now
	Narrow    bool        `json:"narrow,omitempty"`   // all strengths are as certain as the goal wants
	Settle    *Settle     `json:"settle,omitempty"`   // the next round was bought to settle these two
	Beyond    bool        `json:"beyond,omitempty"`   // a look beyond the plan
}

type strength struct {
	Name     string  `json:"name"`
	Strength float64 `json:"strength"`
	SE       float64 `json:"se"`
}

// Claim is a difference that a look has shown.
type Claim struct {
	Better string  `json:"better"`
	Worse  string  `json:"worse"`
	P      float64 `json:"p"`
	Level  float64 `json:"level"` // that P stays below
	Open   int     `json:"open"`  // pairs that were not known then
}

// ClaimsOf returns the differences that a look has newly shown, and whether it was one beyond the plan.
func ClaimsOf(l store.Look) (claims []Claim, beyond bool, err error) {
	f, err := foundBy(l)
	if err != nil {
		return nil, false, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, err)
	}
	return f.Claims, f.Beyond, nil
}

func foundBy(l store.Look) (lookFound, error) {
	var f lookFound
	return f, json.Unmarshal([]byte(l.Found), &f)
}

// last returns what the last of some looks found; a zero value where there was none.
func last(looks []store.Look) (lookFound, error) {
	if len(looks) == 0 {
		return lookFound{}, nil
	}
	return foundBy(looks[len(looks)-1])
}

func (f *lookFound) text() (string, error) {
	text, err := json.Marshal(f)
	return string(text), err
}

// claim adds what a look claims.
func (f *lookFound) claim(names []string, claims []adaptive.Claim) {
	for _, c := range claims {
		f.Claims = append(f.Claims, Claim{Better: names[c.Better], Worse: names[c.Worse], P: c.P, Level: c.Level, Open: c.Open})
	}
}

// measure adds the strengths that a look has estimated.
func (f *lookFound) measure(names []string, look *adaptive.Look) {
	for i, name := range names {
		f.Strengths = append(f.Strengths, strength{Name: name, Strength: look.Theta[i], SE: look.SE[i]})
	}
}

// numbered returns the claims, and the pairs that are given up, by the numbers of the contestants.
func (f *lookFound) numbered(names []string) (claims []adaptive.Claim, given []int, err error) {
	for _, c := range f.Claims {
		better, err := number(names, c.Better)
		if err != nil {
			return nil, nil, err
		}
		worse, err := number(names, c.Worse)
		if err != nil {
			return nil, nil, err
		}
		claims = append(claims, adaptive.Claim{Better: better, Worse: worse, P: c.P, Level: c.Level, Open: c.Open})
	}
	for _, p := range f.Given {
		k, err := pair(names, p[0], p[1])
		if err != nil {
			return nil, nil, err
		}
		given = append(given, k)
	}
	return claims, given, nil
}

// meeting is how often two contestants meet in the next round, as it is kept.
type meeting struct {
	First  string `json:"first"`
	Second string `json:"second"`
	N      int    `json:"n"`
}

func nextText(names []string, next []int) (string, error) {
	var out []meeting
	for k, p := range adaptive.Pairs(len(names)) {
		if next[k] > 0 {
			out = append(out, meeting{First: names[p[0]], Second: names[p[1]], N: next[k]})
		}
	}
	text, err := json.Marshal(out)
	return string(text), err
}

// nextOf returns what a look has bought for the next round, by pair.
func nextOf(l store.Look, names []string) ([]int, error) {
	out := make([]int, len(names)*(len(names)-1)/2)
	if l.Next == "" {
		return out, nil
	}
	var next []meeting
	if err := json.Unmarshal([]byte(l.Next), &next); err != nil {
		return nil, err
	}
	for _, n := range next {
		k, err := pair(names, n.First, n.Second)
		if err != nil {
			return nil, err
		}
		out[k] += n.N
	}
	return out, nil
}

func number(names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("no contestant is called %q", name)
}

// pair returns the number of a pair.
func pair(names []string, first, second string) (int, error) {
	i, err := number(names, first)
	if err != nil {
		return 0, err
	}
	j, err := number(names, second)
	if err != nil || i == j {
		return 0, fmt.Errorf("no pair is called %q and %q", first, second)
	}
	i, j = min(i, j), max(i, j)
	return i*(2*len(names)-i-1)/2 + j - i - 1, nil
}
