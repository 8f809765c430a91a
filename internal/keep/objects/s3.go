package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/aws"
)

const (
	s3Tries = 3                      // of a call; the engine goes on trying
	s3Pause = 200 * time.Millisecond // before the second, and twice as long before the third
	s3Word  = 64 << 10               // bytes that an error may have
)

// s3 is a bucket behind the S3 protocol, by four of its calls.
type s3 struct {
	client  *http.Client
	account *aws.Account
	region  string
	base    url.URL // of the bucket
	where   string
}

// openS3 opens a bucket with the credentials of the environment, of the AWS credentials file, or of the machine's role.
func openS3(a address, env func(string) string) (artifacts.Objects, error) {
	s := &s3{account: aws.Open(env), region: cmp.Or(a.region, env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1"), where: "s3://" + a.bucket}
	s.client = client(nil)
	server := a.endpoint
	if text := cmp.Or(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL")); server == nil && text != "" {
		var err error
		if server, err = endpoint(text); err != nil {
			return nil, err
		}
	}
	if server != nil {
		s.base, s.where = url.URL{Scheme: server.Scheme, Host: server.Host, Path: "/" + a.bucket + "/"}, "s3://"+server.Host+"/"+a.bucket
		return s, nil
	}
	host := "s3." + s.region + ".amazonaws.com"
	if strings.HasPrefix(s.region, "cn-") {
		host += ".cn"
	}
	if strings.Contains(a.bucket, ".") { // the certificate is for one name before the host
		s.base = url.URL{Scheme: "https", Host: host, Path: "/" + a.bucket + "/"}
	} else {
		s.base = url.URL{Scheme: "https", Host: a.bucket + "." + host, Path: "/"}
	}
	return s, nil
}

// Put writes an object.
func (s *s3) Put(ctx context.Context, key string, body []byte) error {
	_, err := s.call(ctx, http.MethodPut, key, nil, body, http.Header{"Content-Type": {"application/octet-stream"}})
	return err
}

// Get reads n bytes from an offset.
func (s *s3) Get(ctx context.Context, key string, offset, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	got, err := s.call(ctx, http.MethodGet, key, nil, nil, http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", offset, offset+n-1)}})
	if err == nil && int64(len(got)) != n {
		return nil, fmt.Errorf("%s: want %d bytes of %s from %d, got %d", s, n, key, offset, len(got))
	}
	return got, err
}

// List walks over the objects whose keys begin so.
func (s *s3) List(ctx context.Context, prefix string) iter.Seq2[artifacts.Object, error] {
	return func(yield func(artifacts.Object, error) bool) {
		query := url.Values{"list-type": {"2"}, "prefix": {prefix}, "encoding-type": {"url"}}
		for {
			page, err := s.page(ctx, query)
			if err != nil {
				yield(artifacts.Object{}, err)
				return
			}
			for _, c := range page.Contents {
				if page.Encoding == "url" {
					c.Key, err = url.QueryUnescape(c.Key)
				}
				if !yield(artifacts.Object{Key: c.Key, Size: c.Size, Time: c.Modified}, err) || err != nil {
					return
				}
			}
			if !page.Truncated {
				return
			}
			if page.Next == "" || page.Next == query.Get("continuation-token") {
				yield(artifacts.Object{}, fmt.Errorf("%s: a list has more pages, and does not say where", s))
				return
			}
			query.Set("continuation-token", page.Next)
		}
	}
}

// s3Page is a page of a list.
type s3Page struct {
	XMLName   xml.Name `xml:"ListBucketResult"`
	Encoding  string   `xml:"EncodingType"`
	Truncated bool     `xml:"IsTruncated"`
	Next      string   `xml:"NextContinuationToken"`
	Contents  []struct {
		Key      string
		Size     int64
		Modified time.Time `xml:"LastModified"`
	}
}

func (s *s3) page(ctx context.Context, query url.Values) (s3Page, error) {
	text, err := s.call(ctx, http.MethodGet, "", query, nil, nil)
	if err != nil {
		return s3Page{}, err
	}
	var p s3Page
	if err := xml.Unmarshal(text, &p); err != nil {
		return s3Page{}, fmt.Errorf("%s: read a list: %w", s, err)
	}
	return p, nil
}

// Delete removes an object.
func (s *s3) Delete(ctx context.Context, key string) error {
	_, err := s.call(ctx, http.MethodDelete, key, nil, nil, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// String says where the objects are.
func (s *s3) String() string { return s.where }

// call makes a call, again where the server or the network has failed. A key that is not there is fs.ErrNotExist: a bucket
// that is not there, or a server that cannot be reached, is not the same.
func (s *s3) call(ctx context.Context, method, key string, query url.Values, body []byte, header http.Header) ([]byte, error) {
	digest, pause := sha256.Sum256(body), s3Pause
	for try := 1; ; try++ {
		at := s.base
		at.Path += key
		at.RawQuery = query.Encode()
		req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		for name, values := range header {
			req.Header[name] = values
		}
		if err := s.account.Sign(ctx, req, aws.Call{Service: "s3", Region: s.region, Body: digest, Time: time.Now()}); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		got, again, err := s.once(req)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return got, err
		}
		if err = fmt.Errorf("%s: %w", s, err); !again || try == s3Tries {
			return nil, err
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
			pause *= 2
		case <-ctx.Done():
			return nil, err
		}
	}
}

// once makes a call once, and reports whether another try may help.
func (s *s3) once(req *http.Request) (got []byte, again bool, err error) {
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, req.Context().Err() == nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		got, err := io.ReadAll(resp.Body)
		return got, err != nil && req.Context().Err() == nil, err
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, s3Word)) // what it says is for the message
	var why struct{ Code, Message, Region string }
	if xml.Unmarshal(text, &why) != nil || why.Code == "" { // the other fields may hold what was signed
		return nil, resp.StatusCode >= 500, errors.New(resp.Status)
	}
	if why.Code == "NoSuchKey" {
		return nil, false, fs.ErrNotExist
	}
	err = fmt.Errorf("%s: %s: %.300q", resp.Status, why.Code, why.Message)
	if why.Region != "" {
		err = fmt.Errorf("%w (the bucket is in region %.40q: set AWS_REGION or ?region=)", err, why.Region)
	}
	return nil, resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || why.Code == "RequestTimeout", err
}
