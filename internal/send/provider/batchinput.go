package provider

import (
	"fmt"
	"io"
	"time"

	"assay/internal/assay"
)

// BatchInput is one segment, ready to go: the exact bytes and what the provider must know about them.
type BatchInput struct {
	Stamp Stamp
	Model string
	Wire  assay.Wire
	Count int    // requests in the body
	Body  Source // exactly what is sent: lines, or the whole document with its frame

	Note, By string // why and by whom the run was begun, for people who look at the provider's list of jobs
}

// Source is a sequence of bytes that can be read again and again.
type Source struct {
	Size   int64
	SHA256 string // lower-case hex
	// Open starts at the first byte. Where the reader is an io.Seeker, a resumed upload seeks instead of reading over.
	Open func() (io.ReadCloser, error)
}

// From opens the source at an offset.
func (s Source) From(offset int64) (io.ReadCloser, error) {
	r, err := s.Open()
	if err != nil {
		return nil, fmt.Errorf("open the body: %w", err)
	}
	if offset == 0 {
		return r, nil
	}
	if k, ok := r.(io.Seeker); ok {
		_, err = k.Seek(offset, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, r, offset)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("skip to byte %d of the body: %w", offset, err)
	}
	return r, nil
}

// Handle is a vendor's state between the calls for one segment: opaque JSON that the caller stores.
type Handle string

// Readiness is the next step after Prepare.
type Readiness string

// The answers of Prepare.
const (
	Ready Readiness = "ready" // Launch may follow
	Again Readiness = "again" // a step is done: store the handle and call Prepare again at once
	Later Readiness = "later" // the provider is working on the upload: call again after a while
)

// LaunchStatus is the known result of a launch.
type LaunchStatus string

// The results of a launch.
const (
	Accepted LaunchStatus = "accepted" // the job exists; its id is in the receipt
	Refused  LaunchStatus = "refused"  // surely no job was made, and nothing is billed
	Unknown  LaunchStatus = "unknown"  // the job may exist: ask the Finder before anything is sent again
)

// Receipt is the result of Launch.
type Receipt struct {
	Status  LaunchStatus
	Job     string    // with Accepted: the provider's id
	Created time.Time // by the provider's clock, if it gives it
	Warning string    // a provider's remark on an accepted job
	Err     error     // wraps an *assay.Fault; nil with Accepted
}

// Job is a launched segment as the calls after Launch need it. ID is always there; of a job that another ledger made,
// the caller fills in what it knows.
type Job struct {
	ID     string
	Handle Handle // as of the launch
	Stamp  Stamp
	Model  string
	Wire   assay.Wire
	Count  int // requests in it; 0: unknown
}

// Search describes a launch of unknown result to a Finder.
type Search struct {
	Stamp     Stamp
	Handle    Handle
	Lost      []Handle    // of create calls that were taken for lost: what they name may be deleted
	Nonce     assay.Nonce // of the segment's custom ids: confirms a job that has no stamp
	Model     string
	Wire      assay.Wire
	Count     int
	Cursor    string                // taken before the launch; empty: no job was there
	NotBefore time.Time             // when the launch was intended, by the caller's clock
	Taken     func(job string) bool // jobs known to belong to other segments, or to have failed; nil: none
}

// Found is a Finder's answer.
type Found struct {
	Sighting Sighting
	Jobs     []string // with Located: the newest job, and its doubles if the same segment was launched more than once
	Why      string   // with Unclear: the obstacle, for people
}

// Sighting is the result of a Finder.
type Sighting string

// The sightings.
const (
	Located Sighting = "located" // these jobs are the segment's
	Absent  Sighting = "absent"  // no such job is visible now
	Unclear Sighting = "unclear" // a job may be ours, which only time can show: ask again, send nothing
)
