package found

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/document"
	"assay/internal/show/export"
	"assay/internal/show/export/bundle"
	"assay/internal/show/export/formats"
	"assay/internal/show/report"
	"assay/internal/show/report/pages"
	"assay/internal/show/report/plot"
	"assay/internal/show/web/progress"
	"assay/internal/show/web/site"
)

// runFile is a download of a run.
type runFile struct {
	name, contentType string
	write             fileWriter
}

// fileWriter writes a download of the run that a request names.
type fileWriter func(w io.Writer, s *Pages, q *site.Request) error

func runFiles() []runFile {
	return []runFile{
		{"report.html", "text/html; charset=utf-8", writeReport("html", pages.HTML)},
		{"report.md", "text/markdown; charset=utf-8", writeReport("md", pages.Markdown)},
		{"answers.csv", "text/csv; charset=utf-8", writeAnswers("csv")},
		{"answers.jsonl", "application/x-ndjson", writeAnswers("jsonl")},
		{"run.assay", "application/octet-stream", func(w io.Writer, _ *Pages, q *site.Request) error {
			return bundle.Write(q.Context(), w, exported(q))
		}},
	}
}

// exampleCount is how many conversations a downloaded report shows.
const exampleCount = 6

func writeReport(format string, write func(io.Writer, *report.Document) error) fileWriter {
	return func(w io.Writer, s *Pages, q *site.Request) error {
		o := document.Options{Version: s.Version, Out: "report." + format, Format: format, Examples: exampleCount}
		doc, err := document.Of(q.Context(), q.Home.Reader, q.Run, o)
		if err != nil {
			return err
		}
		return write(w, doc)
	}
}

func writeAnswers(format string) fileWriter {
	return func(w io.Writer, _ *Pages, q *site.Request) error {
		all := formats.All()
		form := all[slices.IndexFunc(all, func(f export.Format) bool { return f.Name == format })]
		return form.WriteFile(q.Context(), w, []export.Run{exported(q)})
	}
}

// exported returns the run of a request as formats read it.
func exported(q *site.Request) export.Run {
	return export.Run{Run: q.Run, Results: q.Home.Reader, Raw: q.Home.Files}
}

// RunFile serves a run as a file. It is made on disk before the first byte goes out, so that a slow reader holds no
// database.
func (s *Pages) RunFile(w http.ResponseWriter, r *http.Request) {
	q, err := s.Open(r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	all := runFiles()
	i := slices.IndexFunc(all, func(f runFile) bool { return f.name == r.PathValue("file") })
	if i < 0 {
		s.Fail(w, r, site.ErrNoPage)
		return
	}
	q.Writer = w
	if err := q.Extend(); err != nil {
		s.Fail(w, r, err)
		return
	}
	if err := s.sendRun(w, q, all[i]); err != nil {
		s.Fail(w, r, err)
	}
}

func (s *Pages) sendRun(w http.ResponseWriter, q *site.Request, f runFile) error {
	file, err := os.CreateTemp("", "assay-file-")
	if err != nil {
		return fmt.Errorf("make %s: %w", f.name, err)
	}
	defer func() { // the reply is written by then: an error has nowhere to go
		file.Close()
		os.Remove(file.Name())
	}()
	if err := s.makeFile(file, q, f); err != nil {
		return err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("make %s: %w", f.name, err)
	}
	site.SendFile(w, q.Run.ID+"-"+f.name, f.contentType, io.NewSectionReader(file, 0, size))
	return nil
}

// makeFile writes a file. Like a search it reads much, and takes one of the few places for those while it does.
func (s *Pages) makeFile(file *os.File, q *site.Request, f runFile) error {
	free, err := s.BeginScan(q.Context())
	if err != nil {
		return err
	}
	defer free()
	if err := f.write(file, s, q); err != nil {
		return fmt.Errorf("make %s: %w", f.name, err)
	}
	return nil
}

// figureTypes are the content types of a figure's files.
var figureTypes = map[string]string{"svg": "image/svg+xml", "csv": "text/csv; charset=utf-8", "md": "text/plain; charset=utf-8",
	"tex": "text/plain; charset=utf-8"}

// FigureFile serves a plot, or its numbers.
func (s *Pages) FigureFile(w http.ResponseWriter, r *http.Request) {
	q, err := s.Open(r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	q.Writer, q.Waits = w, true
	name := r.PathValue("file")
	dot := max(strings.LastIndexByte(name, '.'), 0)
	id, format := name[:dot], strings.TrimPrefix(name[dot:], ".")
	if !slices.Contains(pages.FigureFormats(), format) {
		s.Fail(w, r, site.ErrNoPage)
		return
	}
	all, err := s.figures(q, id)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	i := slices.IndexFunc(all, func(f *plot.Figure) bool { return f != nil && f.ID == id })
	if i < 0 {
		s.Fail(w, r, site.ErrNoPage)
		return
	}
	var b bytes.Buffer
	if err := pages.WriteFigure(&b, all[i], format, assay.SafeCell); err != nil {
		s.Fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", figureTypes[format])
	if format == "svg" || format == "csv" {
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", cmp.Or(q.Run.ID, "compare")+"-"+safeFileName(id)+"."+format))
	}
	w.Write(b.Bytes())
}

// safeFileName returns a name with nothing in it that a file system or a header minds.
func safeFileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s)
}

// figures returns those of the page that has the one: of two runs, of the history of one, or of its findings.
func (s *Pages) figures(q *site.Request, id string) ([]*plot.Figure, error) {
	if q.Run.ID == "" {
		return s.comparedFigures(q)
	}
	if id == progress.BurnID || id == progress.TimelineID {
		burn, timeline, err := progress.History(q.Context(), q.Home, q.Run, s.Now())
		return []*plot.Figure{burn, timeline}, err
	}
	by := strings.Join(splitFields(q.FormValue("by")), ",")
	f, err := s.findingsOf(q, by)
	if err != nil {
		return nil, err
	}
	if !f.Known {
		return nil, site.NotYet("the findings are still being computed")
	}
	var data findingsData
	data.fill(f.Value.document, q.Run.ID)
	return data.figures(), nil
}
