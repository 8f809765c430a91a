package simulator

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// openAIBatch is a batch as OpenAI shows it.
func openAIBatch(c *call, j *job, v view) openAIBatchObject {
	b := openAIBatchObject{
		ID: j.id, Object: "batch", Endpoint: j.endpoint, Model: nullable(j.model), InputFileID: j.input, CompletionWindow: "24h",
		Status: cmp.Or(v.word, openAIStatus(v.phase)), CreatedAt: j.made.Unix(), ExpiresAt: j.made.Add(j.window).Unix(),
		Counts: openAICounts{Total: v.total, Completed: v.succeeded, Failed: v.errored + v.expired}, Metadata: j.meta,
	}
	if v.phase != validating && v.phase != failed {
		b.InProgressAt = unix(j.made.Add(j.valid))
	}
	b.stamp(v)
	if v.blank {
		b.OutputFileID, b.ErrorFileID = "", ""
	}
	if v.over() && v.phase != failed && !v.noOutput {
		if c.hasOutput(j, 0) {
			b.OutputFileID = openAIOutput(j, 0)
		}
		if c.hasOutput(j, 1) {
			b.ErrorFileID = openAIOutput(j, 1)
		}
		j.outMu.Lock()
		b.Usage = newResponsesUsage(j.consumed)
		j.outMu.Unlock()
	}
	if v.phase == failed {
		b.Errors = openAIIssues(j.failure)
	}
	return b
}

// stamp fills the times of what has happened.
func (b *openAIBatchObject) stamp(v view) {
	if !v.cancel.IsZero() {
		b.CancellingAt = unix(v.cancel)
	}
	switch v.phase {
	case finalizing:
		b.FinalizingAt = unix(v.ran)
	case completed:
		b.FinalizingAt, b.CompletedAt = unix(v.ran), unix(v.ended)
	case failed:
		b.FailedAt = unix(v.ended)
	case expired:
		b.ExpiredAt = unix(v.ended)
	case cancelled:
		b.CancelledAt = unix(v.ended)
	}
}

func unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

func openAIIssues(list []issue) any {
	data := []any{}
	for _, i := range list {
		e := map[string]any{"code": i.Code, "message": i.Message, "param": nullable(i.Param), "line": nil}
		if i.line > 0 {
			e["line"] = i.line
		}
		data = append(data, e)
	}
	return map[string]any{"object": "list", "data": data}
}

func openAIStatus(p phase) string {
	if p == queued || p == running {
		return "in_progress"
	}
	return string(p)
}

// openAIOutput is the id of a job's output file (0) or error file (1).
func openAIOutput(j *job, file int) string {
	return "file-" + letters(base62, 22)(j.number+uint64(file)+1)
}

func openAIOutputs(j *job) []string { return []string{openAIOutput(j, 0), openAIOutput(j, 1)} }

func (k openAIKind) upload(c *call) {
	f, ok := c.receive(512 << 20)
	if !ok {
		return
	}
	purpose := f.fields["purpose"]
	switch {
	case !slices.Contains([]string{"batch", "assistants", "fine-tune", "user_data", "evals", "vision"}, purpose):
		c.fail(invalid("purpose", "invalid_value", "'%s' is not one of ['fine-tune', 'assistants', 'batch', 'user_data', 'vision', 'evals'] - 'purpose'", purpose))
		return
	case purpose == "batch" && f.size > cmp.Or(c.s.opts.Limits.BatchBytes, c.v.bytes):
		c.fail(&Rejection{Status: http.StatusRequestEntityTooLarge, Code: "file_too_large", Message: "The file is too large for purpose 'batch'."})
		return
	}
	out := &file{
		blob: f.blob, vendor: c.v.name, account: c.account, id: "file-" + letters(base62, 22)(c.s.newID(c.v.name, c.now)),
		name: baseName(f.name), purpose: purpose, made: c.now, keep: k.keep,
	}
	if n, err := strconv.Atoi(f.fields["expires_after[seconds]"]); err == nil {
		if n < 3600 || n > 2_592_000 {
			c.fail(invalid("expires_after[seconds]", "invalid_value", "expires_after must be between 3600 and 2592000 seconds."))
			return
		}
		out.keep = time.Duration(n) * time.Second
	}
	if rej := c.s.keepFile(out); rej != nil {
		c.fail(rej)
		return
	}
	c.reply(http.StatusOK, k.fileObject(c, out))
}

func (k openAIKind) status(c *call, f *file) string {
	if k.pending && c.now.Before(f.made.Add(c.s.opts.Queue/4)) {
		return "pending"
	}
	return "processed"
}

func (k openAIKind) fileObject(c *call, f *file) openAIFile {
	o := openAIFile{ID: f.id, Object: "file", Bytes: f.size, CreatedAt: f.made.Unix(), Filename: f.name, Purpose: f.purpose, Status: k.status(c, f)}
	if f.keep > 0 {
		o.ExpiresAt = f.made.Add(f.keep).Unix()
	}
	return o
}

func (k openAIKind) listFiles(c *call) {
	q := c.r.URL.Query()
	var all []openAIFile
	for _, f := range c.myFiles() {
		all = append(all, k.fileObject(c, f))
	}
	for _, j := range c.mine() {
		if j.at(c.now).over() {
			for n := range 2 {
				if c.hasOutput(j, n) {
					all = append(all, k.outputObject(j, n))
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(f openAIFile) bool { return q.Get("purpose") != "" && q.Get("purpose") != f.Purpose })
	slices.SortStableFunc(all, func(a, b openAIFile) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	if q.Get("order") == "asc" {
		slices.Reverse(all)
	}
	part, more := page(all, q.Get("after"), c.queryInt("limit", 10_000, 10_000), func(f openAIFile) string { return f.ID })
	out := openAIList{Object: "list", Data: []any{}, HasMore: more}
	for _, f := range part {
		out.Data = append(out.Data, f)
	}
	if len(part) > 0 {
		out.FirstID, out.LastID = part[0].ID, part[len(part)-1].ID
	}
	c.reply(http.StatusOK, out)
}

// outputObject is a result file as OpenAI shows it.
func (k openAIKind) outputObject(j *job, n int) openAIFile {
	j.outMu.Lock()
	defer j.outMu.Unlock()
	name := j.id + []string{"_output.jsonl", "_error.jsonl"}[n]
	o := openAIFile{ID: openAIOutput(j, n), Object: "file", CreatedAt: j.made.Unix(), Filename: name, Purpose: "batch_output", Status: "processed"}
	if n < len(j.outs) {
		o.Bytes = j.outs[n].size
	}
	return o
}

func (k openAIKind) showFile(c *call) {
	id := c.r.PathValue("id")
	if f := c.findFile(id); f != nil {
		c.reply(http.StatusOK, k.fileObject(c, f))
		return
	}
	o, _, ok, err := c.output(id)
	switch {
	case err != nil:
		c.trouble(err)
	case !ok:
		c.fail(notFound("No such File object: %s", id))
	default:
		c.reply(http.StatusOK, k.outputObject(o.job, o.file))
	}
}

func (k openAIKind) deleteFile(c *call) {
	id := c.r.PathValue("id")
	if f := c.findFile(id); f != nil {
		c.dropFile(f.id)
	} else if _, _, ok, _ := c.output(id); ok {
		c.dropOutput(id)
	} else {
		c.fail(notFound("No such File object: %s", id))
		return
	}
	c.reply(http.StatusOK, map[string]any{"id": id, "object": "file", "deleted": true})
}

func (k openAIKind) content(c *call) {
	id := c.r.PathValue("id")
	if f := c.findFile(id); f != nil {
		c.serve(f.blob, "application/octet-stream", noRanges)
		return
	}
	o, b, ok, err := c.output(id)
	switch {
	case err != nil:
		c.trouble(err)
	case !ok || k.keep > 0 && c.now.Sub(o.job.made) > k.keep:
		c.fail(notFound("No such File object: %s", id))
	default:
		c.serve(b, "application/octet-stream", noRanges)
	}
}

type openAICreate struct {
	InputFileID      string            `json:"input_file_id"`
	Endpoint         string            `json:"endpoint"`
	CompletionWindow string            `json:"completion_window"`
	Metadata         map[string]string `json:"metadata"`
}

type openAIList struct {
	Object  string `json:"object"`
	Data    []any  `json:"data"`
	HasMore bool   `json:"has_more"`
	FirstID any    `json:"first_id"`
	LastID  any    `json:"last_id"`
}

type openAIFile struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Bytes     int64  `json:"bytes"`
	CreatedAt int64  `json:"created_at"`
	ExpiresAt any    `json:"expires_at"`
	Filename  string `json:"filename"`
	Purpose   string `json:"purpose"`
	Status    string `json:"status"`
	Details   any    `json:"status_details"`
}

type openAICounts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

type openAIBatchObject struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Endpoint         string            `json:"endpoint"`
	Model            any               `json:"model"`
	Errors           any               `json:"errors"`
	InputFileID      string            `json:"input_file_id"`
	CompletionWindow string            `json:"completion_window"`
	Status           string            `json:"status"`
	OutputFileID     any               `json:"output_file_id"`
	ErrorFileID      any               `json:"error_file_id"`
	CreatedAt        int64             `json:"created_at"`
	InProgressAt     any               `json:"in_progress_at"`
	ExpiresAt        int64             `json:"expires_at"`
	FinalizingAt     any               `json:"finalizing_at"`
	CompletedAt      any               `json:"completed_at"`
	FailedAt         any               `json:"failed_at"`
	ExpiredAt        any               `json:"expired_at"`
	CancellingAt     any               `json:"cancelling_at"`
	CancelledAt      any               `json:"cancelled_at"`
	Counts           openAICounts      `json:"request_counts"`
	Usage            responsesUsage    `json:"usage"`
	Metadata         map[string]string `json:"metadata"`
}
