package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// xaiFormat writes results in xAI's way, whichever way the requests came.
type xaiFormat struct{ backend.Format }

func (f xaiFormat) Open(j *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	in, rej := f.Format.Open(j, v)
	if rej == nil {
		in.Dialect = xaiDialect{in.Dialect}
	}
	return in, rej
}

func (f xaiFormat) Close(dst []byte, _ *backend.Job, e *backend.Ended) ([]byte, int) {
	dst = bodies.AppendJSON(append(dst, `{"batch_request_id":`...), e.ID)
	switch e.How {
	case backend.Answered:
		return append(append(append(dst, `,"batch_result":{"response":`...), e.Reply...), `}}`...), 0
	case backend.Errored:
		return append(bodies.AppendJSON(append(dst, `,"batch_result":{"error":`...), e.Rejection.Message), `}}`...), 0
	}
	return dst, -1 // requests that never ran have no line
}

// xaiDialect names the kind of answer around it, and refuses the models that have no batches.
type xaiDialect struct{ backend.Dialect }

func (d xaiDialect) Read(rd bodies.Reading, b *fastjson.Value) (bodies.Request, *rules.Rejection) {
	q, rej := d.Dialect.Read(rd, b)
	if rej == nil && slices.Contains([]string{"grok-4.5", "grok-3-mini"}, q.Model) {
		rej = rules.Invalid("model", "invalid_argument", "Model %s does not support batch requests.", q.Model)
	}
	return q, rej
}

func (d xaiDialect) Write(dst []byte, q *bodies.Request, r *bodies.Reply) []byte {
	kind := "chat_get_completion"
	if _, ok := d.Dialect.(bodies.Responses); ok {
		kind = "responses"
	}
	dst = append(append(append(dst, `{"`...), kind...), `":`...)
	return append(d.Dialect.Write(dst, q, r), '}')
}

// xaiWrapped is {"batch_request_id","batch_request":{"chat_get_completion":{…}}}.
type xaiWrapped struct{}

func (f xaiWrapped) Open(_ *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	in := backend.Carried{ID: string(v.GetStringBytes("batch_request_id"))}
	if in.ID == "" {
		return in, rules.Invalid("batch_request_id", "invalid_argument", "batch_request_id is required")
	}
	if in.Body = v.Get("batch_request", "chat_get_completion"); in.Body != nil {
		in.Dialect = xaiChat()
		return in, nil
	}
	if in.Body = v.Get("batch_request", "responses"); in.Body != nil {
		in.Dialect = bodies.Responses{}
		return in, nil
	}
	return in, rules.Invalid("batch_request", "invalid_argument", "batch_request must hold chat_get_completion or responses")
}

func (f xaiWrapped) Close(dst []byte, _ *backend.Job, _ *backend.Ended) ([]byte, int) { return dst, -1 }

// results hands out what is finished, also while the batch runs. A token is the part and the byte where the next page begins.
func (x xai) results(c *backend.Call) {
	b := x.find(c, c.Request.PathValue("id"))
	if b == nil {
		return
	}
	limit := c.QueryInt("limit", c.QueryInt("page_size", 100, 1000), 1000)
	part, from := 0, int64(0)
	if token := c.Request.URL.Query().Get("pagination_token"); token != "" {
		if _, err := fmt.Sscanf(token, "%d-%d", &part, &from); err != nil {
			c.Fail(rules.Invalid("pagination_token", "invalid_argument", "bad pagination_token"))
			return
		}
	}
	out := map[string]any{"pagination_token": nil}
	lines := []json.RawMessage{}
	jobs := b.jobs()
	for ; part < len(jobs) && len(lines) < limit; part, from = part+1, 0 {
		data, err := c.Results(jobs[part], 0)
		next := from
		if err == nil {
			err = backend.EachResult(data, from, func(line []byte, after int64) bool {
				if next = after; json.Valid(line) { // a broken line cannot be in a document
					lines = append(lines, line)
				}
				return len(lines) < limit
			})
		}
		if err != nil {
			c.Trouble(err)
			return
		}
		if len(lines) == limit && (next < data.Size || part+1 < len(jobs)) {
			out["pagination_token"] = fmt.Sprintf("%d-%d", part, next)
		}
	}
	out["results"] = lines
	c.Reply(http.StatusOK, out)
}

// requests lists the state of every request.
func (x xai) requests(c *backend.Call) {
	b := x.find(c, c.Request.PathValue("id"))
	if b == nil {
		return
	}
	limit := c.QueryInt("limit", 100, 1000)
	skip := 0
	if token := c.Request.URL.Query().Get("pagination_token"); token != "" {
		_, _ = fmt.Sscan(token, &skip) // a bad token begins anew
	}
	list, n := []any{}, 0
	out := map[string]any{"pagination_token": nil}
	for _, j := range b.jobs() {
		p := j.At(c.Now)
		line := -1
		for id, err := range j.IDs(func(l int) bool { line = l; return true }) {
			if err != nil {
				c.Trouble(err)
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
	c.Reply(http.StatusOK, out)
}

func xaiWord(j *backend.Job, p backend.Progress, line int) string {
	place := j.Order.Place(line)
	switch {
	case place < p.Done && j.IsBad(place):
		return "failed"
	case place < p.Done:
		return "succeeded"
	case p.Over():
		return "cancelled"
	}
	return "pending"
}

func (x xai) upload(c *backend.Call) {
	in, ok := c.Receive(c.Vendor.Bytes)
	if !ok {
		return
	}
	f := &backend.File{Blob: in.Blob, ID: "file_" + dice.UUID(c.NewNumber()), Name: backend.BaseName(in.Name), Made: c.Now}
	if rej := c.KeepFile(f); rej != nil {
		c.Fail(rej)
		return
	}
	c.Reply(http.StatusOK, xaiFile(f))
}

func xaiFile(f *backend.File) map[string]any {
	return map[string]any{"id": f.ID, "object": "file", "filename": f.Name, "bytes": f.Size, "size": f.Size, "created_at": f.Made.Unix(),
		"purpose": ""}
}

func (x xai) listFiles(c *backend.Call) {
	all := []any{}
	for _, f := range c.Files() {
		all = append(all, xaiFile(f))
	}
	c.Reply(http.StatusOK, map[string]any{"data": all, "pagination_token": nil})
}

func (x xai) showFile(c *backend.Call) {
	id := c.Request.PathValue("id")
	if f := c.FindFile(id); f != nil {
		c.Reply(http.StatusOK, xaiFile(f))
		return
	}
	c.Fail(rules.NotFound("file %s not found", id))
}

func (x xai) deleteFile(c *backend.Call) {
	id := c.Request.PathValue("id")
	f := c.FindFile(id)
	if f == nil {
		c.Fail(rules.NotFound("file %s not found", id))
		return
	}
	c.DropFile(f.ID)
	c.Reply(http.StatusOK, map[string]any{"id": id, "deleted": true})
}
