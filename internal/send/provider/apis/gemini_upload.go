package apis

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

const jsonl = "application/jsonl"

// geminiHandle remembers an upload: its session while it runs, the file when it is there.
type geminiHandle struct {
	Session string `json:"session,omitempty"`
	File    string `json:"file,omitempty"`
	Ready   bool   `json:"ready,omitempty"`
}

func (h geminiHandle) handle() provider.Handle { return provider.NewHandle(h) }

// Prepare uploads the lines in a session that can be resumed, under a name of our choice: a new attempt finds the
// file that is already there.
func (g *gemini) Prepare(ctx context.Context, p provider.BatchInput, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	var hold geminiHandle
	h.Read(&hold)
	switch {
	case hold.Ready:
		return h, provider.Ready, nil
	case hold.File != "":
		return g.look(ctx, p, hold.File)
	case hold.Session != "":
		return g.send(ctx, p, h, hold.Session)
	}
	return g.start(ctx, p)
}

// start opens a session.
func (g *gemini) start(ctx context.Context, p provider.BatchInput) (provider.Handle, provider.Readiness, error) {
	name := "files/" + p.Stamp.Short()
	session, err := g.session(ctx, name, p.Stamp.Name(), jsonl, p.Body.Size)
	if conflict(err) {
		return g.look(ctx, p, name)
	}
	if err != nil {
		return anew, "", err
	}
	return geminiHandle{Session: session}.handle(), provider.Again, nil
}

// session opens an upload under a name of ours, and returns where to send it.
func (g *gemini) session(ctx context.Context, name, label, kind string, size int64) (string, error) {
	var body geminiStart
	body.File.Name, body.File.DisplayName, body.File.Type = name, label, kind
	call, err := postJSON(provider.Path("upload", g.version, "files"), body)
	if err != nil {
		return "", err
	}
	call.Header = map[string]string{
		"X-Goog-Upload-Protocol":              "resumable",
		"X-Goog-Upload-Command":               "start",
		"X-Goog-Upload-Header-Content-Length": strconv.FormatInt(size, 10),
		"X-Goog-Upload-Header-Content-Type":   kind,
	}
	header, err := g.api.JSON(ctx, call, nil)
	if err != nil {
		return "", fmt.Errorf("begin the upload: %w", err)
	}
	session := header.Get("X-Goog-Upload-Url")
	if session == "" {
		return "", provider.BadAnswer("begin the upload: the answer names no session")
	}
	return session, nil
}

// send asks how much has arrived and sends the rest.
func (g *gemini) send(ctx context.Context, p provider.BatchInput, h provider.Handle,
	session string) (provider.Handle, provider.Readiness, error) {
	header, err := g.api.JSON(ctx, provider.Call{
		Method: http.MethodPost, Session: session, Header: map[string]string{"X-Goog-Upload-Command": "query"},
	}, nil)
	if lost(err) {
		return anew, provider.Later, nil
	}
	if err != nil {
		return h, "", fmt.Errorf("ask for the upload: %w", err)
	}
	offset, err := strconv.ParseInt(header.Get("X-Goog-Upload-Size-Received"), 10, 64)
	switch status := header.Get("X-Goog-Upload-Status"); {
	case status == "final":
		return geminiHandle{File: "files/" + p.Stamp.Short()}.handle(), provider.Again, nil
	case status != "active" || err != nil || offset < 0 || offset > p.Body.Size:
		return anew, provider.Later, nil // the session is of no use
	}
	body, err := p.Body.From(offset)
	if err != nil {
		return h, "", err
	}
	var made geminiUploaded
	_, err = g.api.JSON(ctx, provider.Call{
		Method: http.MethodPost, Session: session, Body: rest(body, p.Body.Size-offset), Length: p.Body.Size - offset,
		Header: map[string]string{
			"X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": strconv.FormatInt(offset, 10),
		},
	}, &made)
	if err != nil {
		return h, "", fmt.Errorf("upload from byte %d: %w", offset, err)
	}
	return g.readiness(ctx, p, made.File)
}

// rest returns a body, or none if nothing is left of it.
func rest(body io.ReadCloser, n int64) io.Reader {
	if n == 0 {
		body.Close()
		return http.NoBody
	}
	return body
}

// lost reports whether a session is no more.
func lost(err error) bool {
	f := provider.FaultOf(err)
	return f != nil && f.Status/100 == 4 && f.Class != assay.FaultBusy && f.Class != assay.FaultDenied && f.Class != assay.FaultQuota
}

// missing reports whether err means that a file does not exist. Google denies access to files that do not exist.
func missing(err error) bool {
	f := provider.FaultOf(err)
	return gone(err) || f != nil && f.Status == http.StatusForbidden && strings.Contains(f.Message, "may not exist")
}

// look reads the file object.
func (g *gemini) look(ctx context.Context, p provider.BatchInput, name string) (provider.Handle, provider.Readiness, error) {
	var f geminiFile
	_, err := g.api.JSON(ctx, provider.Call{Path: resource(g.version, name)}, &f)
	if missing(err) {
		return anew, provider.Later, nil
	}
	if err != nil {
		return geminiHandle{File: name}.handle(), "", fmt.Errorf("look at the uploaded file: %w", err)
	}
	return g.readiness(ctx, p, f)
}

// readiness reads the file's state. A file of another size under our name is a broken upload: it makes room for the next.
func (g *gemini) readiness(ctx context.Context, p provider.BatchInput, f geminiFile) (provider.Handle, provider.Readiness, error) {
	hold := geminiHandle{File: f.Name}
	switch {
	case f.Name == "":
		return anew, "", provider.BadAnswer("upload: the answer names no file")
	case f.Size > 0 && int64(f.Size) != p.Body.Size:
		return anew, provider.Later, remove(ctx, g.api, resource(g.version, f.Name))
	case strings.HasSuffix(f.State, "FAILED"):
		return anew, "", fmt.Errorf("upload: %w",
			&assay.Fault{Class: assay.FaultInvalid, Code: "file_failed", Message: clean(string(f.Error))})
	case strings.HasSuffix(f.State, "PROCESSING"):
		return hold.handle(), provider.Later, nil
	}
	hold.Ready = true
	return hold.handle(), provider.Ready, nil
}

type geminiStart struct {
	File struct {
		Name        string `json:"name"`
		DisplayName string `json:"displayName"`
		Type        string `json:"mimeType"`
	} `json:"file"`
}

type geminiUploaded struct {
	File geminiFile `json:"file"`
}

type geminiFile struct {
	Name    string          `json:"name"`
	URI     string          `json:"uri"`
	State   string          `json:"state"`
	Size    provider.Number `json:"sizeBytes"`
	Expires provider.Moment `json:"expirationTime"`
	Error   provider.Text   `json:"error"`
}
