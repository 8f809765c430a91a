package simulator

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// file is something a client uploaded.
type file struct {
	blob
	vendor  string
	account string
	id      string
	name    string // file name
	label   string // display name
	purpose string
	mime    string
	sum     []byte // SHA-256, where the vendor tells it
	made    time.Time
	keep    time.Duration // how long it lives; 0: for ever
	gone    bool

	generation int64 // Cloud Storage: which version of the object this is
}

func (f *file) expired(now time.Time) bool { return f.keep > 0 && now.Sub(f.made) >= f.keep }

// output is a result file by its own id.
type output struct {
	job  *job
	file int
}

// keepFile registers a file, unless its id is taken.
func (s *Server) keepFile(f *file) *Rejection {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := scoped(f.vendor, f.account, f.id)
	if old := s.fileByID[k]; old != nil && !old.gone && !old.expired(f.made) {
		return &Rejection{Status: http.StatusConflict, Code: "already_exists", Message: "File " + f.id + " already exists."}
	}
	s.fileByID[k] = f
	s.files = append(s.files, f)
	return nil
}

// findFile finds a file of the caller's account: a copy, as it is now.
func (c *call) findFile(id string) *file {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	f := c.s.fileByID[scoped(c.v.name, c.account, id)]
	if f == nil || f.gone || f.expired(c.now) {
		return nil
	}
	found := *f
	return &found
}

// myFiles lists the caller's files, newest first: copies, as they are now.
func (c *call) myFiles() []*file {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var all []*file
	for _, f := range slices.Backward(c.s.files) {
		if f.vendor == c.v.name && f.account == c.account && !f.gone && !f.expired(c.now) {
			found := *f
			all = append(all, &found)
		}
	}
	return all
}

// dropFile makes a file unfindable, if there is one.
func (c *call) dropFile(id string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if f := c.s.fileByID[scoped(c.v.name, c.account, id)]; f != nil {
		f.gone = true
	}
}

// output finds a result file of the caller's account that exists by now. ok is false where there is none.
func (c *call) output(id string) (o output, b blob, ok bool, err error) {
	c.s.mu.Lock()
	o, ok = c.s.outputs[scoped(c.v.name, c.account, id)]
	c.s.mu.Unlock()
	if !ok || !o.job.at(c.now).over() {
		return o, b, false, nil
	}
	b, err = c.results(o.job, o.file)
	return o, b, b.size > 0 && err == nil, err
}

// dropOutput makes a result file unfindable.
func (c *call) dropOutput(id string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.s.outputs, scoped(c.v.name, c.account, id))
}

// hasOutput tells whether one of a job's result files holds anything once it is over.
func (c *call) hasOutput(j *job, file int) bool {
	if err := c.s.settle(j, c.now); err != nil {
		panic(err) // the disk is gone: nothing the simulator says would be true
	}
	j.outMu.Lock()
	defer j.outMu.Unlock()
	return file < len(j.outs) && j.outs[file].size > 0
}

// form is an upload as a browser would send it.
type form struct {
	blob
	name   string
	fields map[string]string
}

// receive reads a multipart upload to disk. It answers the call itself when the upload is not good.
func (c *call) receive(limit int64) (form, bool) {
	f := form{fields: map[string]string{}}
	_, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		c.fail(invalid("file", "invalid_request", "This endpoint takes multipart/form-data."))
		return f, false
	}
	mr := multipart.NewReader(c.r.Body, params["boundary"])
	for {
		p, err := mr.NextPart()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = c.part(&f, p, limit)
		}
		switch {
		case errors.Is(err, errTooLarge):
			c.fail(&Rejection{Status: http.StatusRequestEntityTooLarge, Code: "file_too_large", Message: "The file is too large."})
			return f, false
		case err != nil:
			panic(http.ErrAbortHandler) // the client hung up, or sent nonsense
		}
	}
	if f.path == "" {
		c.fail(invalid("file", "missing_required_parameter", "'file' is a required property"))
		return f, false
	}
	return f, true
}

func (c *call) part(f *form, p *multipart.Part, limit int64) error {
	if p.FormName() == "file" {
		b, err := c.s.spill.save("upload", p, limit)
		f.blob, f.name = b, p.FileName()
		return err
	}
	v, err := io.ReadAll(io.LimitReader(p, 4096))
	f.fields[p.FormName()] = string(v)
	return err
}

// serve sends a blob. Ranges are honoured where the provider's storage does.
func (c *call) serve(b blob, mimeType string, ranges rangePolicy) {
	in, err := b.open()
	if err != nil {
		c.trouble(err)
		return
	}
	defer in.Close()
	c.w.Header().Set("Content-Type", mimeType)
	if ranges == withRanges {
		c.w.Header().Set("ETag", `"`+strconv.FormatUint(hashString(uint64(b.size), b.path), 16)+`"`)
		http.ServeContent(c.w, c.r, "", time.Time{}, in)
		return
	}
	c.w.Header().Set("Content-Length", strconv.FormatInt(b.size, 10))
	c.w.WriteHeader(http.StatusOK)
	_, _ = io.Copy(onlyWriter{c.w}, io.LimitReader(in, b.size)) // a client that went away hears nothing
}

type rangePolicy int

const (
	noRanges rangePolicy = iota
	withRanges
)

// onlyWriter keeps io.Copy from looking for shortcuts around the rules on replies.
type onlyWriter struct{ io.Writer }

// eachResult calls f with every line of a job's results, from an offset, and stops when f says so.
func eachResult(b blob, from int64, f func(line []byte, next int64) bool) error {
	if b.size <= from {
		return nil
	}
	stop := errors.New("enough")
	err := eachLine(b, func(line []byte, off int64) error {
		if off >= from && !f(bytes.Clone(line), off+int64(len(line))+1) {
			return stop
		}
		return nil
	})
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// baseName is the last part of a file name, as providers show it.
func baseName(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }
