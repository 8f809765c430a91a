package wire

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
)

func gcsVendor(b *buckets) *backend.Vendor {
	return &backend.Vendor{
		Name: "gcs", Prefix: "/gcs", Base: "/gcs", Key: backend.Bearer, Shape: googleShape, RetryInBody: true,
		Routes: func(rt backend.Routes) { gcsRoutes(rt, gcs{b}) },
	}
}

func gcsRoutes(rt backend.Routes, g gcs) {
	rt.On(fault.Upload, "POST", "/upload/storage/v1/b/{bucket}/o", g.upload)
	rt.Open(fault.Upload, "PUT", "/upload/storage/v1/b/{bucket}/o", g.put)
	rt.Open(fault.Upload, "DELETE", "/upload/storage/v1/b/{bucket}/o", func(c *backend.Call) {
		c.EndSession(c.Request.URL.Query().Get("upload_id"))
		c.Send(499, "text/plain", nil)
	})
	rt.On(fault.File, "GET", "/storage/v1/b/{bucket}/o", g.list)
	rt.On(fault.Fetch, "GET", "/storage/v1/b/{bucket}/o/{object...}", g.read)
	rt.On(fault.Fetch, "GET", "/download/storage/v1/b/{bucket}/o/{object...}", g.read)
	rt.On(fault.File, "DELETE", "/storage/v1/b/{bucket}/o/{object...}", g.remove)
}

// gcs plays the buckets that Vertex reads from and writes to. A bucket is any name; any key opens it.
type gcs struct{ *buckets }

func (g gcs) upload(c *backend.Call) {
	q := c.Request.URL.Query()
	bucket, name := c.Request.PathValue("bucket"), q.Get("name")
	switch {
	case strings.HasPrefix(bucket, "missing-"):
		c.Fail(rules.NotFound("The specified bucket does not exist."))
		return
	case name == "":
		c.Fail(rules.Invalid("name", "required", "Required parameter: name"))
		return
	}
	f := &backend.File{Account: bucket, ID: name,
		MIME: cmp.Or(c.Request.Header.Get("X-Upload-Content-Type"), c.Request.Header.Get("Content-Type")), Made: c.Now}
	switch q.Get("uploadType") {
	case "media":
		b, err := c.Disk().Save("object", c.Request.Body, 0)
		if err != nil {
			panic(http.ErrAbortHandler) // the client hung up
		}
		f.Blob = b
		g.done(c, f, q.Get("ifGenerationMatch"))
	case "resumable":
		if rej := precondition(g.stored(bucket, name), q.Get("ifGenerationMatch")); rej != nil {
			c.Fail(rej)
			return
		}
		f.Path = c.Disk().Path("object")
		s := c.NewSession(f, -1)
		q.Set("upload_id", s.ID)
		c.Writer.Header().Set("Location", c.Origin()+c.Request.URL.Path+"?"+q.Encode())
		c.Send(http.StatusOK, "text/plain", nil)
	default:
		c.Fail(rules.Invalid("uploadType", "invalid", "Upload type %q is not simulated: media and resumable are.", q.Get("uploadType")))
	}
}

func (g gcs) done(c *backend.Call, f *backend.File, match string) {
	if rej := g.keep(c, f, match); rej != nil {
		c.Fail(rej)
		return
	}
	c.Reply(http.StatusOK, g.metadata(c, objectOf(f)))
}

// put takes a chunk of a resumable upload: Content-Range names it; "bytes */N" only asks how far it is.
func (g gcs) put(c *backend.Call) {
	s := c.Session(c.Request.URL.Query().Get("upload_id"))
	if s == nil {
		c.Send(http.StatusNotFound, "text/plain", []byte("upload session not found"))
		return
	}
	s.Lock()
	defer s.Unlock()
	from, total, query, ok := contentRange(c.Request.Header.Get("Content-Range"))
	switch {
	case !ok:
		c.Send(http.StatusBadRequest, "text/plain", []byte("bad Content-Range"))
		return
	case s.Over:
		c.Reply(http.StatusOK, g.metadata(c, objectOf(s.File)))
		return
	case query && s.Received != total:
		g.incomplete(c, s)
		return
	case !query && from != s.Received:
		g.incomplete(c, s)
		return
	}
	n, err := s.Append(c.Request.Body)
	if err != nil {
		s.KeepWhole(granularity)
		panic(http.ErrAbortHandler) // the client hung up in the middle
	}
	if total >= 0 && s.Received < total || total < 0 && c.Request.Header.Get("Content-Range") != "" {
		if n%granularity != 0 {
			s.KeepWhole(granularity)
		}
		g.incomplete(c, s)
		return
	}
	if err := s.Finish(); err != nil {
		c.Trouble(err)
		return
	}
	g.done(c, s.File, c.Request.URL.Query().Get("ifGenerationMatch"))
}

func (g gcs) incomplete(c *backend.Call, s *backend.Session) {
	if s.Received > 0 {
		c.Writer.Header().Set("Range", fmt.Sprintf("bytes=0-%d", s.Received-1))
	}
	c.Send(http.StatusPermanentRedirect, "text/plain", nil)
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

func (g gcs) metadata(c *backend.Call, o *object) map[string]any {
	return map[string]any{
		"kind": "storage#object", "id": fmt.Sprintf("%s/%s/%d", o.bucket, o.name, o.generation), "name": o.name, "bucket": o.bucket,
		"generation": strconv.FormatInt(o.generation, 10), "metageneration": "1", "contentType": o.mime,
		"size": strconv.FormatInt(o.Size, 10), "timeCreated": o.made, "updated": o.made, "storageClass": "STANDARD",
		"selfLink": c.Origin() + c.Vendor.Prefix + "/storage/v1/b/" + o.bucket + "/o/" + strings.ReplaceAll(o.name, "/", "%2F"),
	}
}

func (g gcs) read(c *backend.Call) {
	bucket, name := c.Request.PathValue("bucket"), c.Request.PathValue("object")
	o, err := g.find(c, bucket, name)
	switch {
	case err != nil:
		c.Trouble(err)
	case o == nil:
		c.Fail(rules.NotFound("No such object: %s/%s", bucket, name))
	case c.Request.URL.Query().Get("alt") == "media":
		c.Writer.Header().Set("X-Goog-Generation", strconv.FormatInt(o.generation, 10))
		c.Serve(o.Blob, cmp.Or(o.mime, "application/octet-stream"), backend.WithRanges)
	default:
		c.Reply(http.StatusOK, g.metadata(c, o))
	}
}

func (g gcs) remove(c *backend.Call) {
	if !g.drop(c.Request.PathValue("bucket"), c.Request.PathValue("object")) {
		c.Fail(rules.NotFound("No such object: %s/%s", c.Request.PathValue("bucket"), c.Request.PathValue("object")))
		return
	}
	c.Writer.WriteHeader(http.StatusNoContent)
}

func (g gcs) list(c *backend.Call) {
	q := c.Request.URL.Query()
	bucket := c.Request.PathValue("bucket")
	names := g.names(c, bucket)
	names = slices.DeleteFunc(names, func(n string) bool {
		return !strings.HasPrefix(n, q.Get("prefix")) ||
			q.Get("delimiter") != "" && strings.Contains(n[len(q.Get("prefix")):], q.Get("delimiter"))
	})
	slices.Sort(names)
	part, more := backend.Page(names, q.Get("pageToken"), c.QueryInt("maxResults", 1000, 1000), func(n string) string { return n })
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
	c.Reply(http.StatusOK, out)
}
