package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Seen is a source that keeps which findings were asked for: a condition that does not hold reports what it found.
type Seen struct {
	Source
	all []string
}

// mostSeen is how many findings are named.
const mostSeen = 5

// Finding asks the source, and keeps the number.
func (s *Seen) Finding(stage, what, lane string) (Finding, error) {
	f, err := s.Source.Finding(stage, what, lane)
	if err == nil {
		s.add(stage, what, lane, f)
	}
	return f, err
}

// Findings asks the source, and keeps the numbers.
func (s *Seen) Findings(stage, what string) ([]Finding, error) {
	all, err := s.Source.Findings(stage, what)
	for _, f := range all {
		s.add(stage, what, f.Lane, f)
	}
	return all, err
}

func (s *Seen) add(stage, what, lane string, f Finding) {
	of := stage
	if lane != "" {
		of = lane + " in " + stage
	}
	if f.Branch != "" {
		of += ", branch " + f.Branch
	}
	if f.Turn != "" {
		of += ", turn " + f.Turn
	}
	value := "unknown"
	if !math.IsNaN(f.Value) {
		value = fmt.Sprintf("%.4g", f.Value)
		if !math.IsNaN(f.Low) && !math.IsNaN(f.High) {
			value += fmt.Sprintf(" (%.4g to %.4g)", f.Low, f.High)
		}
	}
	if f.Verdict != "" {
		value += ": " + f.Verdict
	}
	if text := fmt.Sprintf("%s of %s is %s", what, of, value); !slices.Contains(s.all, text) {
		s.all = append(s.all, text)
	}
}

// Why returns that a condition does not hold, and what it found.
func (s *Seen) Why() string { return s.found("it is not so", mostSeen) }

// Found returns that a condition holds, and all that it found.
func (s *Seen) Found() string { return s.found("it is so", len(s.all)) }

func (s *Seen) found(text string, most int) string {
	if len(s.all) > 0 {
		text += ": " + strings.Join(s.all[:min(most, len(s.all))], "; ")
	}
	if len(s.all) > most {
		text += fmt.Sprintf("; and %d more", len(s.all)-most)
	}
	return text
}
