package artifactstest

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is an object store in this process, which speaks the S3 protocol and the JSON API of Google Cloud Storage. It keeps
// no order among writers and knows no conditions.
type Server struct {
	URL  string
	http *httptest.Server

	mu      sync.Mutex
	objects map[string]stored
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
	time time.Time
}

// pageSize is how many objects a page of a list shows: few, so that every list has pages.
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
	s := &Server{objects: map[string]stored{}, calls: map[string]int{}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// S3 is the address of the bucket by the S3 protocol.
func (s *Server) S3(prefix string) string {
	return "s3://bucket/" + prefix + "?region=us-east-1&endpoint=" + url.QueryEscape(s.URL)
}

// Google is the address of the bucket by the JSON API.
func (s *Server) Google(prefix string) string {
	return "gs://bucket/" + prefix + "?endpoint=" + url.QueryEscape(s.URL)
}

// Secret is the key that the server takes.
const Secret = "a-secret-that-no-text-may-show"

// Env is the environment of a process that may use the server.
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

// Calls is how often a method was called since the last time.
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

// ServeHTTP serves one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := content(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := Served
	if s.fault != nil {
		answer = s.fault(r)
	}
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
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=assay/") {
		refuse(w, http.StatusForbidden, "AccessDenied")
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

func (s *Server) object(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	s.calls[r.Method]++
	o, there := s.objects[key]
	switch {
	case r.Method == http.MethodPut:
		s.objects[key] = stored{body, time.Now().Add(s.later)}
		w.Header().Set("ETag", `"x"`)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", `"x"`)
		http.ServeContent(w, r, "", o.time, strings.NewReader(string(o.body)))
	}
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, prefix, token string, write func(http.ResponseWriter, listing)) {
	s.calls["LIST"]++
	l := listing{Prefix: prefix, Encoding: r.URL.Query().Get("encoding-type")}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, prefix) || key <= token {
			continue
		}
		if len(l.Items) == pageSize {
			l.More, l.Next = true, l.Items[pageSize-1].Key
			break
		}
		l.Items = append(l.Items, item{Key: key, Size: int64(len(s.objects[key].body)), Time: s.objects[key].time.UTC()})
	}
	write(w, l)
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

// content is the body of a call, without the frames in which its pieces are signed.
func content(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	in := bufio.NewReader(r.Body)
	var all []byte
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(number, 16, 64)
		if err != nil || n == 0 {
			return all, err
		}
		piece := make([]byte, n+2)
		if _, err := io.ReadFull(in, piece); err != nil {
			return nil, err
		}
		all = append(all, piece[:n]...)
	}
}
