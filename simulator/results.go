package simulator

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/valyala/fastjson"
)

// ended is how one request of a job ended.
type ended struct {
	id    string
	how   ending
	line  []byte // the request as it came
	reply []byte // JSON of the reply, when there is one
	rej   *Rejection
	num   uint64 // random, its own
	usage usage
	at    time.Time
}

type ending string

const (
	answered ending = "answered"
	errored  ending = "errored"
	ranOut   ending = "expired"
	stopped  ending = "cancelled"
)

// resultFile is one of the files a job's results are in. It only grows.
type resultFile struct {
	blob
	lines int
}

// settle brings the job's result files up to what is finished by now.
func (s *Server) settle(j *job, now time.Time) error {
	p := j.at(now)
	j.outMu.Lock()
	defer j.outMu.Unlock()
	if p.done <= j.written && (j.closed || !p.over()) {
		return nil
	}
	w := &settling{s: s, j: j}
	defer w.close()
	if err := w.open(); err != nil {
		return fmt.Errorf("write results of job %s: %w", j.id, err)
	}
	err := w.run(p)
	if err = errors.Join(err, w.flush()); err != nil {
		return fmt.Errorf("write results of job %s: %w", j.id, err)
	}
	return nil
}

// settling is one round of writing results.
type settling struct {
	s     *Server
	j     *job
	in    *lineReader
	outs  []*os.File
	ws    []*bufio.Writer
	parse fastjson.Parser
	buf   []byte
}

func (w *settling) open() (err error) {
	w.in, err = w.j.lines.reader()
	return err
}

func (w *settling) close() {
	if w.in != nil {
		w.in.close()
	}
	for _, f := range w.outs {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (w *settling) run(p progress) error {
	for ; w.j.written < p.done; w.j.written++ {
		if err := w.tell(w.j.written, ""); err != nil {
			return err
		}
	}
	if !p.over() || w.j.closed {
		return nil
	}
	how := ranOut
	if p.phase == cancelled {
		how = stopped
	}
	if p.phase != failed {
		for place := p.done; place < w.j.lines.n; place++ {
			if err := w.tell(place, how); err != nil {
				return err
			}
		}
	}
	w.j.closed = true
	return nil
}

// tell writes how the request at a place ended; how is given for those that never ran.
func (w *settling) tell(place int, how ending) error {
	n := w.j.order.at(place)
	line, err := w.in.line(n)
	if err != nil {
		return err
	}
	e, err := w.s.finish(w.j, n, line, &w.parse, how)
	if err != nil {
		return err
	}
	w.j.consumed.add(e.usage)
	var file int
	w.buf, file = w.j.format.close(w.buf[:0], w.j, e)
	if file < 0 {
		return nil // nothing is told of it
	}
	return w.write(file, append(w.buf, '\n'))
}

// finish runs one request.
func (s *Server) finish(j *job, n int, line []byte, p *fastjson.Parser, how ending) (*ended, error) {
	v, err := p.ParseBytes(line)
	if err != nil {
		return nil, fmt.Errorf("parse line %d: %w", n+1, err)
	}
	in, rej := j.format.open(j, v)
	if rej != nil {
		return nil, fmt.Errorf("open line %d: %w", n+1, rej)
	}
	e := &ended{id: in.id, how: how, line: line, num: hashString(j.number, in.id), at: j.made}
	if how != "" {
		return e, nil
	}
	q, rej := in.dialect.read(s.reading(j, in), in.body)
	if rej == nil && chance(e.num) < j.troubles {
		rej = plain(http.StatusInternalServerError, 0)
	}
	if rej != nil {
		e.how, e.rej = errored, rej
		return e, nil
	}
	q.Draw, q.batch = s.batchDraw(in), true
	q.Refuse = chance(mix(e.num)) < j.refusals
	r := s.complete(&q, func(h uint64) bool {
		first, known := j.prefixes[h]
		return known && int(first) != n
	}, j.made)
	e.how, e.usage, e.reply = answered, r.usage, in.dialect.write(nil, &q, r)
	return e, nil
}

// batchDraw is where the answer to a request in a batch comes from.
func (s *Server) batchDraw(in carried) uint64 {
	body := in.body.MarshalTo(nil)
	return hashString(hashBytes(hashString(s.opts.Seed, in.model), body), keyPart(in.id))
}

func (w *settling) write(file int, line []byte) error {
	for len(w.j.outs) <= file {
		w.j.outs = append(w.j.outs, resultFile{blob: blob{path: w.s.spill.path("result")}})
	}
	for len(w.outs) <= file {
		w.outs, w.ws = append(w.outs, nil), append(w.ws, nil)
	}
	if w.outs[file] == nil {
		f, err := os.OpenFile(w.j.outs[file].path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		w.outs[file], w.ws[file] = f, bufio.NewWriterSize(f, 64<<10)
	}
	n, err := w.ws[file].Write(line)
	w.j.outs[file].size += int64(n)
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

// results are the lines of one of a job's files as this call gets them. An empty blob is a file that does not exist.
func (c *call) results(j *job, file int) (blob, error) {
	if err := c.s.settle(j, c.now); err != nil {
		return blob{}, err
	}
	j.outMu.Lock()
	var b blob
	if file < len(j.outs) {
		b = j.outs[file].blob
	}
	j.outMu.Unlock()
	if b.size == 0 {
		return blob{}, nil
	}
	return c.spoilLines(b)
}

// spoilLines applies the rules on result lines.
func (c *call) spoilLines(b blob) (blob, error) {
	drop, twice, strange, broken := c.lineEffect("missing"), c.lineEffect("duplicate"), c.lineEffect("foreign"), c.lineEffect("malformed")
	if drop+twice+strange+broken == 0 {
		return b, nil
	}
	out := blob{path: c.s.spill.path("spoiled")}
	f, err := os.OpenFile(out.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return blob{}, err
	}
	w := bufio.NewWriter(f)
	put := func(line []byte) {
		_, _ = w.Write(append(line, '\n')) // Flush tells of what went wrong
		out.size += int64(len(line)) + 1
	}
	err = eachLine(b, func(line []byte, _ int64) error {
		switch {
		case drop > 0:
			drop--
			return nil
		case broken > 0:
			broken--
			put(bytes.Clone(line[:len(line)/2]))
			return nil
		}
		put(bytes.Clone(line))
		if twice > 0 {
			twice--
			put(bytes.Clone(line))
		}
		if strange > 0 {
			strange--
			put(strangeLine(line, strange))
		}
		return nil
	})
	return out, errors.Join(err, w.Flush(), f.Close())
}

func (c *call) lineEffect(name string) int {
	e, _ := c.effect(name)
	return e.n
}

// strangeLine is a result that nobody asked for: a copy under another id.
func strangeLine(line []byte, n int) []byte {
	for _, key := range []string{`"custom_id":"`, `"key":"`, `"batch_request_id":"`} {
		if at := bytes.Index(line, []byte(key)); at >= 0 {
			at += len(key)
			return fmt.Appendf(bytes.Clone(line[:at]), "stranger-%d-%s", n, line[at:])
		}
	}
	return bytes.Clone(line)
}
