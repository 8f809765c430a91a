package apis

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/objects"
	"assay/internal/send/provider"
)

// bucketJobs is the part of a vendor whose jobs read their lines from the user's own bucket and write results into one.
type bucketJobs struct {
	namedJobs
	store  buckets
	input  string // folders
	output string
}

func newBucketJobs(cfg provider.Config, api *provider.Client, store buckets) bucketJobs {
	return bucketJobs{
		namedJobs: namedJobs{jobAPI{api, cfg.Limits}}, store: store,
		input: strings.TrimSuffix(cfg.Input, "/"), output: strings.TrimSuffix(cfg.Output, "/"),
	}
}

// Prepare uploads the lines under the stamp's name.
func (b *bucketJobs) Prepare(ctx context.Context, p provider.BatchInput, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	return b.store.put(ctx, p.Body, b.input+"/"+p.Stamp.Name()+".jsonl", h)
}

// folder returns where the results of a stamp's job go.
func (b *bucketJobs) folder(s provider.Stamp) string { return b.output + "/" + s.Name() + "/" }

// Fetch downloads a file of results.
func (b *bucketJobs) Fetch(ctx context.Context, _ provider.Job, part provider.Part, into provider.Sink) error {
	return b.store.fetch(ctx, part, into)
}

// Decode reads lines.
func (b *bucketJobs) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// remove deletes the uploaded lines and all that the job of a name wrote.
func (b *bucketJobs) remove(ctx context.Context, h provider.Handle, name string) error {
	var hold bucketHandle
	h.Read(&hold)
	all := []object{{uri: hold.URI}}
	if stamp, ours := provider.ParseName(name); ours {
		results, err := b.store.list(ctx, b.folder(stamp))
		if err != nil {
			return fmt.Errorf("remove: %w", err)
		}
		all = append(all, results...)
	}
	for _, o := range all {
		if o.uri == "" {
			continue
		}
		if err := b.store.remove(ctx, o.uri); err != nil {
			return err
		}
	}
	return nil
}

// Fence deletes the uploaded lines: a job that is to read them then fails.
func (b *bucketJobs) Fence(ctx context.Context, h provider.Handle) error {
	return b.remove(ctx, h, "")
}

// find lets the server look for the names of this attempt's job and of those before it.
func (b *bucketJobs) find(s provider.Search, search func(name string) iter.Seq2[provider.Status, error]) (provider.Found, error) {
	jobs := func(yield func(provider.Status, error) bool) {
		for _, stamp := range s.Stamp.Attempts() {
			for st, err := range search(stamp.Name()) {
				if !yield(st, err) || err != nil {
					return
				}
			}
		}
	}
	return provider.Trail{Jobs: jobs, Match: sameName(s)}.Stamped(s)
}

// buckets are those of one object store that a vendor's jobs may use.
type buckets struct {
	api *provider.Client
	at  func(uri string) (store objects.Store, key string, err error)
}

// s3Buckets opens the buckets of some folders behind Amazon's storage protocol.
func s3Buckets(cfg provider.Config, folders ...string) (buckets, error) {
	known := map[string]bool{}
	for _, folder := range folders {
		bucket, _, err := parseS3(folder)
		if err != nil {
			return buckets{}, err
		}
		known[bucket] = true
	}
	plain := cfg
	plain.Key, plain.BaseURL = provider.Secret{}, cmp.Or(cfg.Storage, "https://"+objects.AmazonHost("s3", cfg.Location))
	api, err := provider.NewClient(plain, provider.Bearer(provider.Secret{}))
	return buckets{api: api, at: func(uri string) (objects.Store, string, error) {
		bucket, key, err := parseS3(uri)
		if err != nil {
			return nil, "", err
		}
		if !known[bucket] {
			return nil, "", badAddress(uri, "a bucket of the configuration")
		}
		s := &objects.S3{Transport: api.Transport(), Account: cfg.Amazon, Region: cfg.Location, Where: "s3://" + bucket,
			Base: objects.BucketURL(bucket, cfg.Location)}
		if cfg.Storage != "" {
			s.Base = strings.TrimSuffix(cfg.Storage, "/") + "/" + bucket
		}
		return s, key, nil
	}}, err
}

// googleBuckets opens Google Cloud Storage.
func googleBuckets(cfg provider.Config, auth provider.Auth) (buckets, error) {
	cfg.BaseURL = strings.TrimSuffix(cmp.Or(cfg.Storage, objects.GoogleURL), "/")
	api, err := provider.NewClient(cfg, auth)
	return buckets{api: api, at: func(uri string) (objects.Store, string, error) {
		bucket, key, err := parseGS(uri)
		return &objects.Google{Transport: api.Transport(), Base: cfg.BaseURL, Bucket: bucket}, key, err
	}}, err
}

// bucketHandle remembers an upload.
type bucketHandle struct {
	Session string `json:"session,omitempty"`
	URI     string `json:"uri,omitempty"`
	Ready   bool   `json:"ready,omitempty"`
}

func (h bucketHandle) handle() provider.Handle { return provider.NewHandle(h) }

// put uploads a source. An object appears whole or not at all, and its name holds the hash of the bytes: one that is there is ours, and
// writing it again changes nothing.
func (b buckets) put(ctx context.Context, src provider.Source, uri string, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	var hold bucketHandle
	if h.Read(&hold); hold.Ready {
		return h, provider.Ready, nil
	}
	store, key, err := b.at(uri)
	if err != nil {
		return h, "", err
	}
	session, resumable := store.(objects.Resumable)
	switch {
	case resumable && hold.Session == "":
		if hold.Session, err = session.Begin(ctx, key, objects.Body{Size: src.Size, Type: jsonl}); err == nil {
			return hold.handle(), provider.Again, nil
		}
	case resumable:
		err = send(ctx, session, hold.Session, src)
		if lost(err) {
			return anew, provider.Later, nil
		}
	default:
		err = sendWhole(ctx, store, key, src)
	}
	if err != nil && !exists(err) {
		return h, "", fmt.Errorf("upload: %w", storeFault(err))
	}
	return bucketHandle{URI: uri, Ready: true}.handle(), provider.Ready, nil
}

func sendWhole(ctx context.Context, store objects.Store, key string, src provider.Source) error {
	body := objects.Body{Size: src.Size, Type: jsonl}
	if _, err := hex.Decode(body.SHA256[:], []byte(src.SHA256)); err != nil {
		return err
	}
	file, err := src.From(0)
	if err != nil {
		return err
	}
	defer file.Close()
	body.Reader = file
	return store.Put(ctx, key, body)
}

// send asks how much has arrived and sends the rest.
func send(ctx context.Context, store objects.Resumable, session string, src provider.Source) error {
	n, whole, err := store.Arrived(ctx, session, src.Size)
	if err != nil || whole {
		return err
	}
	file, err := src.From(n)
	if err != nil {
		return err
	}
	defer file.Close()
	return store.Send(ctx, session, objects.Body{Reader: file, Size: src.Size, Type: jsonl}, n)
}

// exists reports whether an upload was turned down because the object is there.
func exists(err error) bool {
	f := provider.FaultOf(err)
	return f != nil && f.Status == http.StatusPreconditionFailed
}

// object is one object of a listing.
type object struct {
	uri  string
	size int64
}

// list names the objects below a folder.
func (b buckets) list(ctx context.Context, folder string) ([]object, error) {
	store, prefix, err := b.at(folder)
	if err != nil {
		return nil, err
	}
	ctx, done := b.api.Small(ctx)
	defer done()
	var all []object
	for o, err := range store.List(ctx, strings.TrimSuffix(prefix, "/")+"/") {
		if err != nil {
			return nil, fmt.Errorf("list results: %w", storeFault(err))
		}
		all = append(all, object{uri: store.String() + "/" + o.Key, size: o.Size})
	}
	return all, nil
}

// fetch downloads an object.
func (b buckets) fetch(ctx context.Context, part provider.Part, into provider.Sink) error {
	store, key, err := b.at(part.Ref)
	if err != nil {
		return err
	}
	get := func(ctx context.Context, header http.Header) (*http.Response, error) {
		resp, err := store.Get(ctx, key, header)
		return resp, storeFault(err)
	}
	if err := b.api.DownloadBy(ctx, get, part.Whole(), into); err != nil {
		return fmt.Errorf("fetch %s: %w", part.Name, err)
	}
	return nil
}

// remove deletes an object; what is gone already is deleted.
func (b buckets) remove(ctx context.Context, uri string) error {
	store, key, err := b.at(uri)
	if err != nil {
		return err
	}
	ctx, done := b.api.Small(ctx)
	defer done()
	if err := store.Delete(ctx, key); err != nil && !gone(err) {
		return fmt.Errorf("remove: %w", storeFault(err))
	}
	return nil
}

// storeFault gives an error of a store that brought no fault along its own.
func storeFault(err error) error {
	switch {
	case err == nil || provider.FaultOf(err) != nil:
		return err
	case errors.Is(err, objects.ErrAnswer):
		return provider.BadAnswer("%w", err)
	case errors.Is(err, objects.ErrNoKeys):
		return fmt.Errorf("%w: %w", err, &assay.Fault{Class: assay.FaultDenied, Code: "no_credentials"})
	}
	return err
}

// parseGS takes gs://bucket/object apart.
func parseGS(uri string) (where, object string, err error) {
	rest, ok := strings.CutPrefix(uri, "gs://")
	where, object, found := strings.Cut(rest, "/")
	if !ok || !found || where == "" {
		return "", "", badAddress(uri, "gs://bucket/name")
	}
	return where, object, nil
}

// parseS3 takes s3://bucket/key apart. Jobs take only some characters in an address.
func parseS3(uri string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(uri, "s3://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" || strings.ContainsFunc(rest, func(r rune) bool { return r > '~' || !s3Legal(byte(r)) }) {
		return "", "", badAddress(uri, "s3://bucket/folder, of letters, digits and -!_*'()./")
	}
	return bucket, key, nil
}

func s3Legal(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-!_*'()./", c) >= 0
}

func badAddress(uri, want string) error {
	return fmt.Errorf("address %q: want %s: %w", clean(uri), want, &assay.Fault{Class: assay.FaultInvalid, Code: "bad_address"})
}
