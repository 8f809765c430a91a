package web_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestARunCanBeTakenAlong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.get("/runs/run1").body
	for name, holds := range map[string]string{
		"report.html": "default-src &#39;none&#39;", "report.md": "## Cost", "answers.csv": "run,", "answers.jsonl": `"lane":"gpt"`,
		"run.assay": "PK",
	} {
		a := r.get("/runs/run1/files/" + name)
		if a.status != http.StatusOK || !strings.Contains(a.body, holds) {
			t.Errorf("%s: %d, without %q: %.200s", name, a.status, holds, a.body)
		}
		if want := `attachment; filename="run1-` + name + `"`; a.header.Get("Content-Disposition") != want {
			t.Errorf("%s: disposition %q", name, a.header.Get("Content-Disposition"))
		}
		if !strings.Contains(page, `href="/runs/run1/files/`+name+`"`) {
			t.Errorf("the summary has no button for %s", name)
		}
	}
	bundle := r.get("/runs/run1/files/run.assay").body
	if _, err := zip.NewReader(bytes.NewReader([]byte(bundle)), int64(len(bundle))); err != nil {
		t.Errorf("the bundle is no archive: %v", err)
	}
	for _, path := range []string{"/runs/run1/files/ledger.db", "/runs/run1/files/..%2f..%2fledger.db", "/runs/run1/figures/t1-1.exe",
		"/runs/run1/figures/none.csv", "/runs/run1/figures/t1-1"} {
		if a := r.get(path); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// A file that went out whole is not followed by an error, though it could not be removed.
func TestAFileThatWasSentIsNotFollowedByAnError(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	r := newRig(t)
	q := httptest.NewRequest(http.MethodGet, "http://assay.example/runs/run1/files/report.md", nil)
	q.Header.Set("Authorization", "Bearer "+token)
	w := &removing{ResponseRecorder: httptest.NewRecorder(), files: filepath.Join(dir, "assay-file-*")}
	r.server.Config.Handler.ServeHTTP(w, q)
	if size := w.Header().Get("Content-Length"); w.removed != 1 || w.Code != http.StatusOK || size != strconv.Itoa(w.Body.Len()) {
		t.Errorf("%d files removed; status %d, %d bytes of %s", w.removed, w.Code, w.Body.Len(), size)
	}
}

// removing is a writer under whose first write files disappear.
type removing struct {
	*httptest.ResponseRecorder
	files   string
	removed int
}

func (w *removing) SetWriteDeadline(time.Time) error { return nil }

func (w *removing) Write(b []byte) (int, error) {
	found, _ := filepath.Glob(w.files)
	for _, name := range found {
		if os.Remove(name) == nil {
			w.removed++
		}
	}
	return w.ResponseRecorder.Write(b)
}

func TestEveryFigureOfAPageCanBeTakenAlong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"/runs/run1/findings", "/runs/run1/findings?by=lane", "/runs/run1/progress"} {
		page := r.get(path).body
		plots, files := strings.Count(page, `<svg class="plot`),
			strings.Count(page, `<p class="files" role="group" aria-label=`)-strings.Count(page, `aria-label="Take along"`)
		if plots == 0 || plots != files {
			t.Errorf("%s: %d plots, %d with buttons", path, plots, files)
		}
		for part := range strings.SplitSeq(page, `<a href="/runs/run1/figures/`) {
			address, _, ok := strings.Cut(part, `"`)
			if !ok || strings.HasPrefix(part, "<!doctype") {
				continue
			}
			a := r.get("/runs/run1/figures/" + address)
			if a.status != http.StatusOK || a.body == "" {
				t.Errorf("%s: %d %.100s", address, a.status, a.body)
			}
			if strings.Contains(address, ".csv") {
				if _, err := csv.NewReader(strings.NewReader(a.body)).ReadAll(); err != nil {
					t.Errorf("%s: %v", address, err)
				}
			}
		}
	}
}
