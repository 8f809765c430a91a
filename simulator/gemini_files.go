package simulator

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// granularity is what the lengths of all chunks but the last must be a multiple of.
const granularity = 256 << 10

var geminiFileID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// geminiFileMost is the largest file, and how long one lives.
const (
	geminiFileMost = 2 << 30
	geminiFileLife = 2 * day
)

// upload takes one step of a resumable upload. Its first step needs a key; the address it gives out is the key to the rest.
func (g gemini) upload(c *call) {
	if id := c.r.URL.Query().Get("upload_id"); id != "" {
		g.step(c, id)
		return
	}
	if c.enter() {
		g.start(c)
	}
}

func (g gemini) start(c *call) {
	var in geminiFileWrap
	h := c.r.Header
	if b := c.bytes(1 << 20); b == nil {
		return
	} else if len(b) > 0 && json.Unmarshal(b, &in) != nil {
		c.fail(invalid("", "", "Invalid JSON payload received."))
		return
	}
	id := strings.TrimPrefix(in.File.Name, "files/")
	total, err := strconv.ParseInt(h.Get("X-Goog-Upload-Header-Content-Length"), 10, 64)
	if err != nil {
		total = -1
	}
	switch {
	case h.Get("X-Goog-Upload-Protocol") != "resumable" || h.Get("X-Goog-Upload-Command") != "start":
		c.fail(invalid("", "", "Unsupported upload protocol."))
		return
	case id != "" && !geminiFileID.MatchString(id):
		c.fail(invalid("", "", "File name %q: ids are at most 40 lower-case letters, digits and dashes, and no dash at an end.", in.File.Name))
		return
	case id != "" && c.findFile(id) != nil:
		c.fail(&Rejection{Status: http.StatusConflict, Message: "Requested entity already exists: files/" + id})
		return
	case total > geminiFileMost:
		c.fail(invalid("", "", "The file is larger than 2 GB."))
		return
	}
	f := &file{
		vendor: c.v.name, account: c.account, id: id, label: in.File.DisplayName, mime: in.File.MimeType, made: c.now, keep: geminiFileLife,
		name: h.Get("X-Goog-Upload-File-Name"), blob: blob{path: c.s.spill.path("upload")},
	}
	if t := h.Get("X-Goog-Upload-Header-Content-Type"); f.mime == "" {
		f.mime = t
	}
	if f.id == "" {
		f.id = letters(base36, 12)(c.s.newID(c.v.name, c.now))
	}
	s := c.s.newSession(c, f, total)
	c.w.Header().Set("X-Goog-Upload-Url", c.self()+c.v.prefix+"/upload/v1beta/files?upload_id="+s.id+"&upload_protocol=resumable")
	c.w.Header().Set("X-Goog-Upload-Chunk-Granularity", strconv.Itoa(granularity))
	c.w.Header().Set("X-Goog-Upload-Status", "active")
	c.send(http.StatusOK, "text/plain", nil)
}

// step takes a chunk, or tells how far the upload has come. Its errors are plain text, as those of the upload servers are.
func (g gemini) step(c *call, id string) {
	s := c.s.session(id)
	if s == nil {
		c.send(http.StatusNotFound, "text/plain", []byte("Upload session not found.\n"))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	command := c.r.Header.Get("X-Goog-Upload-Command")
	status := func(word string) {
		c.w.Header().Set("X-Goog-Upload-Status", word)
		c.w.Header().Set("X-Goog-Upload-Size-Received", strconv.FormatInt(s.received, 10))
	}
	switch {
	case s.over:
		status("final")
		c.reply(http.StatusOK, geminiFileWrap{File: g.fileObject(c, s.file)})
	case strings.Contains(command, "query"):
		status("active")
		c.send(http.StatusOK, "text/plain", nil)
	case strings.Contains(command, "cancel"):
		c.s.endSession(id)
		status("cancelled")
		c.send(http.StatusOK, "text/plain", nil)
	case strings.Contains(command, "upload") || strings.Contains(command, "finalize"):
		if msg := g.chunk(c, s, strings.Contains(command, "finalize")); msg != "" {
			c.send(http.StatusBadRequest, "text/plain", []byte(msg+"\n"))
			return
		}
		if !s.over {
			status("active")
			c.send(http.StatusOK, "text/plain", nil)
			return
		}
		status("final")
		c.reply(http.StatusOK, geminiFileWrap{File: g.fileObject(c, s.file)})
	default:
		c.send(http.StatusBadRequest, "text/plain", []byte("Unknown upload command.\n"))
	}
}

// chunk appends to a session and finishes it when told to. It returns what is wrong.
func (g gemini) chunk(c *call, s *session, final bool) string {
	if off, err := strconv.ParseInt(c.r.Header.Get("X-Goog-Upload-Offset"), 10, 64); err != nil || off != s.received {
		return "Upload offset " + c.r.Header.Get("X-Goog-Upload-Offset") + " does not match: received " + strconv.FormatInt(s.received, 10) + "."
	}
	n, err := s.append(c.r.Body)
	if err != nil {
		s.keepWhole(granularity)
		panic(http.ErrAbortHandler) // the client hung up in the middle
	}
	if !final && n%granularity != 0 {
		s.rewind(n)
		return "Chunk size is not a multiple of the granularity."
	}
	if !final {
		return ""
	}
	if s.total >= 0 && s.received != s.total {
		return "The upload has " + strconv.FormatInt(s.received, 10) + " bytes, not " + strconv.FormatInt(s.total, 10) + " as announced."
	}
	if err := s.finish(); err != nil {
		return err.Error()
	}
	if rej := c.s.keepFile(s.file); rej != nil {
		return rej.Message
	}
	return ""
}

func (g gemini) fileState(c *call, f *file) string {
	if c.now.Before(f.made.Add(c.s.opts.Queue / 4)) {
		return "PROCESSING"
	}
	return "ACTIVE"
}

func (g gemini) fileObject(c *call, f *file) geminiFile {
	return geminiFile{
		Name: "files/" + f.id, DisplayName: f.label, MimeType: f.mime, SizeBytes: strconv.FormatInt(f.size, 10),
		CreateTime: rfc(f.made), UpdateTime: rfc(f.made), ExpirationTime: rfc(f.made.Add(f.keep)),
		Sha256: base64.StdEncoding.EncodeToString(f.sum), URI: c.self() + c.v.prefix + "/v1beta/files/" + f.id,
		State: g.fileState(c, f), Source: "UPLOADED",
	}
}

func (g gemini) listFiles(c *call) {
	part, more := page(c.myFiles(), c.r.URL.Query().Get("pageToken"), c.queryInt("pageSize", 10, 100), func(f *file) string { return f.id })
	out := map[string]any{}
	var all []any
	for _, f := range part {
		all = append(all, g.fileObject(c, f))
	}
	if len(all) > 0 {
		out["files"] = all
	}
	if more {
		out["nextPageToken"] = part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

// noSuchFile is what Gemini says of files that are not there, or not yours: it does not tell which.
func noSuchFile(id string) *Rejection {
	return &Rejection{Status: http.StatusForbidden, Message: "You do not have permission to access the File " + id + " or it may not exist."}
}

func (g gemini) showFile(c *call) {
	f := c.findFile(c.name)
	switch {
	case f != nil:
		c.reply(http.StatusOK, g.fileObject(c, f))
	case len(c.name) > 40: // result files, whose ids are longer than a client may choose
		c.fail(invalid("", "", "File name %q: ids are at most 40 characters.", "files/"+c.name))
	default:
		c.fail(noSuchFile(c.name))
	}
}

func (g gemini) deleteFile(c *call) {
	f := c.findFile(c.name)
	if f == nil {
		c.fail(noSuchFile(c.name))
		return
	}
	c.dropFile(f.id)
	c.reply(http.StatusOK, struct{}{})
}

func (g gemini) download(c *call) {
	if f := c.findFile(c.name); f != nil {
		c.fail(invalid("", "", "The File %s is not downloadable: it was uploaded.", f.id))
		return
	}
	o, b, ok, err := c.output(c.name)
	switch {
	case err != nil:
		c.trouble(err)
	case !ok || o.job.at(c.now).phase == expired || c.now.Sub(o.job.made) >= 42*day:
		c.fail(noSuchFile(c.name))
	default:
		c.serve(b, "application/octet-stream", noRanges)
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
