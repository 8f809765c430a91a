package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

func (m mistral) upload(c *backend.Call) {
	f, ok := c.Receive(c.Vendor.Bytes)
	if !ok {
		return
	}
	purpose := f.Fields["purpose"]
	if purpose != "batch" && purpose != "fine-tune" && purpose != "ocr" {
		c.Fail(unprocessable("purpose", "Input should be 'fine-tune', 'batch' or 'ocr'"))
		return
	}
	if purpose == "batch" && !m.wellFormed(c, f.Blob) {
		c.Fail(&rules.Rejection{Status: http.StatusUnprocessableEntity, Message: "Invalid file format."})
		return
	}
	out := &backend.File{Blob: f.Blob, ID: dice.UUID(c.NewNumber()), Name: backend.BaseName(f.Name), Purpose: purpose, Made: c.Now}
	if rej := c.KeepFile(out); rej != nil {
		c.Fail(rej)
		return
	}
	c.Reply(http.StatusOK, mistralFileOf(out))
}

// wellFormed checks every line as it is uploaded. An id may be missing or occur twice.
func (m mistral) wellFormed(c *backend.Call, data spill.Blob) bool {
	good := true
	var parser fastjson.Parser
	err := spill.EachLine(data, func(line []byte, _ int64) error {
		v, err := parser.ParseBytes(line)
		body := v.GetObject("body")
		good = good && err == nil && body != nil && v.Get("body").GetFloat64("temperature") <= 1.5
		return nil
	})
	if err != nil {
		c.Trouble(err)
	}
	return good && err == nil
}

func mistralFileOf(f *backend.File) mistralFile {
	return mistralFile{
		ID: f.ID, Object: "file", Bytes: f.Size, CreatedAt: f.Made.Unix(), Filename: f.Name, Purpose: f.Purpose,
		SampleType: "batch_request", Source: "upload", Mimetype: "application/jsonl",
	}
}

func (m mistral) listFiles(c *backend.Call) {
	q := c.Request.URL.Query()
	all := slices.DeleteFunc(c.Files(), func(f *backend.File) bool {
		return q.Get("purpose") != "" && q.Get("purpose") != f.Purpose || !strings.Contains(f.Name, q.Get("search"))
	})
	size := c.QueryInt("page_size", 100, 1000)
	number, _ := strconv.Atoi(q.Get("page"))
	from := min(max(number, 0)*size, len(all))
	out := mistralList{Object: "list", Data: []any{}, Total: len(all)}
	for _, f := range all[from:min(from+size, len(all))] {
		out.Data = append(out.Data, mistralFileOf(f))
	}
	c.Reply(http.StatusOK, out)
}

// result returns an output file of a job as a file; nil after answering the call.
func (m mistral) result(c *backend.Call, id string) *backend.File {
	o, b, ok, err := c.Output(id)
	switch {
	case err != nil:
		c.Trouble(err)
	case !ok:
		c.Fail(rules.NotFound("File %s not found", id))
	default:
		name := []string{"output", "error"}[o.File] + "_" + o.Job.ID + ".jsonl"
		return &backend.File{Blob: b, ID: id, Name: name, Purpose: "batch", Made: o.Job.Made}
	}
	return nil
}

func (m mistral) showFile(c *backend.Call) {
	f := c.FindFile(c.Request.PathValue("id"))
	if f == nil {
		f = m.result(c, c.Request.PathValue("id"))
	}
	if f != nil {
		c.Reply(http.StatusOK, mistralFileOf(f))
	}
}

func (m mistral) deleteFile(c *backend.Call) {
	id := c.Request.PathValue("id")
	if f := c.FindFile(id); f != nil {
		c.DropFile(f.ID)
	} else if m.result(c, id) == nil {
		return
	} else {
		c.DropOutput(id)
	}
	c.Reply(http.StatusOK, map[string]any{"id": id, "object": "file", "deleted": true})
}

func (m mistral) content(c *backend.Call) {
	f := c.FindFile(c.Request.PathValue("id"))
	if f == nil {
		f = m.result(c, c.Request.PathValue("id"))
	}
	if f != nil {
		c.Serve(f.Blob, "application/octet-stream", backend.NoRanges)
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
