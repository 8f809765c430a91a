package wire

import (
	"cmp"
	"net/http"
	"strings"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

func fireworksVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "fireworks", Prefix: "/fireworks", Base: "/fireworks", Key: backend.Bearer, Shape: fireworksShape,
		DeniedAs: http.StatusForbidden, Rate: openAIRate, Bytes: 80 << 30, Window: day, Caches: true, Routes: fireworksRoutes,
	}
}

func fireworksRoutes(rt backend.Routes) {
	f := fireworks{shelf: &fireShelf{sets: map[string]*fireDataset{}}}
	const acct = "/v1/accounts/{account}"
	rt.On(fault.Upload, "POST", acct+"/datasets", f.createDataset)
	rt.Verbs("POST", acct+"/datasets", map[string]backend.Verb{
		"upload": {Kind: fault.Upload, Do: f.upload}, "getUploadEndpoint": {Kind: fault.Upload, Do: f.uploadEndpoint},
		"validateUpload": {Kind: fault.Upload, Do: f.validate},
	})
	rt.On(fault.File, "GET", acct+"/datasets", f.listDatasets)
	rt.Verbs("GET", acct+"/datasets", map[string]backend.Verb{"": {Kind: fault.File, Do: f.showDataset},
		"getDownloadEndpoint": {Kind: fault.File, Do: f.downloadEndpoint}})
	rt.Verbs("DELETE", acct+"/datasets", map[string]backend.Verb{"": {Kind: fault.File, Do: f.deleteDataset}})
	rt.Open(fault.Upload, "PUT", "/signed/{id}/{file}", f.put)
	rt.Open(fault.Fetch, "GET", "/signed/{id}/{file}", f.download)
	rt.On(fault.Create, "POST", acct+"/batchInferenceJobs", f.create)
	rt.On(fault.List, "GET", acct+"/batchInferenceJobs", f.list)
	rt.Verbs("GET", acct+"/batchInferenceJobs", map[string]backend.Verb{"": {Kind: fault.Check, Do: f.show}})
	rt.Verbs("DELETE", acct+"/batchInferenceJobs", map[string]backend.Verb{"": {Kind: fault.Delete, Do: f.remove}})
	rt.On(fault.Ask, "POST", "/inference/v1/chat/completions", func(c *backend.Call) { c.Ask(fireworksChat(), "") })
	rt.On(fault.Ask, "POST", "/inference/v1/embeddings", func(c *backend.Call) { c.Ask(bodies.Embeddings{}, "") })
	modelsRoutes(rt, "/inference/v1")
}

// fireworks plays the datasets and batch inference jobs of Fireworks.
type fireworks struct{ shelf *fireShelf }

func fireworksChat() bodies.Chat { return bodies.Chat{Thoughts: "reasoning_content", UsageLast: true} }

// fireworksShape is gRPC's document on the control plane, OpenAI's where models answer.
func fireworksShape(c *backend.Call, r *rules.Rejection) any {
	if strings.Contains(c.Request.URL.Path, "/inference/") {
		return openAIShape(c, r)
	}
	return map[string]any{"code": grpcCode(r.Status), "message": r.Message, "details": []any{}}
}

type fireworksExtra struct {
	account string // as the path names it
	output  string // dataset of the results
}

func (f fireworks) create(c *backend.Call) {
	var in fireworksJob
	if !c.Read(&in) {
		return
	}
	d := f.shelf.find(c.Account, lastPart(in.Input))
	switch {
	case in.Model == "":
		c.Fail(rules.Invalid("model", "", "model is required"))
		return
	case d == nil:
		c.Fail(rules.NotFound("dataset %s not found", in.Input))
		return
	case d.state(c) != "READY":
		c.Fail(&rules.Rejection{Status: http.StatusBadRequest, Message: "dataset " + d.id + " is not ready"})
		return
	}
	id := cmp.Or(c.Request.URL.Query().Get("batchInferenceJobId"), dice.Letters(dice.Base36, 12)(c.Number))
	x := &fireworksExtra{account: c.Request.PathValue("account"), output: cmp.Or(lastPart(in.Output), id+"-output")}
	j, ok := c.Launch(backend.Draft{
		ID: id, Format: fireworksFormat{model: in.Model}, Data: d.Blob, Input: d.id, Name: in.DisplayName, Model: in.Model, Extra: x,
		Late:    backend.OneBadFailsAll,
		Outputs: func(j *backend.Job) []string { return []string{fireworksOutput(j, 0), fireworksOutput(j, 1)} },
	})
	if ok {
		f.shelf.keep(c.Account, &fireDataset{id: x.output, made: c.Now, job: j})
		c.Reply(http.StatusOK, f.object(j, backend.View{Progress: backend.Progress{Phase: backend.Validating}}))
	}
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// fireworksOutput returns the id under which a signed address finds a result file.
func fireworksOutput(j *backend.Job, n int) string {
	return dice.Letters(dice.Base36, 20)(j.Number + uint64(n) + 1)
}

func (f fireworks) list(c *backend.Call) {
	all := c.Jobs()
	part, more := backend.Page(all, c.Request.URL.Query().Get("pageToken"), c.QueryInt("pageSize", 50, 200), func(j *backend.Job) string {
		return j.ID
	})
	jobs := []any{}
	for _, j := range part {
		jobs = append(jobs, f.object(j, c.Look(j)))
	}
	out := map[string]any{"batchInferenceJobs": jobs, "nextPageToken": "", "totalSize": len(all)}
	if more {
		out["nextPageToken"] = part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

func (f fireworks) show(c *backend.Call) {
	if j := c.Job(c.Name); j != nil {
		c.Reply(http.StatusOK, f.object(j, c.Look(j)))
	}
}

// remove deletes a job. There is no cancel: this is it, and what is finished can still be read from the dataset.
func (f fireworks) remove(c *backend.Call) {
	j := c.Job(c.Name)
	if j == nil {
		return
	}
	c.Cancel(j)
	j.Remove()
	c.Reply(http.StatusOK, struct{}{})
}

func (f fireworks) object(j *backend.Job, v backend.View) fireworksJob {
	x := j.Extra.(*fireworksExtra)
	root := "accounts/" + x.account
	o := fireworksJob{
		Name: root + "/batchInferenceJobs/" + j.ID, DisplayName: j.Name, Model: j.Model, Input: root + "/datasets/" + j.Input,
		Output: root + "/datasets/" + x.output, State: "JOB_STATE_" + cmp.Or(strings.ToUpper(v.Word), fireworksState(v.Phase)),
		CreateTime: rfc(j.Made), ExpireTime: rfc(j.Made.Add(j.Window)), UpdateTime: rfc(j.Made), Status: fireworksStatus{Code: "OK"},
	}
	if v.Phase == backend.Failed {
		o.Status = fireworksStatus{Code: "INVALID_ARGUMENT", Message: failureMessage(j)}
		return o
	}
	if v.Phase != backend.Validating && v.Phase != backend.Queued {
		done := v.Succeeded + v.Errored
		p := &fireworksProgress{Total: v.Total, Processed: done, Succeeded: v.Succeeded, Failed: v.Errored, Rows: v.Succeeded}
		if v.Total > 0 {
			p.Percent = done * 100 / v.Total
		}
		o.Progress = p
	}
	return o
}

func fireworksState(p backend.Phase) string {
	return map[backend.Phase]string{
		backend.Validating: "VALIDATING", backend.Queued: "PENDING", backend.Running: "RUNNING", backend.Finalizing: "WRITING_RESULTS",
		backend.Cancelling: "CANCELLING", backend.Completed: "COMPLETED", backend.Failed: "FAILED", backend.Expired: "EXPIRED",
		backend.Cancelled: "CANCELLED",
	}[p]
}

// fireworksFormat is {"custom_id","body"}; the answer has no frame of its own.
type fireworksFormat struct{ model string }

func (f fireworksFormat) Open(_ *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	in := backend.Carried{ID: string(v.GetStringBytes("custom_id")), Body: v.Get("body"), Dialect: fireworksChat(), Model: f.model}
	switch {
	case in.ID == "":
		return in, rules.Invalid("custom_id", "", "custom_id is required")
	case in.Body == nil || in.Body.Type() != fastjson.TypeObject:
		return in, rules.Invalid("body", "", "body is required")
	}
	return in, nil
}

func (f fireworksFormat) Close(dst []byte, _ *backend.Job, e *backend.Ended) ([]byte, int) {
	dst = bodies.AppendJSON(append(dst, `{"custom_id":`...), e.ID)
	switch e.How {
	case backend.Answered:
		return append(append(append(dst, `,"response":`...), e.Reply...), '}'), 0
	case backend.Errored:
		return append(bodies.AppendJSON(append(dst, `,"error":`...), openAIError(e.Rejection)), '}'), 1
	}
	return dst, -1 // requests that never ran have no line
}

type fireworksStatus struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type fireworksProgress struct {
	Percent   int `json:"percent"`
	Total     int `json:"totalInputRequests"`
	Processed int `json:"totalProcessedRequests"`
	Succeeded int `json:"successfullyProcessedRequests"`
	Failed    int `json:"failedRequests"`
	Rows      int `json:"outputRows"`
}

type fireworksJob struct {
	Name        string             `json:"name"`
	DisplayName string             `json:"displayName"`
	Model       string             `json:"model"`
	Input       string             `json:"inputDatasetId"`
	Output      string             `json:"outputDatasetId"`
	State       string             `json:"state"`
	Status      fireworksStatus    `json:"status"`
	Progress    *fireworksProgress `json:"jobProgress"`
	CreateTime  any                `json:"createTime"`
	UpdateTime  any                `json:"updateTime"`
	ExpireTime  any                `json:"expireTime"`
}
