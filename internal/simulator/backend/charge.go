package backend

import (
	"fmt"
	"time"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

// Charge is one answer that a client is billed for, whether it ever reads it or not.
type Charge struct {
	Provider, Model string
	Job             string // the batch that it was part of; empty: it was asked live
	ID              string // its custom id; of a live question the digest of its body, as Ledger has it
	Usage           bodies.Usage
}

// EachCharge calls f with what each job has been billed for by now, in the order of jobs and lines.
func (s *Service) EachCharge(now time.Time, f func(Charge)) error {
	for _, j := range s.Jobs() {
		if err := s.charges(j, now, f); err != nil {
			return fmt.Errorf("charge job %s: %w", j.ID, err)
		}
	}
	return nil
}

func (s *Service) charges(j *Job, now time.Time, f func(Charge)) error {
	if j.Lines.Data.Path == "" { // its file was not there
		return nil
	}
	p, n := j.At(now), 0
	var parse, again fastjson.Parser
	return spill.EachLine(j.Lines.Data, func(line []byte, _ int64) error {
		n++
		if !j.Billed(n-1, p) {
			return nil
		}
		e, err := s.finish(j, n-1, line, &parse, "")
		if err != nil || e.How != Answered {
			return err
		}
		v, err := again.ParseBytes(line)
		if err != nil {
			return err
		}
		in, rej := j.Format.Open(j, v)
		if rej != nil {
			return rej
		}
		q, rej := in.Dialect.Read(s.reading(j, in), in.Body)
		if rej != nil {
			return rej
		}
		f(Charge{Provider: j.Vendor.Name, Model: q.Model, Job: j.ID, ID: in.ID, Usage: e.usage})
		return nil
	})
}
