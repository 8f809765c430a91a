package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func gcsVendor() *vendor {
	return &vendor{
		name: "gcs", prefix: "/gcs", base: "/gcs", key: bearer, shape: googleShape, retryInBody: true,
		routes: gcsRoutes,
	}
}

func gcsRoutes(rt routes) {
	g := gcs{}
	rt.on(Upload, "POST", "/upload/storage/v1/b/{bucket}/o", g.upload)
	rt.open(Upload, "PUT", "/upload/storage/v1/b/{bucket}/o", g.put)
	rt.open(Upload, "DELETE", "/upload/storage/v1/b/{bucket}/o", func(c *call) {
		c.s.endSession(c.r.URL.Query().Get("upload_id"))
		c.send(499, "text/plain", nil)
	})
	rt.on(File, "GET", "/storage/v1/b/{bucket}/o", g.list)
	rt.on(Fetch, "GET", "/storage/v1/b/{bucket}/o/{object...}", g.read)
	rt.on(Fetch, "GET", "/download/storage/v1/b/{bucket}/o/{object...}", g.read)
	rt.on(File, "DELETE", "/storage/v1/b/{bucket}/o/{object...}", g.remove)
}

// gcs plays the buckets that Vertex reads from and writes to. A bucket is any name; it belongs to whoever has a key.
type gcs struct{}

// object is a thing in a bucket.
type object struct {
	blob
	bucket, name, mime string
	generation         int64
	made               any
}

func (g gcs) find(c *call, bucket, name string) (*object, error) {
	c.s.mu.Lock()
	f := c.s.fileByID[scoped("gcs", bucket, name)]
	there := f != nil && !f.gone
	c.s.mu.Unlock()
	if there {
		return objectOf(f), nil // but for being gone, an object never changes
	}
	for _, o := range c.vertexObjects(bucket) {
		if o.name == name {
			b, err := o.read(c)
			if err != nil {
				return nil, err
			}
			return &object{blob: b, bucket: bucket, name: name, mime: "application/octet-stream", generation: 1, made: rfc(o.job.made)}, nil
		}
	}
	return nil, nil
}

// store keeps a finished upload, if the precondition still holds.
func (g gcs) store(c *call, f *file, match string) *Rejection {
	f.generation = c.now.UnixMicro() + int64(c.s.serial.Add(1))
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	k := scoped("gcs", f.account, f.id)
	old := c.s.fileByID[k]
	if rej := precondition(old, match); rej != nil {
		return rej
	}
	c.s.fileByID[k] = f
	c.s.files = append(c.s.files, f)
	if old != nil {
		old.gone = true
	}
	return nil
}

// precondition holds ifGenerationMatch against what is there; 0 wants nothing there.
func precondition(old *file, match string) *Rejection {
	var have int64
	if old != nil && !old.gone {
		have = old.generation
	}
	if match == "" || match == strconv.FormatInt(have, 10) {
		return nil
	}
	return &Rejection{Status: http.StatusPreconditionFailed, Code: "conditionNotMet", Message: "At least one of the pre-conditions you specified did not hold."}
}

func (g gcs) upload(c *call) {
	q := c.r.URL.Query()
	bucket, name := c.r.PathValue("bucket"), q.Get("name")
	switch {
	case strings.HasPrefix(bucket, "missing-"):
		c.fail(notFound("The specified bucket does not exist."))
		return
	case name == "":
		c.fail(invalid("name", "required", "Required parameter: name"))
		return
	}
	f := &file{vendor: "gcs", account: bucket, id: name, mime: cmp.Or(c.r.Header.Get("X-Upload-Content-Type"), c.r.Header.Get("Content-Type")), made: c.now}
	switch q.Get("uploadType") {
	case "media":
		b, err := c.s.spill.save("object", c.r.Body, 0)
		if err != nil {
			panic(http.ErrAbortHandler) // the client hung up
		}
		f.blob = b
		g.done(c, f, q.Get("ifGenerationMatch"))
	case "resumable":
		c.s.mu.Lock()
		rej := precondition(c.s.fileByID[scoped("gcs", bucket, name)], q.Get("ifGenerationMatch"))
		c.s.mu.Unlock()
		if rej != nil {
			c.fail(rej)
			return
		}
		f.path = c.s.spill.path("object")
		s := c.s.newSession(c, f, -1)
		q.Set("upload_id", s.id)
		c.w.Header().Set("Location", c.self()+c.r.URL.Path+"?"+q.Encode())
		c.send(http.StatusOK, "text/plain", nil)
	default:
		c.fail(invalid("uploadType", "invalid", "Upload type %q is not simulated: media and resumable are.", q.Get("uploadType")))
	}
}

func (g gcs) done(c *call, f *file, match string) {
	if rej := g.store(c, f, match); rej != nil {
		c.fail(rej)
		return
	}
	c.reply(http.StatusOK, g.metadata(c, objectOf(f)))
}

func objectOf(f *file) *object {
	return &object{blob: f.blob, bucket: f.account, name: f.id, mime: f.mime, generation: f.generation, made: rfc(f.made)}
}

// put takes a chunk of a resumable upload: Content-Range says which; "bytes */N" only asks how far it is.
func (g gcs) put(c *call) {
	s := c.s.session(c.r.URL.Query().Get("upload_id"))
	if s == nil {
		c.send(http.StatusNotFound, "text/plain", []byte("upload session not found"))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from, total, query, ok := contentRange(c.r.Header.Get("Content-Range"))
	switch {
	case !ok:
		c.send(http.StatusBadRequest, "text/plain", []byte("bad Content-Range"))
		return
	case s.over:
		c.reply(http.StatusOK, g.metadata(c, objectOf(s.file)))
		return
	case query && s.received != total:
		g.incomplete(c, s)
		return
	case !query && from != s.received:
		g.incomplete(c, s)
		return
	}
	n, err := s.append(c.r.Body)
	if err != nil {
		s.keepWhole(granularity)
		panic(http.ErrAbortHandler) // the client hung up in the middle
	}
	if total >= 0 && s.received < total || total < 0 && c.r.Header.Get("Content-Range") != "" {
		if n%granularity != 0 {
			s.keepWhole(granularity)
		}
		g.incomplete(c, s)
		return
	}
	if err := s.finish(); err != nil {
		c.trouble(err)
		return
	}
	g.done(c, s.file, c.r.URL.Query().Get("ifGenerationMatch"))
}

func (g gcs) incomplete(c *call, s *session) {
	if s.received > 0 {
		c.w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", s.received-1))
	}
	c.send(http.StatusPermanentRedirect, "text/plain", nil)
}

// contentRange reads "bytes 0-99/100", "bytes 0-99/*" and "bytes */100". Nothing at all is the whole, from 0.
func contentRange(h string) (from, total int64, query, ok bool) {
	if h == "" {
		return 0, -1, false, true
	}
	span, size, found := strings.Cut(strings.TrimPrefix(h, "bytes "), "/")
	if total = -1; size != "*" {
		n, err := strconv.ParseInt(size, 10, 64)
		if total = n; err != nil {
			return 0, 0, false, false
		}
	}
	if span == "*" {
		return 0, total, true, found
	}
	first, _, dash := strings.Cut(span, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	return from, total, false, found && dash && err == nil
}

func (g gcs) metadata(c *call, o *object) map[string]any {
	return map[string]any{
		"kind": "storage#object", "id": fmt.Sprintf("%s/%s/%d", o.bucket, o.name, o.generation), "name": o.name, "bucket": o.bucket,
		"generation": strconv.FormatInt(o.generation, 10), "metageneration": "1", "contentType": o.mime, "size": strconv.FormatInt(o.size, 10),
		"timeCreated": o.made, "updated": o.made, "storageClass": "STANDARD",
		"selfLink": c.self() + c.v.prefix + "/storage/v1/b/" + o.bucket + "/o/" + strings.ReplaceAll(o.name, "/", "%2F"),
	}
}

func (g gcs) read(c *call) {
	bucket, name := c.r.PathValue("bucket"), c.r.PathValue("object")
	o, err := g.find(c, bucket, name)
	switch {
	case err != nil:
		c.trouble(err)
	case o == nil:
		c.fail(notFound("No such object: %s/%s", bucket, name))
	case c.r.URL.Query().Get("alt") == "media":
		c.w.Header().Set("X-Goog-Generation", strconv.FormatInt(o.generation, 10))
		c.serve(o.blob, cmp.Or(o.mime, "application/octet-stream"), withRanges)
	default:
		c.reply(http.StatusOK, g.metadata(c, o))
	}
}

func (g gcs) remove(c *call) {
	c.s.mu.Lock()
	f := c.s.fileByID[scoped("gcs", c.r.PathValue("bucket"), c.r.PathValue("object"))]
	there := f != nil && !f.gone
	if there {
		f.gone = true
	}
	c.s.mu.Unlock()
	if !there {
		c.fail(notFound("No such object: %s/%s", c.r.PathValue("bucket"), c.r.PathValue("object")))
		return
	}
	c.w.WriteHeader(http.StatusNoContent)
}

func (g gcs) list(c *call) {
	q := c.r.URL.Query()
	bucket := c.r.PathValue("bucket")
	var names []string
	c.s.mu.Lock()
	for _, f := range c.s.files {
		if f.vendor == "gcs" && f.account == bucket && !f.gone {
			names = append(names, f.id)
		}
	}
	c.s.mu.Unlock()
	for _, o := range c.vertexObjects(bucket) {
		names = append(names, o.name)
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		return !strings.HasPrefix(n, q.Get("prefix")) || q.Get("delimiter") != "" && strings.Contains(n[len(q.Get("prefix")):], q.Get("delimiter"))
	})
	slices.Sort(names)
	part, more := page(names, q.Get("pageToken"), c.queryInt("maxResults", 1000, 1000), func(n string) string { return n })
	out := map[string]any{"kind": "storage#objects"}
	items := []any{}
	for _, n := range part {
		o, err := g.find(c, bucket, n)
		if err != nil || o == nil {
			continue // gone in between
		}
		items = append(items, g.metadata(c, o))
	}
	if len(items) > 0 {
		out["items"] = items
	}
	if more {
		out["nextPageToken"] = part[len(part)-1]
	}
	c.reply(http.StatusOK, out)
}
