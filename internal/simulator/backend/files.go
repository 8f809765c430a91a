package backend

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/eyes"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// File is something a client uploaded.
type File struct {
	spill.Blob
	vendor  string
	Account string
	ID      string
	Name    string // file name
	Label   string // display name
	Purpose string
	MIME    string
	Sum     []byte // SHA-256, where the vendor shows it
	Made    time.Time
	Keep    time.Duration // how long it lives; 0: for ever
	gone    time.Time     // when it was deleted; zero: it was not

	looked *sync.Once // at what requests may show
	thing  eyes.Thing

	Generation int64 // Cloud Storage: which version of the object this is
}

// there reports whether the file can be named at a time.
func (f *File) there(now time.Time) bool {
	return (f.gone.IsZero() || now.Before(f.gone)) && (f.Keep == 0 || now.Sub(f.Made) < f.Keep)
}

func (s *Service) reading(j *Job, in Carried, at time.Time) bodies.Reading {
	return bodies.Reading{Vendor: j.Vendor.Name, Caches: j.Vendor.Caches, Model: in.Model, Rules: s.opts.Rules, Batch: true,
		Uploads: s.uploads(j.Vendor, j.Account, at)}
}

// uploads returns what requests of an account that run at a time may name.
func (s *Service) uploads(v *Vendor, account string, at time.Time) bodies.Uploads {
	if v.NoFile == nil {
		return nil
	}
	return func(id string) (eyes.Thing, *rules.Rejection) {
		s.mu.Lock()
		f := s.fileByID[scoped(v.Name, account, id)]
		if f != nil && !f.there(at) {
			f = nil
		}
		s.mu.Unlock()
		if f == nil {
			return eyes.Thing{}, v.NoFile(id)
		}
		return f.look(), nil
	}
}

// look looks at the file once.
func (f *File) look() eyes.Thing {
	f.looked.Do(func() {
		if raw, err := os.ReadFile(f.Path); err == nil { // else it is of no kind
			f.thing = eyes.Look(raw)
		}
	})
	return f.thing
}

// Output is a result file by its own id.
type Output struct {
	Job  *Job
	File int
}

// KeepFile registers a file for the caller's account, unless its id is taken.
func (c *Call) KeepFile(f *File) *rules.Rejection {
	rej := c.keepFile(f)
	if rej == nil && c.Vendor.NoFile != nil && f.Purpose != "batch" && !strings.Contains(f.MIME, "jsonl") {
		f.look() // while it is sent, and not while a job is made that names thousands
	}
	return rej
}

func (c *Call) keepFile(f *File) *rules.Rejection {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	f.vendor, f.Account, f.looked = c.Vendor.Name, cmp.Or(f.Account, c.Account), new(sync.Once)
	k := scoped(f.vendor, f.Account, f.ID)
	if old := c.s.fileByID[k]; old != nil && old.there(f.Made) {
		return &rules.Rejection{Status: http.StatusConflict, Code: "already_exists", Message: "File " + f.ID + " already exists."}
	}
	c.s.fileByID[k] = f
	c.s.files = append(c.s.files, f)
	return nil
}

// FillFile gives a file that is kept its bytes.
func (c *Call) FillFile(f *File, b spill.Blob) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	f.Blob = b
}

// FindFile finds a file of the caller's account: a copy, as it is now.
func (c *Call) FindFile(id string) *File {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	f := c.s.fileByID[scoped(c.Vendor.Name, c.Account, id)]
	if f == nil || !f.there(c.Now) {
		return nil
	}
	return new(*f)
}

// Files lists the caller's files, newest first: copies, as they are now.
func (c *Call) Files() []*File {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var all []*File
	for _, f := range slices.Backward(c.s.files) {
		if f.vendor == c.Vendor.Name && f.Account == c.Account && f.there(c.Now) {
			found := *f
			all = append(all, &found)
		}
	}
	return all
}

// DropFile makes a file unfindable, if there is one.
func (c *Call) DropFile(id string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if f := c.s.fileByID[scoped(c.Vendor.Name, c.Account, id)]; f != nil {
		f.gone = c.Now
	}
}

// Output finds a result file of the caller's account that exists by now. ok is false where there is none.
func (c *Call) Output(id string) (o Output, b spill.Blob, ok bool, err error) {
	c.s.mu.Lock()
	o, ok = c.s.outputs[scoped(c.Vendor.Name, c.Account, id)]
	c.s.mu.Unlock()
	if !ok || !o.Job.At(c.Now).Over() {
		return o, b, false, nil
	}
	b, err = c.Results(o.Job, o.File)
	return o, b, b.Size > 0 && err == nil, err
}

// DropOutput makes a result file unfindable.
func (c *Call) DropOutput(id string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.s.outputs, scoped(c.Vendor.Name, c.Account, id))
}

// HasOutput reports whether one of a job's result files holds anything once it is over.
func (c *Call) HasOutput(j *Job, file int) bool {
	c.settle(j)
	return j.OutSize(file) > 0
}

func (c *Call) settle(j *Job) {
	if err := c.s.settle(j, c.Now); err != nil {
		panic(err) // the disk is gone: no reply would be true
	}
}

// Form is an upload as a browser would send it.
type Form struct {
	spill.Blob
	Name   string
	Type   string // as the form says
	Fields map[string]string
}

// Receive reads a multipart upload to disk. It answers the call itself when the upload is not good.
func (c *Call) Receive(limit int64) (Form, bool) {
	f := Form{Fields: map[string]string{}}
	_, params, err := mime.ParseMediaType(c.Request.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		c.Fail(rules.Invalid("file", "invalid_request", "This endpoint takes multipart/form-data."))
		return f, false
	}
	mr := multipart.NewReader(c.Request.Body, params["boundary"])
	for {
		p, err := mr.NextPart()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = c.part(&f, p, limit)
		}
		switch {
		case errors.Is(err, spill.ErrTooLarge):
			c.Fail(&rules.Rejection{Status: http.StatusRequestEntityTooLarge, Code: "file_too_large", Message: "The file is too large."})
			return f, false
		case err != nil:
			panic(http.ErrAbortHandler) // the client hung up, or sent nonsense
		}
	}
	if f.Path == "" {
		c.Fail(rules.Invalid("file", "missing_required_parameter", "'file' is a required property"))
		return f, false
	}
	return f, true
}

func (c *Call) part(f *Form, p *multipart.Part, limit int64) error {
	if p.FormName() == "file" {
		b, err := c.s.spill.Save("upload", p, limit)
		f.Blob, f.Name, f.Type = b, p.FileName(), p.Header.Get("Content-Type")
		return err
	}
	v, err := io.ReadAll(io.LimitReader(p, 4096))
	f.Fields[p.FormName()] = string(v)
	return err
}

// Serve sends a blob. Ranges are honoured where the provider's storage does.
func (c *Call) Serve(b spill.Blob, mimeType string, ranges RangePolicy) {
	in, err := b.Open()
	if err != nil {
		c.Trouble(err)
		return
	}
	defer in.Close()
	c.Writer.Header().Set("Content-Type", mimeType)
	if ranges == WithRanges {
		c.Writer.Header().Set("ETag", `"`+strconv.FormatUint(dice.Hash(uint64(b.Size), b.Path), 16)+`"`)
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, in)
		return
	}
	c.Writer.Header().Set("Content-Length", strconv.FormatInt(b.Size, 10))
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = io.Copy(onlyWriter{c.Writer}, io.LimitReader(in, b.Size)) // the client may be gone
}

// RangePolicy is whether a part of a file can be asked for.
type RangePolicy int

// The two policies.
const (
	NoRanges RangePolicy = iota
	WithRanges
)

// onlyWriter keeps io.Copy from looking for shortcuts around the rules on replies.
type onlyWriter struct{ io.Writer }

// Documents returns a job's results of one file as elements of a document; a broken line cannot be in one and is left out.
func (c *Call) Documents(j *Job, file int) ([]json.RawMessage, error) {
	b, err := c.Results(j, file)
	if err != nil {
		return nil, err
	}
	all := []json.RawMessage{}
	err = EachResult(b, 0, func(line []byte, _ int64) bool {
		if json.Valid(line) {
			all = append(all, line)
		}
		return true
	})
	return all, err
}
