package provider

import (
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/send/dialect"
)

// DecodeLines reads result lines of a wire. A line beyond dialect.MaxLine stays in the part, and its outcome notes it.
// Lines come in their order, though several are decoded at the same time: reading goes a few blocks ahead, and waits
// for a line that is a block of its own.
func DecodeLines(w assay.Wire, r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		d := &decoding{wire: w, todo: make(chan *block, blocksAhead), ordered: make(chan *block, blocksAhead), stop: make(chan struct{}),
			spare: make(chan *block, 2*blocksAhead)}
		var wg sync.WaitGroup
		defer wg.Wait()
		defer close(d.stop)
		wg.Go(func() { d.read(r) })
		for range min(runtime.GOMAXPROCS(0), 4) {
			wg.Go(d.work)
		}
		for b := range d.ordered {
			<-b.done
			for i := range b.lines {
				if !yield(b.lines[i], nil) {
					return
				}
			}
			if b.err != nil {
				yield(Line{}, fmt.Errorf("decode results: %w", b.err))
				return
			}
			b.taken <- struct{}{}
			select {
			case d.spare <- b:
			default:
			}
		}
	}
}

const (
	blockBytes  = 256 << 10
	blocksAhead = 4
)

// decoding is one walk over result lines: one goroutine cuts, some decode, and the walker takes the blocks in order.
type decoding struct {
	wire    assay.Wire
	todo    chan *block
	ordered chan *block
	stop    chan struct{} // closed when no more is wanted
	spare   chan *block   // handed on, to be filled again
}

// block is a run of lines.
type block struct {
	bytes []byte // of all its lines
	raw   []dialect.RawLine
	lines []Line
	err   error         // after the lines
	done  chan struct{} // decoded
	taken chan struct{} // handed on
}

// block returns an empty block: one that was handed on before, or a new one. Blocks that grew large are not kept.
func (d *decoding) block() *block {
	select {
	case b := <-d.spare:
		if cap(b.bytes) <= 2*blockBytes {
			b.bytes, b.raw, b.lines = b.bytes[:0], b.raw[:0], b.lines[:0]
			<-b.taken
			return b
		}
	default:
	}
	return &block{bytes: make([]byte, 0, blockBytes+blockBytes/4), done: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
}

func (d *decoding) read(r io.Reader) {
	defer close(d.ordered)
	defer close(d.todo)
	b := d.block()
	for raw, err := range dialect.Lines(r, 0) {
		if err != nil {
			b.err = err
			break
		}
		b.add(raw)
		if len(b.bytes) < blockBytes {
			continue
		}
		large := len(b.bytes) > 4*blockBytes
		if !d.send(b) {
			return
		}
		if large && !d.wait(b) {
			return
		}
		b = d.block()
	}
	d.send(b)
}

// add keeps a line; its bytes are good only until the next one is read.
func (b *block) add(raw dialect.RawLine) {
	text := raw.Bytes
	if raw.TooLong {
		text = raw.Head
	}
	from := len(b.bytes)
	b.bytes = append(b.bytes, text...)
	raw.Bytes, raw.Head = nil, nil
	raw.Head = b.bytes[from:len(b.bytes):len(b.bytes)] // a later add may move the buffer; these bytes stay where they are
	b.raw = append(b.raw, raw)
}

func (d *decoding) send(b *block) bool {
	select {
	case d.ordered <- b:
	case <-d.stop:
		return false
	}
	select {
	case d.todo <- b:
		return true
	case <-d.stop:
		return false
	}
}

func (d *decoding) wait(b *block) bool {
	select {
	case <-b.taken:
		b.taken <- struct{}{}
		return true
	case <-d.stop:
		return false
	}
}

func (d *decoding) work() {
	var dec dialect.Decoder
	for b := range d.todo {
		for _, raw := range b.raw {
			b.lines = append(b.lines, decodeLine(&dec, d.wire, raw))
		}
		b.done <- struct{}{}
	}
}

func decodeLine(d *dialect.Decoder, w assay.Wire, raw dialect.RawLine) Line {
	line := Line{Offset: raw.Offset, Length: raw.Length, Sum: artifacts.Sum(raw.Head)}
	res := d.Line(w, raw.Head)
	line.CustomID, line.Outcome, line.Malformed, line.Note = res.ID, res.Outcome, res.Malformed, res.Note
	if raw.TooLong {
		line.Malformed, line.Note, line.Sum = true, "", 0 // only its beginning is known
		line.Outcome = assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{
			Class: assay.FaultLarge, Code: "line_too_large", Message: fmt.Sprintf("the line has %d bytes", raw.Length),
		}}
	}
	return line
}
