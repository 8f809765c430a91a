package simulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

func geminiVendor() *vendor {
	return &vendor{
		name: "gemini", prefix: "/gemini", base: "/gemini", key: geminiKey, shape: googleShape, deniedAs: http.StatusForbidden, retryInBody: true,
		bytes: 2 << 30, window: 2 * day, caches: true, looseIDs: true,
		routes: geminiRoutes,
	}
}

func geminiKey(r *http.Request) string {
	return cmp.Or(r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key"), bearer(r))
}

func geminiRoutes(rt routes) {
	g := gemini{}
	rt.open(Upload, "POST", "/upload/v1beta/files", g.upload)
	rt.on(File, "GET", "/v1beta/files", g.listFiles)
	rt.verbs("GET", "/v1beta/files", map[string]verb{"": {File, g.showFile}, "download": {Fetch, g.download}})
	rt.verbs("DELETE", "/v1beta/files", map[string]verb{"": {File, g.deleteFile}})
	rt.verbs("POST", "/v1beta/models", map[string]verb{
		"generateContent":      {Ask, func(c *call) { c.ask(generate{}, c.name) }},
		"embedContent":         {Ask, func(c *call) { c.ask(embed{}, c.name) }},
		"batchEmbedContents":   {Ask, func(c *call) { c.ask(embed{many: true}, c.name) }},
		"countTokens":          {Models, generate{}.countTokens},
		"batchGenerateContent": {Create, g.create},
	})
	rt.on(Models, "GET", "/v1beta/models", func(c *call) {
		c.reply(http.StatusOK, map[string]any{"models": []any{geminiModel("gemini-sim")}})
	})
	rt.verbs("GET", "/v1beta/models", map[string]verb{"": {Models, func(c *call) {
		if rej := (reading{vendor: c.v, rules: anyRules{}}).check(Asked{Model: c.name}); rej != nil {
			c.fail(rej)
			return
		}
		c.reply(http.StatusOK, geminiModel(c.name))
	}}})
	rt.on(List, "GET", "/v1beta/batches", g.list)
	rt.verbs("GET", "/v1beta/batches", map[string]verb{"": {Check, g.show}})
	rt.verbs("POST", "/v1beta/batches", map[string]verb{"cancel": {Cancel, g.cancel}})
	rt.verbs("DELETE", "/v1beta/batches", map[string]verb{"": {Delete, g.remove}})
}

// gemini plays the files and batches of the Gemini API.
type gemini struct{}

const (
	geminiInline = 20 << 20 // most bytes of requests that come with the job
	geminiJobs   = 100      // most jobs at a time
)

func geminiModel(name string) map[string]any {
	return map[string]any{
		"name": "models/" + name, "displayName": name, "version": "001", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
		"supportedGenerationMethods": []string{"generateContent", "countTokens", "batchGenerateContent"},
	}
}

func (g gemini) create(c *call) {
	var in geminiCreate
	if !c.read(&in) {
		return
	}
	d := draft{
		newID: letters(base36, 36), model: c.name, name: in.Batch.DisplayName, format: geminiFormat{},
		strict:  func(sv *survey) *Rejection { return geminiBusy(c, sv) },
		outputs: func(j *job) []string { return []string{"batch-" + j.id} },
	}
	if !c.good(g.source(c, in.Batch.InputConfig, &d)) {
		return
	}
	if j, ok := c.launch(d); ok {
		c.reply(http.StatusOK, g.operation(c, j, view{progress: progress{phase: queued}, total: j.lines.n, pending: j.lines.n}, wholeOutput))
	}
}

// source finds the requests of a job: in a file, or in the call itself.
func (g gemini) source(c *call, in geminiInput, d *draft) (*Rejection, error) {
	if in.FileName == "" {
		if len(in.Requests.Requests) == 0 {
			return invalid("", "", "batch.input_config: one of file_name and requests must be set"), nil
		}
		var b strings.Builder
		for _, r := range in.Requests.Requests {
			b.Write(r)
			b.WriteByte('\n')
		}
		if b.Len() > geminiInline {
			return invalid("", "", "Request payload size exceeds the limit: %d bytes.", geminiInline), nil
		}
		data, err := c.s.spill.save("inline", strings.NewReader(b.String()), 0)
		d.data, d.format, d.inOrder = data, geminiFormat{inline: true}, true
		return nil, err
	}
	f := c.findFile(strings.TrimPrefix(in.FileName, "files/"))
	if f == nil {
		return notFound("File %s not found.", in.FileName), nil
	}
	if g.fileState(c, f) != "ACTIVE" {
		return &Rejection{Status: http.StatusBadRequest, Type: "FAILED_PRECONDITION", Message: "The File " + f.id + " is not in an ACTIVE state and usage is not allowed."}, nil
	}
	d.data, d.input = f.blob, in.FileName
	return nil, nil
}

// geminiBusy refuses a job that does not fit beside those still unfinished.
func geminiBusy(c *call, sv *survey) *Rejection {
	open := 0
	for _, j := range c.mine() {
		if !j.at(c.now).over() {
			open++
		}
	}
	limit := c.s.opts.Limits.Enqueued
	if open >= geminiJobs || limit > 0 && c.enqueued(c.name)+sv.tokens > limit {
		return &Rejection{Status: http.StatusTooManyRequests, Message: "Resource has been exhausted (e.g. check quota)."}
	}
	return nil
}

func (g gemini) list(c *call) {
	part, more := page(c.mine(), c.r.URL.Query().Get("pageToken"), c.queryInt("pageSize", 50, 1000), func(j *job) string { return j.id })
	out := map[string]any{}
	ops := []any{}
	for _, j := range part {
		ops = append(ops, g.operation(c, j, c.look(j), noInline))
	}
	if len(ops) > 0 {
		out["operations"] = ops
	}
	if more {
		out["nextPageToken"] = part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

func (g gemini) show(c *call) {
	if j := c.job(c.name); j != nil {
		c.reply(http.StatusOK, g.operation(c, j, c.look(j), wholeOutput))
	}
}

func (g gemini) cancel(c *call) {
	j := c.job(c.name)
	if j == nil {
		return
	}
	if !c.cancel(j) {
		c.fail(&Rejection{Status: http.StatusBadRequest, Type: "FAILED_PRECONDITION", Message: "The batch is not in a state in which it can be cancelled."})
		return
	}
	c.reply(http.StatusOK, struct{}{})
}

func (g gemini) remove(c *call) {
	if j := c.job(c.name); j != nil {
		j.remove()
		c.reply(http.StatusOK, struct{}{})
	}
}

// outputPolicy says whether results that come with the job are told.
type outputPolicy int

const (
	wholeOutput outputPolicy = iota
	noInline
)

// operation is a job as Gemini shows it: a long-running operation with the batch as its metadata.
func (g gemini) operation(c *call, j *job, v view, p outputPolicy) geminiOperation {
	m := geminiBatch{
		Type: "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch", Model: "models/" + j.model, DisplayName: j.name,
		CreateTime: rfc(j.made), UpdateTime: rfc(c.now), State: "BATCH_STATE_" + cmp.Or(strings.ToUpper(v.word), geminiState(v.phase)),
		Name: "batches/" + j.id, Stats: geminiStats(v),
	}
	if j.input != "" {
		m.Input = map[string]any{"fileName": j.input}
	}
	op := geminiOperation{Name: "batches/" + j.id, Metadata: &m}
	if !v.over() {
		return op
	}
	op.Done, m.EndTime = true, rfc(v.ended)
	if v.phase == failed {
		op.Error = map[string]any{"code": grpcCode(j.failure[0].Status), "message": geminiFailure(j)}
		return op
	}
	if v.phase == expired || v.noOutput {
		return op
	}
	m.Output = g.output(c, j, p)
	op.Response = m.Output
	return op
}

func geminiFailure(j *job) string {
	if i := j.failure[0]; i.line > 0 {
		return fmt.Sprintf("Line %d: %s", i.line, i.Message)
	}
	return j.failure[0].Message
}

func (g gemini) output(c *call, j *job, p outputPolicy) any {
	if !j.format.(geminiFormat).inline {
		return map[string]any{"responsesFile": "files/batch-" + j.id}
	}
	if p == noInline {
		return nil
	}
	b, err := c.results(j, 0)
	all := []json.RawMessage{}
	if err == nil {
		err = eachResult(b, 0, func(line []byte, _ int64) bool {
			if json.Valid(line) { // a broken line cannot stand in a document
				all = append(all, line)
			}
			return true
		})
	}
	if err != nil {
		panic(err) // the disk is gone
	}
	return map[string]any{"inlinedResponses": map[string]any{"inlinedResponses": all}}
}

func geminiState(p phase) string {
	switch p {
	case validating, queued:
		return "PENDING"
	case completed:
		return "SUCCEEDED"
	case failed, expired, cancelled:
		return strings.ToUpper(string(p))
	}
	return "RUNNING"
}

// geminiStats are counts as strings; those that are zero are left out.
func geminiStats(v view) map[string]string {
	out := map[string]string{}
	for name, n := range map[string]int{
		"requestCount": v.total, "successfulRequestCount": v.succeeded, "failedRequestCount": v.errored, "pendingRequestCount": v.pending,
	} {
		if n > 0 {
			out[name] = strconv.Itoa(n)
		}
	}
	return out
}

// geminiFormat is {"key","request"} in files, {"request","metadata"} inline.
type geminiFormat struct{ inline bool }

func (f geminiFormat) open(j *job, v *fastjson.Value) (carried, *Rejection) {
	in := carried{body: v.Get("request"), dialect: generate{}, model: j.model}
	if in.body == nil || in.body.Type() != fastjson.TypeObject {
		return in, invalid("request", "", "request: must be set")
	}
	in.id = stringOf(v, "key")
	if f.inline {
		in.id = stringOf(v, "metadata", "key")
	}
	return in, nil
}

func (f geminiFormat) close(dst []byte, _ *job, e *ended) ([]byte, int) {
	if e.how == ranOut || e.how == stopped {
		return dst, -1
	}
	if f.inline {
		dst = append(dst, `{"metadata":`...)
		if m := fastjson.MustParseBytes(e.line).Get("metadata"); m != nil {
			dst = m.MarshalTo(dst)
		} else {
			dst = append(dst, "{}"...)
		}
	} else {
		dst = appendJSON(append(dst, `{"key":`...), e.id)
	}
	if e.how == answered {
		return append(append(append(dst, `,"response":`...), e.reply...), '}'), 0
	}
	return append(appendJSON(append(dst, `,"error":`...), map[string]any{"code": grpcCode(e.rej.Status), "message": e.rej.Message}), '}'), 0
}

type geminiInput struct {
	FileName string `json:"fileName"`
	Requests struct {
		Requests []json.RawMessage `json:"requests"`
	} `json:"requests"`
}

type geminiCreate struct {
	Batch struct {
		DisplayName string      `json:"displayName"`
		InputConfig geminiInput `json:"inputConfig"`
	} `json:"batch"`
}

type geminiOperation struct {
	Name     string       `json:"name"`
	Metadata *geminiBatch `json:"metadata"`
	Done     bool         `json:"done,omitempty"`
	Response any          `json:"response,omitempty"`
	Error    any          `json:"error,omitempty"`
}

type geminiBatch struct {
	Type        string            `json:"@type"`
	Model       string            `json:"model"`
	DisplayName string            `json:"displayName"`
	Input       any               `json:"inputConfig,omitempty"`
	Output      any               `json:"output,omitempty"`
	CreateTime  any               `json:"createTime"`
	EndTime     any               `json:"endTime,omitempty"`
	UpdateTime  any               `json:"updateTime"`
	Stats       map[string]string `json:"batchStats"`
	State       string            `json:"state"`
	Name        string            `json:"name"`
}
