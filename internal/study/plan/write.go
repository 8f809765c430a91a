package plan

import (
	"context"
	"fmt"
	"io"
	"iter"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/study"
)

// First is one request of the first wave with the coordinates it was made from.
type First struct {
	assay.Request
	Coordinates assay.Coordinates
}

// First streams the requests of one lane in the first turn of an ask stage, or of a judge that compares items, in the order
// they go out. The requests of one stage and lane are those that Make counted.
func (d *Input) First(ctx context.Context, st *study.Stage, l *study.Lane, o Options) iter.Seq2[First, error] {
	if st.Verb() != study.VerbAsk {
		return d.Known(ctx, st, l, o)
	}
	return func(yield func(First, error) bool) {
		talk, err := d.Conversation(ctx, st)
		if err != nil {
			yield(First{}, err)
			return
		}
		r := d.Path(st, l)
		for it, err := range d.FirstItems(ctx, st.Ask, o.Limit) {
			if err != nil {
				yield(First{}, err)
				return
			}
			keep, err := talk.Keeps(it)
			if err != nil {
				yield(First{}, err)
				return
			}
			if !keep {
				continue
			}
			for _, way := range talk.AllWays(0, it) {
				p, err := talk.Prompt(0, it, way, nil)
				at := talk.At(0, l.Name, it.ID, way)
				first := First{Coordinates: at, Request: assay.Request{Key: at.Key(), Lane: &r.Lane.Lane, Wire: &r.Wire, Prompt: &p}}
				if !yield(first, err) || err != nil {
					return
				}
			}
		}
	}
}

// Write writes the first wave's segments as they would go out, each to the file that create opens for it. It returns the
// names of the files.
func (d *Input) Write(ctx context.Context, p *Plan, o Options, create func(name string) (io.WriteCloser, error)) ([]string, error) {
	var names []string
	for _, part := range p.Parts {
		if part.Wave != 1 || part.Segments == nil {
			continue
		}
		st, _ := d.Study.Stage(part.Stage)
		l, ok := d.Study.Lane(part.Lane.Name)
		if !ok {
			continue
		}
		requests, stop := iter.Pull2(d.First(ctx, st, l, o))
		for i, s := range part.Segments {
			name := fmt.Sprintf("%s/%s-%03d.%s", part.Stage, part.Lane.Name, i+1, suffix(part.Lane, d.Path(st, l)))
			err := writeSegment(requests, s, name, create)
			if err != nil {
				stop()
				return names, fmt.Errorf("write %s: %w", name, err)
			}
			names = append(names, name)
		}
		stop()
	}
	return names, nil
}

func suffix(l *study.Lane, r Path) string {
	if dialect.FrameOf(r.Wire, l.Model).Open != "" {
		return "json"
	}
	return "jsonl"
}

func writeSegment(next func() (First, error, bool), s Segment, name string, create func(string) (io.WriteCloser, error)) error {
	f, err := create(name)
	if err != nil {
		return err
	}
	w := &segmentWriter{w: f}
	for range s.Requests {
		r, err, ok := next()
		if err != nil {
			f.Close()
			return err
		}
		if !ok {
			f.Close()
			return fmt.Errorf("the input changed while it was read")
		}
		if err := w.add(&r); err != nil {
			f.Close()
			return err
		}
	}
	if err := w.close(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// segmentWriter writes lines into their frame, through one buffer.
type segmentWriter struct {
	w     io.Writer
	frame dialect.Frame
	buf   []byte
	id    []byte
	n     int
}

func (w *segmentWriter) add(r *First) error {
	if w.n == 0 {
		w.frame = dialect.FrameOf(*r.Wire, r.Lane.Model)
		w.buf = append(w.buf, w.frame.Open...)
	} else {
		w.buf = append(w.buf, w.frame.Separator...)
	}
	w.n++
	w.id = assay.AppendCustomID(w.id[:0], assay.PlanNonce, r.Key)
	var err error
	if w.buf, err = dialect.AppendLine(w.buf, string(w.id), &r.Request); err != nil {
		return err
	}
	if len(w.buf) < 1<<20 {
		return nil
	}
	return w.flush()
}

func (w *segmentWriter) flush() error {
	_, err := w.w.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *segmentWriter) close() error {
	w.buf = append(w.buf, w.frame.Close...)
	return w.flush()
}

// Line returns the request as it would go out.
func (f *First) Line() ([]byte, error) {
	return AppendRequest(nil, assay.CustomID(assay.PlanNonce, f.Key), &f.Request)
}

// AppendRequest appends a request as it goes out: in a batch's line, or, where its wire has none, as a body alone.
func AppendRequest(dst []byte, id string, r *assay.Request) ([]byte, error) {
	if r.Wire.Carrier == "" {
		return dialect.AppendBody(dst, r)
	}
	return dialect.AppendLine(dst, id, r)
}
