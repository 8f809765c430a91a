package answers

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"assay/internal/keep/artifacts"
	"assay/internal/show/web/site"
)

// RawAnswer serves the bytes that an answer was read from, as the provider sent them.
func (s *Pages) RawAnswer(w http.ResponseWriter, r *http.Request) {
	q, err := s.Open(r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	a, err := answerOf(q, r.PathValue("key"))
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	if a.Artifact == 0 {
		s.Fail(w, r, site.Refused(http.StatusNotFound, "there are no raw bytes of this request"))
		return
	}
	file, err := openArtifact(q, a.Artifact)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	defer file.Close()
	if a.Offset < 0 || a.Length < 0 || a.Offset+a.Length > file.Size() {
		s.Fail(w, r, fmt.Errorf("the artifact is shorter than it was"))
		return
	}
	raw := make([]byte, a.Length)
	if _, err := file.ReadAt(raw, a.Offset); err != nil {
		s.Fail(w, r, err)
		return
	}
	if err := artifacts.Verify(raw, a.Sum); err != nil {
		s.Fail(w, r, err)
		return
	}
	send(w, a.Key.String()+".txt", io.NewSectionReader(bytes.NewReader(raw), 0, a.Length))
}

// RawArtifact serves a whole file of raw bytes.
func (s *Pages) RawArtifact(w http.ResponseWriter, r *http.Request) {
	q, err := s.Open(r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	no, err := strconv.ParseInt(r.PathValue("artifact"), 10, 64)
	if err != nil {
		s.Fail(w, r, site.ErrNoPage)
		return
	}
	file, err := openArtifact(q, no)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	defer file.Close()
	send(w, fmt.Sprintf("artifact-%d.txt", no), io.NewSectionReader(file, 0, file.Size()))
}

// openArtifact opens a file that the ledger knows under a number of this run: a name never comes from an address.
func openArtifact(q *site.Request, no int64) (artifacts.File, error) {
	a, err := q.Home.Pages.ArtifactNo(q.Context(), q.Run.No, no)
	if err != nil {
		return nil, err
	}
	return q.Home.Files.Open(q.Context(), q.Run.ID, a.Name)
}

// send writes foreign bytes so that no browser takes them for a page.
func send(w http.ResponseWriter, name string, from *io.SectionReader) {
	site.SendFile(w, name, "text/plain; charset=utf-8", from)
}
