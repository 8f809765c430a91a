package wire

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

func vertexVendor(b *buckets) *backend.Vendor {
	return &backend.Vendor{
		Name: "vertex", Prefix: "/vertex", Base: "/vertex", Key: backend.Bearer, Shape: googleShape, RetryInBody: true, Admit: vertexScope,
		Requests: 200_000, Bytes: 1 << 30, Window: 4 * day, Caches: true, LooseIDs: true,
		Routes: func(rt backend.Routes) { vertexRoutes(rt, vertex{b}) },
	}
}

// vertexScope makes jobs belong to a project and location: access tokens change every hour, and a job can be found only
// where it was made.
func vertexScope(c *backend.Call) *rules.Rejection {
	c.Account = c.Request.PathValue("project") + "/" + c.Request.PathValue("location")
	return nil
}

func vertexRoutes(rt backend.Routes, v vertex) {
	const where = "/{version}/projects/{project}/locations/{location}"
	rt.On(fault.Create, "POST", where+"/batchPredictionJobs", v.create)
	rt.On(fault.List, "GET", where+"/batchPredictionJobs", v.list)
	rt.Verbs("GET", where+"/batchPredictionJobs", map[string]backend.Verb{"": {Kind: fault.Check, Do: v.show}})
	rt.Verbs("POST", where+"/batchPredictionJobs", map[string]backend.Verb{"cancel": {Kind: fault.Cancel, Do: v.cancel}})
	rt.Verbs("DELETE", where+"/batchPredictionJobs", map[string]backend.Verb{"": {Kind: fault.Delete, Do: v.remove}})
	rt.Verbs("POST", where+"/publishers/google/models", map[string]backend.Verb{
		"generateContent":       {Kind: fault.Ask, Do: func(c *backend.Call) { c.Ask(bodies.Generate{Vertex: true}, c.Name) }},
		"streamGenerateContent": {Kind: fault.Ask, Do: func(c *backend.Call) { c.AskStreamed(bodies.Generate{Vertex: true}, c.Name) }},
		"countTokens":           {Kind: fault.Models, Do: geminiCount(bodies.Generate{Vertex: true})},
	})
}

// vertex plays batch prediction jobs over Cloud Storage.
type vertex struct{ buckets *buckets }

type vertexExtra struct {
	bucket string // of the results
	dir    string // folder of the results, with a slash at its end
	source []string
	dest   string
	model  string
	shards int
}

func (v vertex) create(c *backend.Call) {
	var in vertexJob
	if !c.Read(&in) {
		return
	}
	model, ok := strings.CutPrefix(in.Model, "publishers/google/models/")
	bucket, prefix, okDest := gsURI(in.Output.Destination.Prefix)
	switch {
	case !ok:
		c.Fail(rules.Invalid("", "", "Unsupported model: %s", in.Model))
		return
	case in.DisplayName == "":
		c.Fail(rules.Invalid("", "", "display_name is required"))
		return
	case len(in.Input.Source.URIs) == 0 || in.Input.Format != "jsonl":
		c.Fail(rules.Invalid("", "", "input_config: a gcs_source in the format jsonl is required"))
		return
	case !okDest || in.Output.Format != "jsonl":
		c.Fail(rules.Invalid("", "", "output_config: a gcs_destination in the format jsonl is required"))
		return
	}
	x := &vertexExtra{bucket: bucket, source: in.Input.Source.URIs, dest: in.Output.Destination.Prefix, model: in.Model, shards: 1}
	x.dir = strings.TrimPrefix(strings.TrimSuffix(prefix, "/")+"/prediction-model-"+c.Now.Format("2006-01-02T15:04:05")+
		fmt.Sprintf(".%06dZ/", c.Number%1e6), "/")
	if e, ok := c.Effect("shards"); ok {
		x.shards = e.Count
	}
	data, missing, err := v.input(c, in.Input.Source.URIs)
	if err != nil {
		c.Trouble(err)
		return
	}
	j, made := c.Launch(backend.Draft{
		NewID: func(n uint64) string { return strconv.FormatUint(1e18+n%8e18, 10) }, Format: vertexFormat{shards: x.shards}, Data: data,
		Name: in.DisplayName, Meta: in.Labels, Model: model, Extra: x,
		Late: func(sv *backend.Survey) {
			if missing != "" {
				sv.Issues = []backend.Issue{{Rejection: *rules.NotFound("%s does not exist.", missing)}}
			}
		},
	})
	if made {
		v.buckets.writes(j)
		c.Reply(http.StatusOK, v.object(c, j, backend.View{Progress: backend.Progress{Phase: backend.Queued}}))
	}
}

// input returns the lines of the objects a job reads, or the one that is missing.
func (v vertex) input(c *backend.Call, uris []string) (data spill.Blob, missing string, err error) {
	var parts []spill.Blob
	for _, u := range uris {
		bucket, name, ok := gsURI(u)
		o, err := v.buckets.find(c, bucket, name)
		if err != nil {
			return spill.Blob{}, "", err
		}
		if !ok || o == nil {
			data, err := c.Disk().Save("nothing", strings.NewReader(""), 0)
			return data, u, err
		}
		parts = append(parts, o.Blob)
	}
	data, err = c.Disk().Join(parts)
	return data, "", err
}

func gsURI(u string) (bucket, name string, ok bool) {
	rest, ok := strings.CutPrefix(u, "gs://")
	bucket, name, _ = strings.Cut(rest, "/")
	return bucket, name, ok && bucket != ""
}

func (v vertex) list(c *backend.Call) {
	q := c.Request.URL.Query()
	all := slices.DeleteFunc(c.Jobs(), func(j *backend.Job) bool { return !v.matches(c, j, q.Get("filter")) })
	part, more := backend.Page(all, q.Get("pageToken"), c.QueryInt("pageSize", 50, 100), func(j *backend.Job) string { return j.ID })
	out := map[string]any{}
	var jobs []any
	for _, j := range part {
		jobs = append(jobs, v.object(c, j, c.Look(j)))
	}
	if len(jobs) > 0 {
		out["batchPredictionJobs"] = jobs
	}
	if more {
		out["nextPageToken"] = part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

// matches holds a job against a filter such as display_name="x" AND labels.run=r1.
func (v vertex) matches(c *backend.Call, j *backend.Job, filter string) bool {
	if filter == "" {
		return true
	}
	for _, part := range strings.Split(filter, " AND ") {
		at := strings.IndexAny(part, "=:")
		if at < 0 {
			return false
		}
		key, want := strings.TrimSpace(part[:at]), strings.Trim(strings.TrimSpace(part[at+1:]), `"`)
		var have string
		switch label, isLabel := strings.CutPrefix(key, "labels."); {
		case isLabel:
			have = j.Meta[label]
		case key == "display_name" || key == "displayName":
			have = j.Name
		case key == "state":
			have = "JOB_STATE_" + vertexState(c.Look(j).Phase)
		case key == "model":
			have = j.Extra.(*vertexExtra).model
		}
		if have != want {
			return false
		}
	}
	return true
}

func (v vertex) show(c *backend.Call) {
	if j := c.Job(c.Name); j != nil {
		c.Reply(http.StatusOK, v.object(c, j, c.Look(j)))
	}
}

func (v vertex) cancel(c *backend.Call) {
	j := c.Job(c.Name)
	if j == nil {
		return
	}
	c.Cancel(j) // one that has ended stays as it is
	c.Reply(http.StatusOK, struct{}{})
}

func (v vertex) remove(c *backend.Call) {
	j := c.Job(c.Name)
	if j == nil {
		return
	}
	if !j.At(c.Now).Over() {
		c.Fail(&rules.Rejection{Status: http.StatusBadRequest, Type: "FAILED_PRECONDITION", Message: "The job is still running."})
		return
	}
	j.Remove()
	c.Reply(http.StatusOK, map[string]any{"name": v.jobName(j) + "/operations/1", "done": true,
		"response": map[string]any{"@type": "type.googleapis.com/google.protobuf.Empty"}})
}

func (v vertex) jobName(j *backend.Job) string {
	project, location, _ := strings.Cut(j.Account, "/")
	return "projects/" + project + "/locations/" + location + "/batchPredictionJobs/" + j.ID
}

func vertexState(p backend.Phase) string {
	return map[backend.Phase]string{
		backend.Validating: "PENDING", backend.Queued: "QUEUED", backend.Running: "RUNNING", backend.Finalizing: "RUNNING",
		backend.Cancelling: "CANCELLING", backend.Completed: "SUCCEEDED", backend.Failed: "FAILED", backend.Expired: "EXPIRED",
		backend.Cancelled: "CANCELLED",
	}[p]
}

func (v vertex) object(c *backend.Call, j *backend.Job, w backend.View) vertexJob {
	x := j.Extra.(*vertexExtra)
	o := vertexJob{
		Name: v.jobName(j), DisplayName: j.Name, Model: x.model, State: "JOB_STATE_" +
			cmp.Or(strings.ToUpper(w.Word), vertexState(w.Phase)), Labels: j.Meta, CreateTime: rfc(j.Made), UpdateTime: rfc(c.Now),
	}
	o.Input.Format, o.Input.Source.URIs = "jsonl", x.source
	o.Output.Format, o.Output.Destination.Prefix = "jsonl", x.dest
	if w.Phase != backend.Validating && w.Phase != backend.Queued {
		o.StartTime = rfc(j.Made.Add(j.Queue))
	}
	if !w.Over() {
		return o
	}
	o.EndTime = rfc(w.Ended)
	if w.Phase == backend.Failed {
		o.Error = map[string]any{"code": grpcCode(j.Failure[0].Status), "message": failureMessage(j)}
		return o
	}
	o.Stats = map[string]string{
		"successfulCount": strconv.Itoa(w.Succeeded), "failedCount": strconv.Itoa(w.Errored),
		"incompleteCount": strconv.Itoa(w.Expired + w.Cancelled),
	}
	if !w.NoOutput {
		o.Info = map[string]string{"gcsOutputDirectory": "gs://" + x.bucket + "/" + strings.TrimSuffix(x.dir, "/")}
	}
	return o
}

// vertexFormat is {"request"}, echoed with a status that is text. The id is whatever the client put among the labels.
type vertexFormat struct{ shards int }

func (f vertexFormat) Open(j *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	body := v.Get("request")
	if body == nil || body.Type() != fastjson.TypeObject {
		return backend.Carried{}, rules.Invalid("request", "", "request: must be set")
	}
	id := string(v.GetStringBytes("custom_id")) // echoed, as every field beside the request
	if id == "" {
		id = labelID(body.GetObject("labels"))
	}
	body.Del("labels") // they name the request; they do not ask anything
	if id == "" {
		id = fmt.Sprintf("%016x", dice.HashBytes(0, body.MarshalTo(nil)))
	}
	return backend.Carried{ID: id, Body: body, Dialect: bodies.Generate{Vertex: true}, Model: j.Model}, nil
}

// labelID finds the label that is one of our ids, or else the first.
func labelID(labels *fastjson.Object) (id string) {
	labels.Visit(func(_ []byte, v *fastjson.Value) {
		text := string(v.GetStringBytes())
		if _, _, err := assay.ParseCustomID(text); err == nil || id == "" {
			id = text
		}
	})
	return id
}

func (f vertexFormat) Close(dst []byte, j *backend.Job, e *backend.Ended) ([]byte, int) {
	if e.How == backend.RanOut || e.How == backend.Stopped {
		return dst, -1
	}
	line := fastjson.MustParseBytes(e.Line)
	dst = append(dst, '{')
	if id := line.Get("custom_id"); id != nil {
		dst = append(id.MarshalTo(append(dst, `"custom_id":`...)), ',')
	}
	dst = append(dst, `"request":`...)
	dst = line.Get("request").MarshalTo(dst)
	if e.How == backend.Answered {
		dst = append(append(dst, `,"status":"","response":`...), e.Reply...)
	} else {
		dst = append(dst, `,"status":`...)
		dst = bodies.AppendJSON(dst, string(bodies.AppendJSON(nil, googleShape(nil, e.Rejection))))
		dst = append(dst, `,"response":{}`...)
	}
	dst = append(bodies.AppendJSON(append(dst, `,"processed_time":`...), rfc(j.Made)), '}')
	return dst, int(e.Number % uint64(f.shards))
}

type vertexJob struct {
	Name        string            `json:"name,omitempty"`
	DisplayName string            `json:"displayName"`
	Model       string            `json:"model"`
	State       string            `json:"state,omitempty"`
	Input       vertexInput       `json:"inputConfig"`
	Output      vertexOutput      `json:"outputConfig"`
	Labels      map[string]string `json:"labels,omitempty"`
	Error       any               `json:"error,omitempty"`
	Info        map[string]string `json:"outputInfo,omitempty"`
	Stats       map[string]string `json:"completionStats,omitempty"`
	CreateTime  any               `json:"createTime,omitempty"`
	StartTime   any               `json:"startTime,omitempty"`
	EndTime     any               `json:"endTime,omitempty"`
	UpdateTime  any               `json:"updateTime,omitempty"`
}

type vertexInput struct {
	Format string `json:"instancesFormat"`
	Source struct {
		URIs []string `json:"uris"`
	} `json:"gcsSource"`
}

type vertexOutput struct {
	Format      string `json:"predictionsFormat"`
	Destination struct {
		Prefix string `json:"outputUriPrefix"`
	} `json:"gcsDestination"`
}
