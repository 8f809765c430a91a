package apis

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/aws"
	"assay/internal/send/provider"
)

// s3 is buckets behind Amazon's storage protocol, each reached at an address of its own.
type s3 map[string]*provider.Client

// openS3 opens the buckets of some folders.
func openS3(cfg provider.Config, folders ...string) (s3, error) {
	stores := s3{}
	for _, folder := range folders {
		bucket, _, err := parseS3(folder)
		if err != nil {
			return nil, err
		}
		own := cfg
		own.BaseURL = "https://" + bucket + ".s3." + cfg.Location + "." + amazonSuffix(cfg.Location)
		if strings.Contains(bucket, ".") { // the certificate is for one name before the host
			own.BaseURL = "https://s3." + cfg.Location + "." + amazonSuffix(cfg.Location) + "/" + bucket
		}
		if cfg.Storage != "" {
			own.BaseURL = strings.TrimSuffix(cfg.Storage, "/") + "/" + bucket
		}
		api, err := provider.NewClient(own, provider.Bearer(provider.Secret{}))
		if err != nil {
			return nil, err
		}
		stores[bucket] = api.Signing(cfg.Amazon.Signer("s3", cfg.Location))
	}
	return stores, nil
}

// s3Handle remembers an upload.
type s3Handle struct {
	URI   string `json:"uri,omitempty"`
	Ready bool   `json:"ready,omitempty"`
}

// put uploads a source. An object appears whole or not at all, and its name holds the hash of the bytes: writing it again
// changes nothing.
func (s s3) put(ctx context.Context, src provider.Source, uri string, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	var hold s3Handle
	if h.Read(&hold); hold.Ready {
		return h, provider.Ready, nil
	}
	api, path, err := s.at(uri)
	if err != nil {
		return h, "", err
	}
	body, err := src.From(0)
	if err != nil {
		return h, "", err
	}
	resp, err := api.Do(ctx, provider.Call{Method: http.MethodPut, Path: path, Type: jsonl, Body: body, Length: src.Size, SHA256: src.SHA256})
	if err != nil {
		return h, "", fmt.Errorf("upload: %w", err)
	}
	resp.Body.Close()
	if resp.Header.Get("ETag") == "" { // every object that is there has one
		return h, "", provider.BadAnswer("upload: the answer names no version of the object")
	}
	return provider.NewHandle(s3Handle{URI: uri, Ready: true}), provider.Ready, nil
}

// list names the objects below a folder.
func (s s3) list(ctx context.Context, folder string) ([]object, error) {
	bucket, prefix, err := parseS3(folder)
	if err != nil {
		return nil, err
	}
	api, _, err := s.at(folder)
	if err != nil {
		return nil, err
	}
	var all []object
	for token := ""; ; {
		q := url.Values{"list-type": {"2"}, "prefix": {strings.TrimSuffix(prefix, "/") + "/"}}
		if token != "" {
			q.Set("continuation-token", token)
		}
		l, err := s3Page(ctx, api, q)
		if err != nil {
			return nil, fmt.Errorf("list results: %w", err)
		}
		for _, o := range l.Contents {
			all = append(all, object{uri: "s3://" + bucket + "/" + o.Key, size: o.Size})
		}
		if !l.Truncated {
			return all, nil
		}
		if l.Next == "" || l.Next == token {
			return nil, provider.BadAnswer("list results: there are more pages, and the answer does not say where")
		}
		token = l.Next
	}
}

func s3Page(ctx context.Context, api *provider.Client, q url.Values) (s3Objects, error) {
	const most = 16 << 20
	var l s3Objects
	resp, err := api.Do(ctx, provider.Call{Path: "/", Query: q})
	if err != nil {
		return l, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil || xml.Unmarshal(text, &l) != nil { // an error under a good status has another root
		return l, fmt.Errorf("read the answer: %w", &assay.Fault{Class: assay.FaultBusy, Status: resp.StatusCode, Code: "bad_answer"})
	}
	return l, nil
}

// fetch downloads an object.
func (s s3) fetch(ctx context.Context, part provider.Part, into provider.Sink) error {
	api, path, err := s.at(part.Ref)
	if err != nil {
		return err
	}
	if err := api.Download(ctx, provider.Call{Path: path}, part.Whole(), into); err != nil {
		return fmt.Errorf("fetch %s: %w", part.Name, err)
	}
	return nil
}

// remove deletes an object; what is gone already is deleted.
func (s s3) remove(ctx context.Context, uri string) error {
	api, path, err := s.at(uri)
	if err != nil {
		return err
	}
	resp, err := api.Do(ctx, provider.Call{Method: http.MethodDelete, Path: path})
	if gone(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	defer resp.Body.Close()
	if n, err := io.CopyN(io.Discard, resp.Body, 1); n > 0 || err != io.EOF { // what is deleted is answered without words
		return provider.BadAnswer("remove: the answer is not one of a deletion")
	}
	return nil
}

// at is the client and the path of an object.
func (s s3) at(uri string) (*provider.Client, string, error) {
	bucket, key, err := parseS3(uri)
	if err != nil {
		return nil, "", err
	}
	api, ok := s[bucket]
	if !ok {
		return nil, "", badS3(uri, "a bucket of the configuration")
	}
	segments := strings.Split(key, "/")
	for i, part := range segments {
		segments[i] = aws.Segment(part)
	}
	return api, "/" + strings.Join(segments, "/"), nil
}

// parseS3 takes s3://bucket/key apart. Jobs take only some characters in an address.
func parseS3(uri string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(uri, "s3://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" || strings.ContainsFunc(rest, func(r rune) bool { return r > '~' || !s3Legal(byte(r)) }) {
		return "", "", badS3(uri, "s3://bucket/folder, of letters, digits and -!_*'()./")
	}
	return bucket, key, nil
}

func s3Legal(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-!_*'()./", c) >= 0
}

func badS3(uri, want string) error {
	return fmt.Errorf("address %q: want %s: %w", clean(uri), want, &assay.Fault{Class: assay.FaultInvalid, Code: "bad_address"})
}

// amazonSuffix is how the hosts of a region end.
func amazonSuffix(region string) string {
	part, _, _ := strings.Cut(region, "-")
	return cmp.Or(map[string]string{"cn": "amazonaws.com.cn", "eusc": "amazonaws.eu"}[part], "amazonaws.com")
}

type s3Objects struct {
	XMLName   xml.Name `xml:"ListBucketResult"`
	Truncated bool     `xml:"IsTruncated"`
	Next      string   `xml:"NextContinuationToken"`
	Contents  []struct {
		Key  string
		Size int64
	}
}
