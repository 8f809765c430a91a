package artifactstest

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/keep/objects"
)

// Server is an object store in this process, which serves the S3 protocol and the JSON API of Google Cloud Storage. It
// keeps no order among writers and knows no conditions.
type Server struct {
	URL  string
	http *httptest.Server

	mu      sync.Mutex
	objects map[string]stored
	pages   int                          // objects of a page of a list
	dir     string                       // where bodies are kept; empty: in memory
	made    int                          // files in it
	later   time.Duration                // its clock is so much ahead
	fault   func(r *http.Request) Answer // nil: none
	calls   map[string]int
}

// Answer is how a call goes wrong.
type Answer int

// What may become of a call.
const (
	Served   Answer = iota
	Refused         // 503, nothing was done
	CutShort        // the connection breaks before anything was done
	Unheard         // it was done, and the reply is lost
)

type stored struct {
	body []byte
	file string // has the body, if it is not in memory
	size int64
	time time.Time
}

// pageSize is how many objects a page of a list shows in tests: few, so that every list has pages.
const pageSize = 3

// NewServer starts a store with one bucket, named "bucket".
func NewServer(t testing.TB) *Server {
	t.Helper()
	s := Start()
	t.Cleanup(s.Close)
	return s
}

// Start starts a store that has to be closed.
func Start() *Server {
	s := &Server{objects: map[string]stored{}, calls: map[string]int{}, pages: pageSize}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// StartLarge starts a store for much: bodies are in files of a folder, and a page of a list shows a thousand objects.
func StartLarge(dir string) *Server {
	s := Start()
	s.dir, s.pages = dir, 1000
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// S3 returns the address of the bucket by the S3 protocol.
func (s *Server) S3(prefix string) string {
	return "s3://bucket/" + prefix + "?region=us-east-1&endpoint=" + url.QueryEscape(s.URL)
}

// Google returns the address of the bucket by the JSON API.
func (s *Server) Google(prefix string) string {
	return "gs://bucket/" + prefix + "?endpoint=" + url.QueryEscape(s.URL)
}

// Secret is the key that the server takes.
const Secret = "a-secret-that-no-text-may-show"

// Env returns the environment of a process that may use the server.
func Env(name string) string {
	return map[string]string{"AWS_ACCESS_KEY_ID": "assay", "AWS_SECRET_ACCESS_KEY": Secret}[name]
}

// Fault decides about every call from now on; nil serves them all.
func (s *Server) Fault(f func(r *http.Request) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Ahead sets the clock of the store.
func (s *Server) Ahead(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.later = d
}

// Keys lists all objects.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Calls returns how often a method was called since the last time.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.calls[method]
	s.calls[method] = 0
	return n
}

// Spoil changes a byte of every object whose key contains a text.
func (s *Server) Spoil(text string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, o := range s.objects {
		if strings.Contains(key, text) && len(o.body) > 0 {
			o.body = slices.Clone(o.body)
			o.body[len(o.body)/2] ^= 1
			s.objects[key] = o
			n++
		}
	}
	return n
}

// Lose removes every object whose key contains a text.
func (s *Server) Lose(text string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.objects {
		if strings.Contains(key, text) {
			delete(s.objects, key)
			n++
		}
	}
	return n
}

// ServeHTTP serves one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := s.decide(r)
	switch answer {
	case Refused:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case CutShort:
		panic(http.ErrAbortHandler)
	}
	var reply http.ResponseWriter = w
	if answer == Unheard {
		reply = httptest.NewRecorder()
	}
	s.serve(reply, r, body)
	if answer == Unheard {
		panic(http.ErrAbortHandler)
	}
}

// decide returns the answer to a call.
func (s *Server) decide(r *http.Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		return Served
	}
	return s.fault(r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	query := r.URL.Query()
	if rest, google := strings.CutPrefix(r.URL.Path, "/storage/v1/b/bucket/o"); google {
		if key := strings.TrimPrefix(rest, "/"); key != "" {
			s.object(w, r, key, body)
		} else {
			s.page(w, r, query.Get("prefix"), query.Get("pageToken"), writeJSON)
		}
		return
	}
	if r.URL.Path == "/upload/storage/v1/b/bucket/o" {
		r.Method = http.MethodPut
		s.object(w, r, query.Get("name"), body)
		return
	}
	if !signed(r, body) {
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	key, ok := strings.CutPrefix(r.URL.Path, "/bucket/")
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case key == "":
		s.page(w, r, query.Get("prefix"), query.Get("continuation-token"), writeXML)
	default:
		s.object(w, r, key, body)
	}
}

// signed reports whether the signature of a call is valid.
func signed(r *http.Request, body []byte) bool {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	_, names, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	again := r.Clone(r.Context())
	again.Header = http.Header{}
	for name := range strings.SplitSeq(names, ";") {
		if values := r.Header.Values(name); len(values) > 0 {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	call := objects.Call{Service: "s3", Region: "us-east-1", Body: sha256.Sum256(body), Time: at}
	return err == nil && objects.OpenAccount(Env).Sign(r.Context(), again, call) == nil &&
		again.Header.Get("Authorization") == r.Header.Get("Authorization")
}

func (s *Server) object(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	o, there, err := s.touch(r.Method, key, body)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case r.Method == http.MethodPut:
		w.Header().Set("ETag", `"x"`)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case !there:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", `"x"`)
		o.serve(w, r)
	}
}

// touch does what a call asks of an object, and returns the object as it was.
func (s *Server) touch(method, key string, body []byte) (o stored, there bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[method]++
	o, there = s.objects[key]
	switch method {
	case http.MethodPut:
		s.objects[key], err = s.kept(body)
	case http.MethodDelete:
		delete(s.objects, key)
		if o.file != "" {
			err = os.Remove(o.file)
		}
	}
	return o, there, err
}

// kept returns a new object.
func (s *Server) kept(body []byte) (stored, error) {
	o := stored{body: body, size: int64(len(body)), time: time.Now().Add(s.later)}
	if s.dir == "" {
		return o, nil
	}
	s.made++
	o.body, o.file = nil, filepath.Join(s.dir, strconv.Itoa(s.made))
	return o, os.WriteFile(o.file, body, 0o600)
}

func (o stored) serve(w http.ResponseWriter, r *http.Request) {
	if o.file == "" {
		http.ServeContent(w, r, "", o.time, strings.NewReader(string(o.body)))
		return
	}
	f, err := os.Open(o.file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer f.Close()
	http.ServeContent(w, r, "", o.time, f)
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, prefix, token string, write func(http.ResponseWriter, listing)) {
	l := listing{Prefix: prefix, Encoding: r.URL.Query().Get("encoding-type")}
	s.list(&l, token)
	write(w, l)
}

// list fills one page of a list, after a token.
func (s *Server) list(l *listing, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls["LIST"]++
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, l.Prefix) && key > token {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys[:min(len(keys), s.pages)] {
		l.Items = append(l.Items, item{Key: key, Size: s.objects[key].size, Time: s.objects[key].time.UTC()})
	}
	if len(keys) > s.pages {
		l.More, l.Next = true, keys[s.pages-1]
	}
}

type listing struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Prefix   string   `xml:"Prefix"`
	Encoding string   `xml:"EncodingType,omitempty"`
	More     bool     `xml:"IsTruncated"`
	Next     string   `xml:"NextContinuationToken,omitempty"`
	Items    []item   `xml:"Contents"`
}

type item struct {
	Key  string    `xml:"Key"`
	Size int64     `xml:"Size"`
	Time time.Time `xml:"LastModified"`
}

func writeXML(w http.ResponseWriter, l listing) {
	if l.Encoding == "url" {
		for i := range l.Items {
			l.Items[i].Key = url.QueryEscape(l.Items[i].Key)
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(l) // a client that is gone asks again
}

func writeJSON(w http.ResponseWriter, l listing) {
	type entry struct {
		Name string    `json:"name"`
		Size string    `json:"size"`
		Time time.Time `json:"timeCreated"`
	}
	var page struct {
		Items []entry `json:"items"`
		Next  string  `json:"nextPageToken,omitempty"`
	}
	page.Next = l.Next
	for _, i := range l.Items {
		page.Items = append(page.Items, entry{i.Key, strconv.FormatInt(i.Size, 10), i.Time})
	}
	_ = json.NewEncoder(w).Encode(page) // a client that is gone asks again
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}
