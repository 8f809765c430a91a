package engine

import (
	"assay/internal/assay"
	"assay/internal/keep/store"
)

// cancelled is what is said of what a person cancelled.
const cancelled = "cancelled"

// held is a lane that a person has to look at.
func held(why string) store.LaneStop { return store.LaneStop{State: store.LaneHeld, Reason: why} }

// stoppedBy is a lane that is stopped because of a fault that every further request would meet.
func stoppedBy(f *assay.Fault) store.LaneStop {
	to := store.LaneStop{State: store.LaneStopped, Reason: f.Error()}
	if f.Class == assay.FaultDenied || f.Class == assay.FaultQuota {
		to.Cause = store.CauseAccount
	}
	return to
}

// CancelledByUser reports whether a person cancelled a lane.
func CancelledByUser(l store.Lane) bool { return l.Cause == store.CauseUser }

// StoppedByAccount reports whether a lane was stopped because its key was refused or its account is empty.
func StoppedByAccount(l store.Lane) bool { return l.Cause == store.CauseAccount }

// gaveNothing reports whether a lane was stopped because no answer of it is good: its jobs would bring more of the same, and are
// paid for.
func gaveNothing(l store.Lane) bool { return l.Cause == store.CauseNothingGood }
