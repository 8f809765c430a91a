package objects

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"golang.org/x/oauth2/google"

	"assay/internal/keep/artifacts"
)

const googleScope = "https://www.googleapis.com/auth/devstorage.read_write"

// googleStore is a bucket of Google Cloud Storage, by its JSON API.
type googleStore struct {
	client *http.Client
	base   string
	bucket string
	env    func(string) string
}

// openGoogle opens a bucket with Google's usual credentials. A server that is named without TLS is an emulator, and gets none.
func openGoogle(a address, env func(string) string) (artifacts.Objects, error) {
	s := &googleStore{base: "https://storage.googleapis.com", bucket: a.bucket, env: env}
	s.client = client(nil)
	if a.endpoint != nil {
		s.base = a.endpoint.String()
	}
	if a.endpoint != nil && a.endpoint.Scheme == "http" {
		return s, nil
	}
	creds, err := s.credentials()
	if err != nil {
		return nil, err
	}
	s.client = client(creds.TokenSource)
	return s, nil
}

func (s *googleStore) credentials() (*google.Credentials, error) {
	name := s.env("GOOGLE_APPLICATION_CREDENTIALS")
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
	return nil, fmt.Errorf("the file that GOOGLE_APPLICATION_CREDENTIALS names is of type %q: want %s or %s", file.Type, google.ServiceAccount, google.AuthorizedUser)
}

// Put writes an object.
func (s *googleStore) Put(ctx context.Context, key string, body []byte) error {
	query := url.Values{"uploadType": {"media"}, "name": {key}}
	_, err := s.call(ctx, http.MethodPost, "/upload/storage/v1/b/"+url.PathEscape(s.bucket)+"/o?"+query.Encode(), body, nil)
	return err
}

// Get reads n bytes from an offset.
func (s *googleStore) Get(ctx context.Context, key string, offset, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	got, err := s.call(ctx, http.MethodGet, s.object(key)+"?alt=media", nil, http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", offset, offset+n-1)}})
	if err == nil && int64(len(got)) != n {
		return nil, fmt.Errorf("%s: want %d bytes of %s from %d, got %d", s, n, key, offset, len(got))
	}
	return got, err
}

// List walks over the objects whose keys begin so.
func (s *googleStore) List(ctx context.Context, prefix string) iter.Seq2[artifacts.Object, error] {
	return func(yield func(artifacts.Object, error) bool) {
		query := url.Values{"prefix": {prefix}, "fields": {"nextPageToken,items(name,size,timeCreated)"}}
		for {
			var page googlePage
			text, err := s.call(ctx, http.MethodGet, "/storage/v1/b/"+url.PathEscape(s.bucket)+"/o?"+query.Encode(), nil, nil)
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%s: there is no such bucket: make it first, or correct its name", s)
			}
			if err == nil {
				err = json.Unmarshal(text, &page)
			}
			if err != nil {
				yield(artifacts.Object{}, err)
				return
			}
			for _, i := range page.Items {
				size, err := strconv.ParseInt(i.Size, 10, 64)
				if !yield(artifacts.Object{Key: i.Name, Size: size, Time: i.Created}, err) || err != nil {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("pageToken", page.Next)
		}
	}
}

// Delete removes an object.
func (s *googleStore) Delete(ctx context.Context, key string) error {
	_, err := s.call(ctx, http.MethodDelete, s.object(key), nil, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// String says where the objects are.
func (s *googleStore) String() string { return "gs://" + s.bucket }

func (s *googleStore) object(key string) string {
	return "/storage/v1/b/" + url.PathEscape(s.bucket) + "/o/" + url.PathEscape(key)
}

// call makes one call. Status 404 is fs.ErrNotExist.
func (s *googleStore) call(ctx context.Context, method, path string, body []byte, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return nil, fs.ErrNotExist
	}
	if resp.StatusCode/100 != 2 {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // only for the message
		return nil, fmt.Errorf("%s: %s: %.300q", s, resp.Status, why)
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	return got, nil
}

type googlePage struct {
	Next  string `json:"nextPageToken"`
	Items []struct {
		Name    string    `json:"name"`
		Size    string    `json:"size"`
		Created time.Time `json:"timeCreated"`
	} `json:"items"`
}
