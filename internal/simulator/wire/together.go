package wire

import (
	"cmp"
	"net/http"
	"slices"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
)

func togetherVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "together", Prefix: "/together", Base: "/together/v1", Key: backend.Bearer, Shape: openAIShape, Rate: openAIRate,
		Requests: 50_000, Bytes: 100 << 20, Window: day, OneModel: true,
		Routes: togetherRoutes,
	}
}

// togetherRoutes answer under the address that is printed, and under one more /v1: clients since 3.0 add it by themselves.
func togetherRoutes(rt backend.Routes) {
	rt.Open(fault.Upload, "PUT", "/storage/{id}", together{}.put)
	for _, at := range []string{"/v1", "/v1/v1"} {
		togetherAt(rt, at)
	}
}

func togetherAt(rt backend.Routes, at string) {
	t := together{}
	rt.On(fault.Upload, "POST", at+"/files", t.start)
	rt.On(fault.Upload, "POST", at+"/files/upload", t.form)
	rt.On(fault.Upload, "POST", at+"/files/{id}/preprocess", t.showFile)
	rt.On(fault.File, "GET", at+"/files", t.listFiles)
	rt.On(fault.File, "GET", at+"/files/{id}", t.showFile)
	rt.On(fault.File, "DELETE", at+"/files/{id}", t.deleteFile)
	rt.On(fault.Fetch, "GET", at+"/files/{id}/content", t.content)
	rt.On(fault.Create, "POST", at+"/batches", t.create)
	rt.On(fault.List, "GET", at+"/batches", t.list)
	rt.On(fault.Check, "GET", at+"/batches/{id}", t.show)
	rt.On(fault.Cancel, "POST", at+"/batches/{id}/cancel", t.cancel)
	rt.On(fault.Ask, "POST", at+"/chat/completions", func(c *backend.Call) { c.Ask(togetherChat(), "") })
	rt.On(fault.Ask, "POST", at+"/embeddings", func(c *backend.Call) { c.Ask(bodies.Embeddings{}, "") })
	modelsRoutes(rt, at)
}

// together plays the files and batches of Together.
type together struct{}

func togetherChat() bodies.Chat {
	return bodies.Chat{Thoughts: "reasoning", Prompt: true, UsageLast: true}
}

// togetherKeep is how long files live.
const togetherKeep = 7 * day

func (t together) create(c *backend.Call) {
	var in togetherCreate
	if !c.Read(&in) {
		return
	}
	f := c.FindFile(in.InputFileID)
	switch {
	case in.Endpoint != "/v1/chat/completions":
		c.Fail(rules.Invalid("endpoint", "invalid_endpoint", "endpoint must be /v1/chat/completions"))
		return
	}
	missing := ""
	if f == nil || f.Path == "" { // found out later
		f, missing = &backend.File{ID: in.InputFileID}, in.InputFileID
	}
	j, ok := c.Launch(backend.Draft{
		NewID: dice.UUID, Outputs: func(j *backend.Job) []string {
			return []string{togetherOutput(j, resultsFile), togetherOutput(j, errorsFile)}
		},
		Data: f.Blob, Input: f.ID, Endpoint: in.Endpoint, Model: in.ModelID,
		Format: bareFormat{dialect: togetherChat(), idMost: 64, idNeeded: true, plain: true},
		Late:   c.TooMuchQueued, Missing: missing,
	})
	if ok {
		c.Reply(http.StatusCreated,
			map[string]any{"job": t.object(c, j, backend.View{Progress: backend.Progress{Phase: backend.Validating}}), "warning": ""})
	}
}

func togetherOutput(j *backend.Job, n int) string { return "file-" + dice.UUID(j.Number+uint64(n)+1) }

// list is an array and nothing else, whole.
func (t together) list(c *backend.Call) {
	out := []togetherJob{}
	for _, j := range c.Jobs() {
		out = append(out, t.object(c, j, c.Look(j)))
	}
	c.Reply(http.StatusOK, out)
}

func (t together) show(c *backend.Call) {
	if j := c.Job(c.Request.PathValue("id")); j != nil {
		c.Reply(http.StatusOK, t.object(c, j, c.Look(j)))
	}
}

func (t together) cancel(c *backend.Call) {
	j := c.Job(c.Request.PathValue("id"))
	if j == nil {
		return
	}
	if !c.Cancel(j) {
		c.Fail(&rules.Rejection{Status: http.StatusConflict, Code: "invalid_state",
			Message: "batch " + j.ID + " cannot be cancelled: it has ended"})
		return
	}
	c.Reply(http.StatusOK, t.object(c, j, c.Look(j)))
}

func (t together) object(c *backend.Call, j *backend.Job, v backend.View) togetherJob {
	o := togetherJob{
		ID: j.ID, UserID: "user-" + j.Account, Status: cmp.Or(v.Word, togetherStatus(v.Phase)), Endpoint: j.Endpoint, ModelID: j.Model,
		InputFileID: j.Input, FileSize: j.Lines.Data.Size, CreatedAt: rfc(j.Made), Deadline: rfc(j.Made.Add(j.Window)),
	}
	if v.Total > 0 {
		o.Progress = float64(v.Succeeded+v.Errored) / float64(v.Total) * 100
	}
	if v.Blank {
		o.OutputFileID, o.ErrorFileID = "", ""
	}
	if !v.Over() {
		return o
	}
	o.CompletedAt = rfc(v.Ended)
	if v.Phase == backend.Failed {
		o.Error = j.Failure[0].Message
		return o
	}
	if v.NoOutput {
		return o
	}
	if c.HasOutput(j, resultsFile) {
		o.OutputFileID = togetherOutput(j, resultsFile)
	}
	if c.HasOutput(j, errorsFile) {
		o.ErrorFileID = togetherOutput(j, errorsFile)
	}
	return o
}

func togetherStatus(p backend.Phase) string {
	switch p {
	case backend.Validating:
		return "VALIDATING"
	case backend.Completed:
		return "COMPLETED"
	case backend.Failed:
		return "FAILED"
	case backend.Expired:
		return "EXPIRED"
	case backend.Cancelled:
		return "CANCELLED"
	case backend.Cancelling:
		return "CANCELING"
	}
	return "IN_PROGRESS"
}

// start answers an upload with the address where the bytes go. A client that follows it like a page loses its method.
func (t together) start(c *backend.Call) {
	q := c.Request.URL.Query()
	_ = c.Request.ParseMultipartForm(1 << 20) // of clients since 3.0; of others it is no such form, and parsed all the same
	if q.Get("file_name") == "" {
		q = c.Request.Form
	}
	if q.Get("file_name") == "" || !slices.Contains([]string{"batch-api", "fine-tune", "eval"}, q.Get("purpose")) {
		c.Fail(rules.Invalid("purpose", "invalid_request", "file_name and purpose are required"))
		return
	}
	n := c.NewNumber()
	f := &backend.File{ID: "file-" + dice.UUID(n), Name: q.Get("file_name"), Purpose: q.Get("purpose"), Made: c.Now, Keep: togetherKeep}
	s := c.NewSession(f, -1)
	if rej := c.KeepFile(f); rej != nil {
		c.Fail(rej)
		return
	}
	c.Writer.Header().Set("X-Together-File-Id", f.ID)
	c.Writer.Header().Set("Location", c.Origin()+c.Vendor.Prefix+"/storage/"+s.ID+"?X-Amz-Expires=3600&X-Amz-Signature="+dice.Hex(n))
	c.Send(http.StatusFound, "text/plain", nil)
}

// put takes the bytes at the signed address. The signature is the key: a second one is refused, as S3 does.
func (t together) put(c *backend.Call) {
	s := c.Session(c.Request.PathValue("id"))
	switch {
	case c.Request.Header.Get("Authorization") != "":
		c.Send(http.StatusBadRequest, "application/xml",
			[]byte("<Error><Code>InvalidArgument</Code><Message>Only one auth mechanism allowed</Message></Error>"))
		return
	case s == nil || c.Request.URL.Query().Get("X-Amz-Signature") == "":
		c.Send(http.StatusForbidden, "application/xml", []byte("<Error><Code>SignatureDoesNotMatch</Code></Error>"))
		return
	case c.Request.ContentLength < 0:
		c.Send(http.StatusLengthRequired, "application/xml", []byte("<Error><Code>MissingContentLength</Code></Error>"))
		return
	}
	b, err := c.Disk().Save("upload", c.Request.Body, c.Vendor.Bytes)
	if err != nil {
		panic(http.ErrAbortHandler) // the client hung up, or sent more than is taken
	}
	c.FillFile(s.File, b)
	c.Send(http.StatusOK, "text/plain", nil)
}

// form takes an upload in one call.
func (t together) form(c *backend.Call) {
	in, ok := c.Receive(c.Vendor.Bytes)
	if !ok {
		return
	}
	f := &backend.File{
		Blob: in.Blob, ID: "file-" + dice.UUID(c.NewNumber()),
		Name: cmp.Or(in.Fields["file_name"], backend.BaseName(in.Name)), Purpose: in.Fields["purpose"], Made: c.Now, Keep: togetherKeep,
	}
	if rej := c.KeepFile(f); rej != nil {
		c.Fail(rej)
		return
	}
	c.Reply(http.StatusOK, t.fileObject(f))
}

func (t together) fileObject(f *backend.File) togetherFile {
	return togetherFile{ID: f.ID, Object: "file", Bytes: f.Size, CreatedAt: f.Made.Unix(), Filename: f.Name, FileType: "jsonl",
		Processed: f.Path != "", Purpose: f.Purpose}
}

func (t together) listFiles(c *backend.Call) {
	all := []togetherFile{}
	for _, f := range c.Files() {
		all = append(all, t.fileObject(f))
	}
	c.Reply(http.StatusOK, map[string]any{"data": all})
}

// find returns an uploaded file or a result; nil after answering the call.
func (t together) find(c *backend.Call, id string) *backend.File {
	if f := c.FindFile(id); f != nil {
		return f
	}
	o, b, ok, err := c.Output(id)
	switch {
	case err != nil:
		c.Trouble(err)
	case !ok || c.Now.Sub(o.Job.Made) >= togetherKeep:
		c.Fail(rules.NotFound("file %s not found", id))
	default:
		return &backend.File{Blob: b, ID: id, Name: o.Job.ID + ".jsonl", Purpose: "batch-api", Made: o.Job.Made}
	}
	return nil
}

func (t together) showFile(c *backend.Call) {
	if f := t.find(c, c.Request.PathValue("id")); f != nil {
		c.Reply(http.StatusOK, t.fileObject(f))
	}
}

func (t together) deleteFile(c *backend.Call) {
	id := c.Request.PathValue("id")
	f := t.find(c, id)
	if f == nil {
		return
	}
	c.DropFile(f.ID)
	c.DropOutput(id)
	c.Reply(http.StatusOK, map[string]any{"id": id, "deleted": true})
}

func (t together) content(c *backend.Call) {
	if f := t.find(c, c.Request.PathValue("id")); f != nil {
		c.Serve(f.Blob, "application/octet-stream", backend.NoRanges)
	}
}

type togetherCreate struct {
	InputFileID string `json:"input_file_id"`
	Endpoint    string `json:"endpoint"`
	ModelID     string `json:"model_id"`
}

type togetherFile struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Bytes     int64  `json:"bytes"`
	CreatedAt int64  `json:"created_at"`
	Filename  string `json:"filename"`
	FileType  string `json:"FileType"`
	Processed bool   `json:"Processed"`
	Purpose   string `json:"purpose"`
}

type togetherJob struct {
	ID           string  `json:"id"`
	UserID       string  `json:"user_id"`
	Status       string  `json:"status"`
	Endpoint     string  `json:"endpoint"`
	ModelID      string  `json:"model_id"`
	InputFileID  string  `json:"input_file_id"`
	OutputFileID any     `json:"output_file_id"`
	ErrorFileID  any     `json:"error_file_id"`
	FileSize     int64   `json:"file_size_bytes"`
	Progress     float64 `json:"progress"`
	Error        any     `json:"error"`
	CreatedAt    any     `json:"created_at"`
	CompletedAt  any     `json:"completed_at"`
	Deadline     any     `json:"job_deadline"`
}
