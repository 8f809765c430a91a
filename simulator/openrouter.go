package simulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fastjson"
)

func openRouterVendor() *vendor {
	return &vendor{
		name: "openrouter", prefix: "/openrouter/api/v1", base: "/openrouter/api/v1", key: bearer, shape: openRouterShape,
		brokeStatus: http.StatusPaymentRequired, brokeAs: "insufficient_credits",
		requests: 5_000, bytes: 200 << 20, window: day, caches: true,
		routes: openRouterRoutes,
	}
}

func openRouterRoutes(rt routes) {
	o := openRouter{}
	rt.on(Create, "POST", "/batches", o.create)
	rt.on(List, "GET", "/batches", o.list)
	rt.on(Check, "GET", "/batches/{id}", o.show)
	rt.on(Delete, "DELETE", "/batches/{id}", o.remove)
	rt.on(Ask, "POST", "/chat/completions", func(c *call) { c.ask(openRouterChat(), "") })
	modelsRoutes(rt, "")
}

// openRouter plays the batches of OpenRouter: one document in, one document out.
type openRouter struct{}

// openRouterKeep is how long results can be read.
const openRouterKeep = 30 * day

func openRouterChat() chat { return chat{thoughts: "reasoning", cost: true} }

// openRouterShape is {"error":{"code":status,…}}.
func openRouterShape(_ *call, r *Rejection) any {
	return map[string]any{"error": map[string]any{"code": r.Status, "message": r.Message, "metadata": map[string]any{"reason": nullable(r.Code)}}}
}

// create reads the document as it comes: what it needs to know about the requests must stand before them.
func (o openRouter) create(c *call) {
	var in openRouterCreate
	data, rej, err := c.split("requests", c.v.bytes, func(key string, v json.RawMessage) *Rejection {
		if key == "requests" {
			if in.Endpoint == "" || in.Model == "" {
				return invalid("requests", "invalid_order", "endpoint and model must come before requests")
			}
			return nil
		}
		if json.Unmarshal(appendJSON(nil, map[string]any{key: v}), &in) != nil {
			return invalid(key, "invalid_type", "%s: invalid type", key)
		}
		return nil
	})
	if !c.good(rej, err) {
		return
	}
	switch {
	case in.Endpoint != "/v1/chat/completions" && in.Endpoint != "/api/v1/chat/completions" && in.Endpoint != "/chat/completions":
		c.fail(invalid("endpoint", "invalid_endpoint", "Unsupported endpoint: %s", in.Endpoint))
		return
	case in.Window != "24h":
		c.fail(invalid("completion_window", "invalid_value", "completion_window must be 24h"))
		return
	}
	j, ok := c.launch(draft{
		newID: prefixed("batch_", letters(base62, 24)), data: data, endpoint: in.Endpoint, model: in.Model,
		format: openRouterFormat{model: in.Model}, strict: openRouterStrict, late: oneBadFailsAll,
	})
	if ok {
		c.reply(http.StatusAccepted, o.object(j, view{progress: progress{phase: validating}, total: j.lines.n}))
	}
}

// openRouterStrict tells what is found wrong while the document is read.
func openRouterStrict(sv *survey) *Rejection {
	if len(sv.issues) == 0 {
		return nil
	}
	i := sv.issues[0]
	if i.line > 0 {
		return invalid(fmt.Sprintf("requests.%d", i.line-1), i.Code, "requests.%d: %s", i.line-1, i.Message)
	}
	return &i.Rejection
}

// oneBadFailsAll makes a batch with one bad request fail as a whole.
func oneBadFailsAll(sv *survey) {
	if sv.firstBad != nil && sv.firstBad.Status < 500 {
		sv.issues = append(sv.issues, issue{line: int(sv.bad[0]) + 1, Rejection: *sv.firstBad})
	}
}

func (o openRouter) list(c *call) {
	q := c.r.URL.Query()
	all := slices.DeleteFunc(c.mine(), func(j *job) bool {
		if want := q["status"]; len(want) > 0 && !slices.Contains(want, openAIStatus(c.look(j).phase)) {
			return true
		}
		after, errA := time.Parse(time.RFC3339, q.Get("created_after"))
		before, errB := time.Parse(time.RFC3339, q.Get("created_before"))
		return errA == nil && !j.made.After(after) || errB == nil && !j.made.Before(before)
	})
	part, more := page(all, q.Get("after"), c.queryInt("limit", 20, 100), func(j *job) string { return j.id })
	out := openAIList{Object: "list", Data: []any{}, HasMore: more}
	for _, j := range part {
		out.Data = append(out.Data, o.object(j, c.look(j)))
	}
	if len(part) > 0 {
		out.FirstID, out.LastID = part[0].id, part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

// show tells the job, and its results once it is completed: of any other end nothing is handed out.
func (o openRouter) show(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if c.now.Sub(j.made) >= openRouterKeep {
		c.fail(&Rejection{Status: http.StatusGone, Code: "expired", Message: "The results of this batch are no longer available."})
		return
	}
	v := c.look(j)
	out := o.object(j, v)
	if v.phase == completed && v.word == "" && !v.noOutput {
		b, err := c.results(j, 0)
		lines := []json.RawMessage{}
		err = cmp.Or(err, eachResult(b, 0, func(line []byte, _ int64) bool {
			if json.Valid(line) { // a broken line cannot stand in a document
				lines = append(lines, line)
			}
			return true
		}))
		if err != nil {
			c.trouble(err)
			return
		}
		out.Results = lines
	}
	c.reply(http.StatusOK, out)
}

func (o openRouter) remove(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if !j.at(c.now).over() {
		c.fail(&Rejection{Status: http.StatusConflict, Code: "not_terminal", Message: "The batch is still being processed."})
		return
	}
	j.remove()
	c.reply(http.StatusOK, map[string]any{"id": j.id, "deleted": true})
}

func (o openRouter) object(j *job, v view) openRouterBatch {
	b := openRouterBatch{
		ID: j.id, Object: "batch", Endpoint: j.endpoint, Model: j.model, Window: "24h", Status: cmp.Or(v.word, openAIStatus(v.phase)),
		CreatedAt: rfc(j.made), ExpiresAt: rfc(j.made.Add(openRouterKeep)),
		Counts: openAICounts{Total: v.total, Completed: v.succeeded, Failed: v.errored},
	}
	if !v.over() {
		return b
	}
	b.CompletedAt = rfc(v.ended)
	if v.phase == failed {
		b.Error = map[string]any{"code": j.failure[0].Code, "message": geminiFailure(j)}
		return b
	}
	b.Usage = map[string]any{"cost": float64(v.succeeded) * 1e-4, "is_byok": false}
	return b
}

// openRouterFormat is {"custom_id","body"}, answered with OpenAI's lines, all in one place.
type openRouterFormat struct{ model string }

func (f openRouterFormat) open(_ *job, v *fastjson.Value) (carried, *Rejection) {
	in := carried{id: stringOf(v, "custom_id"), body: v.Get("body"), dialect: openRouterChat(), model: f.model}
	switch {
	case in.id == "":
		return in, invalid("custom_id", "missing_required_parameter", "custom_id is required")
	case in.body == nil || in.body.Type() != fastjson.TypeObject:
		return in, invalid("body", "missing_required_parameter", "body is required")
	case strings.Contains(string(in.body.MarshalTo(nil)), `"url":"data:`):
		return in, invalid("body", "inline_media", "inline media is not supported in batches")
	}
	return in, nil
}

func (f openRouterFormat) close(dst []byte, j *job, e *ended) ([]byte, int) {
	dst, _ = openAIFormat{}.close(dst, j, e)
	return dst, 0
}

type openRouterCreate struct {
	Endpoint string          `json:"endpoint"`
	Model    string          `json:"model"`
	Provider json.RawMessage `json:"provider"`
	Window   string          `json:"completion_window"`
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
