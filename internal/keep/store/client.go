package store

import (
	"fmt"
	"time"

	"assay/internal/assay"
)

// Allowance is the most that a user of a gateway may spend, and that all users may spend together; nil: no limit.
type Allowance struct {
	Owner    string
	Own, All *assay.Money
}

// Bounded reports whether a budget holds.
func (a Allowance) Bounded() bool { return a.Own != nil || a.All != nil }

// AllowanceError reports a budget that does not cover something. It is an ErrBudget.
type AllowanceError struct {
	Most assay.Money // the budget
	Left assay.Money // of it; not above 0: it is spent
	Need assay.Money
}

// Error describes the budget and the amount.
func (e *AllowanceError) Error() string {
	return fmt.Sprintf("%s is needed, and %s of %s is left", e.Need, e.Left, e.Most)
}

// Unwrap is ErrBudget.
func (e *AllowanceError) Unwrap() error { return ErrBudget }

// ClientCall is a live call that a gateway is about to pass on.
type ClientCall struct {
	Owner, Provider, Model string
	High                   *assay.Money // the most it may cost; nil: unknown
}

// ClientCallEnd is how such a call ended.
type ClientCallEnd struct {
	Ending assay.Ending
	Usage  assay.Usage
	Cost   *assay.Money // nil: unknown
}

// ClientUsage is the usage of one user of a gateway.
type ClientUsage struct {
	Owner    string
	Batches  int64
	Keyless  int64 // of the open ones: those with a job for which no living gateway or worker has the key
	Requests int64 // of the batches
	Calls    int64 // live ones that were passed on
	Open     int64 // of them: those without an ending
	Input    int64 // tokens, as far as replies reported them
	Output   int64
	Unsaid   int64       // replies that did not
	Spent    assay.Money // as far as prices are known
	Unpriced int64       // requests and calls that ended without a known price
	Taken    assay.Money // spent, and what is open may still cost at most, as far as that is known
	NoMost   int64       // open batches and calls of which it is not known what they may cost at most
}

// UsageNumber is one of the numbers of a user, for a monitor.
type UsageNumber struct {
	Name, Help string
	Value      float64
}

// Numbers returns what a monitor is shown of a user.
func (u ClientUsage) Numbers() []UsageNumber {
	return []UsageNumber{
		{"batches", "Batches that a user of the gateway made.", float64(u.Batches)},
		{"batches_without_key", "Open batches with a job that waits for the key that made it.", float64(u.Keyless)},
		{"requests", "Requests of these batches.", float64(u.Requests)},
		{"calls", "Live calls of a user that the gateway passed on.", float64(u.Calls)},
		{"calls_open", "Of them, those without an ending: in flight, or cut off when a gateway stopped.", float64(u.Open)},
		{"input_tokens", "Tokens of prompts, as far as replies said how many.", float64(u.Input)},
		{"output_tokens", "Tokens of answers, as far as replies said how many.", float64(u.Output)},
		{"unsaid", "Replies that did not say how many tokens they took.", float64(u.Unsaid)},
		{"spent_dollars", "What a user has spent, as far as prices are known.", u.Spent.Float()},
		{"unpriced", "Requests and calls without a known price.", float64(u.Unpriced)},
		{"taken_dollars", "What a user has spent, and what is open may still cost at most.", u.Taken.Float()},
	}
}

// ClientUser is a user of a gateway. An empty name is all of them together.
type ClientUser struct {
	Owner  string
	Budget *assay.Money // nil: none
}

// ClientFile is a file of a gateway: one that a client sent, or results of a batch.
type ClientFile struct {
	No      int64
	ID      string // as clients name it
	Owner   string
	Name    string // of the file, as the client calls it
	Purpose string
	Run     int64 // whose results it holds; 0: a client sent it
	Bytes   int64
	Created time.Time
	Deleted bool
}
