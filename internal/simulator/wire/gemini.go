package wire

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

func geminiVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "gemini", Prefix: "/gemini", Base: "/gemini", Key: geminiKey, Shape: googleShape, DeniedAs: http.StatusForbidden,
		RetryInBody: true, Bytes: 2 << 30, Window: 2 * day, Caches: true, LooseIDs: true, ExpiredFree: true, Routes: geminiRoutes,
		NoFile: noSuchFile,
	}
}

func geminiKey(r *http.Request) string {
	return cmp.Or(r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key"), backend.Bearer(r))
}

// geminiRoutes answer under both versions of the API: clients since 3.0 call v1.
func geminiRoutes(rt backend.Routes) {
	for _, version := range []string{"/v1beta", "/v1"} {
		geminiVersion(rt, version)
	}
}

func geminiVersion(rt backend.Routes, at string) {
	g := gemini{}
	rt.Open(fault.Upload, "POST", "/upload"+at+"/files", g.upload)
	rt.On(fault.File, "GET", at+"/files", g.listFiles)
	rt.Verbs("GET", at+"/files",
		map[string]backend.Verb{"": {Kind: fault.File, Do: g.showFile}, "download": {Kind: fault.Fetch, Do: g.download}})
	rt.Verbs("DELETE", at+"/files", map[string]backend.Verb{"": {Kind: fault.File, Do: g.deleteFile}})
	rt.Verbs("POST", at+"/models", map[string]backend.Verb{
		"generateContent":       {Kind: fault.Ask, Do: func(c *backend.Call) { c.Ask(bodies.Generate{}, c.Name) }},
		"streamGenerateContent": {Kind: fault.Ask, Do: func(c *backend.Call) { c.AskStreamed(bodies.Generate{}, c.Name) }},
		"embedContent":          {Kind: fault.Ask, Do: func(c *backend.Call) { c.Ask(bodies.Embed{}, c.Name) }},
		"batchEmbedContents":    {Kind: fault.Ask, Do: func(c *backend.Call) { c.Ask(bodies.Embed{Many: true}, c.Name) }},
		"countTokens":           {Kind: fault.Models, Do: geminiCount(bodies.Generate{})},
		"batchGenerateContent":  {Kind: fault.Create, Do: g.create},
	})
	rt.On(fault.Models, "GET", at+"/models", func(c *backend.Call) {
		c.Reply(http.StatusOK, map[string]any{"models": []any{geminiModel("gemini-sim")}})
	})
	rt.Verbs("GET", at+"/models", map[string]backend.Verb{"": {Kind: fault.Models, Do: func(c *backend.Call) {
		if rej := rules.CheckModel(c.Name); rej != nil {
			c.Fail(rej)
			return
		}
		c.Reply(http.StatusOK, geminiModel(c.Name))
	}}})
	rt.On(fault.List, "GET", at+"/batches", g.list)
	rt.Verbs("GET", at+"/batches", map[string]backend.Verb{"": {Kind: fault.Check, Do: g.show}})
	rt.Verbs("POST", at+"/batches", map[string]backend.Verb{"cancel": {Kind: fault.Cancel, Do: g.cancel}})
	rt.Verbs("DELETE", at+"/batches", map[string]backend.Verb{"": {Kind: fault.Delete, Do: g.remove}})
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

func (g gemini) create(c *backend.Call) {
	var in geminiCreate
	if !c.Read(&in) {
		return
	}
	d := backend.Draft{
		NewID: dice.Letters(dice.Base36, 36), Model: c.Name, Name: in.Batch.DisplayName, Format: geminiFormat{},
		Strict:  func(sv *backend.Survey) *rules.Rejection { return geminiBusy(c, sv) },
		Outputs: func(j *backend.Job) []string { return []string{"batch-" + j.ID} },
	}
	if !c.Good(g.source(c, in.Batch.InputConfig, &d)) {
		return
	}
	if j, ok := c.Launch(d); ok {
		c.Reply(http.StatusOK, g.operation(c, j,
			backend.View{Progress: backend.Progress{Phase: backend.Queued}, Total: j.Lines.Len, Pending: j.Lines.Len}, wholeOutput))
	}
}

// source finds the requests of a job: in a file, or in the call itself.
func (g gemini) source(c *backend.Call, in geminiInput, d *backend.Draft) (*rules.Rejection, error) {
	if in.FileName == "" {
		if len(in.Requests.Requests) == 0 {
			return rules.Invalid("", "", "batch.input_config: one of file_name and requests must be set"), nil
		}
		var b strings.Builder
		for _, r := range in.Requests.Requests {
			b.Write(r)
			b.WriteByte('\n')
		}
		if b.Len() > geminiInline {
			return rules.Invalid("", "", "Request payload size exceeds the limit: %d bytes.", geminiInline), nil
		}
		data, err := c.Disk().Save("inline", strings.NewReader(b.String()), 0)
		d.Data, d.Format, d.InOrder = data, geminiFormat{inline: true}, true
		return nil, err
	}
	f := c.FindFile(strings.TrimPrefix(in.FileName, "files/"))
	if f == nil {
		return rules.NotFound("File %s not found.", in.FileName), nil
	}
	if g.fileState(c, f) != "ACTIVE" {
		return &rules.Rejection{Status: http.StatusBadRequest, Type: "FAILED_PRECONDITION",
			Message: "The File " + f.ID + " is not in an ACTIVE state and usage is not allowed."}, nil
	}
	d.Data, d.Input = f.Blob, in.FileName
	return nil, nil
}

// geminiBusy refuses a job that does not fit beside those still unfinished.
func geminiBusy(c *backend.Call, sv *backend.Survey) *rules.Rejection {
	open := 0
	for _, j := range c.Jobs() {
		if !j.At(c.Now).Over() {
			open++
		}
	}
	if open >= geminiJobs || c.OverQueued(c.Name, sv.Tokens) {
		return &rules.Rejection{Status: http.StatusTooManyRequests, Message: "Resource has been exhausted (e.g. check quota)."}
	}
	return nil
}

func (g gemini) list(c *backend.Call) {
	part, more := backend.Page(c.Jobs(), c.Request.URL.Query().Get("pageToken"), c.QueryInt("pageSize", 50, 1000),
		func(j *backend.Job) string { return j.ID })
	out := map[string]any{}
	ops := []any{}
	for _, j := range part {
		ops = append(ops, g.operation(c, j, c.Look(j), noInline))
	}
	if len(ops) > 0 {
		out["operations"] = ops
	}
	if more {
		out["nextPageToken"] = part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

func (g gemini) show(c *backend.Call) {
	if j := c.Job(c.Name); j != nil {
		c.Reply(http.StatusOK, g.operation(c, j, c.Look(j), wholeOutput))
	}
}

func (g gemini) cancel(c *backend.Call) {
	j := c.Job(c.Name)
	if j == nil {
		return
	}
	if !c.Cancel(j) {
		c.Fail(&rules.Rejection{Status: http.StatusBadRequest, Type: "FAILED_PRECONDITION",
			Message: "The batch is not in a state in which it can be cancelled."})
		return
	}
	c.Reply(http.StatusOK, struct{}{})
}

func (g gemini) remove(c *backend.Call) {
	if j := c.Job(c.Name); j != nil {
		j.Remove()
		c.Reply(http.StatusOK, struct{}{})
	}
}

// outputPolicy is whether results that come with the job are shown.
type outputPolicy int

const (
	wholeOutput outputPolicy = iota
	noInline
)

// operation returns a job as Gemini shows it: a long-running operation with the batch as its metadata.
func (g gemini) operation(c *backend.Call, j *backend.Job, v backend.View, p outputPolicy) geminiOperation {
	m := geminiBatch{
		Type: "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch", Model: "models/" + j.Model,
		DisplayName: j.Name, CreateTime: rfc(j.Made), UpdateTime: rfc(c.Now),
		State: "BATCH_STATE_" + cmp.Or(strings.ToUpper(v.Word), geminiState(v.Phase)), Name: "batches/" + j.ID, Stats: geminiStats(v),
	}
	if j.Input != "" {
		m.Input = map[string]any{"fileName": j.Input}
	}
	op := geminiOperation{Name: "batches/" + j.ID, Metadata: &m}
	if !v.Over() {
		return op
	}
	op.Done, m.EndTime = true, rfc(v.Ended)
	if v.Phase == backend.Failed {
		op.Error = map[string]any{"code": grpcCode(j.Failure[0].Status), "message": failureMessage(j)}
		return op
	}
	if v.Phase == backend.Expired || v.NoOutput {
		return op
	}
	m.Output = g.output(c, j, p)
	op.Response = m.Output
	return op
}

func (g gemini) output(c *backend.Call, j *backend.Job, p outputPolicy) any {
	if !j.Format.(geminiFormat).inline {
		return map[string]any{"responsesFile": "files/batch-" + j.ID}
	}
	if p == noInline {
		return nil
	}
	all, err := c.Documents(j, 0)
	if err != nil {
		panic(err) // the disk is gone
	}
	return map[string]any{"inlinedResponses": map[string]any{"inlinedResponses": all}}
}

func geminiState(p backend.Phase) string {
	switch p {
	case backend.Validating, backend.Queued:
		return "PENDING"
	case backend.Completed:
		return "SUCCEEDED"
	case backend.Failed, backend.Expired, backend.Cancelled:
		return strings.ToUpper(string(p))
	}
	return "RUNNING"
}

// geminiStats are counts as strings; those that are zero are left out.
func geminiStats(v backend.View) map[string]string {
	out := map[string]string{}
	for name, n := range map[string]int{
		"requestCount": v.Total, "successfulRequestCount": v.Succeeded, "failedRequestCount": v.Errored, "pendingRequestCount": v.Pending,
	} {
		if n > 0 {
			out[name] = strconv.Itoa(n)
		}
	}
	return out
}

// geminiFormat is {"key","request"} in files, {"request","metadata"} inline.
type geminiFormat struct{ inline bool }

func (f geminiFormat) Open(j *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	in := backend.Carried{Body: v.Get("request"), Dialect: bodies.Generate{}, Model: j.Model}
	if in.Body == nil || in.Body.Type() != fastjson.TypeObject {
		return in, rules.Invalid("request", "", "request: must be set")
	}
	in.ID = string(v.GetStringBytes("key"))
	if f.inline {
		in.ID = string(v.GetStringBytes("metadata", "key"))
	}
	return in, nil
}

func (f geminiFormat) Close(dst []byte, _ *backend.Job, e *backend.Ended) ([]byte, int) {
	if e.How == backend.RanOut || e.How == backend.Stopped {
		return dst, -1
	}
	if f.inline {
		dst = append(dst, `{"metadata":`...)
		if m := fastjson.MustParseBytes(e.Line).Get("metadata"); m != nil {
			dst = m.MarshalTo(dst)
		} else {
			dst = append(dst, "{}"...)
		}
	} else {
		dst = bodies.AppendJSON(append(dst, `{"key":`...), e.ID)
	}
	if e.How == backend.Answered {
		return append(append(append(dst, `,"response":`...), e.Reply...), '}'), 0
	}
	return append(bodies.AppendJSON(append(dst, `,"error":`...),
		map[string]any{"code": grpcCode(e.Rejection.Status), "message": e.Rejection.Message}), '}'), 0
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

// geminiCount answers how long a prompt is, without a charge.
func geminiCount(d bodies.Generate) func(*backend.Call) {
	return func(c *backend.Call) {
		if raw := c.Bytes(backend.MaxLive); raw != nil {
			if n, rej := d.CountTokens(raw, c.Name); c.Good(rej, nil) {
				c.Reply(http.StatusOK, map[string]any{"totalTokens": n})
			}
		}
	}
}
