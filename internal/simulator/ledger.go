package simulator

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/rates"
)

// Ledger records what the simulator was asked and what it billed.
type Ledger struct {
	Jobs []LedgerJob  `json:"jobs"` // in the order they were made, deleted ones too
	Live []LedgerLive `json:"live"`
}

// LedgerJob is one batch: the requests it carried, and those of them that were answered and so billed by now.
type LedgerJob struct {
	Provider  string   `json:"provider"`
	ID        string   `json:"id"`
	State     string   `json:"state"`
	CustomIDs []string `json:"custom_ids"`
	Billed    []string `json:"billed"`
}

// LedgerLive is one live question and how often it was answered and billed. Its digest is the first half of the SHA-256
// of the body as it was sent, in hex; of a streamed call, of the same body without the wish for a stream.
type LedgerLive struct {
	Provider string `json:"provider"`
	Digest   string `json:"digest"`
	Count    int    `json:"count"`
}

// Charge is one answer that a client is billed for, whether it ever reads it or not.
type Charge struct {
	Provider string       `json:"provider"`
	Model    string       `json:"model"`
	Job      string       `json:"job,omitempty"`  // the batch that it was part of; empty: it was asked live
	ID       string       `json:"id"`             // its custom id; of a live question the digest of its body, as LedgerLive has it
	Tier     string       `json:"tier,omitempty"` // the service tier that was asked for
	At       time.Time    `json:"at"`
	Usage    bodies.Usage `json:"tokens"`
	Dollars  *float64     `json:"usd"` // nil: the simulator has no price for the model
}

// EachCharge calls f with every answer in a batch that is billed by now. Live ones are given to Options.Charged when they are asked.
func (s *Server) EachCharge(f func(Charge) error) error {
	return s.eachBatched(func(c bodies.Charge) error { return f(newCharge(c)) })
}

func (s *Server) eachBatched(f func(bodies.Charge) error) error {
	for _, j := range s.service.Jobs() {
		err := s.service.Charges(j, s.clock.Now(), func(c bodies.Charge) error {
			c.Vendor = j.Vendor.Name
			return f(c)
		})
		if err != nil {
			return fmt.Errorf("charge job %s: %w", j.ID, err)
		}
	}
	return nil
}

func newCharge(c bodies.Charge) Charge {
	out := Charge{Provider: c.Vendor, Model: c.Model, Job: c.Job, ID: c.ID, Tier: c.Tier, At: c.When, Usage: c.Usage}
	if card, ok := rates.Of(c.Vendor, c.Model); ok {
		usd := card.Bill(c.Usage, rates.Terms{Batch: c.Job != "", Tier: c.Tier}).Sum()
		out.Dollars = &usd
	}
	return out
}

// Ledger returns all that was billed by now, as GET /sim/ledger does. It holds everything in memory.
func (s *Server) Ledger() Ledger {
	var b strings.Builder
	l := Ledger{}
	if err := s.writeLedger(&b); err != nil {
		panic(fmt.Errorf("simulator: %w", err)) // its own files are gone
	}
	if err := json.Unmarshal([]byte(b.String()), &l); err != nil {
		panic(fmt.Errorf("simulator: read its own ledger: %w", err))
	}
	return l
}

// writeLedger streams the ledger as JSON.
func (s *Server) writeLedger(to io.Writer) error {
	w := bufio.NewWriter(to)
	_, _ = w.WriteString(`{"jobs":[`) // Flush returns what went wrong
	for i, j := range s.service.Jobs() {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		if err := s.writeLedgerJob(w, j); err != nil {
			return fmt.Errorf("write job %s: %w", j.ID, err)
		}
	}
	_, _ = w.WriteString(`],"live":[`)
	first := true
	err := s.service.EachLive(func(vendor string, digest [16]byte, n int) error {
		if !first {
			_ = w.WriteByte(',')
		}
		first = false
		_, err := w.Write(bodies.AppendJSON(nil, LedgerLive{Provider: vendor, Digest: hex.EncodeToString(digest[:]), Count: n}))
		return err
	})
	_, _ = w.WriteString("]}\n")
	return errors.Join(err, w.Flush())
}

func (s *Server) writeLedgerJob(w *bufio.Writer, j *backend.Job) error {
	p := j.At(s.clock.Now())
	fmt.Fprintf(w, `{"provider":%q,"id":%s,"state":%q,"custom_ids":`, j.Vendor.Name, bodies.AppendJSON(nil, j.ID), p.Phase)
	if err := writeIDs(w, j.IDs(func(int) bool { return true })); err != nil {
		return err
	}
	_, _ = w.WriteString(`,"billed":`)
	err := writeIDs(w, j.IDs(func(line int) bool { return j.Billed(line, p) }))
	_ = w.WriteByte('}')
	return err
}

func writeIDs(w *bufio.Writer, ids iter.Seq2[string, error]) error {
	_ = w.WriteByte('[')
	first := true
	for id, err := range ids {
		if err != nil {
			return err
		}
		if !first {
			_ = w.WriteByte(',')
		}
		first = false
		_, _ = w.Write(bodies.AppendJSON(nil, id))
	}
	return w.WriteByte(']')
}
