package backend

import (
	"time"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Dialect is a shape of request and reply bodies.
type Dialect interface {
	// Read takes a body apart. A rejection comes with as much of the question as was understood.
	Read(rd bodies.Reading, body *fastjson.Value) (bodies.Request, *rules.Rejection)
	// Write appends the reply's body.
	Write(dst []byte, q *bodies.Request, r *bodies.Reply) []byte
}

// Streamer is a dialect whose replies can come as events.
type Streamer interface {
	// Stream takes a whole reply apart; asked is the body of the request.
	Stream(whole []byte, asked *fastjson.Value) []bodies.Event
}

// Framer is a dialect whose events are framed in a way of its own.
type Framer interface {
	Frame(e bodies.Event) []byte
}

// Format is how a provider's batches carry requests in and results out.
type Format interface {
	// Open takes a request line apart. A rejection of the line is a fault of the whole job.
	Open(j *Job, line *fastjson.Value) (Carried, *rules.Rejection)
	// Close appends the line of a request that ended, without a line feed, and returns into which of the job's
	// result files it goes.
	Close(dst []byte, j *Job, e *Ended) (line []byte, file int)
}

// Carried is one request as a line carries it.
type Carried struct {
	ID      string
	Body    *fastjson.Value
	Dialect Dialect
	Model   string // "": the body names it
}

// Issue is something wrong with a job as a whole. Lines count from 1; 0 is no line.
type Issue struct {
	Line int
	rules.Rejection
}

// Ended is how one request of a job ended.
type Ended struct {
	ID        string
	How       Ending
	Line      []byte // the request as it came
	Reply     []byte // JSON of the reply, when there is one
	Rejection *rules.Rejection
	Number    uint64 // random, its own
	usage     bodies.Usage
	at        time.Time
}

// Ending is how a request ended.
type Ending string

// The endings of requests.
const (
	Answered Ending = "answered"
	Errored  Ending = "errored"
	RanOut   Ending = "expired"
	Stopped  Ending = "cancelled"
)
