package pairwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/dialect"
	"assay/internal/show/export"
	"assay/internal/study"
)

// runWriter writes the comparisons of one run: beside the results of every segment what was asked, what came back and which
// samples were shown.
type runWriter struct {
	*writer
	rows     *rows.Reader
	raw      artifacts.Place
	segments map[int64]*store.Segment
	texts    map[string]string // of items that are compared, as far as they were needed
	named    map[int64]store.Artifact
	noted    int64          // the segment whose artifacts are named
	file     artifacts.File // of the artifact that was read last; nil: none
	opened   int64
}

// blockSize is how many comparisons are held while what they show and what came back is read.
const blockSize = 250

func (r *runWriter) stage(ctx context.Context, st *study.Stage) error {
	return export.InBlocks(r.rows.Ledger.Answers(ctx, r.rows.Run.No, st.Name, ""), blockSize, func(block []store.Answer) error {
		return r.block(ctx, st, block)
	})
}

func (r *runWriter) block(ctx context.Context, st *study.Stage, block []store.Answer) error {
	shown, err := r.samples(ctx, st, block)
	if err != nil {
		return err
	}
	asked, err := r.asked(ctx, block)
	if err != nil {
		return err
	}
	replies, err := r.replies(ctx, block, asked)
	if err != nil {
		return err
	}
	i := -1
	var failed error
	r.rows.Block(ctx, block, func(row *rows.Answer, err error) bool {
		i++
		if err == nil {
			err = r.comparison(block[i], row, shown[i], asked[i], replies[i])
		}
		failed = err
		return err == nil
	})
	return failed
}

// comparison writes one comparison. What has not ended has no results, but the registry lists its segment. A first try that
// was asked again is left out: its reply holds no verdict, and the second one's is written in its place.
func (r *runWriter) comparison(a store.Answer, row *rows.Answer, shown samplePair, asked *assay.Request, reply []byte) error {
	s, ok := r.segments[a.Segment]
	unread := len(row.Verdicts) == 0 && a.Outcome.Ending.Stands() // in an open run perhaps not yet
	if !ok || unread && r.rows.Run.State == store.RunClosed {
		return nil
	}
	c := r.cell(r.rows, row.Stage, row.Prompt, row.Judge, directionOf(row.First, row.Second))
	job := c.segment(s)
	if !a.Ended || unread {
		return nil
	}
	job.PairsPath = near(job, "pairs.csv")
	if err := r.pairs.Add(job.PairsPath, &shown); err != nil {
		return err
	}
	if err := r.sent(job, asked); err != nil {
		return fmt.Errorf("request %s: %w", a.Key, err)
	}
	if reply != nil {
		job.OutputPath = near(job, "output.jsonl")
		if err := r.lines.Add(job.OutputPath, reply); err != nil {
			return err
		}
	}
	return r.compared(r.rows, c, job, row, objectOf(asked.Wire.Dialect))
}

// asked makes the requests of a block again from the snapshot.
func (r *runWriter) asked(ctx context.Context, block []store.Answer) ([]*assay.Request, error) {
	out := make([]*assay.Request, len(block))
	for _, mode := range []store.SegmentMode{store.Batch, store.Live} {
		var at []assay.Coordinates
		var places []int
		for i, a := range block {
			if (a.Mode == store.Batch) == (mode == store.Batch) {
				at, places = append(at, a.At), append(places, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		made, err := r.rows.Scripts.Build(ctx, r.rows.Run, mode, at)
		if err != nil {
			return nil, err
		}
		for i, p := range made {
			out[places[i]] = p.Request
		}
	}
	return out, nil
}

// sent writes the line that was sent; its id is the request's key. A live request has no line: then one is made of its body.
func (r *runWriter) sent(job *registryJob, req *assay.Request) error {
	job.InputPath = near(job, "input.jsonl")
	if req.Wire.Carrier != "" {
		line, err := dialect.AppendLine(nil, req.Key.String(), req)
		if err != nil {
			return err
		}
		return r.lines.Add(job.InputPath, line)
	}
	body, err := dialect.AppendBody(nil, req)
	if err != nil {
		return err
	}
	return r.lines.Add(job.InputPath, fmt.Appendf(nil, `{"custom_id":%q,"body":%s}`, req.Key, body))
}

// objectOf returns what a provider calls a reply.
func objectOf(d assay.Dialect) string {
	switch d {
	case assay.DialectChat:
		return "chat.completion"
	case assay.DialectResponses:
		return "response"
	case assay.DialectMessages:
		return "message"
	}
	return ""
}

// replies returns what came back, as it came, under the keys of the requests; nothing where the raw bytes are not there. Files
// are read from front to back, whatever order the requests have.
func (r *runWriter) replies(ctx context.Context, block []store.Answer, asked []*assay.Request) ([][]byte, error) {
	out := make([][]byte, len(block))
	if r.raw == nil {
		return out, nil
	}
	order := make([]int, len(block))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(block[i].Artifact, block[j].Artifact), cmp.Compare(block[i].Offset, block[j].Offset))
	})
	for _, i := range order {
		if a := &block[i]; a.Artifact != 0 {
			var err error
			if out[i], err = r.reply(ctx, a, shapeOf(asked[i].Wire.Dialect)); err != nil {
				return nil, fmt.Errorf("reply to %s: %w", a.Key, err)
			}
		}
	}
	return out, nil
}

func (r *runWriter) reply(ctx context.Context, a *store.Answer, shape batchfile.Shape) ([]byte, error) {
	if err := r.open(ctx, a); err != nil {
		return nil, err
	}
	if a.Offset < 0 || a.Length < 0 || a.Offset+a.Length > r.file.Size() {
		return nil, errors.New("its bytes are not there")
	}
	raw := make([]byte, a.Length)
	if _, err := r.file.ReadAt(raw, a.Offset); err != nil {
		return nil, err
	}
	if err := artifacts.Verify(raw, a.Sum); err != nil {
		return nil, err
	}
	var line []byte
	var err error
	if r.named[a.Artifact].Kind == store.ArtifactLive {
		line, err = batchfile.AppendReply(nil, shape, a.Key.String(), a.Outcome.RequestID, raw)
	} else {
		line, err = batchfile.AppendResult(nil, raw, a.Key.String())
	}
	if err != nil { // bytes that are no reply
		line, err = batchfile.AppendMissing(nil, shape, a.Key.String(), a.Outcome)
	}
	return line, err
}

// open opens the file that holds an answer's bytes, unless it is open.
func (r *runWriter) open(ctx context.Context, a *store.Answer) error {
	if r.file != nil && r.opened == a.Artifact {
		return nil
	}
	if a.Segment != r.noted {
		all, err := r.rows.Ledger.Artifacts(ctx, a.Segment)
		if err != nil {
			return err
		}
		clear(r.named)
		for _, f := range all {
			r.named[f.No] = f
		}
		r.noted = a.Segment
	}
	if err := r.close(); err != nil {
		return err
	}
	var err error
	r.file, err = r.raw.Open(ctx, r.rows.Run.ID, r.named[a.Artifact].Name)
	r.opened = a.Artifact
	return err
}

func (r *runWriter) close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// shapeOf returns the form of the result lines of a dialect.
func shapeOf(d assay.Dialect) batchfile.Shape {
	switch d {
	case assay.DialectMessages:
		return batchfile.ShapeParams
	case assay.DialectGenerate:
		return batchfile.ShapeRequest
	case assay.DialectConverse:
		return batchfile.ShapeRecord
	}
	return batchfile.ShapeCall
}

// samples returns the two texts that each request of a block shows.
func (r *runWriter) samples(ctx context.Context, st *study.Stage, block []store.Answer) ([]samplePair, error) {
	out := make([]samplePair, len(block))
	sides := make([][2]assay.Key, len(block))
	sidesOf, lanes, err := r.rows.Scripts.Sides(ctx, r.rows.Run, st.Name)
	if err != nil {
		return nil, err
	}
	var refs []assay.Ref
	for i, a := range block {
		out[i].ID1, out[i].ID2 = a.At.Pair()
		if lanes {
			if sides[i], err = sidesOf(a.At); err != nil {
				return nil, err
			}
			out[i].Item = a.At.Item
			refs = append(refs, assay.Ref{Item: a.At.Item, Key: sides[i][0]}, assay.Ref{Item: a.At.Item, Key: sides[i][1]})
			continue
		}
		if out[i].Text1, err = r.sample(ctx, st, out[i].ID1); err != nil {
			return nil, err
		}
		if out[i].Text2, err = r.sample(ctx, st, out[i].ID2); err != nil {
			return nil, err
		}
	}
	if len(refs) == 0 {
		return out, nil
	}
	answers, err := r.rows.Ledger.AnswersTo(ctx, r.rows.Run.No, refs)
	if err != nil {
		return nil, err
	}
	for i := range out {
		for k, text := range []*string{&out[i].Text1, &out[i].Text2} {
			a, err := r.rows.Scripts.Whole(ctx, r.rows.Run, answers[sides[i][k]])
			if err != nil {
				return nil, err
			}
			*text = a.Outcome.Text
		}
	}
	return out, nil
}

// maxSamples is how many texts of items are held.
const maxSamples = 5000

// sample returns the text of an item that is compared.
func (r *runWriter) sample(ctx context.Context, st *study.Stage, id string) (string, error) {
	at := st.Compare + "\x00" + id
	if text, ok := r.texts[at]; ok {
		return text, nil
	}
	it, err := r.rows.Ledger.Item(ctx, r.rows.Run.No, st.Compare, id)
	if err != nil {
		return "", err
	}
	if len(r.texts) >= maxSamples {
		clear(r.texts)
	}
	r.texts[at] = fmt.Sprint(it.Fields["text"])
	return r.texts[at], nil
}
