package wire

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

func mistralVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "mistral", Prefix: "/mistral/v1", Base: "/mistral", Key: backend.Bearer, Shape: mistralShape, Rate: mistralRate,
		Requests: 1_000_000, Bytes: 512 << 20, Window: day, LooseIDs: true,
		Routes: mistralRoutes,
	}
}

func mistralRoutes(rt backend.Routes) {
	m := mistral{}
	rt.On(fault.Upload, "POST", "/files", m.upload)
	rt.On(fault.File, "GET", "/files", m.listFiles)
	rt.On(fault.File, "GET", "/files/{id}", m.showFile)
	rt.On(fault.File, "DELETE", "/files/{id}", m.deleteFile)
	rt.On(fault.Fetch, "GET", "/files/{id}/content", m.content)
	rt.On(fault.Create, "POST", "/batch/jobs", m.create)
	rt.On(fault.List, "GET", "/batch/jobs", m.list)
	rt.On(fault.Check, "GET", "/batch/jobs/{id}", m.show)
	rt.On(fault.Cancel, "POST", "/batch/jobs/{id}/cancel", m.cancel)
	rt.On(fault.Delete, "DELETE", "/batch/jobs/{id}", m.remove)
	rt.On(fault.Ask, "POST", "/chat/completions", func(c *backend.Call) { c.Ask(mistralChat(), "") })
	rt.On(fault.Ask, "POST", "/embeddings", func(c *backend.Call) { c.Ask(bodies.Embeddings{Named: true}, "") })
	rt.On(fault.Ask, "POST", "/moderations", func(c *backend.Call) { c.Ask(bodies.Moderations{}, "") })
	modelsRoutes(rt, "")
}

// mistral plays the files and batch jobs of Mistral.
type mistral struct{}

// mistralInline is the most requests that may come with the job itself.
const mistralInline = 10_000

func mistralChat() bodies.Chat { return bodies.Chat{Thoughts: "chunks", UsageLast: true} }

// mistralShape is {"object":"error",…}, or the web framework's error for a wrong document.
func mistralShape(_ *backend.Call, r *rules.Rejection) any { return mistralError(r) }

func mistralError(r *rules.Rejection) any {
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
	return map[string]any{"object": "error", "message": r.Message, "type": cmp.Or(r.Type, kind), "param": bodies.Nullable(r.Param),
		"code": strconv.Itoa(1000 + r.Status)}
}

func (m mistral) create(c *backend.Call) {
	in := mistralCreate{TimeoutHours: 24}
	inline := false
	data, rej, err := c.Split("requests", c.Vendor.Bytes, func(key string, v json.RawMessage) *rules.Rejection {
		if key == "requests" {
			inline = true
			return nil
		}
		if setMember(&in, key, v) != nil {
			return unprocessable(key, "Input should be valid")
		}
		return nil
	})
	if !c.Good(rej, err) || !c.Good(m.check(in, inline), nil) {
		return
	}
	if !inline {
		if data, rej, err = m.joined(c, in.InputFiles); !c.Good(rej, err) {
			return
		}
	}
	j, ok := c.Launch(backend.Draft{
		NewID: dice.UUID, Data: data, Meta: in.Metadata, Endpoint: in.Endpoint, Model: in.Model,
		Window: time.Duration(in.TimeoutHours) * time.Hour,
		Format: bareFormat{dialect: m.dialect(in.Endpoint), model: in.Model, shape: mistralError}, Extra: mistralFiles(in.InputFiles),
		Outputs: func(j *backend.Job) []string {
			return []string{mistralOutput(j, resultsFile), mistralOutput(j, errorsFile)}
		},
		Strict: func(sv *backend.Survey) *rules.Rejection {
			if inline && sv.Lines.Len > mistralInline {
				return unprocessable("requests", "List should have at most "+strconv.Itoa(mistralInline)+" items")
			}
			return nil
		},
	})
	if ok {
		c.Reply(http.StatusOK, m.object(c, j, backend.View{Progress: backend.Progress{Phase: backend.Queued}, Total: j.Lines.Len}))
	}
}

func unprocessable(param, message string) *rules.Rejection {
	return &rules.Rejection{Status: http.StatusUnprocessableEntity, Param: param, Message: message}
}

func (m mistral) dialect(endpoint string) backend.Dialect {
	switch endpoint {
	case "/v1/chat/completions":
		return mistralChat()
	case "/v1/embeddings":
		return bodies.Embeddings{Named: true}
	case "/v1/moderations":
		return bodies.Moderations{}
	}
	return nil
}

func (m mistral) check(in mistralCreate, inline bool) *rules.Rejection {
	switch {
	case m.dialect(in.Endpoint) == nil:
		return unprocessable("endpoint", "Input should be '/v1/chat/completions', '/v1/embeddings' or '/v1/moderations'")
	case in.Model == "":
		return unprocessable("model", "Field required")
	case inline == (len(in.InputFiles) > 0):
		return unprocessable("input_files", "Exactly one of input_files and requests must be given")
	case in.TimeoutHours < 1 || in.TimeoutHours > 168:
		return unprocessable("timeout_hours", "Input should be between 1 and 168")
	}
	return nil
}

// joined returns one blob of several input files.
func (m mistral) joined(c *backend.Call, ids []string) (spill.Blob, *rules.Rejection, error) {
	var parts []spill.Blob
	for _, id := range ids {
		f := c.FindFile(id)
		if f == nil {
			return spill.Blob{}, rules.NotFound("File %s not found", id), nil
		}
		parts = append(parts, f.Blob)
	}
	b, err := c.Disk().Join(parts)
	return b, nil, err
}

func (m mistral) list(c *backend.Call) {
	q := c.Request.URL.Query()
	all := slices.DeleteFunc(c.Jobs(), func(j *backend.Job) bool { return !m.matches(c, j) })
	if q.Get("order_by") == "created" {
		slices.Reverse(all)
	}
	size := c.QueryInt("page_size", 100, 1000)
	number, _ := strconv.Atoi(q.Get("page"))
	from := min(max(number, 0)*size, len(all))
	out := mistralList{Object: "list", Data: []any{}, Total: len(all)}
	for _, j := range all[from:min(from+size, len(all))] {
		out.Data = append(out.Data, m.object(c, j, c.Look(j)))
	}
	c.Reply(http.StatusOK, out)
}

// matches holds a job against the filters of a list: model, status, time, and metadata as JSON or as metadata[key]=value.
func (m mistral) matches(c *backend.Call, j *backend.Job) bool {
	q := c.Request.URL.Query()
	if want := q.Get("model"); want != "" && want != j.Model {
		return false
	}
	if t, err := time.Parse(time.RFC3339, q.Get("created_after")); err == nil && !j.Made.After(t) {
		return false
	}
	if want := q["status"]; len(want) > 0 && !slices.Contains(want, mistralStatus(c.Look(j).Phase)) {
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
		if j.Meta[k] != v {
			return false
		}
	}
	return true
}

func (m mistral) show(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	o := m.object(c, j, c.Look(j))
	if c.Request.URL.Query().Get("inline") == "true" && o.CompletedAt != nil {
		outs := []json.RawMessage{}
		for n := range 2 {
			lines, err := c.Documents(j, n)
			if err != nil {
				c.Trouble(err)
				return
			}
			outs = append(outs, lines...)
		}
		o.Outputs = outs
	}
	c.Reply(http.StatusOK, o)
}

func (m mistral) cancel(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if !c.Cancel(j) {
		c.Fail(rules.Invalid("", "", "Job %s is not running and cannot be cancelled", j.ID))
		return
	}
	v := c.Look(j)
	v.Phase, v.Ended = backend.Cancelling, time.Time{}
	c.Reply(http.StatusOK, m.object(c, j, v))
}

func (m mistral) remove(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if !j.At(c.Now).Over() {
		c.Fail(rules.Invalid("", "", "Job %s is still running", j.ID))
		return
	}
	j.Remove()
	c.Reply(http.StatusOK, map[string]any{"id": j.ID, "object": "batch", "deleted": true})
}

func mistralStatus(p backend.Phase) string {
	return map[backend.Phase]string{
		backend.Validating: "QUEUED", backend.Queued: "QUEUED", backend.Running: "RUNNING", backend.Finalizing: "RUNNING",
		backend.Cancelling: "CANCELLATION_REQUESTED", backend.Completed: "SUCCESS", backend.Failed: "FAILED",
		backend.Expired: "TIMEOUT_EXCEEDED", backend.Cancelled: "CANCELLED",
	}[p]
}

func (m mistral) object(c *backend.Call, j *backend.Job, v backend.View) mistralJob {
	o := mistralJob{
		ID: j.ID, Object: "batch", InputFiles: append([]string{}, j.Extra.(mistralFiles)...), Metadata: j.Meta, Endpoint: j.Endpoint,
		Model: j.Model, Errors: []any{}, Status: cmp.Or(v.Word, mistralStatus(v.Phase)), CreatedAt: j.Made.Unix(), Total: v.Total,
		Succeeded: v.Succeeded, Failed: v.Errored, Completed: v.Succeeded + v.Errored,
	}
	if v.Phase != backend.Validating && v.Phase != backend.Queued && v.Phase != backend.Failed {
		o.StartedAt = unix(j.Made.Add(j.Queue))
	}
	if v.Blank {
		o.OutputFile, o.ErrorFile = "", ""
	}
	if !v.Over() {
		return o
	}
	o.CompletedAt = v.Ended.Unix()
	for _, i := range j.Failure {
		o.Errors = append(o.Errors, map[string]any{"message": i.Message, "count": 1})
	}
	if v.Phase == backend.Failed || v.NoOutput {
		return o
	}
	if c.HasOutput(j, resultsFile) {
		o.OutputFile = mistralOutput(j, resultsFile)
	}
	if c.HasOutput(j, errorsFile) {
		o.ErrorFile = mistralOutput(j, errorsFile)
		o.Errors = append(o.Errors, map[string]any{"message": "request failed", "count": v.Errored})
	}
	return o
}

// mistralOutput returns the id of one of a job's result files.
func mistralOutput(j *backend.Job, file int) string { return dice.UUID(j.Number + 1 + uint64(file)) }

// mistralFiles are the files a job was made from.
type mistralFiles []string

type mistralCreate struct {
	InputFiles   []string          `json:"input_files"`
	Endpoint     string            `json:"endpoint"`
	Model        string            `json:"model"`
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

// mistralRate writes the headers of the limit on tokens a minute.
func mistralRate(h http.Header, m backend.Meter) {
	if m.Tokens > 0 {
		h.Set("X-Ratelimitbysize-Limit-Minute", strconv.Itoa(m.Tokens))
		h.Set("X-Ratelimitbysize-Remaining-Minute", strconv.Itoa(m.TokensLeft))
		h.Set("Ratelimitbysize-Reset", strconv.Itoa(int(m.Reset.Seconds())))
	}
}
