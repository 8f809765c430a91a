package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay"

	"github.com/valyala/fastjson"
)

func vertexVendor() *vendor {
	return &vendor{
		name: "vertex", prefix: "/vertex", base: "/vertex", key: bearer, shape: googleShape, retryInBody: true, admit: vertexScope,
		requests: 200_000, bytes: 1 << 30, window: 4 * day, caches: true, looseIDs: true,
		routes: vertexRoutes,
	}
}

// vertexScope makes jobs belong to a project and location: access tokens change every hour, and a job can be found only
// where it was made.
func vertexScope(c *call) *Rejection {
	c.account = c.r.PathValue("project") + "/" + c.r.PathValue("location")
	return nil
}

func vertexRoutes(rt routes) {
	v := vertex{}
	const where = "/{version}/projects/{project}/locations/{location}"
	rt.on(Create, "POST", where+"/batchPredictionJobs", v.create)
	rt.on(List, "GET", where+"/batchPredictionJobs", v.list)
	rt.verbs("GET", where+"/batchPredictionJobs", map[string]verb{"": {Check, v.show}})
	rt.verbs("POST", where+"/batchPredictionJobs", map[string]verb{"cancel": {Cancel, v.cancel}})
	rt.verbs("DELETE", where+"/batchPredictionJobs", map[string]verb{"": {Delete, v.remove}})
	rt.verbs("POST", where+"/publishers/google/models", map[string]verb{
		"generateContent": {Ask, func(c *call) { c.ask(generate{vertex: true}, c.name) }},
		"countTokens":     {Models, generate{vertex: true}.countTokens},
	})
}

// vertex plays batch prediction jobs over Cloud Storage.
type vertex struct{}

type vertexExtra struct {
	bucket string // of the results
	dir    string // folder of the results, with a slash at its end
	source []string
	dest   string
	model  string
	shards int
}

func (v vertex) create(c *call) {
	var in vertexJob
	if !c.read(&in) {
		return
	}
	model, ok := strings.CutPrefix(in.Model, "publishers/google/models/")
	bucket, prefix, okDest := gsURI(in.Output.Destination.Prefix)
	switch {
	case !ok:
		c.fail(invalid("", "", "Unsupported model: %s", in.Model))
		return
	case in.DisplayName == "":
		c.fail(invalid("", "", "display_name is required"))
		return
	case len(in.Input.Source.URIs) == 0 || in.Input.Format != "jsonl":
		c.fail(invalid("", "", "input_config: a gcs_source in the format jsonl is required"))
		return
	case !okDest || in.Output.Format != "jsonl":
		c.fail(invalid("", "", "output_config: a gcs_destination in the format jsonl is required"))
		return
	}
	x := &vertexExtra{bucket: bucket, source: in.Input.Source.URIs, dest: in.Output.Destination.Prefix, model: in.Model, shards: 1}
	x.dir = strings.TrimPrefix(strings.TrimSuffix(prefix, "/")+"/prediction-model-"+c.now.Format("2006-01-02T15:04:05")+fmt.Sprintf(".%06dZ/", c.request%1e6), "/")
	if e, ok := c.effect("shards"); ok {
		x.shards = e.n
	}
	data, missing, err := v.input(c, in.Input.Source.URIs)
	if err != nil {
		c.trouble(err)
		return
	}
	j, made := c.launch(draft{
		newID: func(n uint64) string { return strconv.FormatUint(1e18+n%8e18, 10) }, format: vertexFormat{shards: x.shards}, data: data,
		name: in.DisplayName, meta: in.Labels, model: model, extra: x,
		late: func(sv *survey) {
			if missing != "" {
				sv.issues = []issue{{Rejection: *notFound("%s does not exist.", missing)}}
			}
		},
	})
	if made {
		c.reply(http.StatusOK, v.object(c, j, view{progress: progress{phase: queued}}))
	}
}

// input is the lines of the objects a job reads, or the one that is missing.
func (v vertex) input(c *call, uris []string) (data blob, missing string, err error) {
	var parts []blob
	for _, u := range uris {
		bucket, name, ok := gsURI(u)
		o, err := gcs{}.find(c, bucket, name)
		if err != nil {
			return blob{}, "", err
		}
		if !ok || o == nil {
			data, err := c.s.spill.save("nothing", strings.NewReader(""), 0)
			return data, u, err
		}
		parts = append(parts, o.blob)
	}
	data, err = c.s.spill.join(parts)
	return data, "", err
}

func gsURI(u string) (bucket, name string, ok bool) {
	rest, ok := strings.CutPrefix(u, "gs://")
	bucket, name, _ = strings.Cut(rest, "/")
	return bucket, name, ok && bucket != ""
}

func (v vertex) list(c *call) {
	q := c.r.URL.Query()
	all := slices.DeleteFunc(c.mine(), func(j *job) bool { return !v.matches(c, j, q.Get("filter")) })
	part, more := page(all, q.Get("pageToken"), c.queryInt("pageSize", 50, 100), func(j *job) string { return j.id })
	out := map[string]any{}
	var jobs []any
	for _, j := range part {
		jobs = append(jobs, v.object(c, j, c.look(j)))
	}
	if len(jobs) > 0 {
		out["batchPredictionJobs"] = jobs
	}
	if more {
		out["nextPageToken"] = part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

// matches holds a job against a filter such as display_name="x" AND labels.run=r1.
func (v vertex) matches(c *call, j *job, filter string) bool {
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
			have = j.meta[label]
		case key == "display_name" || key == "displayName":
			have = j.name
		case key == "state":
			have = "JOB_STATE_" + vertexState(c.look(j).phase)
		case key == "model":
			have = j.extra.(*vertexExtra).model
		}
		if have != want {
			return false
		}
	}
	return true
}

func (v vertex) show(c *call) {
	if j := c.job(c.name); j != nil {
		c.reply(http.StatusOK, v.object(c, j, c.look(j)))
	}
}

func (v vertex) cancel(c *call) {
	j := c.job(c.name)
	if j == nil {
		return
	}
	c.cancel(j) // one that has ended stays as it is
	c.reply(http.StatusOK, struct{}{})
}

func (v vertex) remove(c *call) {
	j := c.job(c.name)
	if j == nil {
		return
	}
	if !j.at(c.now).over() {
		c.fail(&Rejection{Status: http.StatusBadRequest, Type: "FAILED_PRECONDITION", Message: "The job is still running."})
		return
	}
	j.remove()
	c.reply(http.StatusOK, map[string]any{"name": v.jobName(j) + "/operations/1", "done": true, "response": map[string]any{"@type": "type.googleapis.com/google.protobuf.Empty"}})
}

func (v vertex) jobName(j *job) string {
	project, location, _ := strings.Cut(j.account, "/")
	return "projects/" + project + "/locations/" + location + "/batchPredictionJobs/" + j.id
}

func vertexState(p phase) string {
	return map[phase]string{
		validating: "PENDING", queued: "QUEUED", running: "RUNNING", finalizing: "RUNNING", cancelling: "CANCELLING",
		completed: "SUCCEEDED", failed: "FAILED", expired: "EXPIRED", cancelled: "CANCELLED",
	}[p]
}

func (v vertex) object(c *call, j *job, w view) vertexJob {
	x := j.extra.(*vertexExtra)
	o := vertexJob{
		Name: v.jobName(j), DisplayName: j.name, Model: x.model, State: "JOB_STATE_" + cmp.Or(strings.ToUpper(w.word), vertexState(w.phase)), Labels: j.meta,
		CreateTime: rfc(j.made), UpdateTime: rfc(c.now),
	}
	o.Input.Format, o.Input.Source.URIs = "jsonl", x.source
	o.Output.Format, o.Output.Destination.Prefix = "jsonl", x.dest
	if w.phase != validating && w.phase != queued {
		o.StartTime = rfc(j.made.Add(j.queue))
	}
	if !w.over() {
		return o
	}
	o.EndTime = rfc(w.ended)
	if w.phase == failed {
		o.Error = map[string]any{"code": grpcCode(j.failure[0].Status), "message": geminiFailure(j)}
		return o
	}
	o.Stats = map[string]string{
		"successfulCount": strconv.Itoa(w.succeeded), "failedCount": strconv.Itoa(w.errored), "incompleteCount": strconv.Itoa(w.expired + w.cancelled),
	}
	if !w.noOutput {
		o.Info = map[string]string{"gcsOutputDirectory": "gs://" + x.bucket + "/" + strings.TrimSuffix(x.dir, "/")}
	}
	return o
}

// vertexFormat is {"request"}, echoed with a status that is text. The id is whatever the client put among the labels.
type vertexFormat struct{ shards int }

func (f vertexFormat) open(j *job, v *fastjson.Value) (carried, *Rejection) {
	body := v.Get("request")
	if body == nil || body.Type() != fastjson.TypeObject {
		return carried{}, invalid("request", "", "request: must be set")
	}
	id := labelID(body.GetObject("labels"))
	body.Del("labels") // they name the request; they do not ask anything
	if id == "" {
		id = fmt.Sprintf("%016x", hashBytes(0, body.MarshalTo(nil)))
	}
	return carried{id: id, body: body, dialect: generate{vertex: true}, model: j.model}, nil
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

func (f vertexFormat) close(dst []byte, j *job, e *ended) ([]byte, int) {
	if e.how == ranOut || e.how == stopped {
		return dst, -1
	}
	dst = append(dst, `{"request":`...)
	dst = fastjson.MustParseBytes(e.line).Get("request").MarshalTo(dst)
	if e.how == answered {
		dst = append(append(dst, `,"status":"","response":`...), e.reply...)
	} else {
		dst = append(dst, `,"status":`...)
		dst = appendJSON(dst, string(appendJSON(nil, googleShape(nil, e.rej))))
		dst = append(dst, `,"response":{}`...)
	}
	dst = append(appendJSON(append(dst, `,"processed_time":`...), rfc(j.made)), '}')
	return dst, int(e.num % uint64(f.shards))
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
