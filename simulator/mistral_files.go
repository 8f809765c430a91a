package simulator

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (m mistral) upload(c *call) {
	f, ok := c.receive(c.v.bytes)
	if !ok {
		return
	}
	purpose := f.fields["purpose"]
	if purpose != "batch" && purpose != "fine-tune" && purpose != "ocr" {
		c.fail(unprocessable("purpose", "Input should be 'fine-tune', 'batch' or 'ocr'"))
		return
	}
	out := &file{blob: f.blob, vendor: c.v.name, account: c.account, id: uuid(c.s.newID(c.v.name, c.now)), name: baseName(f.name), purpose: purpose, made: c.now}
	if rej := c.s.keepFile(out); rej != nil {
		c.fail(rej)
		return
	}
	c.reply(http.StatusOK, mistralFileOf(out))
}

func mistralFileOf(f *file) mistralFile {
	return mistralFile{
		ID: f.id, Object: "file", Bytes: f.size, CreatedAt: f.made.Unix(), Filename: f.name, Purpose: f.purpose, SampleType: "batch_request",
		Source: "upload", Mimetype: "application/jsonl",
	}
}

func (m mistral) listFiles(c *call) {
	q := c.r.URL.Query()
	all := slices.DeleteFunc(c.myFiles(), func(f *file) bool {
		return q.Get("purpose") != "" && q.Get("purpose") != f.purpose || !strings.Contains(f.name, q.Get("search"))
	})
	size := c.queryInt("page_size", 100, 1000)
	number, _ := strconv.Atoi(q.Get("page"))
	from := min(max(number, 0)*size, len(all))
	out := mistralList{Object: "list", Data: []any{}, Total: len(all)}
	for _, f := range all[from:min(from+size, len(all))] {
		out.Data = append(out.Data, mistralFileOf(f))
	}
	c.reply(http.StatusOK, out)
}

// result is an output file of a job as a file; nil after answering the call.
func (m mistral) result(c *call, id string) *file {
	o, b, ok, err := c.output(id)
	switch {
	case err != nil:
		c.trouble(err)
	case !ok:
		c.fail(notFound("File %s not found", id))
	default:
		name := []string{"output", "error"}[o.file] + "_" + o.job.id + ".jsonl"
		return &file{blob: b, id: id, name: name, purpose: "batch", made: o.job.made}
	}
	return nil
}

func (m mistral) showFile(c *call) {
	f := c.findFile(c.r.PathValue("id"))
	if f == nil {
		f = m.result(c, c.r.PathValue("id"))
	}
	if f != nil {
		c.reply(http.StatusOK, mistralFileOf(f))
	}
}

func (m mistral) deleteFile(c *call) {
	id := c.r.PathValue("id")
	if f := c.findFile(id); f != nil {
		c.dropFile(f.id)
	} else if m.result(c, id) == nil {
		return
	} else {
		c.dropOutput(id)
	}
	c.reply(http.StatusOK, map[string]any{"id": id, "object": "file", "deleted": true})
}

func (m mistral) content(c *call) {
	f := c.findFile(c.r.PathValue("id"))
	if f == nil {
		f = m.result(c, c.r.PathValue("id"))
	}
	if f != nil {
		c.serve(f.blob, "application/octet-stream", noRanges)
	}
}

type mistralFile struct {
	ID         string `json:"id"`
	Object     string `json:"object"`
	Bytes      int64  `json:"bytes"`
	CreatedAt  int64  `json:"created_at"`
	Filename   string `json:"filename"`
	Purpose    string `json:"purpose"`
	SampleType string `json:"sample_type"`
	NumLines   any    `json:"num_lines"`
	Mimetype   string `json:"mimetype"`
	Source     string `json:"source"`
	Signature  any    `json:"signature"`
	Deleted    bool   `json:"deleted"`
}
