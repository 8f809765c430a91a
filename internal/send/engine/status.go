package engine

import "assay/internal/keep/store"

// RunStatus is the state of a run after Extend.
type RunStatus struct {
	Closed  bool
	Result  store.Result
	Made    int // segments made now
	Moving  int // segments that move by themselves
	Held    int // segments that wait for a person
	Asleep  int // segments that wait for a lane, a canary or money
	Budget  bool
	Verify  []string // lanes whose canary waits for a yes
	Paused  []string // lanes that a person paused, and that have more to ask
	Waiting bool     // requests wait for others to join them, or to be sent again
}

// CancelledByUser reports whether a person cancelled a lane.
func CancelledByUser(l store.Lane) bool { return l.Cause == store.CauseUser }

// StoppedByAccount reports whether a lane was stopped because its key was refused or its account is empty.
func StoppedByAccount(l store.Lane) bool { return l.Cause == store.CauseAccount }

// OverBudget reports whether a segment waits because the budget does not cover it.
func OverBudget(g store.Segment) bool { return g.Reason == store.AwaitsMoney && g.Due.IsZero() }
