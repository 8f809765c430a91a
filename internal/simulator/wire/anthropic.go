package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

func anthropicVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "anthropic", Prefix: "/anthropic/v1", Base: "/anthropic", Key: backend.HeaderKey("X-Api-Key"), Admit: anthropicVersion,
		Shape: anthropicShape, Rate: anthropicRate, IDHeaderAs: "Request-Id", BrokeStatus: http.StatusPaymentRequired,
		Requests: 100_000, Bytes: 256 << 20, Window: day, LineByLine: true,
		NoFile: func(id string) *rules.Rejection { return rules.NotFound("File not found: %s", id) },
		Routes: anthropicRoutes,
	}
}

func anthropicRoutes(rt backend.Routes) {
	a := anthropic{}
	rt.On(fault.Create, "POST", "/messages/batches", a.create)
	rt.On(fault.List, "GET", "/messages/batches", a.list)
	rt.On(fault.Check, "GET", "/messages/batches/{id}", a.show)
	rt.On(fault.Fetch, "GET", "/messages/batches/{id}/results", a.results)
	rt.On(fault.Cancel, "POST", "/messages/batches/{id}/cancel", a.cancel)
	rt.On(fault.Delete, "DELETE", "/messages/batches/{id}", a.remove)
	rt.On(fault.Upload, "POST", "/files", a.upload)
	rt.On(fault.File, "GET", "/files", a.listFiles)
	rt.On(fault.File, "GET", "/files/{id}", a.showFile)
	rt.On(fault.File, "DELETE", "/files/{id}", a.deleteFile)
	rt.On(fault.Ask, "POST", "/messages", func(c *backend.Call) { c.Ask(messagesOf(c), "") })
	rt.On(fault.Models, "POST", "/messages/count_tokens", anthropicCount)
	rt.On(fault.Models, "GET", "/models", func(c *backend.Call) {
		c.Reply(http.StatusOK, anthropicList{Data: []any{anthropicModel("claude-sim-5")}, FirstID: "claude-sim-5", LastID: "claude-sim-5"})
	})
	rt.On(fault.Models, "GET", "/models/{model}", func(c *backend.Call) {
		if rej := rules.CheckModel(c.Request.PathValue("model")); rej != nil {
			c.Fail(rej)
			return
		}
		c.Reply(http.StatusOK, anthropicModel(c.Request.PathValue("model")))
	})
}

// anthropic plays the message batches.
type anthropic struct{}

// archiveAfter is how long results can be read, counted from the batch's making.
const archiveAfter = 29 * day

func messagesOf(c *backend.Call) bodies.Messages {
	return bodies.Messages{Version: c.Request.Header.Get("Anthropic-Version"), Betas: c.Request.Header.Get("Anthropic-Beta")}
}

// anthropicVersion lets both generations of the API in: the older with a key in its own header or a bearer, the newer with
// a bearer only.
func anthropicVersion(c *backend.Call) *rules.Rejection {
	switch v := c.Request.Header.Get("Anthropic-Version"); v {
	case "2023-06-01":
		return nil
	case rules.NewGeneration:
		if backend.Bearer(c.Request) == "" {
			return c.Vendor.Denied("")
		}
		return nil
	case "":
		return rules.Invalid("", "", "anthropic-version: header is required")
	default:
		return rules.Invalid("", "", "anthropic-version: %q is not a valid version", v)
	}
}

func anthropicModel(name string) map[string]any {
	return map[string]any{"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
}

func (a anthropic) create(c *backend.Call) {
	data, rej, err := c.Split("requests", c.BatchBytes(), func(key string, _ json.RawMessage) *rules.Rejection {
		if key != "requests" {
			return rules.Invalid("", "", "%s: Extra inputs are not permitted", key)
		}
		return nil
	})
	if !c.Good(rej, err) {
		return
	}
	j, ok := c.Launch(backend.Draft{
		NewID: dice.Prefixed("msgbatch_01", dice.Letters(dice.Base62, 22)), Format: anthropicFormat{messagesOf(c)}, Data: data,
		Strict: anthropicStrict,
	})
	if ok {
		c.Reply(http.StatusOK, a.object(c, j, backend.View{Progress: backend.Progress{Phase: backend.Running}}))
	}
}

// anthropicStrict returns what is found wrong at once: ids and sizes, but no parameter.
func anthropicStrict(sv *backend.Survey) *rules.Rejection {
	if len(sv.Issues) == 0 {
		return nil
	}
	i := sv.Issues[0]
	if i.Line > 0 {
		return rules.Invalid("", "", "requests.%d.%s", i.Line-1, i.Message)
	}
	return &i.Rejection
}

func (a anthropic) list(c *backend.Call) {
	q := c.Request.URL.Query()
	limit := c.QueryInt("limit", 20, 1000)
	all := c.Jobs()
	part, more := backend.Page(all, q.Get("after_id"), limit, func(j *backend.Job) string { return j.ID })
	if before := q.Get("before_id"); before != "" {
		at := 0
		for at < len(all) && all[at].ID != before {
			at++
		}
		from := max(at-limit, 0)
		part, more = all[from:at], from > 0
	}
	out := anthropicList{Data: []any{}, HasMore: more}
	for _, j := range part {
		out.Data = append(out.Data, a.object(c, j, c.Look(j)))
	}
	if len(part) > 0 {
		out.FirstID, out.LastID = part[0].ID, part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

func (a anthropic) show(c *backend.Call) {
	if j := c.Job(c.Request.PathValue("id")); j != nil {
		c.Writer.Header().Set("Retry-After", "10")
		c.Reply(http.StatusOK, a.object(c, j, c.Look(j)))
	}
}

func (a anthropic) results(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if !j.At(c.Now).Over() || c.Now.Sub(j.Made) >= archiveAfter {
		c.Fail(rules.NotFound("The results of batch %s are not available.", j.ID))
		return
	}
	b, err := c.Results(j, 0)
	if err != nil {
		c.Trouble(err)
		return
	}
	c.Serve(b, "application/x-jsonl", backend.NoRanges)
}

func (a anthropic) cancel(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if !c.Cancel(j) {
		c.Fail(rules.Invalid("", "", "Batch %s has already ended and cannot be canceled.", j.ID))
		return
	}
	v := c.Look(j)
	v.Phase, v.Ended, v.Cancel = backend.Cancelling, time.Time{}, c.Now
	c.Reply(http.StatusOK, a.object(c, j, v))
}

func (a anthropic) remove(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if !j.At(c.Now).Over() {
		c.Fail(rules.Invalid("", "", "Batch %s cannot be deleted while it is being processed.", j.ID))
		return
	}
	j.Remove()
	c.Reply(http.StatusOK, map[string]any{"id": j.ID, "type": "message_batch_deleted"})
}

// object returns a batch as Anthropic shows it: the counts do not change until it has ended.
func (a anthropic) object(c *backend.Call, j *backend.Job, v backend.View) anthropicBatch {
	b := anthropicBatch{
		ID: j.ID, Type: "message_batch", Status: "in_progress", CreatedAt: rfc(j.Made), ExpiresAt: rfc(j.Made.Add(j.Window)),
		Counts: anthropicCounts{Processing: j.Lines.Len},
	}
	if !v.Cancel.IsZero() {
		b.Status, b.CancelInitiatedAt = "canceling", rfc(v.Cancel)
	}
	if v.Over() {
		b.Status, b.EndedAt = "ended", rfc(v.Ended)
		b.Counts = anthropicCounts{Processing: v.Pending, Succeeded: v.Succeeded, Errored: v.Errored, Canceled: v.Cancelled,
			Expired: v.Expired}
		if c.Now.Sub(j.Made) >= archiveAfter {
			b.ArchivedAt = rfc(j.Made.Add(archiveAfter))
		} else if !v.NoOutput {
			b.ResultsURL = c.Origin() + c.Vendor.Prefix + "/messages/batches/" + j.ID + "/results"
		}
	}
	b.Status = cmp.Or(v.Word, b.Status)
	return b
}

// anthropicFormat is {"custom_id","params"} and {"custom_id","result"}.
type anthropicFormat struct{ dialect bodies.Messages }

var anthropicID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (f anthropicFormat) Open(_ *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	id := string(v.GetStringBytes("custom_id"))
	if !anthropicID.MatchString(id) {
		return backend.Carried{}, rules.Invalid("custom_id", "", "custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
	}
	body := v.Get("params")
	if body == nil || body.Type() != fastjson.TypeObject {
		return backend.Carried{}, rules.Invalid("params", "", "params: Field required")
	}
	return backend.Carried{ID: id, Body: body, Dialect: f.dialect}, nil
}

func (f anthropicFormat) Close(dst []byte, _ *backend.Job, e *backend.Ended) ([]byte, int) {
	dst = append(bodies.AppendJSON(append(dst, `{"custom_id":`...), e.ID), `,"result":{"type":`...)
	switch e.How {
	case backend.Answered:
		return append(append(append(dst, `"succeeded","message":`...), e.Reply...), `}}`...), 0
	case backend.Errored:
		return append(bodies.AppendJSON(append(dst, `"errored","error":`...), anthropicErrorLine(e)), `}}`...), 0
	case backend.Stopped:
		return append(dst, `"canceled"}}`...), 0
	}
	return append(dst, `"expired"}}`...), 0
}

type anthropicList struct {
	Data    []any `json:"data"`
	HasMore bool  `json:"has_more"`
	FirstID any   `json:"first_id"`
	LastID  any   `json:"last_id"`
}

type anthropicCounts struct {
	Processing int `json:"processing"`
	Succeeded  int `json:"succeeded"`
	Errored    int `json:"errored"`
	Canceled   int `json:"canceled"`
	Expired    int `json:"expired"`
}

type anthropicBatch struct {
	ID                string          `json:"id"`
	Type              string          `json:"type"`
	Status            string          `json:"processing_status"`
	Counts            anthropicCounts `json:"request_counts"`
	CreatedAt         any             `json:"created_at"`
	ExpiresAt         any             `json:"expires_at"`
	EndedAt           any             `json:"ended_at"`
	CancelInitiatedAt any             `json:"cancel_initiated_at"`
	ArchivedAt        any             `json:"archived_at"`
	ResultsURL        any             `json:"results_url"`
}

// anthropicShape is {"type":"error","error":{type,message},"request_id"}.
func anthropicShape(c *backend.Call, r *rules.Rejection) any {
	return map[string]any{"type": "error", "error": anthropicError(r), "request_id": c.RequestID()}
}

func anthropicError(r *rules.Rejection) map[string]any {
	return map[string]any{"type": anthropicType(r), "message": r.Message}
}

func anthropicType(r *rules.Rejection) string {
	if r.Type != "" {
		return r.Type
	}
	names := map[int]string{
		401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}
	if r.Status >= 500 {
		return cmp.Or(names[r.Status], "api_error")
	}
	return cmp.Or(names[r.Status], "invalid_request_error")
}

// anthropicCount answers how long a prompt is, without a charge.
func anthropicCount(c *backend.Call) {
	if raw := c.Bytes(backend.MaxLive); raw != nil {
		if n, rej := messagesOf(c).CountTokens(raw); c.Good(rej, nil) {
			c.Reply(http.StatusOK, map[string]any{"input_tokens": n})
		}
	}
}

// anthropicErrorLine returns an error as a batch result carries it: nested twice.
func anthropicErrorLine(e *backend.Ended) map[string]any {
	return map[string]any{"type": "error", "error": anthropicError(e.Rejection), "request_id": fmt.Sprintf("req_%016x", e.Number)}
}

// anthropicRate writes anthropic-ratelimit-*; resets are points in time, tokens are rounded to thousands.
func anthropicRate(h http.Header, m backend.Meter) {
	at := m.ResetAt.UTC().Format(time.RFC3339)
	if m.Requests > 0 {
		h.Set("Anthropic-Ratelimit-Requests-Limit", strconv.Itoa(m.Requests))
		h.Set("Anthropic-Ratelimit-Requests-Remaining", strconv.Itoa(m.RequestsLeft))
		h.Set("Anthropic-Ratelimit-Requests-Reset", at)
	}
	if m.Tokens > 0 {
		for _, which := range []string{"Tokens", "Input-Tokens"} {
			h.Set("Anthropic-Ratelimit-"+which+"-Limit", strconv.Itoa(m.Tokens))
			h.Set("Anthropic-Ratelimit-"+which+"-Remaining", strconv.Itoa((m.TokensLeft+500)/1000*1000))
			h.Set("Anthropic-Ratelimit-"+which+"-Reset", at)
		}
	}
}
