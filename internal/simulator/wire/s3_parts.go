package wire

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// s3Upload is an object that comes in parts.
type s3Upload struct {
	bucket, key string
	parts       map[int]spill.Blob
	sums        map[int]string
}

// make answers that there is a bucket: any name is one.
func (s *s3Store) make(c *backend.Call) {
	if _, _, ok := s.place(c); ok {
		c.Writer.WriteHeader(http.StatusOK)
	}
}

// post begins an upload in parts, or ends one.
func (s *s3Store) post(c *backend.Call) {
	bucket, key, ok := s.place(c)
	if !ok {
		return
	}
	q := c.Request.URL.Query()
	if q.Has("uploads") {
		id := dice.Letters(dice.Base62, 40)(c.NewNumber())
		s.mu.Lock()
		s.uploads[id] = &s3Upload{bucket: bucket, key: key, parts: map[int]spill.Blob{}, sums: map[int]string{}}
		s.mu.Unlock()
		c.Reply(http.StatusOK, backend.XML(s3XML("InitiateMultipartUploadResult", s3Begun{Bucket: bucket, Key: key, UploadID: id})))
		return
	}
	up := s.upload(c, q.Get("uploadId"))
	if up == nil {
		return
	}
	var in s3Complete
	if raw := c.Bytes(1 << 20); raw == nil || xml.Unmarshal(raw, &in) != nil {
		c.Fail(&rules.Rejection{Status: http.StatusBadRequest, Code: "MalformedXML", Message: "The XML you provided was not well-formed"})
		return
	}
	var blobs []spill.Blob
	for i, p := range in.Parts {
		blob, have := up.parts[p.Number]
		if !have || p.ETag != up.sums[p.Number] || i > 0 && p.Number <= in.Parts[i-1].Number {
			c.Fail(&rules.Rejection{Status: http.StatusBadRequest, Code: "InvalidPart", Message: "One or more of the parts is not there."})
			return
		}
		blobs = append(blobs, blob)
	}
	whole, err := joinedParts(c, blobs)
	if err != nil {
		c.Trouble(err)
		return
	}
	s.mu.Lock()
	delete(s.uploads, q.Get("uploadId"))
	s.files[bucket+"/"+key] = &backend.File{Blob: whole, Account: bucket, ID: key, Made: c.Now}
	s.mu.Unlock()
	c.Reply(http.StatusOK, backend.XML(s3XML("CompleteMultipartUploadResult",
		s3Begun{Bucket: bucket, Key: key, ETag: fmt.Sprintf("%q", dice.Letters(dice.Base36, 32)(c.NewNumber()))})))
}

// joinedParts returns parts one behind the other.
func joinedParts(c *backend.Call, parts []spill.Blob) (spill.Blob, error) {
	var all []io.Reader
	for _, p := range parts {
		f, err := p.Open()
		if err != nil {
			return spill.Blob{}, err
		}
		defer f.Close()
		all = append(all, f)
	}
	return c.Disk().Save("object", io.MultiReader(all...), 0)
}

// upload returns an upload in parts; nil after answering that there is none.
func (s *s3Store) upload(c *backend.Call, id string) *s3Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	up := s.uploads[id]
	if up == nil || up.bucket != c.Request.PathValue("bucket") || up.key != c.Request.PathValue("key") {
		c.Fail(&rules.Rejection{Status: http.StatusNotFound, Code: "NoSuchUpload", Message: "The specified upload does not exist."})
		return nil
	}
	return up
}

// take keeps a part of an upload.
func (s *s3Store) take(c *backend.Call, id string, part spill.Blob, etag string) {
	number, err := strconv.Atoi(c.Request.URL.Query().Get("partNumber"))
	if err != nil || number < 1 || number > 10_000 {
		c.Fail(rules.Invalid("", "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive"))
		return
	}
	up := s.upload(c, id)
	if up == nil {
		return
	}
	s.mu.Lock()
	up.parts[number], up.sums[number] = part, etag
	s.mu.Unlock()
	c.Writer.Header().Set("ETag", etag)
	c.Writer.WriteHeader(http.StatusOK)
}

type s3Begun struct {
	Bucket, Key string
	UploadID    string `xml:"UploadId,omitempty"`
	ETag        string `xml:",omitempty"`
}

type s3Complete struct {
	Parts []struct {
		Number int `xml:"PartNumber"`
		ETag   string
	} `xml:"Part"`
}
