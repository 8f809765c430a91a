package wire

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

const amazonAccount = "123456789012"

func bedrockVendor(s *s3Store) *backend.Vendor {
	return &backend.Vendor{
		Name: "bedrock", Prefix: "/bedrock", Base: "/bedrock", Key: awsKey, Shape: amazonShape, DeniedAs: http.StatusForbidden,
		BrokeStatus: http.StatusForbidden, IDHeaderAs: "X-Amzn-Requestid", Requests: 50_000, Bytes: 1 << 30, Least: 100, Window: 7 * day,
		LooseIDs: true,
		Admit: func(c *backend.Call) *rules.Rejection {
			c.Account = amazonAccount // keys change; jobs are the account's
			return signedAs("bedrock", c)
		},
		Routes: func(rt backend.Routes) { bedrockRoutes(rt, &bedrock{store: s, tokens: map[string]string{}}) },
	}
}

func bedrockRoutes(rt backend.Routes, b *bedrock) {
	rt.On(fault.Create, "POST", "/model-invocation-job", b.create)
	rt.On(fault.List, "GET", "/model-invocation-jobs", b.list)
	rt.On(fault.Check, "GET", "/model-invocation-job/{job}", b.show)
	rt.On(fault.Cancel, "POST", "/model-invocation-job/{job}/stop", b.stop)
	rt.On(fault.Ask, "POST", "/model/{model}/converse", func(c *backend.Call) { c.Ask(bodies.Converse{}, c.Request.PathValue("model")) })
	rt.On(fault.Ask, "POST", "/model/{model}/converse-stream", func(c *backend.Call) {
		c.AskStreamed(bodies.Converse{}, c.Request.PathValue("model"))
	})
	rt.On(fault.Ask, "POST", "/model/{model}/invoke", func(c *backend.Call) { c.Ask(bedrockInvoke{}, c.Request.PathValue("model")) })
	rt.On(fault.Models, "GET", "/foundation-models", func(c *backend.Call) {
		c.Reply(http.StatusOK, map[string]any{"modelSummaries": []any{map[string]any{"modelId": "sim.large-v1:0"},
			map[string]any{"modelId": "sim.small-v1:0"}}})
	})
	rt.On(fault.Models, "GET", "/inference-profiles", func(c *backend.Call) {
		c.Reply(http.StatusOK,
			map[string]any{"inferenceProfileSummaries": []any{map[string]any{"inferenceProfileId": "us.sim.large-v1:0"}}})
	})
}

// amazonShape is {"message","__type"}, with the type in a header, too.
func amazonShape(c *backend.Call, r *rules.Rejection) any {
	kind := cmp.Or(r.Type, map[int]string{
		403: "AccessDeniedException", 404: "ResourceNotFoundException", 408: "ModelTimeoutException", 409: "ConflictException",
		424: "ModelErrorException", 429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
		529: "ServiceUnavailableException",
	}[r.Status], "ValidationException")
	c.Writer.Header().Set("X-Amzn-Errortype", kind+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	return map[string]any{"message": r.Message, "__type": kind}
}

// bedrock plays model invocation jobs over S3.
type bedrock struct {
	store  *s3Store
	mu     sync.Mutex
	tokens map[string]string // job by clientRequestToken
}

// bedrockExtra holds the fields that only a job of Bedrock has.
type bedrockExtra struct {
	create bedrockJob
	bucket string // of the results
	folder string // of the results, Bedrock's own part included, with a slash at its end
	file   string // name of the result file
}

var (
	bedrockName  = regexp.MustCompile(`^[a-zA-Z0-9](-*[a-zA-Z0-9+\-.])*$`)
	bedrockToken = regexp.MustCompile(`^[a-zA-Z0-9](-*[a-zA-Z0-9])*$`)
	bedrockURI   = regexp.MustCompile(`^s3://[a-z0-9][-.a-z0-9]{1,61}[a-z0-9](/[-!_*'().a-zA-Z0-9]+)*/?$`)
)

func (b *bedrock) create(c *backend.Call) {
	var in bedrockJob
	if !c.Read(&in) {
		return
	}
	if rej := in.check(); rej != nil {
		c.Fail(rej)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if arn, again := b.tokens[in.Token]; again && in.Token != "" {
		c.Reply(http.StatusOK, map[string]any{"jobArn": arn})
		return
	}
	bucket, key := s3Parts(in.Input.S3.URI)
	data, missing, err := b.input(c, bucket, key)
	if err != nil {
		c.Trouble(err)
		return
	}
	x := &bedrockExtra{create: in, file: key[strings.LastIndexByte(key, '/')+1:] + ".out"}
	region := "us-east-1"
	if s, ok := signatureOf(c.Request); ok {
		region = s.region
	}
	j, made := c.Launch(backend.Draft{
		NewID: func(n uint64) string {
			id := strings.ToLower(dice.Letters(dice.Base62, 12)(n))
			var folder string
			x.bucket, folder = s3Parts(in.Output.S3.URI)
			x.folder = strings.TrimPrefix(strings.TrimSuffix(folder, "/")+"/"+id+"/", "/")
			return "arn:aws:bedrock:" + region + ":" + amazonAccount + ":model-invocation-job/" + id
		},
		Format: bedrockFormat{in.Type}, Data: data, Name: in.Name, Model: in.Model, Extra: x,
		Late: func(sv *backend.Survey) { b.late(c, sv, &in, missing) },
	})
	if made {
		b.tokens[in.Token] = j.ID
		b.store.writes(j)
		c.Reply(http.StatusOK, map[string]any{"jobArn": j.ID})
	}
}

// late returns the problem that is found after the job was made.
func (b *bedrock) late(c *backend.Call, sv *backend.Survey, in *bedrockJob, missing bool) {
	fail := func(format string, args ...any) {
		sv.Issues = []backend.Issue{{Rejection: *rules.Invalid("", "", format, args...)}}
	}
	switch least := c.BatchLeast(); {
	case missing:
		fail("The provided S3 URI %s does not exist.", in.Input.S3.URI)
	case strings.Contains(in.Role, "denied"):
		fail("The role does not have s3:GetObject permission on %s.", in.Input.S3.URI)
	case len(sv.Issues) == 0 && sv.Lines.Len < least:
		fail("Your input file contains less records (%d) than the required minimum of: %d", sv.Lines.Len, least)
	}
}

func (in *bedrockJob) check() *rules.Rejection {
	for _, uri := range []string{in.Input.S3.URI, in.Output.S3.URI} {
		if !bedrockURI.MatchString(uri) {
			return rules.Invalid("", "",
				"Value %q at 's3Uri' failed to satisfy constraint: Member must satisfy regular expression pattern: %s", uri, bedrockURI)
		}
	}
	switch {
	case len(in.Name) > 63 || !bedrockName.MatchString(in.Name):
		return rules.Invalid("", "", "Value %q at 'jobName' failed to satisfy constraint", in.Name)
	case in.Token != "" && (len(in.Token) > 256 || !bedrockToken.MatchString(in.Token)):
		return rules.Invalid("", "", "Value at 'clientRequestToken' failed to satisfy constraint")
	case !strings.HasPrefix(in.Role, "arn:aws"):
		return rules.Invalid("", "", "Value at 'roleArn' failed to satisfy constraint")
	case in.Hours != 0 && (in.Hours < 24 || in.Hours > 168):
		return rules.Invalid("", "",
			"Value %d at 'timeoutDurationInHours' failed to satisfy constraint: Member must have value between 24 and 168", in.Hours)
	case in.Type != "" && in.Type != "Converse" && in.Type != "InvokeModel":
		return rules.Invalid("", "", "Value %q at 'modelInvocationType' failed to satisfy constraint", in.Type)
	}
	if rej := rules.CheckModel(in.Model); rej != nil {
		return rules.Invalid("", "", "The provided model identifier is invalid.")
	}
	return nil
}

// input returns the records that a job reads.
func (b *bedrock) input(c *backend.Call, bucket, key string) (data spill.Blob, missing bool, err error) {
	o, err := b.store.find(c, bucket, key)
	if err != nil || o != nil {
		if o != nil {
			data = o.Blob
		}
		return data, false, err
	}
	data, err = c.Disk().Save("nothing", strings.NewReader(""), 0)
	return data, true, err
}

func s3Parts(uri string) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
	return bucket, key
}

// find returns a job by its full name. Its bare id is refused, although the documentation allows it.
func (b *bedrock) find(c *backend.Call) *backend.Job {
	arn := c.Request.PathValue("job")
	if !strings.HasPrefix(arn, "arn:") {
		c.Fail(rules.Invalid("", "", "The provided ARN is invalid."))
		return nil
	}
	return c.Job(arn)
}

func (b *bedrock) show(c *backend.Call) {
	if j := b.find(c); j != nil {
		c.Reply(http.StatusOK, b.object(j, c.Look(j)))
	}
}

func (b *bedrock) stop(c *backend.Call) {
	j := b.find(c)
	if j == nil {
		return
	}
	if !c.Cancel(j) {
		c.Fail(&rules.Rejection{Status: http.StatusBadRequest, Type: "ConflictException", Message: "The job has ended."})
		return
	}
	c.Reply(http.StatusOK, struct{}{})
}

func (b *bedrock) list(c *backend.Call) {
	q := c.Request.URL.Query()
	all := slices.DeleteFunc(c.Jobs(), func(j *backend.Job) bool {
		state := bedrockState(c.Look(j))
		return !strings.Contains(j.Name, q.Get("nameContains")) || q.Get("statusEquals") != "" && q.Get("statusEquals") != state
	})
	if q.Get("sortOrder") == "Ascending" {
		slices.Reverse(all)
	}
	part, more := backend.Page(all, q.Get("nextToken"), c.QueryInt("maxResults", 100, 1000), func(j *backend.Job) string { return j.ID })
	jobs := []any{}
	for _, j := range part {
		jobs = append(jobs, b.object(j, c.Look(j)))
	}
	out := map[string]any{"invocationJobSummaries": jobs}
	if more {
		out["nextToken"] = part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

func bedrockState(w backend.View) string {
	if w.Word != "" {
		return w.Word
	}
	if w.Phase == backend.Expired && w.Done > 0 {
		return "PartiallyCompleted"
	}
	return map[backend.Phase]string{
		backend.Validating: "Validating", backend.Queued: "Scheduled", backend.Running: "InProgress", backend.Finalizing: "InProgress",
		backend.Cancelling: "Stopping", backend.Completed: "Completed", backend.Failed: "Failed", backend.Expired: "Expired",
		backend.Cancelled: "Stopped",
	}[w.Phase]
}

func (b *bedrock) object(j *backend.Job, w backend.View) bedrockJob {
	o := j.Extra.(*bedrockExtra).create
	o.ARN, o.State = j.ID, bedrockState(w)
	o.Submitted, o.Modified, o.Expires = rfc(j.Made), rfc(j.Made), rfc(j.Made.Add(j.Window))
	if w.Phase == backend.Failed {
		o.Message = j.Failure[0].Message
		if line := j.Failure[0].Line; line > 0 {
			o.Message = fmt.Sprintf("Record %d: %s", line, o.Message)
		}
	}
	if w.Over() {
		o.Ended, o.Modified = rfc(w.Ended), rfc(w.Ended)
	}
	if w.Phase != backend.Failed && w.Done > 0 { // 0 until the job has begun
		o.Total, o.Processed, o.Succeeded, o.Failed = w.Total, w.Succeeded+w.Errored, w.Succeeded, w.Errored
	}
	return o
}

// bedrockFormat is {"recordId","modelInput"}, echoed with an answer or an error. A record without an id gets one. A job without a
// type has bodies of InvokeModel.
type bedrockFormat struct{ kind string }

func (f bedrockFormat) Open(j *backend.Job, v *fastjson.Value) (backend.Carried, *rules.Rejection) {
	body := v.Get("modelInput")
	if body == nil || body.Type() != fastjson.TypeObject {
		return backend.Carried{}, rules.Invalid("modelInput", "", "modelInput is missing or no object")
	}
	id := string(v.GetStringBytes("recordId"))
	if id == "" {
		id = fmt.Sprintf("REC%08X", uint32(dice.HashBytes(0, body.MarshalTo(nil))))
	}
	in := backend.Carried{ID: id, Body: body, Dialect: bedrockInvoke{}, Model: j.Model}
	if f.kind == "Converse" {
		in.Dialect = bodies.Converse{}
	}
	return in, nil
}

func (bedrockFormat) Close(dst []byte, _ *backend.Job, e *backend.Ended) ([]byte, int) {
	if e.How == backend.RanOut || e.How == backend.Stopped {
		return dst, -1
	}
	dst = append(dst, `{"modelInput":`...)
	dst = fastjson.MustParseBytes(e.Line).Get("modelInput").MarshalTo(dst)
	if e.How == backend.Answered {
		dst = append(append(dst, `,"modelOutput":`...), e.Reply...)
	} else {
		dst = bodies.AppendJSON(append(dst, `,"error":`...),
			map[string]any{"errorCode": e.Rejection.Status, "errorMessage": e.Rejection.Message})
	}
	return append(bodies.AppendJSON(append(dst, `,"recordId":`...), e.ID), '}'), 0
}

type bedrockJob struct {
	ARN       string `json:"jobArn,omitempty"`
	Name      string `json:"jobName"`
	Model     string `json:"modelId"`
	Token     string `json:"clientRequestToken,omitempty"`
	Role      string `json:"roleArn"`
	State     string `json:"status,omitempty"`
	Message   string `json:"message,omitempty"`
	Type      string `json:"modelInvocationType,omitempty"`
	Hours     int    `json:"timeoutDurationInHours,omitempty"`
	Submitted any    `json:"submitTime,omitempty"`
	Modified  any    `json:"lastModifiedTime,omitempty"`
	Ended     any    `json:"endTime,omitempty"`
	Expires   any    `json:"jobExpirationTime,omitempty"`
	Input     struct {
		S3 struct {
			URI    string `json:"s3Uri"`
			Format string `json:"s3InputFormat,omitempty"`
		} `json:"s3InputDataConfig"`
	} `json:"inputDataConfig"`
	Output struct {
		S3 struct {
			URI string `json:"s3Uri"`
		} `json:"s3OutputDataConfig"`
	} `json:"outputDataConfig"`
	Total     int `json:"totalRecordCount"`
	Processed int `json:"processedRecordCount"`
	Succeeded int `json:"successRecordCount"`
	Failed    int `json:"errorRecordCount"`
}

// bedrockInvoke is the dialect of Bedrock's InvokeModel: a body as the model's own vendor has it. Of Claude that is Messages, of all others
// Converse.
type bedrockInvoke struct{}

// Read takes a body apart.
func (bedrockInvoke) Read(rd bodies.Reading, b *fastjson.Value) (bodies.Request, *rules.Rejection) {
	at := strings.Index(rd.Model, "claude-")
	if at < 0 { // tools are taken in batches, too
		return bodies.Converse{}.Read(bodies.Reading{Vendor: rd.Vendor, Model: rd.Model, Rules: rd.Rules}, b)
	}
	named := rd.Model
	rd.Model = rd.Model[at:]
	q, rej := bodies.Messages{}.Read(rd, b)
	q.Model = named
	switch {
	case string(b.GetStringBytes("anthropic_version")) != "bedrock-2023-05-31":
		return q, rules.Invalid("", "", "anthropic_version: Field required")
	case b.Get("model") != nil || b.Get("stream") != nil:
		return q, rules.Invalid("", "", "model, stream: Extra inputs are not permitted")
	}
	return q, rej
}

// Write appends the body of a reply.
func (bedrockInvoke) Write(dst []byte, q *bodies.Request, r *bodies.Reply) []byte {
	if strings.Contains(q.Model, "claude-") {
		return bodies.Messages{}.Write(dst, q, r)
	}
	return bodies.Converse{}.Write(dst, q, r)
}
