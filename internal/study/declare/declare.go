// Package declare keeps when a study declared what would be computed: primary findings, analyses, thresholds and exclusions, each
// with its time and with the number of verdicts that were there.
package declare

import (
	"slices"
	"time"
)

// Kind is the subject of a declaration.
type Kind string

// The kinds of declarations.
const (
	Primary   Kind = "primary finding"
	Analysis  Kind = "analysis"
	Threshold Kind = "threshold"
	Exclusion Kind = "exclusion"
)

// Said is one declaration of a study, as it is written there.
type Said struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// Moment is when a study was written into the ledger, and how many verdicts were there.
type Moment struct {
	At       time.Time `json:"at"`
	Verdicts int64     `json:"verdicts"`
}

// Day returns the time of a moment for people.
func (m Moment) Day() string { return Day(m.At) }

// Day returns a time for people.
func Day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Entry is a declaration with its moment.
type Entry struct {
	Said
	Moment
	Dropped *Moment `json:"dropped,omitempty"` // nil: the study still has it
}

// Track returns the declarations after a study was written at a moment: what it declares for the first time is of this moment, and
// what it declares no more was dropped then.
func Track(was []Entry, says []Said, now Moment) []Entry {
	var out []Entry
	for _, e := range was {
		if e.Dropped == nil && !slices.Contains(says, e.Said) {
			e.Dropped = &now
		}
		out = append(out, e)
	}
	for _, s := range says {
		if !slices.ContainsFunc(out, func(e Entry) bool { return e.Said == s && e.Dropped == nil }) {
			out = append(out, Entry{Said: s, Moment: now})
		}
	}
	return out
}

// Says returns the declarations that hold.
func Says(all []Entry) []Said {
	var out []Said
	for _, e := range all {
		if e.Dropped == nil {
			out = append(out, e.Said)
		}
	}
	return out
}

// Look is an interim analysis of a stage before more items were asked: it has spent its error.
type Look struct {
	Stage  string    `json:"stage"`
	Items  int       `json:"items"`
	At     time.Time `json:"at"`
	Claims []Claim   `json:"claims,omitempty"`
}

// Claim is a difference between two lanes that a look has shown.
type Claim struct {
	Better string  `json:"better"`
	Worse  string  `json:"worse"`
	P      float64 `json:"p"`
}

// AddLook returns the looks with a further one, which replaces one at as many items of the stage.
func AddLook(all []Look, l Look) []Look {
	all = slices.DeleteFunc(slices.Clone(all), func(o Look) bool { return o.Stage == l.Stage && o.Items == l.Items })
	return append(all, l)
}

// Lock is a study as it was locked before anything was sent.
type Lock struct {
	At      time.Time `json:"at"`
	Digest  string    `json:"sha256"`  // of the study, its texts and its items
	Changed []string  `json:"changed"` // since then; none: nothing
}

// Plan tells when a study declared its analyses, as far as is known.
type Plan struct {
	Known   bool    // false: the run was begun by a program that did not note it
	Entries []Entry // as they were declared
	Lock    *Lock   // nil: it was not locked
}

// Late returns the declarations that hold and were made after verdicts were there.
func (p *Plan) Late() []Entry {
	return p.where(func(e Entry) bool { return e.Dropped == nil && e.Verdicts > 0 })
}

// Dropped returns the declarations that were made before the data, and withdrawn after verdicts were there.
func (p *Plan) Dropped() []Entry {
	return p.where(func(e Entry) bool { return e.Verdicts == 0 && e.Dropped != nil && e.Dropped.Verdicts > 0 })
}

func (p *Plan) where(keep func(Entry) bool) []Entry {
	var out []Entry
	for _, e := range p.Entries {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// Planned reports whether something was declared before the data and was not withdrawn before it either. What nothing is known of
// is taken as the study has it.
func (p *Plan) Planned(s Said, has bool) bool {
	if !p.Known {
		return has
	}
	return slices.ContainsFunc(p.Entries, func(e Entry) bool {
		return e.Said == s && e.Verdicts == 0 && (e.Dropped == nil || e.Dropped.Verdicts > 0)
	})
}
