package simulator

import (
	"cmp"
	"encoding/json"

	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func mistralVendor() *vendor {
	return &vendor{
		name: "mistral", prefix: "/mistral/v1", base: "/mistral", key: bearer, shape: mistralShape, rate: mistralRate,
		requests: 1_000_000, bytes: 512 << 20, window: day, looseIDs: true,
		routes: mistralRoutes,
	}
}

func mistralRoutes(rt routes) {
	m := mistral{}
	rt.on(Upload, "POST", "/files", m.upload)
	rt.on(File, "GET", "/files", m.listFiles)
	rt.on(File, "GET", "/files/{id}", m.showFile)
	rt.on(File, "DELETE", "/files/{id}", m.deleteFile)
	rt.on(Fetch, "GET", "/files/{id}/content", m.content)
	rt.on(Create, "POST", "/batch/jobs", m.create)
	rt.on(List, "GET", "/batch/jobs", m.list)
	rt.on(Check, "GET", "/batch/jobs/{id}", m.show)
	rt.on(Cancel, "POST", "/batch/jobs/{id}/cancel", m.cancel)
	rt.on(Delete, "DELETE", "/batch/jobs/{id}", m.remove)
	rt.on(Ask, "POST", "/chat/completions", func(c *call) { c.ask(mistralChat(), "") })
	rt.on(Ask, "POST", "/embeddings", func(c *call) { c.ask(embeddings{}, "") })
	modelsRoutes(rt, "")
}

// mistral plays the files and batch jobs of Mistral.
type mistral struct{}

// mistralInline is the most requests that may come with the job itself.
const mistralInline = 10_000

func mistralChat() chat { return chat{thoughts: "chunks"} }

// mistralShape is {"object":"error",…}, or what the web framework says of a document it does not like.
func mistralShape(_ *call, r *Rejection) any { return mistralError(r) }

func mistralError(r *Rejection) any {
	if r.Status == http.StatusUnprocessableEntity {
		return map[string]any{"detail": []any{map[string]any{"type": "value_error", "loc": []string{"body", r.Param}, "msg": r.Message}}}
	}
	kind := "invalid_request_error"
	switch {
	case r.Status == http.StatusTooManyRequests:
		kind = "rate_limited"
	case r.Status >= 500:
		kind = "internal_server_error"
	}
	return map[string]any{"object": "error", "message": r.Message, "type": cmp.Or(r.Type, kind), "param": nullable(r.Param), "code": strconv.Itoa(1000 + r.Status)}
}

func (m mistral) create(c *call) {
	in := mistralCreate{TimeoutHours: 24}
	inline := false
	data, rej, err := c.split("requests", c.v.bytes, func(key string, v json.RawMessage) *Rejection {
		if key == "requests" {
			inline = true
			return nil
		}
		if json.Unmarshal(appendJSON(nil, map[string]any{key: v}), &in) != nil {
			return unprocessable(key, "Input should be valid")
		}
		return nil
	})
	if !c.good(rej, err) || !c.good(m.check(in, inline), nil) {
		return
	}
	if !inline {
		if data, rej, err = m.joined(c, in.InputFiles); !c.good(rej, err) {
			return
		}
	}
	j, ok := c.launch(draft{
		newID: uuid, data: data, meta: in.Metadata, endpoint: in.Endpoint, model: in.Model, window: time.Duration(in.TimeoutHours) * time.Hour,
		format: bareFormat{dialect: m.dialect(in.Endpoint), model: in.Model, shape: mistralError}, extra: mistralFiles(in.InputFiles),
		outputs: func(j *job) []string { return []string{uuid(j.number + 1), uuid(j.number + 2)} },
		strict: func(sv *survey) *Rejection {
			if inline && sv.lines.n > mistralInline {
				return unprocessable("requests", "List should have at most "+strconv.Itoa(mistralInline)+" items")
			}
			return nil
		},
	})
	if ok {
		c.reply(http.StatusOK, m.object(c, j, view{progress: progress{phase: queued}, total: j.lines.n}))
	}
}

func unprocessable(param, message string) *Rejection {
	return &Rejection{Status: http.StatusUnprocessableEntity, Param: param, Message: message}
}

func (m mistral) dialect(endpoint string) dialect {
	switch endpoint {
	case "/v1/chat/completions":
		return mistralChat()
	case "/v1/embeddings":
		return embeddings{}
	}
	return nil
}

func (m mistral) check(in mistralCreate, inline bool) *Rejection {
	switch {
	case m.dialect(in.Endpoint) == nil:
		return unprocessable("endpoint", "Input should be '/v1/chat/completions' or '/v1/embeddings'")
	case in.Model == "":
		return unprocessable("model", "Either model or agent_id must be given")
	case inline == (len(in.InputFiles) > 0):
		return unprocessable("input_files", "Exactly one of input_files and requests must be given")
	case in.TimeoutHours < 1 || in.TimeoutHours > 168:
		return unprocessable("timeout_hours", "Input should be between 1 and 168")
	}
	return nil
}

// joined is one blob of several input files.
func (m mistral) joined(c *call, ids []string) (blob, *Rejection, error) {
	var parts []blob
	for _, id := range ids {
		f := c.findFile(id)
		if f == nil {
			return blob{}, notFound("File %s not found", id), nil
		}
		parts = append(parts, f.blob)
	}
	b, err := c.s.spill.join(parts)
	return b, nil, err
}

func (m mistral) list(c *call) {
	q := c.r.URL.Query()
	all := slices.DeleteFunc(c.mine(), func(j *job) bool { return !m.matches(c, j) })
	if q.Get("order_by") == "created" {
		slices.Reverse(all)
	}
	size := c.queryInt("page_size", 100, 1000)
	number, _ := strconv.Atoi(q.Get("page"))
	from := min(max(number, 0)*size, len(all))
	out := mistralList{Object: "list", Data: []any{}, Total: len(all)}
	for _, j := range all[from:min(from+size, len(all))] {
		out.Data = append(out.Data, m.object(c, j, c.look(j)))
	}
	c.reply(http.StatusOK, out)
}

// matches holds a job against the filters of a list: model, status, time, and metadata as JSON or as metadata[key]=value.
func (m mistral) matches(c *call, j *job) bool {
	q := c.r.URL.Query()
	if want := q.Get("model"); want != "" && want != j.model {
		return false
	}
	if t, err := time.Parse(time.RFC3339, q.Get("created_after")); err == nil && !j.made.After(t) {
		return false
	}
	if want := q["status"]; len(want) > 0 && !slices.Contains(want, mistralStatus(c.look(j).phase)) {
		return false
	}
	meta := map[string]string{}
	if text := q.Get("metadata"); text != "" && json.Unmarshal([]byte(text), &meta) != nil {
		return false
	}
	for name, values := range q {
		if key, ok := strings.CutPrefix(name, "metadata["); ok {
			meta[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	for k, v := range meta {
		if j.meta[k] != v {
			return false
		}
	}
	return true
}

func (m mistral) show(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	o := m.object(c, j, c.look(j))
	if c.r.URL.Query().Get("inline") == "true" && o.CompletedAt != nil {
		outs := []json.RawMessage{}
		for n := range 2 {
			b, err := c.results(j, n)
			err = cmp.Or(err, eachResult(b, 0, func(line []byte, _ int64) bool {
				if json.Valid(line) { // a broken line cannot stand in a document
					outs = append(outs, line)
				}
				return true
			}))
			if err != nil {
				c.trouble(err)
				return
			}
		}
		o.Outputs = outs
	}
	c.reply(http.StatusOK, o)
}

func (m mistral) cancel(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if !c.cancel(j) {
		c.fail(invalid("", "", "Job %s is not running and cannot be cancelled", j.id))
		return
	}
	v := c.look(j)
	v.phase, v.ended = cancelling, time.Time{}
	c.reply(http.StatusOK, m.object(c, j, v))
}

func (m mistral) remove(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if !j.at(c.now).over() {
		c.fail(invalid("", "", "Job %s is still running", j.id))
		return
	}
	j.remove()
	c.reply(http.StatusOK, map[string]any{"id": j.id, "object": "batch", "deleted": true})
}

func mistralStatus(p phase) string {
	return map[phase]string{
		validating: "QUEUED", queued: "QUEUED", running: "RUNNING", finalizing: "RUNNING", cancelling: "CANCELLATION_REQUESTED",
		completed: "SUCCESS", failed: "FAILED", expired: "TIMEOUT_EXCEEDED", cancelled: "CANCELLED",
	}[p]
}

func (m mistral) object(c *call, j *job, v view) mistralJob {
	o := mistralJob{
		ID: j.id, Object: "batch", InputFiles: slices.Concat([]string{}, j.extra.(mistralFiles)), Metadata: j.meta, Endpoint: j.endpoint, Model: j.model, Errors: []any{},
		Status: cmp.Or(v.word, mistralStatus(v.phase)), CreatedAt: j.made.Unix(), Total: v.total, Succeeded: v.succeeded, Failed: v.errored,
		Completed: v.succeeded + v.errored,
	}
	if v.phase != validating && v.phase != queued && v.phase != failed {
		o.StartedAt = unix(j.made.Add(j.queue))
	}
	if v.blank {
		o.OutputFile, o.ErrorFile = "", ""
	}
	if !v.over() {
		return o
	}
	o.CompletedAt = v.ended.Unix()
	for _, i := range j.failure {
		o.Errors = append(o.Errors, map[string]any{"message": i.Message, "count": 1})
	}
	if v.phase == failed || v.noOutput {
		return o
	}
	if c.hasOutput(j, 0) {
		o.OutputFile = uuid(j.number + 1)
	}
	if c.hasOutput(j, 1) {
		o.ErrorFile = uuid(j.number + 2)
		o.Errors = append(o.Errors, map[string]any{"message": "request failed", "count": v.errored})
	}
	return o
}

// mistralFiles are the files a job was made from.
type mistralFiles []string

type mistralCreate struct {
	InputFiles   []string          `json:"input_files"`
	Endpoint     string            `json:"endpoint"`
	Model        string            `json:"model"`
	AgentID      string            `json:"agent_id"`
	Metadata     map[string]string `json:"metadata"`
	TimeoutHours int               `json:"timeout_hours"`
}

type mistralList struct {
	Object string `json:"object"`
	Data   []any  `json:"data"`
	Total  int    `json:"total"`
}

type mistralJob struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	InputFiles  []string          `json:"input_files"`
	Metadata    map[string]string `json:"metadata"`
	Endpoint    string            `json:"endpoint"`
	Model       string            `json:"model"`
	AgentID     any               `json:"agent_id"`
	OutputFile  any               `json:"output_file"`
	ErrorFile   any               `json:"error_file"`
	Errors      []any             `json:"errors"`
	Outputs     any               `json:"outputs"`
	Status      string            `json:"status"`
	CreatedAt   int64             `json:"created_at"`
	StartedAt   any               `json:"started_at"`
	CompletedAt any               `json:"completed_at"`
	Total       int               `json:"total_requests"`
	Completed   int               `json:"completed_requests"`
	Succeeded   int               `json:"succeeded_requests"`
	Failed      int               `json:"failed_requests"`
}
