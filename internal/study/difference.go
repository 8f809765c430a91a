package study

import (
	"fmt"
	"slices"
	"strings"
)

// Change is one thing in which two studies differ.
type Change struct {
	What           string   // in words: "lanes", "temperature of lane fast", "prompt of stage answers"
	Was, Is        string   // as written; empty: it was not there, or several things under What changed
	Added, Removed []string // the names that came and went, where What is a list of names
	Edited         []string // of those that stay: what has changed
	Asks           bool     // requests, or what is read out of their answers, may come out otherwise
}

// Difference is what was changed from one study to another.
type Difference []Change

// Asks are the changes after which requests may be others; the rest changes none.
func (d Difference) Asks() Difference {
	return slices.DeleteFunc(slices.Clone(d), func(c Change) bool { return !c.Asks })
}

// Touches reports whether something with this name changed.
func (d Difference) Touches(what string) bool {
	return slices.ContainsFunc(d, func(c Change) bool { return c.What == what })
}

// String is the difference in words: lanes +1 (fast), prompt of stage answers.
func (d Difference) String() string {
	words := make([]string, len(d))
	for i, c := range d {
		words[i] = c.String()
	}
	return strings.Join(words, ", ")
}

// String is the change in words.
func (c Change) String() string {
	text := c.What
	if len(c.Added) > 0 {
		text += fmt.Sprintf(" +%d (%s)", len(c.Added), someOf(c.Added))
	}
	if len(c.Removed) > 0 {
		text += fmt.Sprintf(" -%d (%s)", len(c.Removed), someOf(c.Removed))
	}
	if len(c.Edited) > 0 {
		text += fmt.Sprintf(", %d changed (%s)", len(c.Edited), someOf(c.Edited))
	}
	const short = 40
	if c.Was == c.Is || len(c.Was) > short || len(c.Is) > short || strings.Contains(c.Was+c.Is, "\n") {
		return text
	}
	return fmt.Sprintf("%s (%s → %s)", text, orNothing(c.Was), orNothing(c.Is))
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// someOf lists names, the first few of many.
func someOf(names []string) string {
	const most = 4
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// Compare lists what was changed from one study to another. Both were read with the same options. What the items of inputs
// are is not compared: only the items themselves show it.
func Compare(was, is *Study) Difference {
	var out Difference
	for _, list := range []struct {
		what    string
		was, is []string
		ordered bool // their order says something
	}{
		{what: "inputs", was: was.Inputs.Names(), is: is.Inputs.Names()},
		{what: "lanes", was: laneNames(was), is: laneNames(is), ordered: true},
		{what: "rubrics", was: was.Rubrics.Names(), is: is.Rubrics.Names()},
		{what: "traits", was: was.Traits.Names(), is: is.Traits.Names()},
		{what: "stages", was: stageNames(was), is: stageNames(is)},
	} {
		c, differ := namesChange(list.what, list.was, list.is)
		if !list.ordered {
			c.What, differ = list.what, len(c.Added)+len(c.Removed) > 0
		}
		if c.Asks = true; differ {
			out = append(out, c)
		}
	}
	before, after := factsOf(was), factsOf(is)
	index := map[string]int{}
	for _, f := range after.list(before) {
		a, b := before.at[f.key], after.at[f.key]
		if a.equal(b) || f.whole(was, is) {
			continue
		}
		what := f.subject()
		c := Change{What: what, Was: a.text, Is: b.text, Asks: f.asks()}
		if a.names != nil || b.names != nil {
			c, _ = namesChange(what, a.names, b.names)
			c.Asks = f.asks()
		}
		if i, ok := index[what]; ok {
			out[i] = Change{What: what, Asks: out[i].Asks || c.Asks}
			continue
		}
		index[what] = len(out)
		out = append(out, c)
	}
	return out
}

// namesChange is how a list of names changed; false: not at all.
func namesChange(what string, was, is []string) (Change, bool) {
	c := Change{What: what}
	added, stay := apart(is, was)
	removed, stayed := apart(was, is)
	if c.Added, c.Removed = added, removed; !slices.Equal(stayed, stay) {
		c.What = "order of " + what
	}
	return c, !slices.Equal(was, is)
}

// apart are the names that others lack, and the rest.
func apart(names, others []string) (lacked, rest []string) {
	there := make(map[string]bool, len(others))
	for _, n := range others {
		there[n] = true
	}
	for _, n := range names {
		if there[n] {
			rest = append(rest, n)
		} else {
			lacked = append(lacked, n)
		}
	}
	return lacked, rest
}

func laneNames(s *Study) []string {
	names := make([]string, len(s.Lanes))
	for i := range s.Lanes {
		names[i] = s.Lanes[i].Name
	}
	return names
}

func stageNames(s *Study) []string {
	names := make([]string, len(s.Stages))
	for i := range s.Stages {
		names[i] = s.Stages[i].Name
	}
	return names
}
