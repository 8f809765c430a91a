package wire

import (
	"cmp"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
)

// openAIBatch returns a batch as OpenAI shows it.
func openAIBatch(c *backend.Call, j *backend.Job, v backend.View) openAIBatchObject {
	b := openAIBatchObject{
		ID: j.ID, Object: "batch", Endpoint: j.Endpoint, Model: bodies.Nullable(j.Model), InputFileID: j.Input, CompletionWindow: "24h",
		Status: cmp.Or(v.Word, openAIStatus(v.Phase)), CreatedAt: j.Made.Unix(), ExpiresAt: j.Made.Add(j.Window).Unix(),
		Counts: openAICounts{Total: v.Total, Completed: v.Succeeded, Failed: v.Errored + v.Expired}, Metadata: j.Meta,
	}
	if v.Phase != backend.Validating && v.Phase != backend.Failed {
		b.InProgressAt = unix(j.Made.Add(j.Validation))
	}
	b.stamp(v)
	if v.Blank {
		b.OutputFileID, b.ErrorFileID = "", ""
	}
	if v.Over() && v.Phase != backend.Failed && !v.NoOutput {
		if c.HasOutput(j, resultsFile) {
			b.OutputFileID = openAIOutput(j, resultsFile)
		}
		if c.HasOutput(j, errorsFile) {
			b.ErrorFileID = openAIOutput(j, errorsFile)
		}
		b.Usage = bodies.NewResponsesUsage(c.Spent(j))
	}
	if v.Phase == backend.Failed {
		b.Errors = openAIIssues(j.Failure)
	}
	return b
}

// stamp fills the times of what has happened.
func (b *openAIBatchObject) stamp(v backend.View) {
	if !v.Cancel.IsZero() {
		b.CancellingAt = unix(v.Cancel)
	}
	switch v.Phase {
	case backend.Finalizing:
		b.FinalizingAt = unix(v.Ran)
	case backend.Completed:
		b.FinalizingAt, b.CompletedAt = unix(v.Ran), unix(v.Ended)
	case backend.Failed:
		b.FailedAt = unix(v.Ended)
	case backend.Expired:
		b.ExpiredAt = unix(v.Ended)
	case backend.Cancelled:
		b.CancelledAt = unix(v.Ended)
	}
}

func openAIIssues(list []backend.Issue) any {
	data := []any{}
	for _, i := range list {
		e := map[string]any{"code": i.Code, "message": i.Message, "param": bodies.Nullable(i.Param), "line": nil}
		if i.Line > 0 {
			e["line"] = i.Line
		}
		data = append(data, e)
	}
	return map[string]any{"object": "list", "data": data}
}

func openAIStatus(p backend.Phase) string {
	if p == backend.Queued || p == backend.Running {
		return "in_progress"
	}
	return string(p)
}

// openAIOutput returns the id of one of a job's result files.
func openAIOutput(j *backend.Job, file int) string {
	return "file-" + dice.Letters(dice.Base62, 22)(j.Number+uint64(file)+1)
}

func openAIOutputs(j *backend.Job) []string {
	return []string{openAIOutput(j, resultsFile), openAIOutput(j, errorsFile)}
}

func (k openAIKind) upload(c *backend.Call) {
	f, ok := c.Receive(512 << 20)
	if !ok {
		return
	}
	purpose := f.Fields["purpose"]
	switch {
	case !slices.Contains([]string{"batch", "assistants", "fine-tune", "user_data", "evals", "vision"}, purpose):
		c.Fail(rules.Invalid("purpose", "invalid_value",
			"'%s' is not one of ['fine-tune', 'assistants', 'batch', 'user_data', 'vision', 'evals'] - 'purpose'", purpose))
		return
	case purpose == "batch" && f.Size > c.BatchBytes():
		c.Fail(&rules.Rejection{Status: http.StatusRequestEntityTooLarge, Code: "file_too_large",
			Message: "The file is too large for purpose 'batch'."})
		return
	}
	out := &backend.File{
		Blob: f.Blob, ID: "file-" + dice.Letters(dice.Base62, 22)(c.NewNumber()),
		Name: backend.BaseName(f.Name), Purpose: purpose, Made: c.Now, Keep: k.keep,
	}
	if n, err := strconv.Atoi(f.Fields["expires_after[seconds]"]); err == nil {
		if n < 3600 || n > 2_592_000 {
			c.Fail(rules.Invalid("expires_after[seconds]", "invalid_value", "expires_after must be between 3600 and 2592000 seconds."))
			return
		}
		out.Keep = time.Duration(n) * time.Second
	}
	if rej := c.KeepFile(out); rej != nil {
		c.Fail(rej)
		return
	}
	c.Reply(http.StatusOK, k.fileObject(c, out))
}

func (k openAIKind) status(c *backend.Call, f *backend.File) string {
	if k.pending && c.Now.Before(f.Made.Add(c.Processing())) {
		return "pending"
	}
	return "processed"
}

func (k openAIKind) fileObject(c *backend.Call, f *backend.File) openAIFile {
	o := openAIFile{ID: f.ID, Object: "file", Bytes: f.Size, CreatedAt: f.Made.Unix(), Filename: f.Name, Purpose: f.Purpose,
		Status: k.status(c, f)}
	if f.Keep > 0 {
		o.ExpiresAt = f.Made.Add(f.Keep).Unix()
	}
	return o
}

func (k openAIKind) listFiles(c *backend.Call) {
	q := c.Request.URL.Query()
	var all []openAIFile
	for _, f := range c.Files() {
		all = append(all, k.fileObject(c, f))
	}
	for _, j := range c.Jobs() {
		if j.At(c.Now).Over() {
			for n := range 2 {
				if c.HasOutput(j, n) {
					all = append(all, k.outputObject(j, n))
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(f openAIFile) bool { return q.Get("purpose") != "" && q.Get("purpose") != f.Purpose })
	sort.SliceStable(all, func(i, j int) bool { return all[i].CreatedAt > all[j].CreatedAt })
	if q.Get("order") == "asc" {
		slices.Reverse(all)
	}
	part, more := backend.Page(all, q.Get("after"), c.QueryInt("limit", 10_000, 10_000), func(f openAIFile) string { return f.ID })
	out := openAIList{Object: "list", Data: []any{}, HasMore: more}
	for _, f := range part {
		out.Data = append(out.Data, f)
	}
	if len(part) > 0 {
		out.FirstID, out.LastID = part[0].ID, part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

// outputObject returns a result file as OpenAI shows it.
func (k openAIKind) outputObject(j *backend.Job, n int) openAIFile {
	name := j.ID + []string{"_output.jsonl", "_error.jsonl"}[n]
	return openAIFile{ID: openAIOutput(j, n), Object: "file", Bytes: j.OutSize(n), CreatedAt: j.Made.Unix(), Filename: name,
		Purpose: "batch_output", Status: "processed"}
}

func (k openAIKind) showFile(c *backend.Call) {
	id := c.Request.PathValue("id")
	if f := c.FindFile(id); f != nil {
		c.Reply(http.StatusOK, k.fileObject(c, f))
		return
	}
	o, _, ok, err := c.Output(id)
	switch {
	case err != nil:
		c.Trouble(err)
	case !ok:
		c.Fail(rules.NotFound("No such File object: %s", id))
	default:
		c.Reply(http.StatusOK, k.outputObject(o.Job, o.File))
	}
}

func (k openAIKind) deleteFile(c *backend.Call) {
	id := c.Request.PathValue("id")
	if f := c.FindFile(id); f != nil {
		c.DropFile(f.ID)
	} else if _, _, ok, _ := c.Output(id); ok {
		c.DropOutput(id)
	} else {
		c.Fail(rules.NotFound("No such File object: %s", id))
		return
	}
	c.Reply(http.StatusOK, map[string]any{"id": id, "object": "file", "deleted": true})
}

func (k openAIKind) content(c *backend.Call) {
	id := c.Request.PathValue("id")
	if f := c.FindFile(id); f != nil {
		c.Serve(f.Blob, "application/octet-stream", backend.NoRanges)
		return
	}
	o, b, ok, err := c.Output(id)
	switch {
	case err != nil:
		c.Trouble(err)
	case !ok || k.keep > 0 && c.Now.Sub(o.Job.Made) > k.keep:
		c.Fail(rules.NotFound("No such File object: %s", id))
	default:
		c.Serve(b, "application/octet-stream", backend.NoRanges)
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
	ID               string                `json:"id"`
	Object           string                `json:"object"`
	Endpoint         string                `json:"endpoint"`
	Model            any                   `json:"model"`
	Errors           any                   `json:"errors"`
	InputFileID      string                `json:"input_file_id"`
	CompletionWindow string                `json:"completion_window"`
	Status           string                `json:"status"`
	OutputFileID     any                   `json:"output_file_id"`
	ErrorFileID      any                   `json:"error_file_id"`
	CreatedAt        int64                 `json:"created_at"`
	InProgressAt     any                   `json:"in_progress_at"`
	ExpiresAt        int64                 `json:"expires_at"`
	FinalizingAt     any                   `json:"finalizing_at"`
	CompletedAt      any                   `json:"completed_at"`
	FailedAt         any                   `json:"failed_at"`
	ExpiredAt        any                   `json:"expired_at"`
	CancellingAt     any                   `json:"cancelling_at"`
	CancelledAt      any                   `json:"cancelled_at"`
	Counts           openAICounts          `json:"request_counts"`
	Usage            bodies.ResponsesUsage `json:"usage"`
	Metadata         map[string]string     `json:"metadata"`
}
