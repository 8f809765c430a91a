package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"assay"
	"assay/artifacts"
	"assay/batchfile"
	"assay/dialect"
	"assay/export"
	"assay/store"
	"assay/study"
)

// registryRun writes the comparisons of one run: beside the results of every segment what was asked, what came back and
// which samples were shown.
type registryRun struct {
	*registry
	*exporter
	segments map[int64]*store.Segment
	texts    map[string]string // of items that are compared, as far as they were needed
	named    map[int64]store.Artifact
	noted    int64          // the segment whose artifacts are named
	file     artifacts.File // of the artifact that was read last; nil: none
	opened   int64
}

func (r *registryRun) stage(ctx context.Context, st *study.Stage) error {
	var block []store.Answer
	for a, err := range r.h.ledger.Answers(ctx, r.run.No, st.Name, "") {
		if err != nil {
			return err
		}
		if block = append(block, a); len(block) < exportBlock {
			continue
		}
		if err := r.block(ctx, st, block); err != nil {
			return err
		}
		block = block[:0]
	}
	return r.block(ctx, st, block)
}

func (r *registryRun) block(ctx context.Context, st *study.Stage, block []store.Answer) error {
	shown, err := r.samples(ctx, st, block)
	if err != nil {
		return err
	}
	asked, err := r.asked(ctx, block)
	if err != nil {
		return err
	}
	replies, err := r.replies(ctx, block)
	if err != nil {
		return err
	}
	i := -1
	var failed error
	r.tell(ctx, block, func(row *export.Request, err error) bool {
		i++
		if err == nil {
			err = r.request(block[i], row, shown[i], asked[i], replies[i])
		}
		failed = err
		return err == nil
	})
	return failed
}

// request writes one comparison. What is on its way is left out, and so is a first try that was asked again: its reply holds
// no verdict, and the second one's stands in its place.
func (r *registryRun) request(a store.Answer, row *export.Request, shown export.SamplePair, asked *assay.Request, reply []byte) error {
	s, ok := r.segments[a.Segment]
	if !ok || !a.Ended || len(row.Verdicts) == 0 && a.Outcome.Ending.Stands() {
		return nil
	}
	c := r.cell(r.exporter, row.Stage, row.Prompt, row.Judge, directionOf(row.First, row.Second))
	job := c.segment(s)
	job.PairsPath = beside(job, "pairs.csv")
	if err := r.pairs.Add(job.PairsPath, &shown); err != nil {
		return err
	}
	if err := r.sent(job, asked); err != nil {
		return fmt.Errorf("request %s: %w", a.Key, err)
	}
	if reply != nil {
		job.OutputPath = beside(job, "output.jsonl")
		if err := r.lines.Add(job.OutputPath, reply); err != nil {
			return err
		}
	}
	return r.compared(r.exporter, c, job, row, objectOf(asked.Wire.Dialect))
}

// asked makes the requests of a block again from the snapshot.
func (r *registryRun) asked(ctx context.Context, block []store.Answer) ([]*assay.Request, error) {
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
		made, err := r.h.planner.Build(ctx, r.run, mode, at)
		if err != nil {
			return nil, err
		}
		for i, p := range made {
			out[places[i]] = p.Request
		}
	}
	return out, nil
}

// sent writes the line that was sent; its id is the request's key. A live request has no line: then its body stands in one.
func (r *registryRun) sent(job *export.RegistryJob, req *assay.Request) error {
	job.InputPath = beside(job, "input.jsonl")
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

// objectOf is what a provider calls a reply.
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

// replies are what came back, as it came, under the keys of the requests. A bundle holds no raw bytes. Files are read from
// front to back, whatever order the requests have.
func (r *registryRun) replies(ctx context.Context, block []store.Answer) ([][]byte, error) {
	out := make([][]byte, len(block))
	order := make([]int, len(block))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(block[i].Artifact, block[j].Artifact), cmp.Compare(block[i].Offset, block[j].Offset))
	})
	for _, i := range order {
		if a := &block[i]; a.Artifact != 0 && r.h.passing == "" {
			var err error
			if out[i], err = r.reply(ctx, a); err != nil {
				return nil, fmt.Errorf("reply to %s: %w", a.Key, err)
			}
		}
	}
	return out, nil
}

func (r *registryRun) reply(ctx context.Context, a *store.Answer) ([]byte, error) {
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
	shape := shapeAt(r.segments[a.Segment].Provider)
	var line []byte
	var err error
	if r.named[a.Artifact].Kind == "live" {
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
func (r *registryRun) open(ctx context.Context, a *store.Answer) error {
	if r.file != nil && r.opened == a.Artifact {
		return nil
	}
	if a.Segment != r.noted {
		all, err := r.h.ledger.Artifacts(ctx, a.Segment)
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
	r.file, err = r.h.files.Open(r.run.ID, r.named[a.Artifact].Name)
	r.opened = a.Artifact
	return err
}

func (r *registryRun) close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// shapeAt is the form of a provider's result lines.
func shapeAt(provider string) batchfile.Shape {
	switch provider {
	case "anthropic":
		return batchfile.ShapeAnthropic
	case "gemini", "vertex":
		return batchfile.ShapeGemini
	}
	return batchfile.ShapeOpenAI
}

// samples are the two texts that each request of a block shows.
func (r *registryRun) samples(ctx context.Context, st *study.Stage, block []store.Answer) ([]export.SamplePair, error) {
	out := make([]export.SamplePair, len(block))
	sides := make([][2]assay.Key, len(block))
	sidesOf, lanes, err := r.h.planner.Sides(ctx, r.run, st.Name)
	if err != nil {
		return nil, err
	}
	var keys []assay.Key
	for i, a := range block {
		read, err := r.reading(a.At)
		if err != nil {
			return nil, err
		}
		out[i].ID1, out[i].ID2 = read.First, read.Second
		if lanes {
			if sides[i], err = sidesOf(a.At); err != nil {
				return nil, err
			}
			keys, out[i].Item = append(keys, sides[i][0], sides[i][1]), a.At.Item
			continue
		}
		for _, side := range []struct {
			id   string
			text *string
		}{{read.First, &out[i].Text1}, {read.Second, &out[i].Text2}} {
			if *side.text, err = r.sample(ctx, st, side.id); err != nil {
				return nil, err
			}
		}
	}
	if len(keys) == 0 {
		return out, nil
	}
	answers, err := r.h.ledger.AnswersTo(ctx, r.run.No, keys)
	if err != nil {
		return nil, err
	}
	for i := range out {
		for k, text := range []*string{&out[i].Text1, &out[i].Text2} {
			a, err := r.h.planner.Whole(ctx, r.run, answers[sides[i][k]])
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

// sample is the text of an item that is compared.
func (r *registryRun) sample(ctx context.Context, st *study.Stage, id string) (string, error) {
	at := st.Compare + "\x00" + id
	if text, ok := r.texts[at]; ok {
		return text, nil
	}
	it, err := r.h.ledger.Item(ctx, r.run.No, st.Compare, id)
	if err != nil {
		return "", err
	}
	if len(r.texts) >= maxSamples {
		clear(r.texts)
	}
	r.texts[at] = fmt.Sprint(it.Fields["text"])
	return r.texts[at], nil
}
