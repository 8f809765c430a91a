package provider

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAFormArrivesAsItWasSentWithItsLengthAnnounced(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("line\n", 40_000)
	type got struct {
		length            int64
		purpose, name, in string
	}
	var seen got
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.length = r.ContentLength
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		m := multipart.NewReader(r.Body, params["boundary"])
		for p, err := m.NextPart(); err == nil; p, err = m.NextPart() {
			b, _ := io.ReadAll(p)
			if p.FormName() == "purpose" {
				seen.purpose = string(b)
			} else {
				seen.name, seen.in = p.FileName(), string(b)
			}
		}
	})
	call, err := Form{Fields: [][2]string{{"purpose", "batch"}}, Field: "file", Name: `a"b.jsonl`, Type: "application/jsonl",
		File: source(text)}.Call("/files")
	if err != nil {
		t.Fatal(err)
	}
	length := call.Length
	if _, err := c.JSON(background, call, nil); err != nil {
		t.Fatal(err)
	}
	diff(t, got{length, "batch", `a"b.jsonl`, text}, seen, cmp.AllowUnexported(got{}))
}

func TestAnUploadIsReadAsItGoesOut(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	read := &counted{r: io.LimitReader(endless{}, size)}
	big := Source{Size: size, Open: func() (io.ReadCloser, error) { return io.NopCloser(read), nil }}
	call, err := Form{Field: "file", Name: "x", Type: "text/plain", File: big}.Call("/files")
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for buf := make([]byte, 32<<10); err == nil; {
		var n int
		n, err = call.Body.Read(buf)
		if total += int64(n); read.n > total {
			t.Fatalf("%d bytes were read for %d that went out", read.n, total)
		}
	}
	diff(t, call.Length, total)
}

type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func TestASourceOpensAnywhere(t *testing.T) {
	t.Parallel()
	forward := source("0123456789")
	seeking := Source{Size: 10, Open: func() (io.ReadCloser, error) { return seekCloser{bytes.NewReader([]byte("0123456789"))}, nil }}
	for _, s := range []Source{forward, seeking} {
		for _, from := range []int64{0, 4, 10} {
			r, err := s.From(from)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(r)
			diff(t, "0123456789"[from:], string(b))
		}
	}
	if _, err := forward.From(11); err == nil {
		t.Error("opened beyond the end")
	}
}

type seekCloser struct{ io.ReadSeeker }

func (seekCloser) Close() error { return nil }

func TestAStampIsLegalEverywhereAndReadsBack(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0f", 32)
	legal := regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	names := map[string]Stamp{}
	for _, s := range []Stamp{
		{"r7k2", "s1", 1, sum},
		{"r7k2", "s1", 2, sum},
		{"r7k2", "s1", 12, sum},
		{"r7k2", "s10", 1, sum},
		{"r7k", "2s1", 1, sum},
		{"r7k2", "s1", 1, strings.Repeat("1f", 32)},
		{strings.Repeat("x", 20), strings.Repeat("y", 20), 9999, sum},
		{strings.Repeat("x", 90), "s1", 1, sum},
		{"Run A/ä", "s-1", 1, sum},
		{"run a/ä", "s-1", 1, sum},
		{"", "", 0, ""},
	} {
		name, short := s.Name(), s.Short()
		if !legal.MatchString(name) || strings.HasSuffix(name, "-") || !legal.MatchString(short) || len(short) > 40 ||
			len(short)+len("-out") > 63 {
			t.Errorf("%+v: name %q, short %q", s, name, short)
		}
		if other, dup := names[name]; dup {
			t.Errorf("%+v and %+v have the same name", s, other)
		}
		names[name] = s
		back, ok := ParseName(name)
		if !ok || back.Name() != name || !s.Matches(back.Name()) {
			t.Errorf("%q reads back as %+v", name, back)
		}
	}
	got, _ := ParseName("assay-r7k2-s1-3-0f0f0f0f0f0f")
	diff(t, Stamp{Run: "r7k2", Segment: "s1", Attempt: 3, SHA256: "0f0f0f0f0f0f"}, got)
	for _, name := range []string{"", "assay", "assay-a-b-1", "assay--b-1-c", "other-a-b-1-c", "assay-a-b-x-d", "assay-a-b-1-",
		"assay-a-b-1-c-d", "assay-a-b--1-c"} {
		if _, ok := ParseName(name); ok {
			t.Errorf("%q was taken for a stamp", name)
		}
	}
}

func TestAStampStandsInMetadata(t *testing.T) {
	t.Parallel()
	s := Stamp{Run: "r", Segment: "s", Attempt: 2, SHA256: strings.Repeat("0", 64)}
	diff(t, s, Labels(s.Metadata()).Stamp())
	diff(t, Stamp{}, Labels(nil).Stamp())
}

func TestEveryAttemptOfASegmentIsRecognised(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0f", 32)
	s := Stamp{"r7k2", "s1", 3, sum}
	for _, other := range []Stamp{s, {"r7k2", "s1", 1, sum}, {"r7k2", "s1", 4, sum}} {
		if !s.Same(other) || !s.Matches(other.Name()) {
			t.Errorf("%+v is not taken for the same segment as %+v", other, s)
		}
	}
	for _, other := range []Stamp{{"r7k2", "s2", 3, sum}, {"r7k3", "s1", 3, sum}, {"r7k2", "s1", 3, strings.Repeat("1f", 32)}, {}} {
		if s.Same(other) || s.Matches(other.Name()) {
			t.Errorf("%+v is taken for the same segment as %+v", other, s)
		}
	}
	diff(t, []Stamp{s, {"r7k2", "s1", 2, sum}, {"r7k2", "s1", 1, sum}}, s.Attempts())
}

func TestAHandleSurvivesStorageAndNonsense(t *testing.T) {
	t.Parallel()
	type memory struct {
		File string
		N    int
	}
	var got memory
	NewHandle(memory{"f", 7}).Read(&got)
	diff(t, memory{"f", 7}, got)
	for _, h := range []Handle{"", "{", "[]", `{"File":7}`} {
		var none memory
		h.Read(&none)
		diff(t, memory{}, none)
	}
}
