// Package objects reads and writes buckets of object stores: S3 and Google Cloud Storage. Artifacts, Bedrock and Vertex share it.
package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Store is one bucket. Nothing is built on multipart uploads or on the order of a list: some servers promise them and break the promise
// in silence. A call is made once: whoever gives a store its transport decides about tries.
type Store interface {
	// Put writes an object, whole or not at all, and durably. The same bytes twice are no error.
	Put(ctx context.Context, key string, body Body) error
	// Get begins to read an object. The header may ask for a range; the caller closes the answer's body. An object that is not there is
	// fs.ErrNotExist, and nothing else is.
	Get(ctx context.Context, key string, header http.Header) (*http.Response, error)
	// List walks over the objects whose keys begin so.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, key string) error
	// String is where the objects are, without secrets.
	String() string
}

// Resumable is a store whose uploads can go on after they were cut.
type Resumable interface {
	Store
	// Begin begins the upload of an object that must not be there yet, and returns the session in which its bytes are sent.
	Begin(ctx context.Context, key string, body Body) (session string, err error)
	// Arrived returns how many bytes of a session are there; whole: the object is.
	Arrived(ctx context.Context, session string, size int64) (n int64, whole bool, err error)
	// Send sends the bytes from an offset to the end.
	Send(ctx context.Context, session string, body Body, offset int64) error
}

// Body is the content of a write. The reader gives Size bytes; in Send, those from the offset on.
type Body struct {
	io.Reader
	Size   int64 // of the whole object
	SHA256 [sha256.Size]byte
	Type   string // empty: application/octet-stream
}

// Bytes returns a body that is in memory.
func Bytes(text []byte) Body {
	return Body{Reader: bytes.NewReader(text), Size: int64(len(text)), SHA256: sha256.Sum256(text)}
}

// Object is an object as a list shows it.
type Object struct {
	Key  string
	Size int64
	Time time.Time // when it was put, by the store's clock
}

// ErrAnswer is the error of an answer with a good status that makes no sense.
var ErrAnswer = errors.New("the answer makes no sense")

// Error is a refusal. What it shows of the answer holds no secret.
type Error struct {
	Status  string // 403 Forbidden
	Code    string // in the store's words; empty: it gave none
	Message string
	Region  string // where the bucket is, if that is why
	missing bool
}

// Error names status and code.
func (e *Error) Error() string {
	text := e.Status
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Message != "" {
		text += fmt.Sprintf(": %.300q", e.Message)
	}
	if e.Region != "" {
		text += fmt.Sprintf(" (the bucket is in region %.40q: set AWS_REGION or ?region=)", e.Region)
	}
	return text
}

// Is reports whether the object is not there.
func (e *Error) Is(target error) bool { return target == fs.ErrNotExist && e.missing }

// Is reports whether an address means a bucket; else it is a folder.
func Is(address string) bool { return strings.Contains(address, "://") }

// Open opens the bucket of an address: s3://BUCKET/PREFIX or gs://BUCKET/PREFIX. The query may name an endpoint and a region. Secrets
// come from the environment, or from files that it names. No call is made yet; one that fails for a moment will be made again.
func Open(address string, env func(name string) string) (store Store, prefix string, err error) {
	a, err := parse(address)
	if err != nil {
		return nil, "", err
	}
	switch a.scheme {
	case "s3":
		store, err = openS3(a, env)
	case "gs":
		store, err = openGoogle(a, env)
	case "az":
		err = errors.New(
			"the protocol of Azure itself is not spoken here: a gateway with the S3 protocol is named as s3://BUCKET/PREFIX?endpoint=URL")
	default:
		err = fmt.Errorf("%s:// is not an object store: want s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or a folder", a.scheme)
	}
	return store, a.prefix, err
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
	if strings.Trim(a.prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") != "" ||
		strings.Contains(a.prefix, "//") {
		return address{}, errors.New("the address of the artifacts: a prefix has letters, digits, and . _ - /")
	}
	if text := query.Get("endpoint"); text != "" {
		a.endpoint, err = endpoint(text)
	}
	return a, err
}

var errSecret = errors.New("an address holds no secret: keys come from the environment or from a credentials file")

// endpoint parses the URL of a server. TLS is used unless the scheme is http.
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
