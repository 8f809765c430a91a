// Package objects opens buckets of object stores by their address.
package objects

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"assay/internal/keep/artifacts"
)

// Options are what an address does not say.
type Options struct {
	Env   func(name string) string // of this process: secrets come from it, or from files that it names
	Cache artifacts.Cache
}

// Is reports whether an address means a bucket; else it is a folder.
func Is(address string) bool { return strings.Contains(address, "://") }

// Open opens the bucket of an address: s3://BUCKET/PREFIX or gs://BUCKET/PREFIX. The query may name an endpoint and a region.
// No call is made yet.
func Open(address string, o Options) (*artifacts.Bucket, error) {
	a, err := parse(address)
	if err != nil {
		return nil, err
	}
	var objects artifacts.Objects
	switch a.scheme {
	case "s3":
		objects, err = openS3(a, o.Env)
	case "gs":
		objects, err = openGoogle(a, o.Env)
	case "az":
		err = errors.New("the protocol of Azure itself is not spoken here: a gateway with the S3 protocol is named as s3://BUCKET/PREFIX?endpoint=URL")
	default:
		err = fmt.Errorf("%s:// is not an object store: want s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or a folder", a.scheme)
	}
	if err != nil {
		return nil, err
	}
	return artifacts.NewBucket(objects, a.prefix, o.Cache)
}

// address is one that was read. It holds no secret.
type address struct {
	scheme, bucket, prefix string
	endpoint               *url.URL // nil: the store's own
	region                 string
}

// parse reads an address. Its text is in no error: it may hold a secret, which is one reason to refuse it.
func parse(text string) (address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Fragment != "" || u.Opaque != "" {
		return address{}, errors.New("the address of the artifacts cannot be read: want s3://BUCKET/PREFIX?endpoint=URL&region=NAME")
	}
	if u.User != nil {
		return address{}, errSecret
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return address{}, errors.New("the address of the artifacts cannot be read: its query is not one")
	}
	for name := range query {
		if !slices.Contains([]string{"endpoint", "region"}, name) {
			return address{}, fmt.Errorf("the address of the artifacts takes endpoint and region, not %q; %w", name, errSecret)
		}
	}
	a := address{scheme: u.Scheme, bucket: u.Host, prefix: strings.Trim(u.Path, "/"), region: query.Get("region")}
	if strings.Trim(a.prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") != "" || strings.Contains(a.prefix, "//") {
		return address{}, errors.New("the address of the artifacts: a prefix has letters, digits, and . _ - /")
	}
	if text := query.Get("endpoint"); text != "" {
		a.endpoint, err = endpoint(text)
	}
	return a, err
}

var errSecret = errors.New("an address holds no secret: keys come from the environment or from a credentials file")

// endpoint reads the URL of a server. Without TLS only where it says http://.
func endpoint(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("the endpoint of the artifacts cannot be read: want https://HOST or http://HOST:PORT")
	}
	if u.User != nil {
		return nil, errSecret
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// connections are kept for as many calls as a worker makes at a time.
const connections = 64

// client calls an object store, with tokens where there is a source of them. It follows no redirects: they would take
// signatures and tokens along.
func client(tokens oauth2.TokenSource) *http.Client {
	plain := http.DefaultTransport.(*http.Transport).Clone()
	plain.MaxIdleConnsPerHost = connections
	c := &http.Client{Transport: plain, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if tokens != nil {
		c.Transport = &oauth2.Transport{Source: tokens, Base: plain}
	}
	return c
}
