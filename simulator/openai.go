package simulator

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/valyala/fastjson"
)

const day = 24 * time.Hour

func openAIVendor() *vendor {
	return &vendor{
		name: "openai", prefix: "/openai/v1", base: "/openai/v1", key: bearer, shape: openAIShape, rate: openAIRate,
		requests: 50_000, bytes: 200 << 20, window: day, caches: true, oneModel: true,
		routes: func(rt routes) { openAIRoutes(rt, openAIKind{keep: 30 * day}) },
	}
}

func azureVendor() *vendor {
	return &vendor{
		name: "azure", prefix: "/azure/openai/v1", base: "/azure/openai/v1", key: headerKey("Api-Key"), shape: openAIShape, rate: openAIRate,
		requests: 100_000, bytes: 200 << 20, window: 30 * day, caches: true, oneModel: true,
		routes: func(rt routes) { openAIRoutes(rt, openAIKind{pending: true}) },
	}
}

func groqVendor() *vendor {
	return &vendor{
		name: "groq", prefix: "/groq/openai/v1", base: "/groq", key: bearer, shape: openAIShape, rate: openAIRate,
		requests: 50_000, bytes: 200 << 20, window: day, caches: true, oneModel: true,
		routes: func(rt routes) {
			openAIRoutes(rt, openAIKind{keep: 30 * day, days: 7, whole: true, chat: chat{thoughts: "reasoning", timings: true}})
		},
	}
}

// genericVendor is any server that copies OpenAI's API, for models of its own.
func genericVendor() *vendor {
	return &vendor{
		name: "generic", prefix: "/generic/v1", base: "/generic/v1", key: bearer, shape: openAIShape, rate: openAIRate,
		requests: 50_000, bytes: 200 << 20, window: day, oneModel: true,
		routes: func(rt routes) { openAIRoutes(rt, openAIKind{chat: chat{thoughts: "reasoning_content"}}) },
	}
}

// openAIKind is what differs among the providers that have OpenAI's API.
type openAIKind struct {
	keep    time.Duration // how long files live; 0: for ever
	days    int           // longest completion window; 0: exactly one day
	whole   bool          // lists come whole
	pending bool          // files are processed before they can be used
	chat    chat
}

func openAIRoutes(rt routes, k openAIKind) {
	rt.on(Upload, "POST", "/files", k.upload)
	rt.on(File, "GET", "/files", k.listFiles)
	rt.on(File, "GET", "/files/{id}", k.showFile)
	rt.on(File, "DELETE", "/files/{id}", k.deleteFile)
	rt.on(Fetch, "GET", "/files/{id}/content", k.content)
	rt.on(Create, "POST", "/batches", k.create)
	rt.on(List, "GET", "/batches", k.list)
	rt.on(Check, "GET", "/batches/{id}", k.show)
	rt.on(Cancel, "POST", "/batches/{id}/cancel", k.cancel)
	rt.on(Ask, "POST", "/chat/completions", func(c *call) { c.ask(k.chat, "") })
	rt.on(Ask, "POST", "/responses", func(c *call) { c.ask(responses{}, "") })
	rt.on(Ask, "POST", "/embeddings", func(c *call) { c.ask(embeddings{}, "") })
	modelsRoutes(rt, "")
}

// dialect tells what the bodies of an endpoint are; nil: there is no such endpoint.
func (k openAIKind) dialect(endpoint string) dialect {
	switch strings.TrimPrefix(endpoint, "/v1") {
	case "/chat/completions":
		return k.chat
	case "/responses":
		return responses{}
	case "/embeddings":
		return embeddings{}
	}
	return nil
}

func (k openAIKind) create(c *call) {
	var in openAICreate
	if !c.read(&in) {
		return
	}
	window, rej := k.check(in)
	if rej != nil {
		c.fail(rej)
		return
	}
	f := c.findFile(in.InputFileID)
	if f == nil {
		c.fail(invalid("input_file_id", "invalid_value", "Invalid 'input_file_id': no such file %s.", in.InputFileID))
		return
	}
	if k.pending && k.status(c, f) != "processed" {
		c.fail(invalid("input_file_id", "file_not_ready", "File %s is not processed yet.", f.id))
		return
	}
	j, ok := c.launch(draft{
		newID: prefixed("batch_", hexID), outputs: openAIOutputs, format: openAIFormat{endpoint: in.Endpoint, dialect: k.dialect(in.Endpoint)},
		data: f.blob, input: f.id, meta: in.Metadata, endpoint: in.Endpoint, window: window, late: c.tooMuchQueued,
	})
	if ok {
		c.reply(http.StatusOK, openAIBatch(c, j, view{progress: progress{phase: validating}}))
	}
}

func (k openAIKind) check(in openAICreate) (time.Duration, *Rejection) {
	if k.dialect(in.Endpoint) == nil {
		return 0, invalid("endpoint", "invalid_value", "Invalid value: '%s'. Supported values are: '/v1/responses', '/v1/chat/completions' and '/v1/embeddings'.", in.Endpoint)
	}
	window, ok := parseWindow(in.CompletionWindow, max(k.days, 1))
	if !ok {
		return 0, invalid("completion_window", "invalid_value", "Invalid value: '%s'. Supported values are: '24h'.", in.CompletionWindow)
	}
	if len(in.Metadata) > 16 {
		return 0, invalid("metadata", "object_above_max_properties", "Invalid 'metadata': too many properties.")
	}
	for key, v := range in.Metadata {
		if len(key) > 64 || len(v) > 512 {
			return 0, invalid("metadata", "string_above_max_length", "Invalid 'metadata.%s': string too long.", key)
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

// tooMuchQueued finds a batch invalid that does not fit beside those still unfinished.
func (c *call) tooMuchQueued(sv *survey) {
	limit := c.s.opts.Limits.Enqueued
	if limit == 0 || len(sv.issues) > 0 {
		return
	}
	if waiting := c.enqueued(sv.model); waiting+sv.tokens > limit {
		sv.note(0, &Rejection{Status: http.StatusTooManyRequests, Code: "token_limit_exceeded", Message: fmt.Sprintf(
			"Enqueued token limit reached for %s. Limit: %d enqueued tokens. Please try again once some in_progress batches have been completed.", sv.model, limit)})
	}
}

func (k openAIKind) list(c *call) {
	limit := c.queryInt("limit", 20, 100)
	if k.whole {
		limit = 1 << 30
	}
	part, more := page(c.mine(), c.r.URL.Query().Get("after"), limit, func(j *job) string { return j.id })
	out := openAIList{Object: "list", Data: []any{}, HasMore: more}
	for _, j := range part {
		out.Data = append(out.Data, openAIBatch(c, j, c.look(j)))
	}
	if len(part) > 0 {
		out.FirstID, out.LastID = part[0].id, part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

func (k openAIKind) show(c *call) {
	if j := c.job(c.r.PathValue("id")); j != nil {
		c.reply(http.StatusOK, openAIBatch(c, j, c.look(j)))
	}
}

func (k openAIKind) cancel(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if !c.cancel(j) {
		c.fail(&Rejection{Status: http.StatusConflict, Code: "batch_not_cancellable",
			Message: "Cannot cancel a batch with status '" + openAIStatus(j.at(c.now).phase) + "'."})
		return
	}
	v := c.look(j)
	v.phase, v.ended, v.cancel = cancelling, time.Time{}, c.now
	c.reply(http.StatusOK, openAIBatch(c, j, v))
}

// openAIFormat is {"custom_id","method","url","body"} and the answer to it.
type openAIFormat struct {
	endpoint string
	dialect  dialect
}

func (f openAIFormat) open(_ *job, v *fastjson.Value) (carried, *Rejection) {
	id := v.Get("custom_id")
	if id == nil || id.Type() != fastjson.TypeString || len(id.GetStringBytes()) == 0 {
		return carried{}, invalid("custom_id", "missing_required_parameter", "Missing required parameter: 'custom_id'.")
	}
	if m := stringOf(v, "method"); m != "POST" {
		return carried{}, invalid("method", "invalid_method", "Invalid value: '%s'. The method must be 'POST'.", m)
	}
	if u := stringOf(v, "url"); strings.TrimPrefix(u, "/v1") != strings.TrimPrefix(f.endpoint, "/v1") {
		return carried{}, invalid("url", "url_mismatch", "The URL provided for this request does not match the batch endpoint.")
	}
	body := v.Get("body")
	if body == nil || body.Type() != fastjson.TypeObject {
		return carried{}, invalid("body", "missing_required_parameter", "Missing required parameter: 'body'.")
	}
	return carried{id: string(id.GetStringBytes()), body: body, dialect: f.dialect}, nil
}

func (f openAIFormat) close(dst []byte, _ *job, e *ended) ([]byte, int) {
	dst = fmt.Appendf(dst, `{"id":"batch_req_%016x","custom_id":`, e.num)
	dst = appendJSON(dst, e.id)
	switch e.how {
	case answered:
		dst = fmt.Appendf(dst, `,"response":{"status_code":200,"request_id":"req_%016x","body":`, mix(e.num))
		return append(append(dst, e.reply...), `},"error":null}`...), 0
	case errored:
		dst = fmt.Appendf(dst, `,"response":{"status_code":%d,"request_id":"req_%016x","body":`, e.rej.Status, mix(e.num))
		return append(appendJSON(dst, map[string]any{"error": openAIError(e.rej)}), `},"error":null}`...), 1
	case stopped:
		return append(dst, `,"response":null,"error":{"code":"batch_cancelled","message":"This request was not executed because the batch was cancelled."}}`...), 1
	}
	return append(dst, `,"response":null,"error":{"code":"batch_expired","message":"This request could not be executed before the completion window expired."}}`...), 1
}
