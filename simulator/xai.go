package simulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fastjson"
)

func xaiVendor() *vendor {
	return &vendor{
		name: "xai", prefix: "/xai/v1", base: "/xai/v1", key: bearer, shape: xaiShape, rate: openAIRate,
		requests: 50_000, bytes: 200 << 20, window: day, caches: true,
		routes: xaiRoutes,
	}
}

func xaiRoutes(rt routes) {
	x := xai{}
	rt.on(Upload, "POST", "/files", x.upload)
	rt.on(File, "GET", "/files", x.listFiles)
	rt.on(File, "GET", "/files/{id}", x.showFile)
	rt.on(File, "DELETE", "/files/{id}", x.deleteFile)
	rt.on(Create, "POST", "/batches", x.create)
	rt.on(Add, "POST", "/batches/{id}/requests", x.add)
	rt.on(List, "GET", "/batches", x.list)
	rt.on(Check, "GET", "/batches/{id}", x.show)
	rt.on(Check, "GET", "/batches/{id}/requests", x.requests)
	rt.on(Fetch, "GET", "/batches/{id}/results", x.results)
	rt.verbs("POST", "/batches", map[string]verb{"cancel": {Cancel, x.cancel}})
	rt.on(Ask, "POST", "/chat/completions", func(c *call) { c.ask(xaiChat(), "") })
	rt.on(Ask, "POST", "/responses", func(c *call) { c.ask(responses{}, "") })
	modelsRoutes(rt, "")
}

// xai plays the batches of xAI: containers that requests are added to. Every addition is a job of its own here.
type xai struct{}

func xaiChat() chat { return chat{thoughts: "reasoning_content", apart: true, cost: true} }

// xaiBatch is a container.
type xaiBatch struct {
	id, name string
	made     time.Time
	expires  time.Time
	sealed   bool // made from a file: nothing can be added

	mu    sync.Mutex
	parts []*job
	ids   [][]uint64 // hashes of the ids in each part, sorted
}

// xaiShape is {"code","error"}.
func xaiShape(_ *call, r *Rejection) any {
	return map[string]any{"code": cmp.Or(r.Code, "invalid_argument"), "error": r.Message}
}

func (x xai) create(c *call) {
	var in struct {
		Name        string `json:"name"`
		InputFileID string `json:"input_file_id"`
	}
	if !c.read(&in) {
		return
	}
	if in.Name == "" {
		c.fail(invalid("name", "invalid_argument", "name is required"))
		return
	}
	b := &xaiBatch{id: "batch_" + uuid(c.s.newID(c.v.name, c.now)), name: in.Name, made: c.now, expires: c.now.Add(cmp.Or(c.s.opts.Window, c.v.window)), sealed: in.InputFileID != ""}
	if b.sealed {
		f := c.findFile(in.InputFileID)
		if f == nil {
			c.fail(notFound("file %s not found", in.InputFileID))
			return
		}
		if !x.part(c, b, f.blob, openAIFormat{endpoint: "/v1/chat/completions", dialect: xaiChat()}) {
			return
		}
	}
	c.s.mu.Lock()
	key := scoped(c.v.name, c.account, b.id)
	c.s.batches[key] = b
	c.s.batchIDs = append(c.s.batchIDs, key)
	c.s.mu.Unlock()
	o := x.object(c, b)
	if b.sealed { // nothing is counted before the file has been read
		o.State = xaiState{}
	}
	c.reply(http.StatusOK, o)
}

// part makes a job of more requests and adds it. It answers the call itself when that does not work.
func (x xai) part(c *call, b *xaiBatch, data blob, f format) bool {
	j, ok := c.launch(draft{
		id: b.id, key: fmt.Sprintf("%s#%d", b.id, len(b.parts)), format: xaiFormat{f}, data: data, name: b.name, window: b.expires.Sub(c.now),
	})
	if ok {
		b.parts = append(b.parts, j)
	}
	return ok
}

func (x xai) find(c *call, id string) *xaiBatch {
	c.s.mu.Lock()
	b := c.s.batches[scoped(c.v.name, c.account, id)]
	c.s.mu.Unlock()
	e, hidden := c.effect("hide")
	if b == nil || hidden && c.now.Sub(b.made) < e.d {
		c.fail(notFound("batch %s not found", id))
		return nil
	}
	return b
}

// add takes more requests. Those whose id the batch has already are passed over, so that a repeated call does no harm.
func (x xai) add(c *call) {
	b := x.find(c, c.r.PathValue("id"))
	if b == nil {
		return
	}
	data, rej, err := c.split("batch_requests", c.v.bytes, func(string, json.RawMessage) *Rejection { return nil })
	if !c.good(rej, err) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		c.fail(invalid("", "failed_precondition", "batch %s was made from a file: requests cannot be added", b.id))
		return
	}
	fresh, err := x.fresh(c, b, data)
	if !c.good(nil, err) {
		return
	}
	if fresh.size > 0 && !x.part(c, b, fresh, xaiWrapped{}) {
		return
	}
	c.reply(http.StatusOK, struct{}{})
}

// fresh keeps the requests that the batch does not have yet, and remembers them.
func (x xai) fresh(c *call, b *xaiBatch, data blob) (blob, error) {
	out := blob{path: c.s.spill.path("added")}
	f, err := os.OpenFile(out.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return blob{}, err
	}
	defer f.Close()
	var ids []uint64
	seen := map[uint64]bool{}
	var p fastjson.Parser
	err = eachLine(data, func(line []byte, _ int64) error {
		v, err := p.ParseBytes(line)
		if err != nil {
			return err
		}
		h := hashString(0, stringOf(v, "batch_request_id"))
		if seen[h] || b.has(h) {
			return nil
		}
		seen[h] = true
		ids = append(ids, h)
		n, err := f.Write(append(line, '\n'))
		out.size += int64(n)
		return err
	})
	slices.Sort(ids)
	b.ids = append(b.ids, ids)
	return out, err
}

func (b *xaiBatch) has(h uint64) bool {
	for _, part := range b.ids {
		if _, found := slices.BinarySearch(part, h); found {
			return true
		}
	}
	return false
}

func (b *xaiBatch) jobs() []*job {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.parts)
}

func (x xai) show(c *call) {
	if b := x.find(c, c.r.PathValue("id")); b != nil {
		c.reply(http.StatusOK, x.object(c, b))
	}
}

// object is a batch as xAI shows it: counts, and no state. What was rejected shows nowhere but in a message.
func (x xai) object(c *call, b *xaiBatch) xaiObject {
	o := xaiObject{ID: b.id, Name: b.name, CreateTime: rfc(b.made), ExpireTime: rfc(b.expires), Cost: map[string]int64{"total_cost_usd_ticks": 0}}
	for _, j := range b.jobs() {
		v := c.look(j)
		if v.phase == failed {
			o.Rejected, o.CancelTime = j.failure[0].Message, rfc(v.ended)
			continue
		}
		o.State.Requests += v.total
		o.State.Pending += v.pending
		o.State.Success += v.succeeded
		o.State.Error += v.errored
		o.State.Cancelled += v.cancelled + v.expired
		if !v.cancel.IsZero() {
			o.CancelTime = rfc(v.cancel)
		}
	}
	if _, frozen := c.effect("freeze"); frozen {
		o.State = xaiState{} // as if nothing had been counted yet
	}
	o.Cost["total_cost_usd_ticks"] = int64(o.State.Success) * 1_000_000
	return o
}

func (x xai) list(c *call) {
	c.s.mu.Lock()
	var all []*xaiBatch
	for _, key := range c.s.batchIDs {
		if strings.HasPrefix(key, scoped(c.v.name, c.account, "")) {
			all = append(all, c.s.batches[key])
		}
	}
	c.s.mu.Unlock()
	slices.Reverse(all)
	if e, ok := c.effect("hide"); ok {
		all = slices.DeleteFunc(all, func(b *xaiBatch) bool { return c.now.Sub(b.made) < e.d })
	}
	part, more := page(all, c.r.URL.Query().Get("pagination_token"), c.queryInt("limit", 100, 1000), func(b *xaiBatch) string { return b.id })
	out := map[string]any{"batches": []any{}, "pagination_token": nil}
	list := []any{}
	for _, b := range part {
		list = append(list, x.object(c, b))
	}
	out["batches"] = list
	if more {
		out["pagination_token"] = part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

func (x xai) cancel(c *call) {
	b := x.find(c, c.name)
	if b == nil {
		return
	}
	for _, j := range b.jobs() {
		c.cancel(j)
	}
	c.reply(http.StatusOK, x.object(c, b))
}

type xaiState struct {
	Requests  int `json:"num_requests"`
	Pending   int `json:"num_pending"`
	Success   int `json:"num_success"`
	Error     int `json:"num_error"`
	Cancelled int `json:"num_cancelled"`
}

type xaiObject struct {
	ID         string           `json:"batch_id"`
	Name       string           `json:"name"`
	State      xaiState         `json:"state"`
	CreateTime any              `json:"create_time"`
	ExpireTime any              `json:"expire_time"`
	CancelTime any              `json:"cancel_time"`
	Rejected   any              `json:"cancel_by_xai_message"`
	Cost       map[string]int64 `json:"cost_breakdown"`
}
