package objects

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2/google"
)

// GoogleURL is where Google Cloud Storage is.
const GoogleURL = "https://storage.googleapis.com"

const googleScope = "https://www.googleapis.com/auth/devstorage.read_write"

// Google is a bucket of Google Cloud Storage, by its JSON API. Its transport brings the token along.
type Google struct {
	Transport http.RoundTripper
	Base      string // URL of the server, without a slash at its end
	Bucket    string
}

// openGoogle opens a bucket with Google's usual credentials. A server that is named without TLS is an emulator, and gets none.
func openGoogle(a address, env func(string) string) (Store, error) {
	s := &Google{Base: GoogleURL, Bucket: a.bucket, Transport: transport(nil)}
	if a.endpoint != nil {
		s.Base = a.endpoint.String()
	}
	if a.endpoint != nil && a.endpoint.Scheme == "http" {
		return s, nil
	}
	creds, err := googleCredentials(env)
	if err != nil {
		return nil, err
	}
	s.Transport = transport(creds.TokenSource)
	return s, nil
}

func googleCredentials(env func(string) string) (*google.Credentials, error) {
	name := env("GOOGLE_APPLICATION_CREDENTIALS")
	if name == "" {
		return google.FindDefaultCredentials(context.Background(), googleScope)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the file that GOOGLE_APPLICATION_CREDENTIALS names: %w", err)
	}
	var file struct {
		Type google.CredentialsType `json:"type"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, errors.New("the file that GOOGLE_APPLICATION_CREDENTIALS names is not JSON") // its words may hold a secret
	}
	switch file.Type {
	case google.ServiceAccount, google.AuthorizedUser: // others name a place to be asked, which a file could choose
		return google.CredentialsFromJSONWithType(context.Background(), text, file.Type, googleScope)
	}
	return nil, fmt.Errorf("the file that GOOGLE_APPLICATION_CREDENTIALS names is of type %q: want %s or %s", file.Type,
		google.ServiceAccount, google.AuthorizedUser)
}

// Put writes an object.
func (s *Google) Put(ctx context.Context, key string, body Body) error {
	resp, err := s.call(ctx, http.MethodPost, s.uploads(url.Values{"uploadType": {"media"}, "name": {key}}), contentType(body),
		&body, body.Size)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (s *Google) uploads(query url.Values) string {
	return s.Base + "/upload/storage/v1/b/" + url.PathEscape(s.Bucket) + "/o?" + query.Encode()
}

func contentType(body Body) http.Header {
	return http.Header{"Content-Type": {cmp.Or(body.Type, "application/octet-stream")}}
}

// Begin begins the upload of an object that must not be there yet.
func (s *Google) Begin(ctx context.Context, key string, body Body) (session string, err error) {
	at := s.uploads(url.Values{"uploadType": {"resumable"}, "name": {key}, "ifGenerationMatch": {"0"}})
	header := http.Header{"X-Upload-Content-Type": contentType(body)["Content-Type"],
		"X-Upload-Content-Length": {strconv.FormatInt(body.Size, 10)}}
	resp, err := s.call(ctx, http.MethodPost, at, header, nil, 0)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	if session = resp.Header.Get("Location"); session == "" {
		err = fmt.Errorf("%s: begin an upload: %w: it names no session", s, ErrAnswer)
	}
	return session, err
}

// Arrived asks how many bytes of a session are there.
func (s *Google) Arrived(ctx context.Context, session string, size int64) (n int64, whole bool, err error) {
	resp, err := s.session(ctx, session, fmt.Sprintf("bytes */%d", size), nil, 0)
	if err != nil {
		return 0, false, err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusPermanentRedirect {
		return size, true, nil
	}
	_, last, ok := strings.Cut(resp.Header.Get("Range"), "-") // bytes=0-N
	n, err = strconv.ParseInt(last, 10, 64)
	if !ok || err != nil || n < 0 {
		return 0, false, nil
	}
	return n + 1, false, nil
}

// Send sends the bytes from an offset to the end. An answer that wants more of them is an error.
func (s *Google) Send(ctx context.Context, session string, body Body, offset int64) error {
	resp, err := s.session(ctx, session, fmt.Sprintf("bytes %d-%d/%d", offset, body.Size-1, body.Size), &body, body.Size-offset)
	if err != nil {
		return err
	}
	text, err := answerOf(resp)
	var made googlePage
	if err == nil && (resp.StatusCode/100 != 2 || len(text) > 0 && json.Unmarshal(text, &made) == nil && made.Error != nil) {
		err = fmt.Errorf("%s: upload: %w", s, ErrAnswer)
	}
	return err
}

// session calls the URL of a session at our own origin, whatever host it names.
func (s *Google) session(ctx context.Context, session, span string, body *Body, length int64) (*http.Response, error) {
	u, err := url.Parse(session)
	base, _ := url.Parse(s.Base) // it was read before
	if err != nil || !strings.HasPrefix(u.Path, "/") {
		return nil, fmt.Errorf("%s: %w: it names an upload session that is no URL", s, ErrAnswer)
	}
	u.Scheme, u.Host, u.User = base.Scheme, base.Host, nil
	header := http.Header{"Content-Range": {span}}
	if body != nil {
		header["Content-Type"] = contentType(*body)["Content-Type"]
	}
	return s.call(ctx, http.MethodPut, u.String(), header, body, length)
}

// Get begins to read an object.
func (s *Google) Get(ctx context.Context, key string, header http.Header) (*http.Response, error) {
	return s.call(ctx, http.MethodGet, s.object(key)+"?alt=media", header, nil, 0)
}

// List walks over the objects whose keys begin so.
func (s *Google) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		query := url.Values{"prefix": {prefix}, "fields": {"nextPageToken,items(name,size,timeCreated)"}}
		for {
			page, err := s.page(ctx, query)
			if err != nil {
				yield(Object{}, err)
				return
			}
			for _, i := range page.Items {
				size, err := strconv.ParseInt(i.Size.String(), 10, 64)
				if !yield(Object{Key: i.Name, Size: size, Time: i.Created}, err) || err != nil {
					return
				}
			}
			if page.Next == "" {
				return
			}
			if page.Next == query.Get("pageToken") {
				yield(Object{}, fmt.Errorf("%s: list: %w: the pages go round in a circle", s, ErrAnswer))
				return
			}
			query.Set("pageToken", page.Next)
		}
	}
}

func (s *Google) page(ctx context.Context, query url.Values) (p googlePage, err error) {
	resp, err := s.call(ctx, http.MethodGet, s.Base+"/storage/v1/b/"+url.PathEscape(s.Bucket)+"/o?"+query.Encode(), nil, nil, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("%s: there is no such bucket: make it first, or correct its name", s)
	}
	if err != nil {
		return p, err
	}
	text, err := answerOf(resp)
	if err == nil && (json.Unmarshal(text, &p) != nil || p.Error != nil) {
		err = ErrAnswer
	}
	if err != nil {
		err = fmt.Errorf("%s: read a list: %w", s, err)
	}
	return p, err
}

// Delete removes an object.
func (s *Google) Delete(ctx context.Context, key string) error {
	resp, err := s.call(ctx, http.MethodDelete, s.object(key), nil, nil, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return deleted(resp)
}

// String returns where the objects are.
func (s *Google) String() string { return "gs://" + s.Bucket }

func (s *Google) object(key string) string {
	return s.Base + "/storage/v1/b/" + url.PathEscape(s.Bucket) + "/o/" + url.PathEscape(key)
}

// call makes one call. Status 404 is fs.ErrNotExist.
func (s *Google) call(ctx context.Context, method, at string, header http.Header, body *Body, length int64) (*http.Response, error) {
	req, err := newRequest(ctx, method, at, header, body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = length
	resp, err := call(s.Transport, req)
	var no *Error
	if errors.As(err, &no) && strings.HasPrefix(no.Status, "404") {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s, err)
	}
	return resp, err
}

type googlePage struct {
	Next  string `json:"nextPageToken"`
	Items []struct {
		Name    string      `json:"name"`
		Size    json.Number `json:"size"`
		Created time.Time   `json:"timeCreated"`
	} `json:"items"`
	Error json.RawMessage `json:"error"`
}
