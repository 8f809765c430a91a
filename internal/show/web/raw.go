package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"assay/internal/keep/artifacts"
)

// rawAnswer serves the bytes that an answer was read from, as the provider sent them.
func (s *Server) rawAnswer(w http.ResponseWriter, r *http.Request) {
	q, err := s.open(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	a, err := s.answerOf(q, r.PathValue("key"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if a.Artifact == 0 {
		s.fail(w, r, &problem{http.StatusNotFound, "there are no raw bytes of this request"})
		return
	}
	file, err := s.artifact(q, a.Artifact)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer file.Close()
	if a.Offset < 0 || a.Length < 0 || a.Offset+a.Length > file.Size() {
		s.fail(w, r, fmt.Errorf("the artifact is shorter than it was"))
		return
	}
	raw := make([]byte, a.Length)
	if _, err := file.ReadAt(raw, a.Offset); err != nil {
		s.fail(w, r, err)
		return
	}
	if err := artifacts.Verify(raw, a.Sum); err != nil {
		s.fail(w, r, err)
		return
	}
	send(w, a.Key.String()+".txt", io.NewSectionReader(bytes.NewReader(raw), 0, a.Length))
}

// rawArtifact serves a whole file of raw bytes.
func (s *Server) rawArtifact(w http.ResponseWriter, r *http.Request) {
	q, err := s.open(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	no, err := strconv.ParseInt(r.PathValue("artifact"), 10, 64)
	if err != nil {
		s.fail(w, r, errNoPage)
		return
	}
	file, err := s.artifact(q, no)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer file.Close()
	send(w, fmt.Sprintf("artifact-%d.txt", no), io.NewSectionReader(file, 0, file.Size()))
}

// artifact opens a file that the ledger knows under a number of this run: a name never comes from an address.
func (s *Server) artifact(q *request, no int64) (artifacts.File, error) {
	a, err := q.home.Pages.ArtifactNo(q.Context(), q.run.No, no)
	if err != nil {
		return nil, err
	}
	return q.home.Files.Open(q.Context(), q.run.ID, a.Name)
}

// send writes foreign bytes so that no browser takes them for a page.
func send(w http.ResponseWriter, name string, from *io.SectionReader) {
	sendAs(w, name, "text/plain; charset=utf-8", from)
}

// sendAs writes a file for a reader to keep. One that takes long gets more time with every block it takes.
func sendAs(w http.ResponseWriter, name, kind string, from *io.SectionReader) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.FormatInt(from.Size(), 10))
	control := http.NewResponseController(w)
	for {
		if err := control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return
		}
		n, err := io.CopyN(w, from, 256<<10)
		if n == 0 || err != nil {
			return
		}
	}
}
