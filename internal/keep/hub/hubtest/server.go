// Package hubtest plays the server of datasets.
package hubtest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server holds datasets. Its fields may be changed between calls, under Lock.
type Server struct {
	sync.Mutex
	URL     string
	Commits map[string]map[string]map[string]string // dataset, commit, path: text
	Refs    map[string]string                       // dataset@revision: commit
	Token   string                                  // without it nothing is shown; empty: all is
	Gated   bool                                    // files are not shown
	Large   bool                                    // files lie on another server, as large ones do
	Cut     []int                                   // the next answers with a file end after so many bytes
	Spoil   int                                     // so many of the next answers have another byte in them
	Plain   bool                                    // ranges are not known
	Calls   []string                                // method, path, range
	Leaked  bool                                    // the other server was shown a token

	servers []*httptest.Server
}

// Main and Next are commits.
const (
	Main = "1111111111111111111111111111111111111111"
	Next = "2222222222222222222222222222222222222222"
)

// New starts a server with one dataset, ann/birds, whose main is Main.
func New(files map[string]string) *Server {
	s := &Server{Commits: map[string]map[string]map[string]string{"ann/birds": {Main: files}},
		Refs: map[string]string{"ann/birds@main": Main}}
	hub, other := httptest.NewServer(http.HandlerFunc(s.serve)), httptest.NewServer(http.HandlerFunc(s.bytes))
	s.servers, s.URL = []*httptest.Server{hub, other}, hub.URL
	return s
}

// Close ends it: it cannot be reached any more.
func (s *Server) Close() {
	for _, one := range s.servers {
		one.Close()
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	s.Calls = append(s.Calls, strings.TrimSpace(r.URL.EscapedPath()+" "+r.Header.Get("Range")))
	if s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api/datasets/"); ok {
		s.list(w, rest)
		return
	}
	dataset, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/datasets/"), "/resolve/")
	commit, path, _ := strings.Cut(rest, "/")
	text, ok := s.Commits[dataset][commit][path]
	switch {
	case s.Gated:
		w.Header().Set("X-Error-Code", "GatedRepo")
		http.Error(w, "no", http.StatusForbidden)
	case !ok:
		http.NotFound(w, r)
	case s.Large:
		sum := sha256.Sum256([]byte(text))
		w.Header().Set("X-Linked-Etag", `"`+hex.EncodeToString(sum[:])+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(text)))
		w.Header().Set("Location", s.servers[1].URL+"/"+dataset+"/"+commit+"/"+path+"?signature=secret")
		w.WriteHeader(http.StatusFound)
	default:
		sum := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(text), text)))
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
		s.write(w, r, path, text)
	}
}

func (s *Server) list(w http.ResponseWriter, rest string) {
	dataset, revision, _ := strings.Cut(rest, "/revision/")
	commit := s.Refs[dataset+"@"+revision]
	if _, ok := s.Commits[dataset][revision]; ok {
		commit = revision
	}
	files, ok := s.Commits[dataset][commit]
	if !ok {
		if s.Commits[dataset] != nil {
			w.Header().Set("X-Error-Code", "RevisionNotFound")
		}
		http.Error(w, "no", http.StatusNotFound)
		return
	}
	type sibling struct {
		Name string `json:"rfilename"`
	}
	var said struct {
		SHA      string    `json:"sha"`
		Siblings []sibling `json:"siblings"`
	}
	said.SHA = commit
	for name := range files {
		said.Siblings = append(said.Siblings, sibling{name})
	}
	_ = json.NewEncoder(w).Encode(said)
}

// bytes is the other server.
func (s *Server) bytes(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	s.Leaked = s.Leaked || r.Header.Get("Authorization") != ""
	s.Calls = append(s.Calls, strings.TrimSpace("other "+r.Header.Get("Range")))
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 4)
	s.write(w, r, parts[3], s.Commits[parts[0]+"/"+parts[1]][parts[2]][parts[3]])
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, name, text string) {
	if s.Spoil > 0 {
		s.Spoil--
		text = strings.Repeat("#", len(text))
	}
	if s.Plain {
		r.Header.Del("Range")
	}
	if len(s.Cut) == 0 {
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader([]byte(text)))
		return
	}
	most := s.Cut[0]
	s.Cut = slices.Delete(s.Cut, 0, 1)
	http.ServeContent(&cutting{w, most}, r, name, time.Time{}, bytes.NewReader([]byte(text)))
}

// cutting ends the connection after some bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}
