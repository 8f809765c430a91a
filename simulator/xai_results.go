package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/valyala/fastjson"
)

// xaiFormat tells results in xAI's way, whichever way the requests came.
type xaiFormat struct{ format }

func (f xaiFormat) open(j *job, v *fastjson.Value) (carried, *Rejection) {
	in, rej := f.format.open(j, v)
	if rej == nil {
		in.dialect = xaiDialect{in.dialect}
	}
	return in, rej
}

func (f xaiFormat) close(dst []byte, _ *job, e *ended) ([]byte, int) {
	dst = appendJSON(append(dst, `{"batch_request_id":`...), e.id)
	switch e.how {
	case answered:
		return append(append(append(dst, `,"batch_result":{"response":`...), e.reply...), `}}`...), 0
	case errored:
		return append(appendJSON(append(dst, `,"batch_result":{"error":`...), map[string]any{"code": grpcCode(e.rej.Status), "message": e.rej.Message}), `}}`...), 0
	}
	return dst, -1 // nothing is told of requests that never ran
}

// xaiDialect names the kind of answer around it, and refuses the models that have no batches.
type xaiDialect struct{ dialect }

func (d xaiDialect) read(rd reading, b *fastjson.Value) (Question, *Rejection) {
	q, rej := d.dialect.read(rd, b)
	if rej == nil && slices.Contains([]string{"grok-4.5", "grok-3-mini"}, q.Model) {
		rej = invalid("model", "invalid_argument", "Model %s does not support batch requests.", q.Model)
	}
	return q, rej
}

func (d xaiDialect) write(dst []byte, q *Question, r *reply) []byte {
	kind := "chat_get_completion"
	if _, ok := d.dialect.(responses); ok {
		kind = "responses"
	}
	dst = append(append(append(dst, `{"`...), kind...), `":`...)
	return append(d.dialect.write(dst, q, r), '}')
}

// xaiWrapped is {"batch_request_id","batch_request":{"chat_get_completion":{…}}}.
type xaiWrapped struct{}

func (f xaiWrapped) open(_ *job, v *fastjson.Value) (carried, *Rejection) {
	in := carried{id: stringOf(v, "batch_request_id")}
	if in.id == "" {
		return in, invalid("batch_request_id", "invalid_argument", "batch_request_id is required")
	}
	if in.body = v.Get("batch_request", "chat_get_completion"); in.body != nil {
		in.dialect = xaiChat()
		return in, nil
	}
	if in.body = v.Get("batch_request", "responses"); in.body != nil {
		in.dialect = responses{}
		return in, nil
	}
	return in, invalid("batch_request", "invalid_argument", "batch_request must hold chat_get_completion or responses")
}

func (f xaiWrapped) close(dst []byte, _ *job, _ *ended) ([]byte, int) { return dst, -1 }

// results hands out what is finished, also while the batch runs. A token is the part and the byte where the next page begins.
func (x xai) results(c *call) {
	b := x.find(c, c.r.PathValue("id"))
	if b == nil {
		return
	}
	limit := c.queryInt("limit", c.queryInt("page_size", 100, 1000), 1000)
	part, from := 0, int64(0)
	if token := c.r.URL.Query().Get("pagination_token"); token != "" {
		if _, err := fmt.Sscanf(token, "%d-%d", &part, &from); err != nil {
			c.fail(invalid("pagination_token", "invalid_argument", "bad pagination_token"))
			return
		}
	}
	out := map[string]any{"pagination_token": nil}
	lines := []json.RawMessage{}
	jobs := b.jobs()
	for ; part < len(jobs) && len(lines) < limit; part, from = part+1, 0 {
		data, err := c.results(jobs[part], 0)
		next := from
		if err == nil {
			err = eachResult(data, from, func(line []byte, after int64) bool {
				if next = after; json.Valid(line) { // a broken line cannot stand in a document
					lines = append(lines, line)
				}
				return len(lines) < limit
			})
		}
		if err != nil {
			c.trouble(err)
			return
		}
		if len(lines) == limit && (next < data.size || part+1 < len(jobs)) {
			out["pagination_token"] = fmt.Sprintf("%d-%d", part, next)
		}
	}
	out["results"] = lines
	c.reply(http.StatusOK, out)
}

// requests tells the state of every request.
func (x xai) requests(c *call) {
	b := x.find(c, c.r.PathValue("id"))
	if b == nil {
		return
	}
	limit := c.queryInt("limit", 100, 1000)
	skip := 0
	if token := c.r.URL.Query().Get("pagination_token"); token != "" {
		_, _ = fmt.Sscan(token, &skip) // a bad token begins anew
	}
	list, n := []any{}, 0
	out := map[string]any{"pagination_token": nil}
	for _, j := range b.jobs() {
		p := j.at(c.now)
		line := -1
		for id, err := range j.ids(func(l int) bool { line = l; return true }) {
			if err != nil {
				c.trouble(err)
				return
			}
			if n++; n <= skip {
				continue
			}
			if len(list) == limit {
				out["pagination_token"] = fmt.Sprint(skip + limit)
				break
			}
			list = append(list, map[string]any{"batch_request_id": id, "state": xaiWord(j, p, line)})
		}
	}
	out["batch_request_metadata"] = list
	c.reply(http.StatusOK, out)
}

func xaiWord(j *job, p progress, line int) string {
	place := j.order.place(line)
	switch {
	case place < p.done && j.isBad(place):
		return "failed"
	case place < p.done:
		return "succeeded"
	case p.over():
		return "cancelled"
	}
	return "pending"
}

func (x xai) upload(c *call) {
	in, ok := c.receive(c.v.bytes)
	if !ok {
		return
	}
	f := &file{blob: in.blob, vendor: c.v.name, account: c.account, id: "file_" + uuid(c.s.newID(c.v.name, c.now)), name: baseName(in.name), made: c.now}
	if rej := c.s.keepFile(f); rej != nil {
		c.fail(rej)
		return
	}
	c.reply(http.StatusOK, xaiFile(f))
}

func xaiFile(f *file) map[string]any {
	return map[string]any{"id": f.id, "object": "file", "filename": f.name, "bytes": f.size, "size": f.size, "created_at": f.made.Unix(), "purpose": ""}
}

func (x xai) listFiles(c *call) {
	all := []any{}
	for _, f := range c.myFiles() {
		all = append(all, xaiFile(f))
	}
	c.reply(http.StatusOK, map[string]any{"data": all, "pagination_token": nil})
}

func (x xai) showFile(c *call) {
	id := c.r.PathValue("id")
	if f := c.findFile(id); f != nil {
		c.reply(http.StatusOK, xaiFile(f))
		return
	}
	c.fail(notFound("file %s not found", id))
}

func (x xai) deleteFile(c *call) {
	id := c.r.PathValue("id")
	f := c.findFile(id)
	if f == nil {
		c.fail(notFound("file %s not found", id))
		return
	}
	c.dropFile(f.id)
	c.reply(http.StatusOK, map[string]any{"id": id, "deleted": true})
}
