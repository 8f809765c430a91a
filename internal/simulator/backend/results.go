package backend

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

// resultFile is one of the files a job's results are in. It only grows.
type resultFile struct {
	spill.Blob
	lines int
}

// settle brings the job's result files up to what is finished by now.
func (s *Service) settle(j *Job, now time.Time) error {
	p := j.At(now)
	j.outMu.Lock()
	defer j.outMu.Unlock()
	if p.Done <= j.written && (j.closed || !p.Over()) {
		return nil
	}
	w := &settling{s: s, j: j}
	defer w.close()
	if err := w.open(); err != nil {
		return fmt.Errorf("write results of job %s: %w", j.ID, err)
	}
	err := w.run(p)
	if err = errors.Join(err, w.flush()); err != nil {
		return fmt.Errorf("write results of job %s: %w", j.ID, err)
	}
	return nil
}

// settling is one round of writing results.
type settling struct {
	s     *Service
	j     *Job
	in    *spill.LineReader
	outs  []*os.File
	ws    []*bufio.Writer
	parse fastjson.Parser
	buf   []byte
}

func (w *settling) open() (err error) {
	w.in, err = w.j.Lines.Reader()
	return err
}

func (w *settling) close() {
	if w.in != nil {
		w.in.Close()
	}
	for _, f := range w.outs {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (w *settling) run(p Progress) error {
	for ; w.j.written < p.Done; w.j.written++ {
		if err := w.settle(w.j.written, ""); err != nil {
			return err
		}
	}
	if !p.Over() || w.j.closed {
		return nil
	}
	how := RanOut
	if p.Phase == Cancelled {
		how = Stopped
	}
	if p.Phase != Failed {
		for place := p.Done; place < w.j.Lines.Len; place++ {
			if err := w.settle(place, how); err != nil {
				return err
			}
		}
	}
	w.j.closed = true
	return nil
}

// settle writes how the request at a place ended; how is given for those that never ran.
func (w *settling) settle(place int, how Ending) error {
	n := w.j.Order.At(place)
	line, err := w.in.Line(n)
	if err != nil {
		return err
	}
	e, err := w.s.finish(w.j, n, line, &w.parse, how)
	if err != nil {
		return err
	}
	w.j.consumed.Add(e.usage)
	var file int
	w.buf, file = w.j.Format.Close(w.buf[:0], w.j, e)
	if file < 0 {
		return nil // it has no line
	}
	return w.write(file, append(w.buf, '\n'))
}

// finish runs one request.
func (s *Service) finish(j *Job, n int, line []byte, p *fastjson.Parser, how Ending) (*Ended, error) {
	v, err := p.ParseBytes(line)
	if err != nil {
		return nil, fmt.Errorf("parse line %d: %w", n+1, err)
	}
	in, rej := j.Format.Open(j, v)
	if rej != nil {
		return nil, fmt.Errorf("open line %d: %w", n+1, rej)
	}
	e := &Ended{ID: in.ID, How: how, Line: line, Number: dice.Hash(j.Number, in.ID), at: j.Made}
	if how != "" {
		return e, nil
	}
	q, rej := in.Dialect.Read(s.reading(j, in, j.ranAt(n)), in.Body)
	if rej == nil && dice.Chance(e.Number) < j.troubles {
		rej = rules.Plain(http.StatusInternalServerError, 0)
	}
	if rej != nil {
		e.How, e.Rejection = Errored, rej
		return e, nil
	}
	q.Draw, q.Batch = s.batchDraw(in), true
	q.Refuse = dice.Chance(dice.Mix(e.Number)) < j.refusals
	r := s.complete(&q, func(h uint64) bool {
		first, known := j.prefixes[h]
		return j.warm[h] || known && int(first) != n
	}, j.Made)
	e.How, e.usage, e.Reply = Answered, r.Usage, in.Dialect.Write(nil, &q, r)
	return e, nil
}

// batchDraw returns where the answer to a request in a batch comes from.
func (s *Service) batchDraw(in Carried) uint64 {
	body := in.Body.MarshalTo(nil)
	return dice.Hash(dice.HashBytes(dice.Hash(s.opts.Seed, in.Model), body), keyPart(in.ID))
}

func (w *settling) write(file int, line []byte) error {
	for len(w.j.outs) <= file {
		w.j.outs = append(w.j.outs, resultFile{Blob: spill.Blob{Path: w.s.spill.Path("result")}})
	}
	for len(w.outs) <= file {
		w.outs, w.ws = append(w.outs, nil), append(w.ws, nil)
	}
	if w.outs[file] == nil {
		f, err := os.OpenFile(w.j.outs[file].Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		w.outs[file], w.ws[file] = f, bufio.NewWriterSize(f, 64<<10)
	}
	n, err := w.ws[file].Write(line)
	w.j.outs[file].Size += int64(n)
	w.j.outs[file].lines++
	return err
}

func (w *settling) flush() error {
	var err error
	for _, b := range w.ws {
		if b != nil {
			err = errors.Join(err, b.Flush())
		}
	}
	return err
}

// Results returns the lines of one of a job's files as this call gets them. An empty blob is a file that does not exist.
func (c *Call) Results(j *Job, file int) (spill.Blob, error) {
	if err := c.s.settle(j, c.Now); err != nil {
		return spill.Blob{}, err
	}
	j.outMu.Lock()
	var b spill.Blob
	if file < len(j.outs) {
		b = j.outs[file].Blob
	}
	j.outMu.Unlock()
	if b.Size == 0 {
		return spill.Blob{}, nil
	}
	return c.spoilLines(b)
}

// spoilLines applies the rules on result lines.
func (c *Call) spoilLines(b spill.Blob) (spill.Blob, error) {
	drop, twice, strange, broken := c.lineEffect("missing"), c.lineEffect("duplicate"), c.lineEffect("foreign"), c.lineEffect("malformed")
	if drop+twice+strange+broken == 0 {
		return b, nil
	}
	out, err := c.s.spill.Create("spoiled")
	if err != nil {
		return spill.Blob{}, err
	}
	var before []byte
	err = spill.EachLine(b, func(line []byte, _ int64) error {
		if strange > 0 && before != nil {
			strange--
			out.Add(strangeLine(before, line))
		}
		before = append(before[:0], line...)
		switch {
		case drop > 0:
			drop--
			return nil
		case broken > 0:
			broken--
			out.Add(line[:len(line)/2])
			return nil
		}
		out.Add(line)
		if twice > 0 {
			twice--
			out.Add(line)
		}
		return nil
	})
	for ; err == nil && strange > 0 && before != nil; strange-- {
		out.Add(strangeLine(before, before))
	}
	return out.Done(err)
}

func (c *Call) lineEffect(name string) int {
	e, _ := c.Effect(name)
	return e.Count
}

// strangeLine returns a result of another job: that of one line under an id that is almost that of another.
func strangeLine(line, other []byte) []byte {
	from, to := idIn(line)
	like, until := idIn(other)
	if from == 0 || until-like < 3 {
		return bytes.Clone(line)
	}
	id := bytes.Clone(other[like:until])
	id[2] = "ab"[min(1, bytes.Count(id[2:3], []byte("a")))]
	return slices.Concat(line[:from], id, line[to:])
}

// idIn returns where the id of a result is; 0: nowhere.
func idIn(line []byte) (from, to int) {
	for _, key := range []string{`"custom_id":"`, `"key":"`, `"batch_request_id":"`, `"recordId":"`} {
		if at := bytes.Index(line, []byte(key)); at >= 0 {
			from = at + len(key)
			return from, from + bytes.IndexByte(line[from:], '"')
		}
	}
	return 0, 0
}

// Spent returns the usage of the requests of a job that have run.
func (c *Call) Spent(j *Job) bodies.Usage {
	c.settle(j)
	j.outMu.Lock()
	defer j.outMu.Unlock()
	return j.consumed
}

// OutSize returns how many bytes one of the job's result files holds.
func (j *Job) OutSize(file int) int64 {
	j.outMu.Lock()
	defer j.outMu.Unlock()
	if file >= len(j.outs) {
		return 0
	}
	return j.outs[file].Size
}

// Charges calls f with every answer of a job that is billed by now, whether a client ever reads it or not. Its vendor is the job's.
func (s *Service) Charges(j *Job, now time.Time, f func(bodies.Charge) error) error {
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
		q, rej := in.Dialect.Read(s.reading(j, in, j.ranAt(n-1)), in.Body)
		if rej != nil {
			return rej
		}
		return f(bodies.Charge{Model: q.Model, Job: j.ID, ID: in.ID, Tier: q.Tier, When: j.ranAt(n - 1), Usage: e.usage})
	})
}
