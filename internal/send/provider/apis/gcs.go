package apis

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// bucket is a folder in Google Cloud Storage, reached through its JSON API.
type bucket struct {
	api *provider.Client
}

// gcsHandle remembers an upload.
type gcsHandle struct {
	Session string `json:"session,omitempty"`
	URI     string `json:"uri,omitempty"`
	Ready   bool   `json:"ready,omitempty"`
}

func (h gcsHandle) handle() provider.Handle { return provider.NewHandle(h) }

// put uploads a source in a session that can be resumed. The object must not be there: if it is, it is ours, because its
// name holds the hash of the bytes, and objects appear whole or not at all.
func (b bucket) put(ctx context.Context, src provider.Source, uri string, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	var hold gcsHandle
	h.Read(&hold)
	switch {
	case hold.Ready:
		return h, provider.Ready, nil
	case hold.Session != "":
		return b.send(ctx, src, uri, h, hold.Session)
	}
	where, object, err := parseGS(uri)
	if err != nil {
		return h, "", err
	}
	resp, err := b.api.Do(ctx, provider.Call{
		Method: http.MethodPost, Path: provider.Path("upload", "storage", "v1", "b", where, "o"),
		Query: url.Values{"uploadType": {"resumable"}, "name": {object}, "ifGenerationMatch": {"0"}},
		Header: map[string]string{
			"X-Upload-Content-Type": jsonl, "X-Upload-Content-Length": strconv.FormatInt(src.Size, 10),
		},
	})
	if exists(err) {
		return gcsHandle{URI: uri, Ready: true}.handle(), provider.Ready, nil
	}
	if err != nil {
		return h, "", fmt.Errorf("begin the upload: %w", err)
	}
	resp.Body.Close()
	session := resp.Header.Get("Location")
	if session == "" {
		return h, "", provider.BadAnswer("begin the upload: the answer names no session")
	}
	return gcsHandle{Session: session}.handle(), provider.Again, nil
}

// send asks how much has arrived and sends the rest.
func (b bucket) send(ctx context.Context, src provider.Source, uri string, h provider.Handle, session string) (provider.Handle, provider.Readiness, error) {
	done := func() (provider.Handle, provider.Readiness, error) {
		return gcsHandle{URI: uri, Ready: true}.handle(), provider.Ready, nil
	}
	resp, err := b.api.Do(ctx, provider.Call{
		Method: http.MethodPut, Session: session, Body: http.NoBody, Accept: []int{http.StatusPermanentRedirect},
		Header: map[string]string{"Content-Range": fmt.Sprintf("bytes */%d", src.Size)},
	})
	switch {
	case exists(err):
		return done()
	case lost(err):
		return anew, provider.Later, nil
	case err != nil:
		return h, "", fmt.Errorf("ask for the upload: %w", err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusPermanentRedirect {
		return done()
	}
	offset := received(resp.Header.Get("Range"))
	body, err := src.From(offset)
	if err != nil {
		return h, "", err
	}
	_, err = b.api.JSON(ctx, provider.Call{
		Method: http.MethodPut, Session: session, Type: jsonl, Body: body, Length: src.Size - offset,
		Header: map[string]string{"Content-Range": fmt.Sprintf("bytes %d-%d/%d", offset, src.Size-1, src.Size)},
	}, nil)
	if exists(err) || err == nil {
		return done()
	}
	return h, "", fmt.Errorf("upload from byte %d: %w", offset, err)
}

// exists reports whether an upload was turned down because the object is there.
func exists(err error) bool {
	f := provider.FaultOf(err)
	return f != nil && f.Status == http.StatusPreconditionFailed
}

// received is how many bytes a "bytes=0-N" covers.
func received(v string) int64 {
	_, last, ok := strings.Cut(v, "-")
	n, err := strconv.ParseInt(last, 10, 64)
	if !ok || err != nil || n < 0 {
		return 0
	}
	return n + 1
}

// object is one object of a listing.
type object struct {
	uri  string
	size int64
}

// list names the objects below a folder.
func (b bucket) list(ctx context.Context, folder string) ([]object, error) {
	where, prefix, err := parseGS(folder)
	if err != nil {
		return nil, err
	}
	var all []object
	for token := ""; ; {
		q := url.Values{"prefix": {strings.TrimSuffix(prefix, "/") + "/"}}
		if token != "" {
			q.Set("pageToken", token)
		}
		var l gcsObjects
		if _, err := b.api.JSON(ctx, provider.Call{Path: provider.Path("storage", "v1", "b", where, "o"), Query: q}, &l); err != nil {
			return nil, fmt.Errorf("list results: %w", err)
		}
		for _, o := range l.Items {
			all = append(all, object{uri: "gs://" + where + "/" + o.Name, size: int64(o.Size)})
		}
		if l.Next == "" {
			return all, nil
		}
		if l.Next == token {
			return nil, provider.BadAnswer("list results: the pages go round in a circle")
		}
		token = l.Next
	}
}

// fetch downloads an object.
func (b bucket) fetch(ctx context.Context, part provider.Part, into provider.Sink) error {
	call, err := b.media(part.Ref)
	if err != nil {
		return err
	}
	if err := b.api.Download(ctx, call, part.Whole(), into); err != nil {
		return fmt.Errorf("fetch %s: %w", part.Name, err)
	}
	return nil
}

func (b bucket) media(uri string) (provider.Call, error) {
	where, name, err := parseGS(uri)
	return provider.Call{Path: provider.Path("storage", "v1", "b", where, "o", name), Query: url.Values{"alt": {"media"}}}, err
}

// remove deletes an object.
func (b bucket) remove(ctx context.Context, uri string) error {
	where, name, err := parseGS(uri)
	if err != nil {
		return err
	}
	return remove(ctx, b.api, provider.Path("storage", "v1", "b", where, "o", name))
}

// parseGS takes gs://bucket/object apart.
func parseGS(uri string) (where, object string, err error) {
	rest, ok := strings.CutPrefix(uri, "gs://")
	where, object, found := strings.Cut(rest, "/")
	if !ok || !found || where == "" {
		return "", "", fmt.Errorf("address %q: want gs://bucket/name: %w", clean(uri), &assay.Fault{Class: assay.FaultInvalid, Code: "bad_address"})
	}
	return where, object, nil
}

type gcsObjects struct {
	Items []struct {
		Name string          `json:"name"`
		Size provider.Number `json:"size"`
	} `json:"items"`
	Next  string        `json:"nextPageToken"`
	Error provider.Text `json:"error"`
}

// Valid is false for an error.
func (l *gcsObjects) Valid() bool { return l.Error == "" }
