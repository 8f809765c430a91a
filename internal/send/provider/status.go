package provider

import (
	"io"
	"time"

	"assay/internal/assay"
)

// Status is the state of a job as the provider reports it.
type Status struct {
	Job           string
	Name          string // its display name at the provider; empty: it has none
	State         State
	Word          string // the provider's own word for its state
	Counts        Counts
	Parts         []Part        // what can be fetched now
	Problems      []LineProblem // lines the provider names as the cause of a failed job
	Fault         *assay.Fault  // why the whole job failed
	Model         string        // as the provider names it; empty: unknown
	Input         string        // the provider's id of the uploaded file it was made from; empty: unknown
	Created       time.Time
	Ended         time.Time
	Expires       time.Time     // when the provider gives up on what is not done
	CollectBefore time.Time     // when results go away; zero: unknown
	LookAfter     time.Duration // how long the provider asks us to wait before the next poll; 0: unknown
	Stamp         Stamp         // as far as the provider keeps it; zero: not one of ours, or unknown
}

// State is a provider's state in our words.
type State string

// The states. A state that the vendor file does not know is StateUnknown: reported, polled on, never taken for success.
const (
	StateUnknown   State = "unknown"
	StateQueued    State = "queued"    // accepted, validated or waiting
	StateRunning   State = "running"   // at work
	StateEnding    State = "ending"    // writing results, or cancelling
	StateEnded     State = "ended"     // did its work: the lines hold the outcome of each request
	StateFailed    State = "failed"    // the job as a whole failed; parts may still be there
	StateExpired   State = "expired"   // ran out of time; parts may still be there
	StateCancelled State = "cancelled" // was cancelled; parts may still be there
)

// Terminal reports whether the job will not change by itself any more.
func (s State) Terminal() bool {
	return s == StateEnded || s == StateFailed || s == StateExpired || s == StateCancelled
}

// Counts are the provider's own numbers of requests. Some providers show them late, or never.
type Counts struct {
	Known     bool // false: the provider reports no numbers yet, and every one is 0
	Total     int64
	Succeeded int64
	Failed    int64
	Expired   int64
	Cancelled int64
	Pending   int64
}

// Done returns how many requests have come to an end.
func (c Counts) Done() int64 { return c.Succeeded + c.Failed + c.Expired + c.Cancelled }

// LineProblem is one line that a provider names as a reason for the failure of a whole job.
type LineProblem struct {
	Line     int    // from 1; 0: unknown
	CustomID string // empty: unknown
	Fault    assay.Fault
}

// Part is one file or stream of results. It is a plain value: the caller may store it and fetch it on another machine.
type Part struct {
	Name  string   // unique within the job, fit for a file name
	Kind  PartKind // what is in it
	Ref   string   // the vendor's own address of it; nothing secret
	Size  int64    // bytes; 0: not known
	Lines int64    // lines that a whole part should have; 0: not known, or taken as it comes
}

// Whole returns the size and lines that the part announces.
func (p Part) Whole() Whole { return Whole{Size: p.Size, Lines: p.Lines} }

// PartKind distinguishes results from errors. Both hold lines of both kinds at some providers: it is for names, not for
// decisions.
type PartKind string

// The kinds of parts.
const (
	PartResults PartKind = "results"
	PartErrors  PartKind = "errors"
)

// Line is one request's result as the provider wrote it.
type Line struct {
	CustomID  string // empty: the line names none
	Outcome   assay.Outcome
	Malformed bool   // the line is broken or nameless: its id, if any, was found by searching
	Note      string // a further note on the line, for people
	Offset    int64  // where the raw line begins in the part, in bytes
	Length    int64  // of the raw line without its newline
	Sum       uint32 // checksum of the raw line, as artifacts.Sum makes it; 0: not made
}

// Sink takes a part's bytes. An artifact under construction is one; it may hold the beginning of the part from a fetch
// that was cut.
type Sink interface {
	io.Writer
	// Held returns how many bytes are there, and the validator that Begin was given for them.
	Held() (n int64, validator string)
	// Begin is called once before the first Write. Bytes held beyond the offset are dropped: 0 starts again.
	Begin(offset int64, validator string) error
}

// Fresh returns a sink that holds nothing and cannot be continued.
func Fresh(w io.Writer) Sink { return freshSink{w} }

type freshSink struct{ io.Writer }

func (freshSink) Held() (int64, string)     { return 0, "" }
func (freshSink) Begin(int64, string) error { return nil }
