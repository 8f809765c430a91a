package results

import "fmt"

// Mistake is a question that cannot be answered as it was put: the fault is the caller's, not the run's.
type Mistake struct {
	What string
	Hint string // what would work; empty: none is known
}

// Error returns what is wrong and, in brackets, the hint.
func (m *Mistake) Error() string {
	if m.Hint == "" {
		return m.What
	}
	return m.What + " (" + m.Hint + ")"
}

// NewMistake returns a mistake with a hint and what is wrong, as Sprintf writes it.
func NewMistake(hint, format string, args ...any) error {
	return &Mistake{What: fmt.Sprintf(format, args...), Hint: hint}
}
