package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
)

// runFile is a download of a run: a name, its type, and its writer.
type runFile struct {
	name, kind string
	write      func(ctx context.Context, w io.Writer, s *Server, q *request) error
}

func runFiles() []runFile {
	return []runFile{
		{"report.html", "text/html; charset=utf-8", writeReport("html", pages.HTML)},
		{"report.md", "text/markdown; charset=utf-8", writeReport("md", pages.Markdown)},
		{"answers.csv", "text/csv; charset=utf-8", writeAnswers("csv")},
		{"answers.jsonl", "application/x-ndjson", writeAnswers("jsonl")},
		{"run.assay", "application/octet-stream", func(ctx context.Context, w io.Writer, _ *Server, q *request) error {
			return bundle.Write(ctx, w, q.exported())
		}},
	}
}

// exampleCount is how many conversations a report shows that was asked for by a button.
const exampleCount = 6

func writeReport(format string, write func(io.Writer, *report.Document) error) func(context.Context, io.Writer, *Server, *request) error {
	return func(ctx context.Context, w io.Writer, s *Server, q *request) error {
		o := document.Options{Version: s.options.Version, Out: "report." + format, Format: format, Examples: exampleCount}
		doc, err := document.Of(ctx, q.home.Reader, q.run, o)
		if err != nil {
			return err
		}
		return write(w, doc)
	}
}

func writeAnswers(format string) func(context.Context, io.Writer, *Server, *request) error {
	return func(ctx context.Context, w io.Writer, _ *Server, q *request) error {
		all := formats.All()
		form := all[slices.IndexFunc(all, func(f export.Format) bool { return f.Name == format })]
		return form.WriteFile(ctx, w, []export.Run{q.exported()})
	}
}

func (q *request) exported() export.Run {
	return export.Run{Run: q.run, Results: q.home.Reader, Raw: q.home.Files}
}

// runFile serves a run as a file. It is made on disk before the first byte goes out, so that a slow reader holds no
// database.
func (s *Server) runFile(w http.ResponseWriter, r *http.Request) {
	q, err := s.open(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	all := runFiles()
	i := slices.IndexFunc(all, func(f runFile) bool { return f.name == r.PathValue("file") })
	if i < 0 {
		s.fail(w, r, errNoPage)
		return
	}
	q.writer = w
	if err := q.extend(); err != nil {
		s.fail(w, r, err)
		return
	}
	if err := s.sendFile(w, q, all[i]); err != nil {
		s.fail(w, r, err)
	}
}

func (s *Server) sendFile(w http.ResponseWriter, q *request, f runFile) (err error) {
	file, err := os.CreateTemp("", "assay-file-")
	if err != nil {
		return fmt.Errorf("make %s: %w", f.name, err)
	}
	defer func() { err = cmp.Or(err, file.Close(), os.Remove(file.Name())) }()
	if err := s.makeFile(file, q, f); err != nil {
		return err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("make %s: %w", f.name, err)
	}
	sendAs(w, q.run.ID+"-"+f.name, f.kind, io.NewSectionReader(file, 0, size))
	return nil
}

// makeFile writes a file. Like a search it reads much, and takes one of the few places for those while it does.
func (s *Server) makeFile(file *os.File, q *request, f runFile) error {
	free, err := s.place(q.Context())
	if err != nil {
		return err
	}
	defer free()
	if err := f.write(q.Context(), file, s, q); err != nil {
		return fmt.Errorf("make %s: %w", f.name, err)
	}
	return nil
}

// withFiles gives figures the addresses of their files.
func withFiles(run, by string, figures ...*plot.Figure) {
	for _, f := range figures {
		f.Files = "/runs/" + run + "/figures/" + url.PathEscape(f.ID)
		if by != "" {
			f.Query = "?by=" + url.QueryEscape(by)
		}
	}
}

func (d *findingsData) withFiles(run, by string) { withFiles(run, by, d.figures()...) }

func (d *findingsData) figures() []*plot.Figure {
	var all []*plot.Figure
	for _, t := range d.Tables {
		all = append(all, t.Figures...)
	}
	return append(all, d.Quality...)
}

// figureKinds are the types of a figure's files.
var figureKinds = map[string]string{"svg": "image/svg+xml", "csv": "text/csv; charset=utf-8", "md": "text/plain; charset=utf-8",
	"tex": "text/plain; charset=utf-8"}

// figureFile serves a plot, or its numbers.
func (s *Server) figureFile(w http.ResponseWriter, r *http.Request) {
	q, err := s.open(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	q.writer, q.waits = w, true
	name := r.PathValue("file")
	dot := max(strings.LastIndexByte(name, '.'), 0)
	id, format := name[:dot], strings.TrimPrefix(name[dot:], ".")
	if !slices.Contains(pages.FigureFormats(), format) {
		s.fail(w, r, errNoPage)
		return
	}
	all, err := s.figures(q, id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	i := slices.IndexFunc(all, func(f *plot.Figure) bool { return f != nil && f.ID == id })
	if i < 0 {
		s.fail(w, r, errNoPage)
		return
	}
	var b bytes.Buffer
	if err := pages.WriteFigure(&b, all[i], format, assay.SafeCell); err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", figureKinds[format])
	if format == "svg" || format == "csv" {
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", cmp.Or(q.run.ID, "compare")+"-"+fileName(id)+"."+format))
	}
	w.Write(b.Bytes())
}

// fileName returns a name with nothing in it that a file system or a header minds.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s)
}

// figures returns those of the page that has the one: of two runs, of the history of one, or of its findings.
func (s *Server) figures(q *request, id string) ([]*plot.Figure, error) {
	if q.run.ID == "" {
		return s.comparedFigures(q)
	}
	if id == "burn" || id == "timeline" {
		var data runData
		spans, err := q.home.Pages.Spans(q.Context(), q.run.No, shownSpans)
		if err != nil {
			return nil, err
		}
		s.draw(spans, q.run, &data)
		return []*plot.Figure{data.Burn, data.Timeline}, nil
	}
	by := strings.Join(splitFields(q.FormValue("by")), ",")
	f, err := s.findingsOf(q, by)
	if err != nil {
		return nil, err
	}
	if !f.Known {
		return nil, &problem{http.StatusServiceUnavailable, "the findings are still being computed"}
	}
	var data findingsData
	data.fill(f.Value.document, q.run.ID)
	return data.figures(), nil
}
