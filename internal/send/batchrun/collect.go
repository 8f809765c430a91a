package batchrun

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/dialect"
)

// Format is the form that results are written in.
type Format string

// The formats there are.
const (
	FormatProvider Format = "provider" // the provider's own result lines
	FormatJSONL    Format = "jsonl"    // a flat object for every line of the file
	FormatCSV      Format = "csv"      // the same as a table
)

// Output is where results are written to. FormatProvider and FormatClient write errors apart.
type Output struct {
	Format  Format
	Results io.Writer
	Errors  io.Writer
	Unsent  End // with FormatClient: why requests were never sent, or stopped
}

// End is why a request has no reply, as a code and in words.
type End struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Tally counts the lines of a file by what became of them.
type Tally struct {
	Answers  int64
	Failures int64 // ended without an answer
	Open     int64 // not back yet
}

// Collect writes the current result of every line of a run's file, in the order of the file and under its ids.
func (r *Reader) Collect(ctx context.Context, run store.Run, out Output) (Tally, error) {
	b, err := of(run)
	if err != nil {
		return Tally{}, err
	}
	c := &collector{Reader: r, run: run, batch: b, format: out.Format, unsent: out.Unsent, results: bufio.NewWriterSize(out.Results, 1<<20),
		errors: bufio.NewWriterSize(out.Errors, 1<<16), named: map[int64]map[int64]store.Artifact{}, files: map[int64]artifacts.File{}}
	defer c.close()
	if c.format == FormatCSV {
		c.table = assay.NewCSV(c.results)
		if err := c.table.Write([]string{"custom_id", "line", "model", "status", "text", "finish", "input_tokens", "output_tokens",
			"cost_usd", "error"}); err != nil {
			return c.tally, err
		}
	}
	if c.format == FormatClient {
		if err := c.refuseAll(ctx); err != nil {
			return c.tally, err
		}
	}
	for a, err := range Answers(ctx, r.Ledger, run.No) {
		if err != nil {
			return c.tally, err
		}
		if err := c.add(ctx, a); err != nil {
			return c.tally, err
		}
	}
	return c.tally, c.finish(ctx)
}

// collector writes the answers of a run, one line of its file after the other.
type collector struct {
	*Reader
	run     store.Run
	batch   *Batch
	format  Format
	unsent  End
	results *bufio.Writer
	errors  *bufio.Writer
	table   *assay.CSV
	tally   Tally

	block []held // lines that wait for the bytes of their answers
	bytes int64  // of the block

	named map[int64]map[int64]store.Artifact // files of a segment, by number
	files map[int64]artifacts.File
	buf   []byte
	dec   dialect.Decoder
}

// held is a line with the bytes that its answer was read from.
type held struct {
	Answered
	raw  []byte // nil: none are wanted, or there are none
	file store.Artifact
}

const (
	maxHeld      = 10_000
	maxHeldBytes = 16 << 20
)

const (
	maxOpen  = 4  // files that are held open to read answers from; a packed one takes megabytes
	maxNamed = 64 // segments whose files are known
)

func (c *collector) close() {
	for _, f := range c.files {
		f.Close()
	}
}

func (c *collector) finish(ctx context.Context) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	if c.table != nil {
		c.table.Flush()
		if err := c.table.Error(); err != nil {
			return err
		}
	}
	if err := c.results.Flush(); err != nil {
		return err
	}
	return c.errors.Flush()
}

// add takes one line of the file. A block of them is read at once: providers answer in any order, and files of answers are
// read from front to back.
func (c *collector) add(ctx context.Context, a Answered) error {
	c.block = append(c.block, held{Answered: a})
	c.bytes += a.Length + int64(len(a.Outcome.Text)+len(a.Outcome.Thoughts))
	if len(c.block) < maxHeld && c.bytes < maxHeldBytes {
		return nil
	}
	return c.flush(ctx)
}

func (c *collector) flush(ctx context.Context) error {
	order := make([]int, len(c.block))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(c.block[i].Artifact, c.block[j].Artifact), cmp.Compare(c.block[i].Offset, c.block[j].Offset))
	})
	for _, i := range order {
		h := &c.block[i]
		if c.format != FormatProvider && c.format != FormatClient && !h.Over {
			continue
		}
		var err error
		if h.raw, h.file, err = c.raw(ctx, h.Answer); err != nil {
			return fmt.Errorf("line %d (%q): %w", h.Line.No, h.Line.ID, err)
		}
	}
	for i := range c.block {
		if err := c.write(&c.block[i]); err != nil {
			return fmt.Errorf("line %d (%q): %w", c.block[i].Line.No, c.block[i].Line.ID, err)
		}
	}
	clear(c.block)
	c.block, c.bytes = c.block[:0], 0
	return nil
}

// write writes one line of the file: its answer, or why there is none.
func (c *collector) write(a *held) error {
	answer := a.Ended && a.Outcome.Ending.Stands()
	switch {
	case answer:
		c.tally.Answers++
	case a.Ended:
		c.tally.Failures++
	default:
		c.tally.Open++
	}
	switch c.format {
	case FormatProvider:
	case FormatClient:
		return c.client(a)
	default:
		return c.tidy(a)
	}
	if !a.Ended {
		return nil // it has no outcome yet
	}
	line, err := c.line(a)
	if err != nil {
		return err
	}
	to := c.errors
	if answer {
		to = c.results
	}
	_, err = to.Write(append(line, '\n'))
	return err
}

// line returns the provider's own result line under the author's id. If there is none that can be read, it makes one of
// the same form from the ledger.
func (c *collector) line(a *held) ([]byte, error) {
	shape := c.batch.File.Shape
	c.buf = c.buf[:0]
	var err error
	switch {
	case a.raw == nil:
	case a.file.Kind == store.ArtifactLive && a.Outcome.Fault == nil:
		if c.buf, err = batchfile.AppendReply(c.buf, shape, a.Line.ID, a.Outcome.RequestID, a.raw); err == nil {
			return c.buf, nil
		}
	case a.file.Kind != "live":
		if c.buf, err = batchfile.AppendResult(c.buf, a.raw, a.Line.ID); err == nil {
			return c.buf, nil
		}
	}
	c.buf, err = batchfile.AppendMissing(c.buf[:0], shape, a.Line.ID, a.Outcome)
	return c.buf, err
}

// raw reads the bytes that an answer was read from; nil: there are none.
func (c *collector) raw(ctx context.Context, a store.Answer) ([]byte, store.Artifact, error) {
	if a.Artifact == 0 {
		return nil, store.Artifact{}, nil
	}
	known, ok := c.named[a.Segment]
	if !ok {
		all, err := c.Ledger.Artifacts(ctx, a.Segment)
		if err != nil {
			return nil, store.Artifact{}, err
		}
		known = map[int64]store.Artifact{}
		for _, f := range all {
			known[f.No] = f
		}
		if len(c.named) >= maxNamed {
			clear(c.named)
		}
		c.named[a.Segment] = known
	}
	info, ok := known[a.Artifact]
	if !ok {
		return nil, info, nil
	}
	f, err := c.file(ctx, info)
	if err != nil {
		return nil, info, err
	}
	if a.Offset < 0 || a.Length < 0 || a.Offset+a.Length > f.Size() {
		return nil, info, fmt.Errorf("its bytes are not in %s", info.Name)
	}
	text := make([]byte, a.Length)
	if _, err := f.ReadAt(text, a.Offset); err != nil {
		return nil, info, fmt.Errorf("read %s: %w", info.Name, err)
	}
	if err := artifacts.Verify(text, a.Sum); err != nil {
		return nil, info, fmt.Errorf("read %s: %w", info.Name, err)
	}
	return text, info, nil
}

func (c *collector) file(ctx context.Context, info store.Artifact) (artifacts.File, error) {
	if f, ok := c.files[info.No]; ok {
		return f, nil
	}
	if len(c.files) >= maxOpen {
		c.close()
		clear(c.files)
	}
	f, err := c.Files.Open(ctx, c.run.ID, info.Name)
	if err == nil {
		c.files[info.No] = f
	}
	return f, err
}

// tidyRow is one line of the file and what became of it, for programs that want no nesting.
type tidyRow struct {
	ID      string   `json:"custom_id"`
	Line    int      `json:"line"`
	Model   string   `json:"model"`
	Status  string   `json:"status"` // how it ended; open: not back yet
	Text    string   `json:"text"`
	Finish  string   `json:"finish,omitempty"`
	Input   *int64   `json:"input_tokens"` // null: unknown
	Output  *int64   `json:"output_tokens"`
	Cost    *float64 `json:"cost_usd"`
	Problem string   `json:"error,omitempty"`
}

func (c *collector) tidy(a *held) error {
	row := tidyRow{ID: a.Line.ID, Line: a.Line.No, Model: a.Line.Lane, Status: "open"}
	if a.Ended {
		o := a.Outcome
		row.Status, row.Text, row.Finish = string(o.Ending), o.Text, o.Finish
		if a.Over {
			whole, err := c.reread(a.Answer, a.raw, a.file)
			if err != nil {
				return err
			}
			row.Text = whole.Text
		}
		if o.Usage.Known {
			row.Input, row.Output = &o.Usage.Input, &o.Usage.Output
		}
		if a.Cost != nil {
			row.Cost = new(a.Cost.Float())
		}
		if o.Fault != nil {
			row.Problem = o.Fault.Error()
		}
	}
	if c.table != nil {
		return c.table.Write([]string{assay.SafeCell(row.ID), strconv.Itoa(row.Line), assay.SafeCell(row.Model), assay.SafeCell(row.Status),
			assay.SafeCell(row.Text), assay.SafeCell(row.Finish), known(row.Input), known(row.Output), known(row.Cost),
			assay.SafeCell(row.Problem)})
	}
	e := json.NewEncoder(c.results)
	e.SetEscapeHTML(false)
	return e.Encode(row)
}

// known returns a number, or nothing.
func known[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

// reread reads an answer that is too long for a row of the ledger.
func (c *collector) reread(a store.Answer, raw []byte, file store.Artifact) (assay.Outcome, error) {
	i := slices.IndexFunc(c.batch.File.Lanes, func(l batchfile.Lane) bool { return l.Name == a.Lane })
	if raw == nil || i < 0 {
		return assay.Outcome{}, fmt.Errorf("the bytes of the answer to %s are gone", a.Key)
	}
	lane := c.batch.File.Lanes[i].Lane
	var o assay.Outcome
	if file.Kind == store.ArtifactLive {
		o = c.dec.Body(c.batch.File.Wire(c.Catalog, lane, assay.ModeLive).Dialect, raw)
	} else {
		o = c.dec.Line(c.batch.File.Wire(c.Catalog, lane, assay.ModeBatch), raw).Outcome
	}
	if o.Ending != a.Outcome.Ending { // other bytes are there now
		return o, fmt.Errorf("read the answer to %s: %w: read again they are %s, and were %s", a.Key, artifacts.ErrDamaged, o.Ending,
			a.Outcome.Ending)
	}
	return o, nil
}

// Whole returns an answer with all of its text; one too long for a row is read from the bytes that came.
func (r *Reader) Whole(ctx context.Context, run store.Run, a store.Answer) (store.Answer, error) {
	if !a.Over {
		return a, nil
	}
	b, err := of(run)
	if err != nil {
		return a, err
	}
	c := &collector{Reader: r, run: run, batch: b, named: map[int64]map[int64]store.Artifact{}, files: map[int64]artifacts.File{}}
	defer c.close()
	raw, file, err := c.raw(ctx, a)
	if err != nil {
		return a, err
	}
	o, err := c.reread(a, raw, file)
	if err == nil {
		a.Outcome.Text, a.Outcome.Thoughts, a.Over = o.Text, o.Thoughts, false
	}
	return a, err
}
