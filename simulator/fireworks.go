package simulator

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/valyala/fastjson"
)

func fireworksVendor() *vendor {
	return &vendor{
		name: "fireworks", prefix: "/fireworks", base: "/fireworks", key: bearer, shape: fireworksShape, deniedAs: http.StatusForbidden, rate: openAIRate,
		bytes: 80 << 30, window: day, caches: true,
		routes: fireworksRoutes,
	}
}

func fireworksRoutes(rt routes) {
	f := fireworks{}
	const acct = "/v1/accounts/{account}"
	rt.on(Upload, "POST", acct+"/datasets", f.createDataset)
	rt.verbs("POST", acct+"/datasets", map[string]verb{
		"upload": {Upload, f.upload}, "getUploadEndpoint": {Upload, f.uploadEndpoint}, "validateUpload": {Upload, f.validate},
	})
	rt.on(File, "GET", acct+"/datasets", f.listDatasets)
	rt.verbs("GET", acct+"/datasets", map[string]verb{"": {File, f.showDataset}, "getDownloadEndpoint": {File, f.downloadEndpoint}})
	rt.verbs("DELETE", acct+"/datasets", map[string]verb{"": {File, f.deleteDataset}})
	rt.open(Upload, "PUT", "/signed/{id}/{file}", f.put)
	rt.open(Fetch, "GET", "/signed/{id}/{file}", f.download)
	rt.on(Create, "POST", acct+"/batchInferenceJobs", f.create)
	rt.on(List, "GET", acct+"/batchInferenceJobs", f.list)
	rt.verbs("GET", acct+"/batchInferenceJobs", map[string]verb{"": {Check, f.show}})
	rt.verbs("DELETE", acct+"/batchInferenceJobs", map[string]verb{"": {Delete, f.remove}})
	rt.on(Ask, "POST", "/inference/v1/chat/completions", func(c *call) { c.ask(fireworksChat(), "") })
	rt.on(Ask, "POST", "/inference/v1/embeddings", func(c *call) { c.ask(embeddings{}, "") })
	modelsRoutes(rt, "/inference/v1")
}

// fireworks plays the datasets and batch inference jobs of Fireworks.
type fireworks struct{}

func fireworksChat() chat { return chat{thoughts: "reasoning_content"} }

// fireworksShape is gRPC's document on the control plane, OpenAI's where models answer.
func fireworksShape(c *call, r *Rejection) any {
	if strings.Contains(c.r.URL.Path, "/inference/") {
		return openAIShape(c, r)
	}
	return map[string]any{"code": grpcCode(r.Status), "message": r.Message, "details": []any{}}
}

type fireworksExtra struct {
	account string // as the path names it
	output  string // dataset of the results
}

func (f fireworks) create(c *call) {
	var in fireworksJob
	if !c.read(&in) {
		return
	}
	d := f.find(c, lastPart(in.Input))
	switch {
	case in.Model == "":
		c.fail(invalid("model", "", "model is required"))
		return
	case d == nil:
		c.fail(notFound("dataset %s not found", in.Input))
		return
	case d.state(c) != "READY":
		c.fail(&Rejection{Status: http.StatusBadRequest, Message: "dataset " + d.id + " is not ready"})
		return
	}
	id := cmp.Or(c.r.URL.Query().Get("batchInferenceJobId"), letters(base36, 12)(c.request))
	x := &fireworksExtra{account: c.r.PathValue("account"), output: cmp.Or(lastPart(in.Output), id+"-output")}
	j, ok := c.launch(draft{
		id: id, format: fireworksFormat{model: in.Model}, data: d.blob, input: d.id, name: in.DisplayName, model: in.Model, extra: x,
		late: oneBadFailsAll, outputs: func(j *job) []string { return []string{fireworksOutput(j, 0), fireworksOutput(j, 1)} },
	})
	if ok {
		f.keep(c, &fireDataset{id: x.output, made: c.now, job: j})
		c.reply(http.StatusOK, f.object(j, view{progress: progress{phase: validating}}))
	}
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// fireworksOutput is the id under which a signed address finds a result file.
func fireworksOutput(j *job, n int) string { return letters(base36, 20)(j.number + uint64(n) + 1) }

func (f fireworks) list(c *call) {
	all := c.mine()
	part, more := page(all, c.r.URL.Query().Get("pageToken"), c.queryInt("pageSize", 50, 200), func(j *job) string { return j.id })
	jobs := []any{}
	for _, j := range part {
		jobs = append(jobs, f.object(j, c.look(j)))
	}
	out := map[string]any{"batchInferenceJobs": jobs, "nextPageToken": "", "totalSize": len(all)}
	if more {
		out["nextPageToken"] = part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

func (f fireworks) show(c *call) {
	if j := c.job(c.name); j != nil {
		c.reply(http.StatusOK, f.object(j, c.look(j)))
	}
}

// remove deletes a job. There is no cancel: this is it, and what is finished can still be read from the dataset.
func (f fireworks) remove(c *call) {
	j := c.job(c.name)
	if j == nil {
		return
	}
	c.cancel(j)
	j.remove()
	c.reply(http.StatusOK, struct{}{})
}

func (f fireworks) object(j *job, v view) fireworksJob {
	x := j.extra.(*fireworksExtra)
	root := "accounts/" + x.account
	o := fireworksJob{
		Name: root + "/batchInferenceJobs/" + j.id, DisplayName: j.name, Model: j.model, Input: root + "/datasets/" + j.input, Output: root + "/datasets/" + x.output,
		State: "JOB_STATE_" + cmp.Or(strings.ToUpper(v.word), fireworksState(v.phase)), CreateTime: rfc(j.made), ExpireTime: rfc(j.made.Add(j.window)),
		UpdateTime: rfc(j.made), Status: fireworksStatus{Code: "OK"},
	}
	if v.phase == failed {
		o.Status = fireworksStatus{Code: "INVALID_ARGUMENT", Message: geminiFailure(j)}
		return o
	}
	if v.phase != validating && v.phase != queued {
		done := v.succeeded + v.errored
		p := &fireworksProgress{Total: v.total, Processed: done, Succeeded: v.succeeded, Failed: v.errored, Rows: v.succeeded}
		if v.total > 0 {
			p.Percent = done * 100 / v.total
		}
		o.Progress = p
	}
	return o
}

func fireworksState(p phase) string {
	return map[phase]string{
		validating: "VALIDATING", queued: "PENDING", running: "RUNNING", finalizing: "WRITING_RESULTS", cancelling: "CANCELLING",
		completed: "COMPLETED", failed: "FAILED", expired: "EXPIRED", cancelled: "CANCELLED",
	}[p]
}

// fireworksFormat is {"custom_id","body"}; the answer has no frame of its own.
type fireworksFormat struct{ model string }

func (f fireworksFormat) open(_ *job, v *fastjson.Value) (carried, *Rejection) {
	in := carried{id: stringOf(v, "custom_id"), body: v.Get("body"), dialect: fireworksChat(), model: f.model}
	switch {
	case in.id == "":
		return in, invalid("custom_id", "", "custom_id is required")
	case in.body == nil || in.body.Type() != fastjson.TypeObject:
		return in, invalid("body", "", "body is required")
	}
	return in, nil
}

func (f fireworksFormat) close(dst []byte, _ *job, e *ended) ([]byte, int) {
	dst = appendJSON(append(dst, `{"custom_id":`...), e.id)
	switch e.how {
	case answered:
		return append(append(append(dst, `,"response":`...), e.reply...), '}'), 0
	case errored:
		return append(appendJSON(append(dst, `,"error":`...), openAIError(e.rej)), '}'), 1
	}
	return dst, -1 // nothing is told of requests that never ran
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
