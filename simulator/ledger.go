package simulator

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/valyala/fastjson"
)

// Ledger is what the simulator was asked and what it billed.
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
// of the body as it was sent, in hex.
type LedgerLive struct {
	Provider string `json:"provider"`
	Digest   string `json:"digest"`
	Count    int    `json:"count"`
}

// Ledger tells all that was billed by now, as GET /sim/ledger does. It holds everything in memory.
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
	s.mu.Lock()
	jobs := slices.Clone(s.jobs)
	s.mu.Unlock()
	_, _ = w.WriteString(`{"jobs":[`) // Flush tells of what went wrong
	for i, j := range jobs {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		if err := s.writeLedgerJob(w, j); err != nil {
			return fmt.Errorf("tell job %s: %w", j.id, err)
		}
	}
	_, _ = w.WriteString(`],"live":[`)
	first := true
	names := vendors()
	err := s.live.each(func(a asked, n uint32) error {
		if !first {
			_ = w.WriteByte(',')
		}
		first = false
		_, err := w.Write(appendJSON(nil, LedgerLive{Provider: names[a.vendor-1].name, Digest: hex.EncodeToString(a.digest[:]), Count: int(n)}))
		return err
	})
	_, _ = w.WriteString("]}\n")
	return errors.Join(err, w.Flush())
}

func (s *Server) writeLedgerJob(w *bufio.Writer, j *job) error {
	p := j.at(s.clock.Now())
	fmt.Fprintf(w, `{"provider":%q,"id":%s,"state":%q,"custom_ids":`, j.vendor.name, appendJSON(nil, j.id), p.phase)
	if err := writeIDs(w, j.ids(func(int) bool { return true })); err != nil {
		return err
	}
	_, _ = w.WriteString(`,"billed":`)
	err := writeIDs(w, j.ids(func(line int) bool {
		place := j.order.place(line)
		return place < p.done && !j.isBad(place) && !j.unbilled(p)
	}))
	_ = w.WriteByte('}')
	return err
}

// unbilled tells of jobs whose work the provider does not charge: Gemini hands out nothing of an expired job.
func (j *job) unbilled(p progress) bool { return j.vendor.name == "gemini" && p.phase == expired }

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
		_, _ = w.Write(appendJSON(nil, id))
	}
	return w.WriteByte(']')
}

// ids are the custom ids of the lines that are wanted, in the order of the lines.
func (j *job) ids(wanted func(line int) bool) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var p fastjson.Parser
		n, stop := 0, errors.New("enough")
		err := eachLine(j.lines.data, func(line []byte, _ int64) error {
			n++
			if !wanted(n - 1) {
				return nil
			}
			v, err := p.ParseBytes(line)
			if err != nil {
				return nil // such a job failed as a whole: the line was never a request
			}
			if in, rej := j.format.open(j, v); rej == nil && !yield(in.id, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield("", err)
		}
	}
}
