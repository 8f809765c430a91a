package simulator

import (
	"cmp"
	"net/http"
	"slices"
)

func togetherVendor() *vendor {
	return &vendor{
		name: "together", prefix: "/together", base: "/together/v1", key: bearer, shape: openAIShape, rate: openAIRate,
		requests: 50_000, bytes: 100 << 20, window: day, oneModel: true,
		routes: togetherRoutes,
	}
}

func togetherRoutes(rt routes) {
	t := together{}
	rt.on(Upload, "POST", "/v1/files", t.start)
	rt.on(Upload, "POST", "/v1/files/upload", t.form)
	rt.open(Upload, "PUT", "/storage/{id}", t.put)
	rt.on(Upload, "POST", "/v1/files/{id}/preprocess", t.showFile)
	rt.on(File, "GET", "/v1/files", t.listFiles)
	rt.on(File, "GET", "/v1/files/{id}", t.showFile)
	rt.on(File, "DELETE", "/v1/files/{id}", t.deleteFile)
	rt.on(Fetch, "GET", "/v1/files/{id}/content", t.content)
	rt.on(Create, "POST", "/v1/batches", t.create)
	rt.on(List, "GET", "/v1/batches", t.list)
	rt.on(Check, "GET", "/v1/batches/{id}", t.show)
	rt.on(Cancel, "POST", "/v1/batches/{id}/cancel", t.cancel)
	rt.on(Ask, "POST", "/v1/chat/completions", func(c *call) { c.ask(togetherChat(), "") })
	rt.on(Ask, "POST", "/v1/embeddings", func(c *call) { c.ask(embeddings{}, "") })
	modelsRoutes(rt, "/v1")
}

// together plays the files and batches of Together.
type together struct{}

func togetherChat() chat { return chat{thoughts: "reasoning"} }

// togetherKeep is how long files live.
const togetherKeep = 7 * day

func (t together) create(c *call) {
	var in togetherCreate
	if !c.read(&in) {
		return
	}
	f := c.findFile(in.InputFileID)
	switch {
	case in.Endpoint != "/v1/chat/completions":
		c.fail(invalid("endpoint", "invalid_endpoint", "endpoint must be /v1/chat/completions"))
		return
	case f == nil || f.path == "":
		c.fail(notFound("input file %s not found", in.InputFileID))
		return
	}
	j, ok := c.launch(draft{
		newID: uuid, outputs: func(j *job) []string { return []string{togetherOutput(j, 0), togetherOutput(j, 1)} },
		data: f.blob, input: f.id, endpoint: in.Endpoint, model: in.ModelID,
		format: bareFormat{dialect: togetherChat(), idMost: 64, idNeeded: true, shape: func(r *Rejection) any { return map[string]any{"error": openAIError(r)} }},
		late:   c.tooMuchQueued,
	})
	if ok {
		c.reply(http.StatusCreated, map[string]any{"job": t.object(c, j, view{progress: progress{phase: validating}}), "warning": ""})
	}
}

func togetherOutput(j *job, n int) string { return "file-" + uuid(j.number+uint64(n)+1) }

// list is an array and nothing else, whole.
func (t together) list(c *call) {
	out := []togetherJob{}
	for _, j := range c.mine() {
		out = append(out, t.object(c, j, c.look(j)))
	}
	c.reply(http.StatusOK, out)
}

func (t together) show(c *call) {
	if j := c.job(c.r.PathValue("id")); j != nil {
		c.reply(http.StatusOK, t.object(c, j, c.look(j)))
	}
}

func (t together) cancel(c *call) {
	j := c.job(c.r.PathValue("id"))
	if j == nil {
		return
	}
	if !c.cancel(j) {
		c.fail(invalid("", "invalid_state", "batch %s cannot be cancelled: it has ended", j.id))
		return
	}
	c.reply(http.StatusOK, t.object(c, j, c.look(j)))
}

func (t together) object(c *call, j *job, v view) togetherJob {
	o := togetherJob{
		ID: j.id, UserID: "user-" + j.account, Status: cmp.Or(v.word, togetherStatus(v.phase)), Endpoint: j.endpoint, ModelID: j.model, InputFileID: j.input,
		FileSize: j.lines.data.size, CreatedAt: rfc(j.made), Deadline: rfc(j.made.Add(j.window)),
	}
	if v.total > 0 {
		o.Progress = float64(v.succeeded+v.errored) / float64(v.total) * 100
	}
	if v.blank {
		o.OutputFileID, o.ErrorFileID = "", ""
	}
	if !v.over() {
		return o
	}
	o.CompletedAt = rfc(v.ended)
	if v.phase == failed {
		o.Error = j.failure[0].Message
		return o
	}
	if v.noOutput {
		return o
	}
	if c.hasOutput(j, 0) {
		o.OutputFileID = togetherOutput(j, 0)
	}
	if c.hasOutput(j, 1) {
		o.ErrorFileID = togetherOutput(j, 1)
	}
	return o
}

func togetherStatus(p phase) string {
	switch p {
	case validating:
		return "VALIDATING"
	case completed:
		return "COMPLETED"
	case failed:
		return "FAILED"
	case expired:
		return "EXPIRED"
	case cancelled:
		return "CANCELLED"
	}
	return "IN_PROGRESS"
}

// start answers an upload with the address where the bytes go. A client that follows it like a page loses its method.
func (t together) start(c *call) {
	q := c.r.URL.Query()
	if err := c.r.ParseForm(); err == nil && q.Get("file_name") == "" {
		q = c.r.Form
	}
	if q.Get("file_name") == "" || !slices.Contains([]string{"batch-api", "fine-tune", "eval"}, q.Get("purpose")) {
		c.fail(invalid("purpose", "invalid_request", "file_name and purpose are required"))
		return
	}
	n := c.s.newID(c.v.name, c.now)
	f := &file{vendor: c.v.name, account: c.account, id: "file-" + uuid(n), name: q.Get("file_name"), purpose: q.Get("purpose"), made: c.now, keep: togetherKeep}
	s := c.s.newSession(c, f, -1)
	if rej := c.s.keepFile(f); rej != nil {
		c.fail(rej)
		return
	}
	c.w.Header().Set("X-Together-File-Id", f.id)
	c.w.Header().Set("Location", c.self()+c.v.prefix+"/storage/"+s.id+"?X-Amz-Expires=3600&X-Amz-Signature="+hexID(n))
	c.send(http.StatusFound, "text/plain", nil)
}

// put takes the bytes at the signed address. The signature is the key: a second one is refused, as S3 does.
func (t together) put(c *call) {
	s := c.s.session(c.r.PathValue("id"))
	switch {
	case c.r.Header.Get("Authorization") != "":
		c.send(http.StatusBadRequest, "application/xml", []byte("<Error><Code>InvalidArgument</Code><Message>Only one auth mechanism allowed</Message></Error>"))
		return
	case s == nil || c.r.URL.Query().Get("X-Amz-Signature") == "":
		c.send(http.StatusForbidden, "application/xml", []byte("<Error><Code>SignatureDoesNotMatch</Code></Error>"))
		return
	case c.r.ContentLength < 0:
		c.send(http.StatusLengthRequired, "application/xml", []byte("<Error><Code>MissingContentLength</Code></Error>"))
		return
	}
	b, err := c.s.spill.save("upload", c.r.Body, c.v.bytes)
	if err != nil {
		panic(http.ErrAbortHandler) // the client hung up, or sent more than is taken
	}
	c.s.mu.Lock()
	s.file.blob = b
	c.s.mu.Unlock()
	c.send(http.StatusOK, "text/plain", nil)
}

// form takes an upload in one call.
func (t together) form(c *call) {
	in, ok := c.receive(c.v.bytes)
	if !ok {
		return
	}
	f := &file{
		blob: in.blob, vendor: c.v.name, account: c.account, id: "file-" + uuid(c.s.newID(c.v.name, c.now)),
		name: cmp.Or(in.fields["file_name"], baseName(in.name)), purpose: in.fields["purpose"], made: c.now, keep: togetherKeep,
	}
	if rej := c.s.keepFile(f); rej != nil {
		c.fail(rej)
		return
	}
	c.reply(http.StatusOK, t.fileObject(f))
}

func (t together) fileObject(f *file) togetherFile {
	return togetherFile{ID: f.id, Object: "file", Bytes: f.size, CreatedAt: f.made.Unix(), Filename: f.name, FileType: "jsonl", Processed: f.path != "", Purpose: f.purpose}
}

func (t together) listFiles(c *call) {
	all := []togetherFile{}
	for _, f := range c.myFiles() {
		all = append(all, t.fileObject(f))
	}
	c.reply(http.StatusOK, map[string]any{"data": all})
}

// find is an uploaded file or a result; nil after answering the call.
func (t together) find(c *call, id string) *file {
	if f := c.findFile(id); f != nil {
		return f
	}
	o, b, ok, err := c.output(id)
	switch {
	case err != nil:
		c.trouble(err)
	case !ok || c.now.Sub(o.job.made) >= togetherKeep:
		c.fail(notFound("file %s not found", id))
	default:
		return &file{blob: b, id: id, name: o.job.id + ".jsonl", purpose: "batch-api", made: o.job.made}
	}
	return nil
}

func (t together) showFile(c *call) {
	if f := t.find(c, c.r.PathValue("id")); f != nil {
		c.reply(http.StatusOK, t.fileObject(f))
	}
}

func (t together) deleteFile(c *call) {
	id := c.r.PathValue("id")
	f := t.find(c, id)
	if f == nil {
		return
	}
	c.dropFile(f.id)
	c.dropOutput(id)
	c.reply(http.StatusOK, map[string]any{"id": id, "deleted": true})
}

func (t together) content(c *call) {
	if f := t.find(c, c.r.PathValue("id")); f != nil {
		c.serve(f.blob, "application/octet-stream", noRanges)
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
