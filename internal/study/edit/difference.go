// Package edit compares two versions of a study: what was changed, whether requests depend on it, and whether it only adds to them.
package edit

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/study"
)

// Section is a top-level key of a study.
type Section string

// The sections that hold parts with names, and those that are asked for by name.
const (
	Inputs    Section = "inputs"
	Lanes     Section = "lanes"
	Rubrics   Section = "rubrics"
	Traits    Section = "traits"
	Stages    Section = "stages"
	Providers Section = "providers"
	Programs  Section = "programs"

	Budget Section = "budget"
	Prices Section = "prices"
	Mode   Section = "mode"

	// Unread is the section of a change that nothing more is known of: one of the studies cannot be read.
	Unread Section = "the study"
)

// Items is the key of an input under which its items changed.
const Items = "items"

// Change is one thing in which two studies differ. Without a name it is about a section: the names in it, or its value.
type Change struct {
	Section Section
	Name    string // of the lane, stage, rubric, … in the section
	Key     string // of the lane, stage, input or provider: "temperature"; empty: all of it

	Was, Is        string   // as written; empty: it was not there, or several values changed
	Added, Removed []string // the names that came and went, where a list of names changed
	Reordered      bool     // names that stay come in another order
	Edited         []string // of those that stay: what has changed
	Asks           bool     // requests, or what is read out of their answers, may come out otherwise
}

// Difference holds the changes from one study to another.
type Difference []Change

// Asks returns the changes after which requests may be others; the rest changes none.
func (d Difference) Asks() Difference {
	return slices.DeleteFunc(slices.Clone(d), func(c Change) bool { return !c.Asks })
}

// Touches reports whether a section changed that is one value.
func (d Difference) Touches(s Section) bool {
	return slices.ContainsFunc(d, func(c Change) bool { return c.Section == s && c.Name == "" })
}

// String returns the difference in words: lanes +1 (fast), prompt of stage answers.
func (d Difference) String() string {
	words := make([]string, len(d))
	for i, c := range d {
		words[i] = c.String()
	}
	return strings.Join(words, ", ")
}

// String returns the change in words.
func (c Change) String() string {
	text := c.what()
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

// what returns the words for what changed: "lanes", "temperature of lane fast", "order of items of input q".
func (c Change) what() string {
	text := string(c.Section)
	if c.Name != "" {
		text = strings.TrimSuffix(text, "s") + " " + c.Name
	}
	if c.Key != "" {
		text = c.Key + " of " + text
	}
	if c.Reordered {
		text = "order of " + text
	}
	return text
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

// Compare lists what was changed from one study to another. Both were read with the same options. The items of inputs are not compared.
func Compare(was, is *study.Study) Difference {
	var out Difference
	for _, list := range []struct {
		section Section
		was, is []string
		ordered bool // their order matters
	}{
		{section: Inputs, was: was.Inputs.Names(), is: is.Inputs.Names()},
		{section: Lanes, was: laneNames(was), is: laneNames(is), ordered: true},
		{section: Rubrics, was: was.Rubrics.Names(), is: is.Rubrics.Names()},
		{section: Traits, was: was.Traits.Names(), is: is.Traits.Names()},
		{section: Stages, was: stageNames(was), is: stageNames(is)},
	} {
		c := Change{Section: list.section, Asks: true}
		differ := c.compareNames(list.was, list.is)
		if !list.ordered {
			c.Reordered, differ = false, len(c.Added)+len(c.Removed) > 0
		}
		if differ {
			out = append(out, c)
		}
	}
	return append(out, compareFacts(was, is)...)
}

// compareFacts lists the values that differ. Several values of one thing are one change.
func compareFacts(was, is *study.Study) Difference {
	type subject struct {
		section   Section
		name, key string
	}
	var out Difference
	before, after := factsOf(was), factsOf(is)
	index := map[subject]int{}
	for _, f := range after.list(before) {
		a, b := before.at[f.key], after.at[f.key]
		if a.equal(b) || f.whole(was, is) {
			continue
		}
		c := f.change()
		// else it may decide what is asked
		c.Asks = f.asks() && !(c.Section == Stages && c.Key == "jury" && !conditional(was) && !conditional(is))
		at := subject{c.Section, c.Name, c.Key}
		if i, ok := index[at]; ok {
			c.Asks = c.Asks || out[i].Asks
			out[i] = c
			continue
		}
		if a.names != nil || b.names != nil {
			c.compareNames(a.names, b.names)
		} else {
			c.Was, c.Is = a.text, b.text
		}
		index[at] = len(out)
		out = append(out, c)
	}
	return out
}

// compareNames notes how a list of names changed, and reports whether it did.
func (c *Change) compareNames(was, is []string) bool {
	added, stay := apart(is, was)
	removed, stayed := apart(was, is)
	c.Added, c.Removed, c.Reordered = added, removed, !slices.Equal(stayed, stay)
	return !slices.Equal(was, is)
}

// apart returns the names that others lack, and the rest.
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

func laneNames(s *study.Study) []string {
	names := make([]string, len(s.Lanes))
	for i := range s.Lanes {
		names[i] = s.Lanes[i].Name
	}
	return names
}

func stageNames(s *study.Study) []string {
	names := make([]string, len(s.Stages))
	for i := range s.Stages {
		names[i] = s.Stages[i].Name
	}
	return names
}
