package wire

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// granularity divides the lengths of all chunks but the last.
const granularity = 256 << 10

var geminiFileID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// geminiFileMost is the largest file, and how long one lives.
const (
	geminiFileMost = 2 << 30
	geminiFileLife = 2 * day
)

// upload takes one step of a resumable upload. Its first step needs a key; the address it gives out is the key to the rest.
func (g gemini) upload(c *backend.Call) {
	if id := c.Request.URL.Query().Get("upload_id"); id != "" {
		g.step(c, id)
		return
	}
	if c.Enter() {
		g.start(c)
	}
}

func (g gemini) start(c *backend.Call) {
	var in geminiFileWrap
	h := c.Request.Header
	if b := c.Bytes(1 << 20); b == nil {
		return
	} else if len(b) > 0 && json.Unmarshal(b, &in) != nil {
		c.Fail(rules.Invalid("", "", "Invalid JSON payload received."))
		return
	}
	id := strings.TrimPrefix(in.File.Name, "files/")
	total, err := strconv.ParseInt(h.Get("X-Goog-Upload-Header-Content-Length"), 10, 64)
	if err != nil {
		total = -1
	}
	switch {
	case h.Get("X-Goog-Upload-Protocol") != "resumable" || h.Get("X-Goog-Upload-Command") != "start":
		c.Fail(rules.Invalid("", "", "Unsupported upload protocol."))
		return
	case id != "" && !geminiFileID.MatchString(id):
		c.Fail(rules.Invalid("", "", "File name %q: ids are at most 40 lower-case letters, digits and dashes, and no dash at an end.",
			in.File.Name))
		return
	case id != "" && c.FindFile(id) != nil:
		c.Fail(&rules.Rejection{Status: http.StatusConflict, Message: "Requested entity already exists: files/" + id})
		return
	case total > geminiFileMost:
		c.Fail(rules.Invalid("", "", "The file is larger than 2 GB."))
		return
	}
	f := &backend.File{
		ID: id, Label: in.File.DisplayName, MIME: in.File.MimeType, Made: c.Now, Keep: geminiFileLife,
		Name: h.Get("X-Goog-Upload-File-Name"), Blob: spill.Blob{Path: c.Disk().Path("upload")},
	}
	if t := h.Get("X-Goog-Upload-Header-Content-Type"); f.MIME == "" {
		f.MIME = t
	}
	if f.ID == "" {
		f.ID = dice.Letters(dice.Base36, 12)(c.NewNumber())
	}
	s := c.NewSession(f, total)
	c.Writer.Header().Set("X-Goog-Upload-Url",
		c.Origin()+c.Vendor.Prefix+"/upload/v1beta/files?upload_id="+s.ID+"&upload_protocol=resumable")
	c.Writer.Header().Set("X-Goog-Upload-Chunk-Granularity", strconv.Itoa(granularity))
	c.Writer.Header().Set("X-Goog-Upload-Status", "active")
	c.Send(http.StatusOK, "text/plain", nil)
}

// step takes a chunk, or shows how far the upload has come. Its errors are plain text, as those of the upload servers are.
func (g gemini) step(c *backend.Call, id string) {
	s := c.Session(id)
	if s == nil {
		c.Send(http.StatusNotFound, "text/plain", []byte("Upload session not found.\n"))
		return
	}
	s.Lock()
	defer s.Unlock()
	command := c.Request.Header.Get("X-Goog-Upload-Command")
	status := func(word string) {
		c.Writer.Header().Set("X-Goog-Upload-Status", word)
		c.Writer.Header().Set("X-Goog-Upload-Size-Received", strconv.FormatInt(s.Received, 10))
	}
	switch {
	case s.Over:
		status("final")
		c.Reply(http.StatusOK, geminiFileWrap{File: g.fileObject(c, s.File)})
	case strings.Contains(command, "query"):
		status("active")
		c.Send(http.StatusOK, "text/plain", nil)
	case strings.Contains(command, "cancel"):
		c.EndSession(id)
		status("cancelled")
		c.Send(http.StatusOK, "text/plain", nil)
	case strings.Contains(command, "upload") || strings.Contains(command, "finalize"):
		if msg := g.chunk(c, s, strings.Contains(command, "finalize")); msg != "" {
			c.Send(http.StatusBadRequest, "text/plain", []byte(msg+"\n"))
			return
		}
		if !s.Over {
			status("active")
			c.Send(http.StatusOK, "text/plain", nil)
			return
		}
		status("final")
		c.Reply(http.StatusOK, geminiFileWrap{File: g.fileObject(c, s.File)})
	default:
		c.Send(http.StatusBadRequest, "text/plain", []byte("Unknown upload command.\n"))
	}
}

// chunk appends to a session and finishes it when asked to. It returns what is wrong.
func (g gemini) chunk(c *backend.Call, s *backend.Session, final bool) string {
	if off, err := strconv.ParseInt(c.Request.Header.Get("X-Goog-Upload-Offset"), 10, 64); err != nil || off != s.Received {
		return "Upload offset " + c.Request.Header.Get("X-Goog-Upload-Offset") + " does not match: received " +
			strconv.FormatInt(s.Received, 10) + "."
	}
	n, err := s.Append(c.Request.Body)
	if err != nil {
		s.KeepWhole(granularity)
		panic(http.ErrAbortHandler) // the client hung up in the middle
	}
	if !final && n%granularity != 0 {
		s.Rewind(n)
		return "Chunk size is not a multiple of the granularity."
	}
	if !final {
		return ""
	}
	if s.Total >= 0 && s.Received != s.Total {
		return "The upload has " + strconv.FormatInt(s.Received, 10) + " bytes, not " + strconv.FormatInt(s.Total, 10) + " as announced."
	}
	if err := s.Finish(); err != nil {
		return err.Error()
	}
	if rej := c.KeepFile(s.File); rej != nil {
		return rej.Message
	}
	return ""
}

func (g gemini) fileState(c *backend.Call, f *backend.File) string {
	if c.Now.Before(f.Made.Add(c.Processing())) {
		return "PROCESSING"
	}
	return "ACTIVE"
}

func (g gemini) fileObject(c *backend.Call, f *backend.File) geminiFile {
	return geminiFile{
		Name: "files/" + f.ID, DisplayName: f.Label, MimeType: f.MIME, SizeBytes: strconv.FormatInt(f.Size, 10),
		CreateTime: rfc(f.Made), UpdateTime: rfc(f.Made), ExpirationTime: rfc(f.Made.Add(f.Keep)),
		Sha256: base64.StdEncoding.EncodeToString(f.Sum), URI: c.Origin() + c.Vendor.Prefix + "/v1beta/files/" + f.ID,
		State: g.fileState(c, f), Source: "UPLOADED",
	}
}

func (g gemini) listFiles(c *backend.Call) {
	part, more := backend.Page(c.Files(), c.Request.URL.Query().Get("pageToken"), c.QueryInt("pageSize", 10, 100),
		func(f *backend.File) string { return f.ID })
	out := map[string]any{}
	var all []any
	for _, f := range part {
		all = append(all, g.fileObject(c, f))
	}
	if len(all) > 0 {
		out["files"] = all
	}
	if more {
		out["nextPageToken"] = part[len(part)-1].ID
	}
	c.Reply(http.StatusOK, out)
}

// noSuchFile returns Gemini's one rejection for files that are not there and for those of others.
func noSuchFile(id string) *rules.Rejection {
	return &rules.Rejection{Status: http.StatusForbidden,
		Message: "You do not have permission to access the File " + id + " or it may not exist."}
}

func (g gemini) showFile(c *backend.Call) {
	f := c.FindFile(c.Name)
	switch {
	case f != nil:
		c.Reply(http.StatusOK, g.fileObject(c, f))
	case len(c.Name) > 40: // result files, whose ids are longer than a client may choose
		c.Fail(rules.Invalid("", "", "File name %q: ids are at most 40 characters.", "files/"+c.Name))
	default:
		c.Fail(noSuchFile(c.Name))
	}
}

func (g gemini) deleteFile(c *backend.Call) {
	f := c.FindFile(c.Name)
	if f == nil {
		c.Fail(noSuchFile(c.Name))
		return
	}
	c.DropFile(f.ID)
	c.Reply(http.StatusOK, struct{}{})
}

func (g gemini) download(c *backend.Call) {
	if f := c.FindFile(c.Name); f != nil {
		c.Fail(rules.Invalid("", "", "The File %s is not downloadable: it was uploaded.", f.ID))
		return
	}
	o, b, ok, err := c.Output(c.Name)
	switch {
	case err != nil:
		c.Trouble(err)
	case !ok || o.Job.At(c.Now).Phase == backend.Expired || c.Now.Sub(o.Job.Made) >= 42*day:
		c.Fail(noSuchFile(c.Name))
	default:
		c.Serve(b, "application/octet-stream", backend.NoRanges)
	}
}

type geminiFileWrap struct {
	File geminiFile `json:"file"`
}

type geminiFile struct {
	Name           string `json:"name"`
	DisplayName    string `json:"displayName,omitempty"`
	MimeType       string `json:"mimeType"`
	SizeBytes      string `json:"sizeBytes"`
	CreateTime     any    `json:"createTime"`
	UpdateTime     any    `json:"updateTime"`
	ExpirationTime any    `json:"expirationTime"`
	Sha256         string `json:"sha256Hash"`
	URI            string `json:"uri"`
	State          string `json:"state"`
	Source         string `json:"source"`
}
