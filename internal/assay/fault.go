package assay

import (
	"fmt"
	"strings"
	"time"
)

// FaultClass is the class of a fault; the engine decides by it.
type FaultClass string

// The classes of faults.
const (
	FaultBusy    FaultClass = "busy"    // come back later: 408, 409, 429, 5xx, 529
	FaultQuota   FaultClass = "quota"   // out of money or over a hard quota: waiting a minute does not help
	FaultDenied  FaultClass = "denied"  // the key is wrong or may not do this
	FaultInvalid FaultClass = "invalid" // the request itself is wrong: sending it again cannot help
	FaultLarge   FaultClass = "large"   // too large for the provider
	FaultGone    FaultClass = "gone"    // what was asked for is not there (any more)
	FaultUnknown FaultClass = "unknown" // none of the above could be determined
)

// Fault is a classified provider error. It never carries a key, a header or a URL's query.
type Fault struct {
	Class      FaultClass
	Status     int    // HTTP status; 0 if there was none
	Code       string // the provider's own code or type
	Message    string // the provider's own words, capped, control characters escaped
	Param      string // the parameter the provider names, if it does
	RetryAfter time.Duration
	RequestID  string
	Limit      int64 // tokens that may wait in jobs at a time; -1: the provider gives no number; 0: the fault is about something else
}

// Error returns class, status, code and the provider's words.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(string(f.Class))
	if f.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", f.Status)
	}
	if f.Code != "" {
		b.WriteString(" " + f.Code)
	}
	if f.Message != "" {
		b.WriteString(": " + f.Message)
	}
	if f.RequestID != "" {
		b.WriteString(" [request " + f.RequestID + "]")
	}
	return b.String()
}
