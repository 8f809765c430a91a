package wire

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

func openAIVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "openai", Prefix: "/openai/v1", Base: "/openai/v1", Key: backend.Bearer, Shape: openAIShape, Rate: openAIRate,
		Requests: 50_000, Bytes: 200 << 20, Window: day, Caches: true, OneModel: true, FirstBad: true,
		NoFile: func(id string) *rules.Rejection { return rules.NotFound("No such File object: %s", id) },
		Routes: func(rt backend.Routes) { openAIRoutes(rt, openAIKind{keep: 30 * day}) },
	}
}

func azureVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "azure", Prefix: "/azure/openai/v1", Base: "/azure/openai/v1", Key: backend.HeaderKey("Api-Key"), Shape: openAIShape,
		Rate: openAIRate, Requests: 100_000, Bytes: 200 << 20, Window: 30 * day, Caches: true, OneModel: true,
		Routes: func(rt backend.Routes) { openAIRoutes(rt, openAIKind{pending: true}) },
	}
}

func groqVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "groq", Prefix: "/groq/openai/v1", Base: "/groq", Key: backend.Bearer, Shape: openAIShape, Rate: openAIRate,
		Requests: 50_000, Bytes: 200 << 20, Window: day, Caches: true, OneModel: true,
		Routes: func(rt backend.Routes) {
			openAIRoutes(rt, openAIKind{keep: 30 * day, days: 7, whole: true,
				chat: bodies.Chat{Thoughts: "reasoning", Timings: true, Tier: "on_demand"}})
		},
	}
}

// genericVendor returns any server that copies OpenAI's API, for models of its own.
func genericVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "generic", Prefix: "/generic/v1", Base: "/generic/v1", Key: backend.Bearer, Shape: openAIShape, Rate: openAIRate,
		Requests: 50_000, Bytes: 200 << 20, Window: day, OneModel: true,
		Routes: func(rt backend.Routes) {
			openAIRoutes(rt, openAIKind{days: 14, chat: bodies.Chat{Thoughts: "reasoning_content"}})
		},
	}
}

// openAIKind holds the differences among the providers with OpenAI's API.
type openAIKind struct {
	keep    time.Duration // how long files live; 0: for ever
	days    int           // longest completion window; 0: exactly one day
	whole   bool          // lists come whole
	pending bool          // files are processed before they can be used
	chat    bodies.Chat
}

func openAIRoutes(rt backend.Routes, k openAIKind) {
	rt.On(fault.Upload, "POST", "/files", k.upload)
	rt.On(fault.File, "GET", "/files", k.listFiles)
	rt.On(fault.File, "GET", "/files/{id}", k.showFile)
	rt.On(fault.File, "DELETE", "/files/{id}", k.deleteFile)
	rt.On(fault.Fetch, "GET", "/files/{id}/content", k.content)
	rt.On(fault.Create, "POST", "/batches", k.create)
	rt.On(fault.List, "GET", "/batches", k.list)
	rt.On(fault.Check, "GET", "/batches/{id}", k.show)
	rt.On(fault.Cancel, "POST", "/batches/{id}/cancel", k.cancel)
	rt.On(fault.Ask, "POST", "/chat/completions", func(c *backend.Call) { c.Ask(k.chat, "") })
	rt.On(fault.Ask, "POST", "/responses", func(c *backend.Call) { c.Ask(bodies.Responses{}, "") })
	rt.On(fault.Ask, "POST", "/embeddings", func(c *backend.Call) { c.Ask(bodies.Embeddings{}, "") })
	rt.On(fault.Ask, "POST", "/moderations", func(c *backend.Call) { c.Ask(bodies.Moderations{}, "") })
	modelsRoutes(rt, "")
}

// dialect returns the bodies of an endpoint; nil: there is no such endpoint.
func (k openAIKind) dialect(endpoint string) backend.Dialect {
	switch unversioned(endpoint) {
	case "/chat/completions":
		return k.chat
	case "/responses":
		return bodies.Responses{}
	case "/embeddings":
		return bodies.Embeddings{}
	case "/moderations":
		return bodies.Moderations{}
	}
	return nil
}

// unversioned returns an address without the version of the API: copies of it count their own.
func unversioned(address string) string {
	return strings.TrimPrefix(strings.TrimPrefix(address, "/v1"), "/v4")
}

func (k openAIKind) create(c *backend.Call) {
	var in openAICreate
	if !c.Read(&in) {
		return
	}
	window, rej := k.check(in)
	if rej != nil {
		c.Fail(rej)
		return
	}
	f, missing := c.FindFile(in.InputFileID), ""
	if f == nil { // the batch is made, and fails at its validation
		f, missing = &backend.File{ID: in.InputFileID}, in.InputFileID
	}
	if missing == "" && k.pending && k.status(c, f) != "processed" {
		c.Fail(rules.Invalid("input_file_id", "file_not_ready", "File %s is not processed yet.", f.ID))
		return
	}
	j, ok := c.Launch(backend.Draft{
		NewID: dice.Prefixed("batch_", dice.Hex), Outputs: openAIOutputs,
		Format: openAIFormat{endpoint: in.Endpoint, dialect: k.dialect(in.Endpoint)}, Data: f.Blob, Input: f.ID, Meta: in.Metadata,
		Endpoint: in.Endpoint, Window: window, Late: c.TooMuchQueued, Missing: missing,
	})
	if ok {
		c.Reply(http.StatusOK, openAIBatch(c, j, backend.View{Progress: backend.Progress{Phase: backend.Validating}}))
	}
}

func (k openAIKind) check(in openAICreate) (time.Duration, *rules.Rejection) {
	if k.dialect(in.Endpoint) == nil {
		return 0, rules.Invalid("endpoint", "invalid_value",
			"Invalid value: '%s'. Supported values are: '/v1/responses', '/v1/chat/completions', '/v1/embeddings' and "+
				"'/v1/moderations'.", in.Endpoint)
	}
	window, ok := parseWindow(in.CompletionWindow, max(k.days, 1))
	if !ok {
		return 0, rules.Invalid("completion_window", "invalid_value", "Invalid value: '%s'. Supported values are: '24h'.",
			in.CompletionWindow)
	}
	if len(in.Metadata) > 16 {
		return 0, rules.Invalid("metadata", "object_above_max_properties", "Invalid 'metadata': too many properties.")
	}
	for key, v := range in.Metadata {
		if len(key) > 64 || len(v) > 512 {
			return 0, rules.Invalid("metadata", "string_above_max_length", "Invalid 'metadata.%s': string too long.", key)
		}
	}
	return window, nil
}

// parseWindow reads "24h" or "7d", from one day to so many.
func parseWindow(s string, days int) (time.Duration, bool) {
	var n int
	var unit string
	if _, err := fmt.Sscanf(s, "%d%s", &n, &unit); err != nil {
		return 0, false
	}
	d := time.Duration(n) * map[string]time.Duration{"h": time.Hour, "d": day}[unit]
	return d, d >= day && d <= time.Duration(days)*day
}

func (k openAIKind) list(c *backend.Call) {
	limit := c.QueryInt("limit", 20, 100)
	if k.whole {
		limit = 1 << 30
	}
	part, more := backend.Page(c.Jobs(), c.Request.URL.Query().Get("after"), limit, func(j *backend.Job) string { return j.ID })
	out := openAIList{Object: "list", Data: []any{}, HasMore: more}
	for _, j := range part {
		out.Data = append(out.Data, openAIBatch(c, j, c.Look(j)))
	}
	if len(part) > 0 {
		out.FirstID, out.LastID = part[0].ID, part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

func (k openAIKind) show(c *backend.Call) {
	if j := c.Job(c.Request.PathValue("id")); j != nil {
		c.Reply(http.StatusOK, openAIBatch(c, j, c.Look(j)))
	}
}

func (k openAIKind) cancel(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if !c.Cancel(j) {
		c.Fail(&rules.Rejection{Status: http.StatusConflict, Code: "batch_not_cancellable",
			Message: "Cannot cancel a batch with status '" + openAIStatus(j.At(c.Now).Phase) + "'."})
		return
	}
	v := c.Look(j)
	v.Phase, v.Ended, v.Cancel = backend.Cancelling, time.Time{}, c.Now
	c.Reply(http.StatusOK, openAIBatch(c, j, v))
}

// openAIFormat is {"custom_id","method","url","body"} and the answer to it.
type openAIFormat struct {
	endpoint string
	dialect  backend.Dialect
}

func (f openAIFormat) Open(_ *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	id := v.Get("custom_id")
	if id == nil || id.Type() != fastjson.TypeString || len(id.GetStringBytes()) == 0 {
		return backend.Carried{}, rules.Invalid("custom_id", "missing_required_parameter", "Missing required parameter: 'custom_id'.")
	}
	if m := string(v.GetStringBytes("method")); m != "POST" {
		return backend.Carried{}, rules.Invalid("method", "invalid_method", "Invalid value: '%s'. The method must be 'POST'.", m)
	}
	if u := string(v.GetStringBytes("url")); unversioned(u) != unversioned(f.endpoint) {
		return backend.Carried{}, rules.Invalid("url", "invalid_url",
			"The URL provided for this request does not match the batch endpoint.")
	}
	body := v.Get("body")
	if body == nil || body.Type() != fastjson.TypeObject {
		return backend.Carried{}, rules.Invalid("body", "missing_required_parameter", "Missing required parameter: 'body'.")
	}
	if body.GetBool("stream") {
		return backend.Carried{}, rules.Invalid("body.stream", "streaming_unsupported", "Streaming is not supported in batches.")
	}
	return backend.Carried{ID: string(id.GetStringBytes()), Body: body, Dialect: f.dialect}, nil
}

func (f openAIFormat) Close(dst []byte, _ *backend.Job, e *backend.Ended) ([]byte, int) {
	dst = fmt.Appendf(dst, `{"id":"batch_req_%016x","custom_id":`, e.Number)
	dst = bodies.AppendJSON(dst, e.ID)
	switch e.How {
	case backend.Answered:
		dst = fmt.Appendf(dst, `,"response":{"status_code":200,"request_id":"req_%016x","body":`, dice.Mix(e.Number))
		return append(append(dst, e.Reply...), `},"error":null}`...), 0
	case backend.Errored:
		dst = fmt.Appendf(dst, `,"response":{"status_code":%d,"request_id":"req_%016x","body":`, e.Rejection.Status, dice.Mix(e.Number))
		return append(bodies.AppendJSON(dst, map[string]any{"error": openAIError(e.Rejection)}), `},"error":null}`...), 1
	case backend.Stopped:
		return append(dst, `,"response":null,"error":{"code":"batch_cancelled","message":"This request was not executed because the batch was cancelled."}}`...), 1
	}
	return append(dst, `,"response":null,"error":{"code":"batch_expired","message":"This request could not be executed before the completion window expired."}}`...), 1
}
