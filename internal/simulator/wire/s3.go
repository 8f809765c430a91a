package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

func s3Vendor(s *s3Store) *backend.Vendor {
	return &backend.Vendor{
		Name: "s3", Prefix: "/s3", Base: "/s3", Key: awsKey, Shape: s3Shape, DeniedAs: http.StatusForbidden,
		BrokeStatus: http.StatusForbidden, IDHeaderAs: "X-Amz-Request-Id",
		Admit: func(c *backend.Call) *rules.Rejection {
			if _, signed := signatureOf(c.Request); !signed { // a bearer of Bedrock opens no bucket
				return &rules.Rejection{Status: http.StatusBadRequest, Code: "InvalidRequest", Message: "Unsupported Authorization Type"}
			}
			return signedAs("s3", c)
		},
		Routes: func(rt backend.Routes) { s3Routes(rt, s) },
	}
}

func s3Routes(rt backend.Routes, s *s3Store) {
	rt.On(fault.Upload, "PUT", "/{bucket}/{key...}", s.put)
	rt.On(fault.Upload, "POST", "/{bucket}/{key...}", s.post)
	for _, path := range []string{"/{bucket}", "/{bucket}/{$}"} {
		rt.On(fault.File, "GET", path, s.list)
		rt.On(fault.File, "PUT", path, s.make)
	}
	rt.On(fault.Fetch, "GET", "/{bucket}/{key...}", s.read)
	rt.On(fault.File, "DELETE", "/{bucket}/{key...}", s.remove)
}

// s3Shape returns an error in XML.
func s3Shape(_ *backend.Call, r *rules.Rejection) any {
	code := r.Code
	switch {
	case r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable:
		code = "SlowDown"
	case r.Status >= 500:
		code = "InternalError"
	case r.Status == http.StatusForbidden && code == "invalid_api_key":
		code = "InvalidAccessKeyId"
	}
	return backend.XML(s3XML("Error", s3Error{Code: code, Message: r.Message}))
}

func s3XML(name string, v any) []byte {
	var b strings.Builder
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).EncodeElement(v, xml.StartElement{Name: xml.Name{Local: name}}); err != nil {
		panic("simulator: write XML: " + err.Error())
	}
	return []byte(b.String())
}

type s3Error struct{ Code, Message string }

// s3Store is the buckets: objects that clients uploaded, and those that jobs have written by now. A bucket is any name but
// one that begins with "missing-".
type s3Store struct {
	mu    sync.Mutex
	files map[string]*backend.File // by bucket and key
	gone  map[string]bool          // results that were deleted
	jobs  []*backend.Job

	uploads map[string]*s3Upload // in parts, by id
}

func newS3() *s3Store {
	return &s3Store{files: map[string]*backend.File{}, gone: map[string]bool{}, uploads: map[string]*s3Upload{}}
}

// writes notes a job: it writes to its bucket.
func (s *s3Store) writes(j *backend.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = append(s.jobs, j)
}

// find returns an object; nil: there is none.
func (s *s3Store) find(c *backend.Call, bucket, key string) (*object, error) {
	s.mu.Lock()
	f := s.files[bucket+"/"+key]
	s.mu.Unlock()
	if f != nil {
		return objectOf(f), nil
	}
	for _, o := range s.written(c, bucket) {
		if o.key == key {
			b, err := o.read(c)
			return &object{Blob: b, bucket: bucket, name: key, made: rfc(o.job.Made)}, err
		}
	}
	return nil, nil
}

// s3Written is an object that a job has written: its results, or the manifest that counts them.
type s3Written struct {
	job      *backend.Job
	key      string
	manifest bool
}

func (s *s3Store) written(c *backend.Call, bucket string) []s3Written {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []s3Written
	for _, j := range s.jobs {
		x, p := j.Extra.(*bedrockExtra), j.At(c.Now)
		if x.bucket != bucket || p.Done == 0 {
			continue
		}
		out = append(out, s3Written{job: j, key: x.folder + x.file})
		if p.Over() {
			out = append(out, s3Written{job: j, key: x.folder + "manifest.json.out", manifest: true})
		}
	}
	return slices.DeleteFunc(out, func(o s3Written) bool { return s.gone[bucket+"/"+o.key] })
}

func (o s3Written) read(c *backend.Call) (spill.Blob, error) {
	if o.manifest {
		w := c.Look(o.job)
		text := fmt.Sprintf(`{"totalRecordCount":%d,"processedRecordCount":%d,"successRecordCount":%d,"errorRecordCount":%d}`, w.Total,
			w.Succeeded+w.Errored, w.Succeeded, w.Errored)
		return c.Disk().Save("manifest", strings.NewReader(text), 0)
	}
	b, err := c.Results(o.job, 0)
	if err == nil && b.Path == "" {
		return c.Disk().Save("empty", strings.NewReader(""), 0)
	}
	return b, err
}

func (s *s3Store) place(c *backend.Call) (bucket, key string, ok bool) {
	bucket, key = c.Request.PathValue("bucket"), c.Request.PathValue("key")
	if strings.HasPrefix(bucket, "missing-") {
		c.Fail(&rules.Rejection{Status: http.StatusNotFound, Code: "NoSuchBucket", Message: "The specified bucket does not exist"})
		return bucket, key, false
	}
	return bucket, key, true
}

func (s *s3Store) put(c *backend.Call) {
	bucket, key, ok := s.place(c)
	if !ok {
		return
	}
	h := sha256.New()
	b, err := c.Disk().Save("object", io.TeeReader(c.Request.Body, h), 0)
	if err != nil || b.Size != c.Request.ContentLength {
		panic(http.ErrAbortHandler) // the client hung up
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if said := c.Request.Header.Get("X-Amz-Content-Sha256"); said != sum && said != "UNSIGNED-PAYLOAD" {
		c.Fail(&rules.Rejection{Status: http.StatusBadRequest, Code: "XAmzContentSHA256Mismatch",
			Message: "The provided 'x-amz-content-sha256' header does not match what was computed."})
		return
	}
	if id := c.Request.URL.Query().Get("uploadId"); id != "" {
		s.take(c, id, b, `"`+sum[:32]+`"`)
		return
	}
	s.mu.Lock()
	s.files[bucket+"/"+key] = &backend.File{Blob: b, Account: bucket, ID: key, Made: c.Now}
	s.mu.Unlock()
	c.Writer.Header().Set("ETag", `"`+sum[:32]+`"`)
	c.Writer.WriteHeader(http.StatusOK)
}

func (s *s3Store) read(c *backend.Call) {
	bucket, key, ok := s.place(c)
	if !ok {
		return
	}
	o, err := s.find(c, bucket, key)
	switch {
	case err != nil:
		c.Trouble(err)
	case o == nil:
		c.Fail(&rules.Rejection{Status: http.StatusNotFound, Code: "NoSuchKey", Message: "The specified key does not exist."})
	default:
		c.Serve(o.Blob, "application/octet-stream", backend.WithRanges)
	}
}

func (s *s3Store) remove(c *backend.Call) {
	bucket, key, ok := s.place(c)
	if !ok {
		return
	}
	s.mu.Lock()
	if id := c.Request.URL.Query().Get("uploadId"); id != "" {
		delete(s.uploads, id)
		s.mu.Unlock()
		c.Writer.WriteHeader(http.StatusNoContent)
		return
	}
	if s.files[bucket+"/"+key] == nil {
		s.gone[bucket+"/"+key] = true
	}
	delete(s.files, bucket+"/"+key)
	s.mu.Unlock()
	c.Writer.WriteHeader(http.StatusNoContent)
}

func (s *s3Store) list(c *backend.Call) {
	bucket, _, ok := s.place(c)
	if !ok {
		return
	}
	q := c.Request.URL.Query()
	var keys []string
	s.mu.Lock()
	for _, f := range s.files {
		if f.Account == bucket {
			keys = append(keys, f.ID)
		}
	}
	s.mu.Unlock()
	for _, o := range s.written(c, bucket) {
		keys = append(keys, o.key)
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, q.Get("prefix")) })
	sort.Strings(keys)
	part, more := backend.Page(keys, q.Get("continuation-token"), c.QueryInt("max-keys", 1000, 1000), func(k string) string { return k })
	out := s3Listed{Name: bucket, Prefix: q.Get("prefix"), Truncated: more}
	for _, k := range part {
		o, err := s.find(c, bucket, k)
		if err != nil || o == nil {
			continue // gone in between
		}
		out.Contents = append(out.Contents, s3Object{Key: k, Size: o.Size, Modified: fmt.Sprint(o.made)})
	}
	if more {
		out.Next = part[len(part)-1]
	}
	c.Reply(http.StatusOK, backend.XML(s3XML("ListBucketResult", out)))
}

type s3Listed struct {
	Name, Prefix string
	Truncated    bool       `xml:"IsTruncated"`
	Next         string     `xml:"NextContinuationToken,omitempty"`
	Contents     []s3Object `xml:"Contents"`
}

type s3Object struct {
	Key      string
	Size     int64
	Modified string `xml:"LastModified"`
}
