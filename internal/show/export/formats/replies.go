package formats

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/send/batchfile"
	"assay/internal/show/export"
)

// readReplies reads the result files of batches, as providers write them: answers and errors, matched by id. An error is
// held until every file was read, because a later file may have the answer.
func readReplies(ctx context.Context, from export.From, to *export.Sink) error {
	if len(from.Sources) == 0 {
		return export.ErrNothing
	}
	r := &replyReader{Sink: to, from: from, answered: map[string][16]byte{}, lanes: laneSets{}}
	if err := r.requests(ctx); err != nil {
		return err
	}
	for _, s := range from.Sources {
		if err := r.file(ctx, s); err != nil {
			return fmt.Errorf("read %s: %w", s.Name, err)
		}
	}
	if err := r.errors(); err != nil {
		return err
	}
	if err := r.missing(); err != nil {
		return err
	}
	r.notes()
	return nil
}

type replyReader struct {
	*export.Sink
	from     export.From
	asked    map[string]*askedLine // by id; nil: it is not known what was asked
	order    []string
	answered map[string][16]byte // by id and lane: a hash of the answer
	lanes    laneSets            // that answered, by file; under no name, in all files
	held     []heldError

	again, late, stray int64
	firstStray         assay.Place
	strayID            string
}

type askedLine struct {
	lane string
	met  bool
}

type heldError struct {
	at  assay.Place
	row *rows.Answer
}

// requests reads what was asked.
func (r *replyReader) requests(ctx context.Context) error {
	if r.from.Requests == nil {
		return nil
	}
	file, err := r.from.Requests.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	r.asked = map[string]*askedLine{}
	for q, err := range batchfile.Requests(ctx, file) {
		if err != nil {
			return fmt.Errorf("read %s: %w", r.from.Requests.Name, err)
		}
		at := assay.Place{File: r.from.Requests.Name, Line: q.Line}
		switch {
		case q.What != "":
			r.Bad(assay.Problem{Place: at, What: q.What, Hint: q.Hint})
			continue
		case r.asked[q.ID] != nil:
			r.Bad.At(at, "the id %q is there twice", assay.Clean(q.ID, export.MaxShown))
			continue
		}
		r.asked[q.ID] = &askedLine{lane: cmp.Or(r.from.Lane, laneName(q.Model))}
		r.order = append(r.order, q.ID)
		if err := r.question(q); err != nil {
			return err
		}
	}
	return nil
}

// question hands on what was asked, as an item.
func (r *replyReader) question(q batchfile.Asked) error {
	fields, err := json.Marshal(map[string]string{"text": q.Text})
	if err != nil {
		return err
	}
	return r.AddItem(&rows.Item{Input: "items", Item: q.ID, Cluster: q.ID, Fields: rows.Raw(fields)})
}

func (r *replyReader) file(ctx context.Context, s export.Source) error {
	file, err := s.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	for reply, err := range batchfile.Replies(ctx, file, r.from.Vendor) {
		if err != nil {
			return err
		}
		at := assay.Place{File: s.Name, Line: reply.Line}
		if reply.What != "" {
			r.Bad(assay.Problem{Place: at, What: reply.What, Hint: reply.Hint})
			continue
		}
		if err := r.reply(at, reply); err != nil {
			return err
		}
	}
	return nil
}

// reply takes one line: an answer goes on at once, an error waits.
func (r *replyReader) reply(at assay.Place, reply batchfile.Reply) error {
	asked := r.asked[reply.ID]
	if r.asked != nil && asked == nil {
		if r.stray++; r.stray == 1 {
			r.firstStray, r.strayID = at, reply.ID
		}
		return nil
	}
	row := rowOf(reply)
	row.Lane = cmp.Or(r.from.Lane, laneName(reply.Outcome.Model))
	if asked != nil {
		row.Lane, asked.met = cmp.Or(asked.lane, row.Lane), true
	}
	if !reply.Outcome.Ending.Stands() {
		r.held = append(r.held, heldError{at, row})
		return nil
	}
	if row.Lane == "" {
		r.Bad(assay.Problem{Place: at, What: "the reply does not say which model answered", Hint: "name it with --lane NAME"})
		return nil
	}
	r.lanes.add(at.File, row.Lane)
	r.lanes.add("", row.Lane)
	sum := sha256.Sum256([]byte(row.Ending + "\x00" + row.Text))
	id := row.Item + "\x00" + row.Lane
	if was, ok := r.answered[id]; ok {
		if r.again++; was != [16]byte(sum[:16]) {
			r.again--
			r.Bad(assay.Problem{Place: at, What: fmt.Sprintf("another line answers %q in other words",
				assay.Clean(row.Item, export.MaxShown)), Hint: "the first is kept"})
		}
		return nil
	}
	r.answered[id] = [16]byte(sum[:16])
	return r.put(row)
}

// errors hands on the errors of requests that no line answers.
func (r *replyReader) errors() error {
	for _, h := range r.held {
		h.row.Lane = cmp.Or(h.row.Lane, r.lanes.only(h.at.File), r.lanes.only(""))
		if h.row.Lane == "" {
			r.Bad(assay.Problem{Place: h.at, What: "the error does not say which model was asked",
				Hint: "name it with --lane NAME, or give the file of requests with --requests FILE"})
			continue
		}
		id := h.row.Item + "\x00" + h.row.Lane
		if _, ok := r.answered[id]; ok {
			r.late++
			continue
		}
		r.answered[id] = [16]byte{}
		if err := r.put(h.row); err != nil {
			return err
		}
	}
	return nil
}

// missing hands on the requests that no line is about, without an ending.
func (r *replyReader) missing() error {
	var n int64
	for _, id := range r.order {
		a := r.asked[id]
		if a.met {
			continue
		}
		n++
		if lane := cmp.Or(a.lane, r.lanes.only("")); lane != "" {
			if err := r.put(&rows.Answer{At: rows.At{Item: id, Lane: lane}}); err != nil {
				return err
			}
		}
	}
	if n > 0 {
		r.Notef("%s no line in the results",
			export.Plural(n, "request of "+r.from.Requests.Name+" has", "requests of "+r.from.Requests.Name+" have"))
	}
	return nil
}

// laneSets are lanes by where they were met.
type laneSets map[string]map[string]bool

func (l laneSets) add(where, lane string) {
	if l[where] == nil {
		l[where] = map[string]bool{}
	}
	l[where][lane] = true
}

// only returns the one lane that was met; empty where there are more, or none.
func (l laneSets) only(where string) string {
	if len(l[where]) != 1 {
		return ""
	}
	for lane := range l[where] {
		return lane
	}
	return ""
}

func (r *replyReader) notes() {
	if r.stray > 0 {
		r.Bad(assay.Problem{Place: r.firstStray, Hint: "they are left out",
			What: fmt.Sprintf("%s in no request of %s, such as %q", export.Plural(r.stray, "id is", "ids are"), r.from.Requests.Name,
				assay.Clean(r.strayID, export.MaxShown))})
	}
	if r.again > 0 {
		r.Notef("%s what another line says as well, and counted once", export.Plural(r.again, "line says", "lines say"))
	}
	if r.late > 0 {
		r.Notef("%s left out: the same request has an answer", export.Plural(r.late, "error was", "errors were"))
	}
}

// put hands on a row, and its item before it.
func (r *replyReader) put(row *rows.Answer) error {
	if err := r.AddItem(&rows.Item{Input: "items", Item: row.Item, Cluster: row.Item}); err != nil {
		return err
	}
	row.Stage, row.Verb, row.Input, row.Turn, row.Draw = "answers", "ask", "items", 1, 1
	_, err := r.AddAnswer(row)
	return err
}

// rowOf returns a reply as a row. What it lacks stays unknown.
func rowOf(reply batchfile.Reply) *rows.Answer {
	o := reply.Outcome
	row := &rows.Answer{
		At: rows.At{Item: reply.ID}, Ending: string(o.Ending), Text: o.Text, Thoughts: o.Thoughts, Finish: o.Finish,
		AnsweredModel: o.Model, RequestID: o.RequestID, UsedTier: o.Tier,
	}
	row.SetUsage(o.Usage)
	if f := o.Fault; f != nil {
		row.FaultClass, row.FaultCode, row.FaultMessage = string(f.Class), f.Code, f.Message
		if f.Status != 0 {
			row.FaultStatus = new(int64(f.Status))
		}
	}
	return row
}

// laneName returns a model's name without the path that some providers put in front.
func laneName(model string) string {
	if model == "" {
		return ""
	}
	return path.Base(model)
}
