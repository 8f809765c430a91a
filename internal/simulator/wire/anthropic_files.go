package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
)

// upload keeps a file that requests may name. Nothing but pictures, PDFs and plain text can be shown.
func (a anthropic) upload(c *backend.Call) {
	f, ok := c.Receive(500 << 20)
	if !ok {
		return
	}
	if f.Name == "" || len(f.Name) > 255 || strings.ContainsAny(f.Name, `<>:"|?*\/`) {
		c.Fail(rules.Invalid("", "", "file: the name is not valid"))
		return
	}
	out := &backend.File{
		Blob: f.Blob, ID: "file_01" + dice.Letters(dice.Base62, 22)(c.NewNumber()), Name: f.Name, MIME: f.Type, Made: c.Now,
	}
	if given := f.Fields["expires_in_seconds"]; given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 3600 || n > 90*24*3600 {
			c.Fail(rules.Invalid("", "", "expires_in_seconds: must be between 3600 and 7776000"))
			return
		}
		out.Keep = time.Duration(n) * time.Second
	}
	if rej := c.KeepFile(out); rej != nil {
		c.Fail(rej)
		return
	}
	c.Reply(http.StatusOK, anthropicFileObject(out))
}

func (a anthropic) listFiles(c *backend.Call) {
	part, more := backend.Page(c.Files(), c.Request.URL.Query().Get("page"), c.QueryInt("limit", 20, 1000),
		func(f *backend.File) string { return f.ID })
	out := map[string]any{"data": []any{}, "next_page": nil}
	var all []any
	for _, f := range part {
		all = append(all, anthropicFileObject(f))
	}
	if len(all) > 0 {
		out["data"] = all
	}
	if more {
		out["next_page"] = part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

func (a anthropic) showFile(c *backend.Call) {
	if f := c.FindFile(c.Request.PathValue("id")); f != nil {
		c.Reply(http.StatusOK, anthropicFileObject(f))
		return
	}
	c.Fail(rules.NotFound("File not found: %s", c.Request.PathValue("id")))
}

func (a anthropic) deleteFile(c *backend.Call) {
	id := c.Request.PathValue("id")
	if c.FindFile(id) == nil {
		c.Fail(rules.NotFound("File not found: %s", id))
		return
	}
	c.DropFile(id)
	c.Reply(http.StatusOK, map[string]any{"id": id, "type": "file_deleted"})
}

func anthropicFileObject(f *backend.File) map[string]any {
	out := map[string]any{"type": "file", "id": f.ID, "filename": f.Name, "mime_type": f.MIME, "size_bytes": f.Size,
		"created_at": rfc(f.Made), "downloadable": false, "expires_at": nil}
	if f.Keep > 0 {
		out["expires_at"] = rfc(f.Made.Add(f.Keep))
	}
	return out
}
