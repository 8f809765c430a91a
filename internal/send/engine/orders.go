package engine

import (
	"assay/internal/assay"
	"assay/internal/keep/store"
)

// Resolve is a person's decision about a held segment: the arguments of store.OrderResolve.
type Resolve struct {
	Do  Do     `json:"do"`
	Job string `json:"job,omitempty"` // with adopt

	// with adopt: the key that knows the job, by its fingerprint; empty: that of the process which carries it out
	Account string `json:"account,omitempty"`
}

// Do is the decision about a held segment.
type Do string

// What a person may decide.
const (
	DoResend Do = "resend"
	DoAdopt  Do = "adopt" // a job that is known at the provider
	DoDrop   Do = "drop"
)

// Retry selects what to send again: the arguments of store.OrderRetry.
type Retry struct {
	Only []assay.Ending    `json:"only"`           // empty: everything that may be sent again
	Mode store.SegmentMode `json:"mode,omitempty"` // empty: as their lanes travel

	Verdicts []string `json:"verdicts,omitempty"` // of judges that are asked once more, and nothing else: malformed, refused
}

// Endings returns the endings of requests that are sent again: those that are named, else all that may end otherwise.
func (r Retry) Endings() []assay.Ending {
	if len(r.Only) > 0 {
		return r.Only
	}
	return []assay.Ending{assay.Errored, assay.Expired, assay.Cancelled, assay.Lost}
}

// Redo selects what to ask again, as one more draw: the arguments of store.OrderRedo.
type Redo struct {
	Stage  string `json:"stage"`
	Lane   string `json:"lane"`
	Item   string `json:"item"`
	Branch string `json:"branch,omitempty"` // empty: all
	Draw   int    `json:"draw,omitempty"`   // 0: all
}

// Of returns the redo as the ledger keeps it.
func (r Redo) Of(run int64) store.Redo {
	return store.Redo{Run: run, Stage: r.Stage, Lane: r.Lane, Item: r.Item, Branch: r.Branch, Draw: r.Draw}
}
