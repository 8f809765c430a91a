package simulator

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"time"

	"github.com/valyala/fastjson"
)

func anthropicVendor() *vendor {
	return &vendor{
		name: "anthropic", prefix: "/anthropic/v1", base: "/anthropic", key: headerKey("X-Api-Key"), admit: anthropicVersion,
		shape: anthropicShape, rate: anthropicRate, idHeaderAs: "Request-Id", brokeStatus: http.StatusPaymentRequired,
		requests: 100_000, bytes: 256 << 20, window: day, lineByLine: true,
		routes: anthropicRoutes,
	}
}

func anthropicRoutes(rt routes) {
	a := anthropic{}
	rt.on(Create, "POST", "/messages/batches", a.create)
	rt.on(List, "GET", "/messages/batches", a.list)
	rt.on(Check, "GET", "/messages/batches/{id}", a.show)
	rt.on(Fetch, "GET", "/messages/batches/{id}/results", a.results)
	rt.on(Cancel, "POST", "/messages/batches/{id}/cancel", a.cancel)
	rt.on(Delete, "DELETE", "/messages/batches/{id}", a.remove)
	rt.on(Ask, "POST", "/messages", func(c *call) { c.ask(messagesOf(c), "") })
	rt.on(Models, "POST", "/messages/count_tokens", func(c *call) { messagesOf(c).countTokens(c) })
	rt.on(Models, "GET", "/models", func(c *call) {
		c.reply(http.StatusOK, anthropicList{Data: []any{anthropicModel("claude-sim-5")}, FirstID: "claude-sim-5", LastID: "claude-sim-5"})
	})
	rt.on(Models, "GET", "/models/{model}", func(c *call) {
		if rej := (reading{vendor: c.v, rules: anyRules{}}).check(Asked{Model: c.r.PathValue("model")}); rej != nil {
			c.fail(rej)
			return
		}
		c.reply(http.StatusOK, anthropicModel(c.r.PathValue("model")))
	})
}

// anthropic plays the message batches.
type anthropic struct{}

// archiveAfter is how long results can be read, counted from the batch's making.
const archiveAfter = 29 * day

func messagesOf(c *call) messages { return messages{version: c.r.Header.Get("Anthropic-Version")} }

// anthropicVersion lets both generations of the API in: the older with a key in its own header or a bearer, the newer with
// a bearer only.
func anthropicVersion(c *call) *Rejection {
	switch v := c.r.Header.Get("Anthropic-Version"); v {
	case "2023-06-01":
		return nil
	case newGeneration:
		if bearer(c.r) == "" {
			return c.v.denied("")
		}
		return nil
	case "":
		return invalid("", "", "anthropic-version: header is required")
	default:
		return invalid("", "", "anthropic-version: %q is not a valid version", v)
	}
}

func anthropicModel(name string) map[string]any {
	return map[string]any{"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
}

func (a anthropic) create(c *call) {
	data, rej, err := c.split("requests", cmp.Or(c.s.opts.Limits.BatchBytes, c.v.bytes), func(key string, _ json.RawMessage) *Rejection {
		if key != "requests" {
			return invalid("", "", "%s: Extra inputs are not permitted", key)
		}
		return nil
	})
	if !c.good(rej, err) {
		return
	}
	j, ok := c.launch(draft{
		newID: prefixed("msgbatch_01", letters(base62, 22)), format: anthropicFormat{messagesOf(c)}, data: data, strict: anthropicStrict,
	})
	if ok {
		c.reply(http.StatusOK, a.object(c, j, view{progress: progress{phase: running}}))
	}
}

// anthropicStrict tells what is found wrong at once: ids and sizes, but no parameter.
func anthropicStrict(sv *survey) *Rejection {
	if len(sv.issues) == 0 {
		return nil
	}
	i := sv.issues[0]
	if i.line > 0 {
		return invalid("", "", "requests.%d.%s", i.line-1, i.Message)
	}
	return &i.Rejection
}

func (a anthropic) list(c *call) {
	q := c.r.URL.Query()
	limit := c.queryInt("limit", 20, 1000)
	all := c.mine()
	part, more := page(all, q.Get("after_id"), limit, func(j *job) string { return j.id })
	if before := q.Get("before_id"); before != "" {
		at := 0
		for at < len(all) && all[at].id != before {
			at++
		}
		from := max(at-limit, 0)
		part, more = all[from:at], from > 0
	}
	out := anthropicList{Data: []any{}, HasMore: more}
	for _, j := range part {
		out.Data = append(out.Data, a.object(c, j, c.look(j)))
	}
	if len(part) > 0 {
		out.FirstID, out.LastID = part[0].id, part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

func (a anthropic) show(c *call) {
	if j := c.job(c.r.PathValue("id")); j != nil {
		c.reply(http.StatusOK, a.object(c, j, c.look(j)))
	}
}

func (a anthropic) results(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if !j.at(c.now).over() || c.now.Sub(j.made) >= archiveAfter {
		c.fail(notFound("The results of batch %s are not available.", j.id))
		return
	}
	b, err := c.results(j, 0)
	if err != nil {
		c.trouble(err)
		return
	}
	c.serve(b, "application/x-jsonl", noRanges)
}

func (a anthropic) cancel(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if !c.cancel(j) {
		c.fail(invalid("", "", "Batch %s has already ended and cannot be canceled.", j.id))
		return
	}
	v := c.look(j)
	v.phase, v.ended, v.cancel = cancelling, time.Time{}, c.now
	c.reply(http.StatusOK, a.object(c, j, v))
}

func (a anthropic) remove(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if !j.at(c.now).over() {
		c.fail(invalid("", "", "Batch %s cannot be deleted while it is being processed.", j.id))
		return
	}
	j.remove()
	c.reply(http.StatusOK, map[string]any{"id": j.id, "type": "message_batch_deleted"})
}

// object is a batch as Anthropic shows it: the counts stand still until it has ended.
func (a anthropic) object(c *call, j *job, v view) anthropicBatch {
	b := anthropicBatch{
		ID: j.id, Type: "message_batch", Status: "in_progress", CreatedAt: rfc(j.made), ExpiresAt: rfc(j.made.Add(j.window)),
		Counts: anthropicCounts{Processing: j.lines.n},
	}
	if !v.cancel.IsZero() {
		b.Status, b.CancelInitiatedAt = "canceling", rfc(v.cancel)
	}
	if v.over() {
		b.Status, b.EndedAt = "ended", rfc(v.ended)
		b.Counts = anthropicCounts{Processing: v.pending, Succeeded: v.succeeded, Errored: v.errored, Canceled: v.cancelled, Expired: v.expired}
		if c.now.Sub(j.made) >= archiveAfter {
			b.ArchivedAt = rfc(j.made.Add(archiveAfter))
		} else if !v.noOutput {
			b.ResultsURL = c.self() + c.v.prefix + "/messages/batches/" + j.id + "/results"
		}
	}
	b.Status = cmp.Or(v.word, b.Status)
	return b
}

// rfc writes a time as Anthropic and Google do; nil for none.
func rfc(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}

// anthropicFormat is {"custom_id","params"} and {"custom_id","result"}.
type anthropicFormat struct{ dialect messages }

var anthropicID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (f anthropicFormat) open(_ *job, v *fastjson.Value) (carried, *Rejection) {
	id := stringOf(v, "custom_id")
	if !anthropicID.MatchString(id) {
		return carried{}, invalid("custom_id", "", "custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
	}
	body := v.Get("params")
	if body == nil || body.Type() != fastjson.TypeObject {
		return carried{}, invalid("params", "", "params: Field required")
	}
	return carried{id: id, body: body, dialect: f.dialect}, nil
}

func (f anthropicFormat) close(dst []byte, _ *job, e *ended) ([]byte, int) {
	dst = append(appendJSON(append(dst, `{"custom_id":`...), e.id), `,"result":{"type":`...)
	switch e.how {
	case answered:
		return append(append(append(dst, `"succeeded","message":`...), e.reply...), `}}`...), 0
	case errored:
		return append(appendJSON(append(dst, `"errored","error":`...), f.dialect.errorLine(e)), `}}`...), 0
	case stopped:
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
