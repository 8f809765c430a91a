package answers

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/show/thumb"
	"assay/internal/show/web/site"
)

// Media serves a small picture of a file that requests about an item of the run show: pixels that were painted here, and nothing
// else of the file. Which file it is follows from the item: a name never comes from an address.
func (s *Pages) Media(w http.ResponseWriter, r *http.Request) {
	q, err := s.Open(r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	picture, err := small(q)
	if err != nil {
		if errors.Is(err, thumb.ErrNone) {
			err = site.Refused(http.StatusNotFound, "no small picture can be made of this file")
		}
		s.Fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Content-Length", strconv.Itoa(len(picture)))
	_, _ = w.Write(picture) // a reader who left is no error of ours
}

func small(q *site.Request) ([]byte, error) {
	files, err := rows.Files(q.Context(), q.Home.Reader, q.Run, q.FormValue("id"))
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(q.FormValue("n"))
	if err != nil || n < 0 || n >= len(files) || files[n].Remote() {
		return nil, fmt.Errorf("file %q of item %q: %w", q.FormValue("n"), q.FormValue("id"), store.ErrNotFound)
	}
	file, err := artifacts.OpenShown(q.Context(), q.Home.Files, files[n].Sum)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out bytes.Buffer
	err = thumb.PNG(&out, file, files[n].Type)
	return out.Bytes(), err
}
