package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

func xaiVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "xai", Prefix: "/xai/v1", Base: "/xai/v1", Key: backend.Bearer, Shape: xaiShape, Rate: openAIRate,
		Requests: 50_000, Bytes: 200 << 20, Window: day, Caches: true, DeniedAs: http.StatusBadRequest,
		Routes: xaiRoutes,
	}
}

func xaiRoutes(rt backend.Routes) {
	x := xai{book: &xaiBook{batches: map[string]*xaiBatch{}}}
	rt.On(fault.Upload, "POST", "/files", x.upload)
	rt.On(fault.File, "GET", "/files", x.listFiles)
	rt.On(fault.File, "GET", "/files/{id}", x.showFile)
	rt.On(fault.File, "DELETE", "/files/{id}", x.deleteFile)
	rt.On(fault.Create, "POST", "/batches", x.create)
	rt.On(fault.Add, "POST", "/batches/{id}/requests", x.add)
	rt.On(fault.List, "GET", "/batches", x.list)
	rt.On(fault.Check, "GET", "/batches/{id}", x.show)
	rt.On(fault.Check, "GET", "/batches/{id}/requests", x.requests)
	rt.On(fault.Fetch, "GET", "/batches/{id}/results", x.results)
	rt.Verbs("POST", "/batches", map[string]backend.Verb{"cancel": {Kind: fault.Cancel, Do: x.cancel}})
	rt.On(fault.Ask, "POST", "/chat/completions", func(c *backend.Call) { c.Ask(xaiChat(), "") })
	rt.On(fault.Ask, "POST", "/responses", func(c *backend.Call) { c.Ask(bodies.Responses{}, "") })
	modelsRoutes(rt, "")
}

// xai plays the batches of xAI: containers that requests are added to. Every addition is a job of its own here.
type xai struct{ book *xaiBook }

// xaiBook is all containers, by account and id, and their keys in the order they were made.
type xaiBook struct {
	mu      sync.Mutex
	batches map[string]*xaiBatch
	keys    []string
}

func (k *xaiBook) keep(account string, b *xaiBatch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := account + " " + b.id
	k.batches[key] = b
	k.keys = append(k.keys, key)
}

func (k *xaiBook) find(account, id string) *xaiBatch {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.batches[account+" "+id]
}

// of lists the containers of an account, newest first.
func (k *xaiBook) of(account string) []*xaiBatch {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*xaiBatch
	for _, key := range slices.Backward(k.keys) {
		if strings.HasPrefix(key, account+" ") {
			all = append(all, k.batches[key])
		}
	}
	return all
}

func xaiChat() bodies.Chat {
	return bodies.Chat{Thoughts: "reasoning_content", Apart: true, Cost: true, UsageLast: true}
}

// xaiBatch is a container.
type xaiBatch struct {
	id, name string
	made     time.Time
	expires  time.Time
	sealed   bool // made from a file: nothing can be added

	mu    sync.Mutex
	parts []*backend.Job
	ids   [][]uint64 // hashes of the ids in each part, sorted
}

// xaiShape is {"code","error"}.
func xaiShape(_ *backend.Call, r *rules.Rejection) any {
	return map[string]any{"code": cmp.Or(r.Code, "invalid_argument"), "error": r.Message}
}

func (x xai) create(c *backend.Call) {
	var in struct {
		Name        string `json:"name"`
		InputFileID string `json:"input_file_id"`
	}
	if !c.Read(&in) {
		return
	}
	if in.Name == "" {
		c.Fail(rules.Invalid("name", "invalid_argument", "name is required"))
		return
	}
	b := &xaiBatch{id: "batch_" + dice.UUID(c.NewNumber()), name: in.Name, made: c.Now, expires: c.Now.Add(c.Window()),
		sealed: in.InputFileID != ""}
	if b.sealed {
		f := c.FindFile(in.InputFileID)
		if f == nil {
			c.Fail(rules.NotFound("file %s not found", in.InputFileID))
			return
		}
		if !x.part(c, b, f.Blob, openAIFormat{endpoint: "/v1/chat/completions", dialect: xaiChat()}) {
			return
		}
	}
	x.book.keep(c.Account, b)
	o := x.object(c, b)
	if b.sealed { // nothing is counted before the file has been read
		o.State = xaiState{}
	}
	c.Reply(http.StatusOK, o)
}

// part makes a job of more requests and adds it. It answers the call itself when that does not work.
func (x xai) part(c *backend.Call, b *xaiBatch, data spill.Blob, f backend.Format) bool {
	j, ok := c.Launch(backend.Draft{
		ID: b.id, Key: fmt.Sprintf("%s#%d", b.id, len(b.parts)), Format: xaiFormat{f}, Data: data, Name: b.name,
		Window: b.expires.Sub(c.Now),
	})
	if ok {
		b.parts = append(b.parts, j)
	}
	return ok
}

func (x xai) find(c *backend.Call, id string) *xaiBatch {
	b := x.book.find(c.Account, id)
	e, hidden := c.Effect("hide")
	if b == nil || hidden && c.Now.Sub(b.made) < e.Duration {
		c.Fail(rules.NotFound("batch %s not found", id))
		return nil
	}
	return b
}

// add takes more requests. Those whose id the batch has already are passed over, so that a repeated call does no harm.
func (x xai) add(c *backend.Call) {
	b := x.find(c, c.Request.PathValue("id"))
	if b == nil {
		return
	}
	data, rej, err := c.Split("batch_requests", c.Vendor.Bytes, func(string, json.RawMessage) *rules.Rejection { return nil })
	if !c.Good(rej, err) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		c.Fail(&rules.Rejection{Status: http.StatusPreconditionFailed, Code: "failed_precondition",
			Message: "batch " + b.id + " was made from a file: requests cannot be added"})
		return
	}
	fresh, err := x.fresh(c, b, data)
	if !c.Good(nil, err) {
		return
	}
	if fresh.Size > 0 && !x.part(c, b, fresh, xaiWrapped{}) {
		return
	}
	c.Reply(http.StatusOK, struct{}{})
}

// fresh keeps the requests that the batch does not have yet, and remembers them.
func (x xai) fresh(c *backend.Call, b *xaiBatch, data spill.Blob) (spill.Blob, error) {
	out, err := c.Disk().Create("added")
	if err != nil {
		return spill.Blob{}, err
	}
	var ids []uint64
	seen := map[uint64]bool{}
	var p fastjson.Parser
	err = spill.EachLine(data, func(line []byte, _ int64) error {
		v, err := p.ParseBytes(line)
		if err != nil {
			return err
		}
		h := dice.Hash(0, string(v.GetStringBytes("batch_request_id")))
		if seen[h] || b.has(h) {
			return nil
		}
		seen[h] = true
		ids = append(ids, h)
		out.Add(line)
		return nil
	})
	slices.Sort(ids)
	b.ids = append(b.ids, ids)
	return out.Done(err)
}

func (b *xaiBatch) has(h uint64) bool {
	for _, part := range b.ids {
		if _, found := slices.BinarySearch(part, h); found {
			return true
		}
	}
	return false
}

func (b *xaiBatch) jobs() []*backend.Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.parts)
}

func (x xai) show(c *backend.Call) {
	if b := x.find(c, c.Request.PathValue("id")); b != nil {
		c.Reply(http.StatusOK, x.object(c, b))
	}
}

// object returns a batch as xAI shows it: counts, and no state. What was rejected shows nowhere but in a message.
func (x xai) object(c *backend.Call, b *xaiBatch) xaiObject {
	o := xaiObject{ID: b.id, Name: b.name, CreateTime: rfc(b.made), ExpireTime: rfc(b.expires),
		Cost: map[string]int64{"total_cost_usd_ticks": 0}}
	for _, j := range b.jobs() {
		v := c.Look(j)
		if v.Phase == backend.Failed {
			o.Rejected, o.CancelTime = j.Failure[0].Message, rfc(v.Ended)
			continue
		}
		o.State.Requests += v.Total
		o.State.Pending += v.Pending
		o.State.Success += v.Succeeded
		o.State.Error += v.Errored
		o.State.Cancelled += v.Cancelled + v.Expired
		if !v.Cancel.IsZero() {
			o.CancelTime = rfc(v.Cancel)
		}
	}
	if _, frozen := c.Effect("freeze"); frozen {
		o.State = xaiState{} // as if nothing had been counted yet
	}
	o.Cost["total_cost_usd_ticks"] = int64(o.State.Success) * 1_000_000
	return o
}

func (x xai) list(c *backend.Call) {
	all := x.book.of(c.Account)
	if e, ok := c.Effect("hide"); ok {
		all = slices.DeleteFunc(all, func(b *xaiBatch) bool { return c.Now.Sub(b.made) < e.Duration })
	}
	part, more := backend.Page(all, c.Request.URL.Query().Get("pagination_token"), c.QueryInt("limit", 100, 1000),
		func(b *xaiBatch) string { return b.id })
	out := map[string]any{"batches": []any{}, "pagination_token": nil}
	list := []any{}
	for _, b := range part {
		list = append(list, x.object(c, b))
	}
	out["batches"] = list
	if more {
		out["pagination_token"] = part[len(part)-1].id
	}
	c.Reply(http.StatusOK, out)
}

func (x xai) cancel(c *backend.Call) {
	b := x.find(c, c.Name)
	if b == nil {
		return
	}
	for _, j := range b.jobs() {
		c.Cancel(j)
	}
	c.Reply(http.StatusOK, x.object(c, b))
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
