package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

func openRouterVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "openrouter", Prefix: "/openrouter/api/v1", Base: "/openrouter/api/v1", Key: backend.Bearer, Shape: openRouterShape,
		BrokeStatus: http.StatusPaymentRequired, BrokeAs: "insufficient_credits",
		Requests: 5_000, Bytes: 200 << 20, Window: day, Caches: true,
		Routes: openRouterRoutes,
	}
}

func openRouterRoutes(rt backend.Routes) {
	o := openRouter{}
	rt.On(fault.Create, "POST", "/batches", o.create)
	rt.On(fault.List, "GET", "/batches", o.list)
	rt.On(fault.Check, "GET", "/batches/{id}", o.show)
	rt.On(fault.Delete, "DELETE", "/batches/{id}", o.remove)
	rt.On(fault.Ask, "POST", "/chat/completions", func(c *backend.Call) { c.Ask(openRouterChat(), "") })
	modelsRoutes(rt, "")
}

// openRouter plays the batches of OpenRouter: one document in, one document out.
type openRouter struct{}

// openRouterKeep is how long results can be read.
const openRouterKeep = 30 * day

func openRouterChat() bodies.Chat {
	return bodies.Chat{Thoughts: "reasoning", Cost: true, UsageLast: true}
}

// openRouterShape is {"error":{"code":status,…}}.
func openRouterShape(_ *backend.Call, r *rules.Rejection) any {
	return map[string]any{"error": map[string]any{"code": r.Status, "message": r.Message,
		"metadata": map[string]any{"reason": bodies.Nullable(r.Code)}}}
}

// create reads the document as it comes: what it needs to know about the requests must precede them.
func (o openRouter) create(c *backend.Call) {
	var in openRouterCreate
	data, rej, err := c.Split("requests", c.Vendor.Bytes, func(key string, v json.RawMessage) *rules.Rejection {
		if key == "requests" {
			if in.Endpoint == "" || in.Model == "" {
				return rules.Invalid("requests", "invalid_order", "endpoint and model must come before requests")
			}
			return nil
		}
		if setMember(&in, key, v) != nil {
			return rules.Invalid(key, "invalid_type", "%s: invalid type", key)
		}
		return nil
	})
	if !c.Good(rej, err) {
		return
	}
	switch {
	case in.Endpoint != "/v1/chat/completions" && in.Endpoint != "/api/v1/chat/completions" && in.Endpoint != "/chat/completions":
		c.Fail(rules.Invalid("endpoint", "invalid_endpoint", "Unsupported endpoint: %s", in.Endpoint))
		return
	case in.Window != "24h":
		c.Fail(rules.Invalid("completion_window", "invalid_value", "completion_window must be 24h"))
		return
	}
	j, ok := c.Launch(backend.Draft{
		NewID: dice.Prefixed("batch_", dice.Letters(dice.Base62, 24)), Data: data, Endpoint: in.Endpoint, Model: in.Model,
		Format: openRouterFormat{model: in.Model}, Strict: openRouterStrict, Late: backend.OneBadFailsAll,
	})
	if ok {
		v := backend.View{Progress: backend.Progress{Phase: backend.Validating}, Total: j.Lines.Len}
		c.Reply(http.StatusAccepted, o.object(c, j, v))
	}
}

// openRouterStrict returns what is found wrong while the document is read.
func openRouterStrict(sv *backend.Survey) *rules.Rejection {
	if len(sv.Issues) == 0 {
		return nil
	}
	i := sv.Issues[0]
	if i.Line > 0 {
		return rules.Invalid(fmt.Sprintf("requests.%d", i.Line-1), i.Code, "requests.%d: %s", i.Line-1, i.Message)
	}
	return &i.Rejection
}

func (o openRouter) list(c *backend.Call) {
	q := c.Request.URL.Query()
	all := slices.DeleteFunc(c.Jobs(), func(j *backend.Job) bool {
		if want := q["status"]; len(want) > 0 && !slices.Contains(want, openAIStatus(c.Look(j).Phase)) {
			return true
		}
		after, errA := time.Parse(time.RFC3339, q.Get("created_after"))
		before, errB := time.Parse(time.RFC3339, q.Get("created_before"))
		return errA == nil && !j.Made.After(after) || errB == nil && !j.Made.Before(before)
	})
	part, more := backend.Page(all, q.Get("after"), c.QueryInt("limit", 20, 100), func(j *backend.Job) string { return j.ID })
	out := openAIList{Object: "list", Data: []any{}, HasMore: more}
	for _, j := range part {
		out.Data = append(out.Data, o.object(c, j, c.Look(j)))
	}
	if len(part) > 0 {
		out.FirstID, out.LastID = part[0].ID, part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

// show is the job, and its results once it is completed: of any other end nothing is handed out.
func (o openRouter) show(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if c.Now.Sub(j.Made) >= openRouterKeep {
		c.Fail(&rules.Rejection{Status: http.StatusGone, Code: "expired", Message: "The results of this batch are no longer available."})
		return
	}
	v := c.Look(j)
	out := o.object(c, j, v)
	if v.Phase == backend.Completed && v.Word == "" && !v.NoOutput {
		lines, err := c.Documents(j, 0)
		if err != nil {
			c.Trouble(err)
			return
		}
		out.Results = lines
	}
	c.Reply(http.StatusOK, out)
}

func (o openRouter) remove(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if !j.At(c.Now).Over() {
		c.Fail(&rules.Rejection{Status: http.StatusConflict, Code: "not_terminal", Message: "The batch is still being processed."})
		return
	}
	j.Remove()
	c.Reply(http.StatusOK, map[string]any{"id": j.ID, "deleted": true})
}

func (o openRouter) object(c *backend.Call, j *backend.Job, v backend.View) openRouterBatch {
	b := openRouterBatch{
		ID: j.ID, Object: "batch", Endpoint: j.Endpoint, Model: j.Model, Window: "24h", Status: cmp.Or(v.Word, openAIStatus(v.Phase)),
		CreatedAt: rfc(j.Made), ExpiresAt: rfc(j.Made.Add(openRouterKeep)),
		Counts: openAICounts{Total: v.Total, Completed: v.Succeeded, Failed: v.Errored},
	}
	if !v.Over() {
		return b
	}
	b.CompletedAt = rfc(v.Ended)
	if v.Phase == backend.Failed {
		b.Error = map[string]any{"code": j.Failure[0].Code, "message": failureMessage(j)}
		return b
	}
	b.Usage = map[string]any{"cost": bodies.Cost(c.Spent(j)), "is_byok": false}
	return b
}

// openRouterFormat is {"custom_id","body"}, answered with OpenAI's lines, all in one place.
type openRouterFormat struct{ model string }

func (f openRouterFormat) Open(_ *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	in := backend.Carried{ID: string(v.GetStringBytes("custom_id")), Body: v.Get("body"), Dialect: openRouterChat(), Model: f.model}
	switch {
	case in.ID == "":
		return in, rules.Invalid("custom_id", "missing_required_parameter", "custom_id is required")
	case in.Body == nil || in.Body.Type() != fastjson.TypeObject:
		return in, rules.Invalid("body", "missing_required_parameter", "body is required")
	case strings.Contains(string(in.Body.MarshalTo(nil)), `"url":"data:`):
		return in, rules.Invalid("body", "inline_media", "inline media is not supported in batches")
	}
	return in, nil
}

func (f openRouterFormat) Close(dst []byte, j *backend.Job, e *backend.Ended) ([]byte, int) {
	dst, _ = openAIFormat{}.Close(dst, j, e)
	return dst, 0
}

type openRouterCreate struct {
	Endpoint string `json:"endpoint"`
	Model    string `json:"model"`
	Window   string `json:"completion_window"`
}

type openRouterBatch struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Endpoint    string       `json:"endpoint"`
	Model       string       `json:"model"`
	Window      string       `json:"completion_window"`
	Status      string       `json:"status"`
	CreatedAt   any          `json:"created_at"`
	CompletedAt any          `json:"completed_at"`
	ExpiresAt   any          `json:"expires_at"`
	Counts      openAICounts `json:"request_counts"`
	Error       any          `json:"error"`
	Usage       any          `json:"usage"`
	Results     any          `json:"results,omitempty"`
}
