package objects

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// S3 is a bucket behind the S3 protocol, by four of its calls.
type S3 struct {
	Transport http.RoundTripper
	Account   *Account
	Region    string
	Base      string // URL of the bucket, without a slash at its end: see BucketURL
	Where     string // how errors name it
}

// openS3 opens a bucket with the credentials of the environment, of the AWS credentials file, or of the machine's role.
func openS3(a address, env func(string) string) (Store, error) {
	s := &S3{Transport: transport(nil), Account: OpenAccount(env), Where: "s3://" + a.bucket}
	s.Region = cmp.Or(a.region, env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1")
	server := a.endpoint
	if text := cmp.Or(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL")); server == nil && text != "" {
		var err error
		if server, err = endpoint(text); err != nil {
			return nil, err
		}
	}
	if server != nil {
		s.Base, s.Where = server.String()+"/"+a.bucket, "s3://"+server.Host+"/"+a.bucket
		return s, nil
	}
	s.Base = BucketURL(a.bucket, s.Region)
	return s, nil
}

// BucketURL returns where Amazon has a bucket.
func BucketURL(bucket, region string) string {
	host := AmazonHost("s3", region)
	if strings.Contains(bucket, ".") { // the certificate is for one name before the host
		return "https://" + host + "/" + bucket
	}
	return "https://" + bucket + "." + host
}

// AmazonHost returns the host of a service in a region.
func AmazonHost(service, region string) string {
	part, _, _ := strings.Cut(region, "-")
	return service + "." + region + "." + cmp.Or(map[string]string{"cn": "amazonaws.com.cn", "eusc": "amazonaws.eu"}[part], "amazonaws.com")
}

// Put writes an object.
func (s *S3) Put(ctx context.Context, key string, body Body) error {
	resp, err := s.call(ctx, http.MethodPut, key, nil, http.Header{"Content-Type": {cmp.Or(body.Type, "application/octet-stream")}}, &body)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.Header.Get("ETag") == "" { // every object that is there has one
		return fmt.Errorf("%s: put: %w: it names no version of the object", s, ErrAnswer)
	}
	return nil
}

// Get begins to read an object.
func (s *S3) Get(ctx context.Context, key string, header http.Header) (*http.Response, error) {
	return s.call(ctx, http.MethodGet, key, nil, header, nil)
}

// List walks over the objects whose keys begin so.
func (s *S3) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		query := url.Values{"list-type": {"2"}, "prefix": {prefix}, "encoding-type": {"url"}}
		for {
			page, err := s.page(ctx, query)
			if err != nil {
				yield(Object{}, err)
				return
			}
			for _, c := range page.Contents {
				if page.Encoding == "url" {
					c.Key, err = url.QueryUnescape(c.Key)
				}
				if !yield(Object{Key: c.Key, Size: c.Size, Time: c.Modified}, err) || err != nil {
					return
				}
			}
			if !page.Truncated {
				return
			}
			if page.Next == "" || page.Next == query.Get("continuation-token") {
				yield(Object{}, fmt.Errorf("%s: list: %w: it has more pages, and does not say where", s, ErrAnswer))
				return
			}
			query.Set("continuation-token", page.Next)
		}
	}
}

// s3Page is a page of a list.
type s3Page struct {
	XMLName   xml.Name `xml:"ListBucketResult"` // an error under a good status has another root
	Encoding  string   `xml:"EncodingType"`
	Truncated bool     `xml:"IsTruncated"`
	Next      string   `xml:"NextContinuationToken"`
	Contents  []struct {
		Key      string
		Size     int64
		Modified time.Time `xml:"LastModified"`
	}
}

func (s *S3) page(ctx context.Context, query url.Values) (p s3Page, err error) {
	resp, err := s.call(ctx, http.MethodGet, "", query, nil, nil)
	if err != nil {
		return p, err
	}
	text, err := answerOf(resp)
	if err == nil && xml.Unmarshal(text, &p) != nil {
		err = ErrAnswer
	}
	if err != nil {
		err = fmt.Errorf("%s: read a list: %w", s, err)
	}
	return p, err
}

// Delete removes an object.
func (s *S3) Delete(ctx context.Context, key string) error {
	resp, err := s.call(ctx, http.MethodDelete, key, nil, nil, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return deleted(resp)
}

// String returns where the objects are.
func (s *S3) String() string { return s.Where }

// call signs a call and makes it.
func (s *S3) call(ctx context.Context, method, key string, query url.Values, header http.Header, body *Body) (*http.Response, error) {
	at := s.Base + "/" + strings.TrimPrefix(escaped(key), "/")
	if query != nil {
		at += "?" + query.Encode()
	}
	req, err := newRequest(ctx, method, at, header, body)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(nil)
	if body != nil {
		req.ContentLength, digest = body.Size, body.SHA256
	}
	if err := s.Account.Sign(ctx, req, Call{Service: "s3", Region: s.Region, Body: digest, Time: time.Now()}); err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	resp, err := call(s.Transport, req)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", s, err)
	}
	return resp, err
}
