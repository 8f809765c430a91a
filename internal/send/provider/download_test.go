package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// lineFile returns a file of result lines.
func lineFile(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"custom_id\":\"c%04d\",\"text\":\"line\\u2028\"}\n", i)
	}
	return b.String()
}

// file serves a text with a strong ETag, whole or in ranges.
type file struct {
	text   string
	etag   string
	cut    int  // hang up after so many bytes of each answer; 0: never
	silent bool // announce no length
	asked  []string
}

func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, strings.TrimSpace(r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
	text, status := f.text, 200
	w.Header().Set("ETag", f.etag)
	w.Header().Set("Accept-Ranges", "bytes")
	if from, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok && r.Header.Get("If-Range") == f.etag {
		start, _ := strconv.Atoi(strings.TrimSuffix(from, "-"))
		if start >= len(text) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", len(f.text)))
			w.WriteHeader(416)
			return
		}
		text, status = text[start:], 206
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(f.text)-1, len(f.text)))
	}
	if !f.silent {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	}
	w.WriteHeader(status)
	if f.cut > 0 && f.cut < len(text) {
		io.WriteString(w, text[:f.cut])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	io.WriteString(w, text)
}

func TestACutDownloadIsContinuedWhereItBroke(t *testing.T) {
	t.Parallel()
	f := &file{text: lineFile(3000), etag: `"v1"`, cut: 50_000}
	c := serve(t, f.ServeHTTP)
	var into sink
	tries := 0
	for err := errors.New("begin"); err != nil; tries++ {
		if tries > 5 {
			t.Fatal(err)
		}
		err = c.Download(background, Call{Path: "/f"}, Whole{}, &into)
		if err != nil && code(err) != "busy truncated" {
			t.Fatal(err)
		}
	}
	if into.String() != f.text {
		t.Errorf("got %d of %d bytes, or others", into.Len(), len(f.text))
	}
	diff(t, []string{"", `bytes=50000- "v1"`, `bytes=100000- "v1"`}, f.asked)
	diff(t, []string{`0 "v1"`, `50000 "v1"`, `100000 "v1"`}, into.begun)
}

func TestBytesOfTwoVersionsAreNeverJoined(t *testing.T) {
	t.Parallel()
	f := &file{text: strings.Repeat("a", 999) + "\n", etag: `"v1"`, cut: 500}
	c := serve(t, f.ServeHTTP)
	var into sink
	if err := c.Download(background, Call{Path: "/f"}, Whole{}, &into); code(err) != "busy truncated" {
		t.Fatal(err)
	}
	f.text, f.etag, f.cut = strings.Repeat("b", 999)+"\n", `"v2"`, 0
	if err := c.Download(background, Call{Path: "/f"}, Whole{}, &into); err != nil {
		t.Fatal(err)
	}
	diff(t, f.text, into.String())
}

func TestAServerThatContinuesElsewhereIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"at another byte": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 3-9/10")
			w.WriteHeader(206)
		},
		"of another version": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 5-9/10")
			w.Header().Set("ETag", `"other"`)
			w.WriteHeader(206)
		},
		"without saying where": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(206) },
		"of a shorter file": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes */4")
			w.WriteHeader(416)
		},
	} {
		c := serve(t, h)
		into := sink{validator: `"v1"`}
		into.WriteString("01234")
		err := c.Download(background, Call{Path: "/f"}, Whole{}, &into)
		if code(err) != "busy truncated" || into.Len() != 0 {
			t.Errorf("%s: %v, %d bytes held", name, err, into.Len())
		}
	}
}

func TestAWholeFileThatIsHeldIsNotFetchedAgain(t *testing.T) {
	t.Parallel()
	f := &file{text: lineFile(3), etag: `"v1"`}
	c := serve(t, f.ServeHTTP)
	into := sink{validator: `"v1"`}
	into.WriteString(f.text)
	if err := c.Download(background, Call{Path: "/f"}, Whole{}, &into); err != nil {
		t.Fatal(err)
	}
	diff(t, f.text, into.String())
	diff(t, []string{fmt.Sprintf(`%d "v1"`, len(f.text))}, into.begun)
}

func TestAWeakValidatorStartsAgain(t *testing.T) {
	t.Parallel()
	f := &file{text: lineFile(30), etag: `W/"v1"`}
	c := serve(t, f.ServeHTTP)
	into := sink{validator: `W/"v1"`}
	into.WriteString(f.text[:100])
	if err := c.Download(background, Call{Path: "/f"}, Whole{}, &into); err != nil {
		t.Fatal(err)
	}
	diff(t, f.text, into.String())
	diff(t, []string{"0 "}, into.begun)
}

func TestATruncatedDownloadIsNeverTakenAsComplete(t *testing.T) {
	t.Parallel()
	text := lineFile(10)
	ask := func(n int64, err error) func(context.Context) (int64, error) {
		return func(context.Context) (int64, error) { return n, err }
	}
	for name, c := range map[string]struct {
		sent     string
		announce bool
		want     Whole
		code     string
	}{
		"announced and whole":                     {text, true, Whole{}, ""},
		"announced and whole, whatever the lines": {text, true, Whole{Lines: 11}, ""},
		"by its size":                             {text[:200], false, Whole{Size: int64(len(text))}, "busy truncated"},
		"longer than its size":                    {text + text, false, Whole{Size: int64(len(text))}, "busy truncated"},
		"of the right size":                       {text, false, Whole{Size: int64(len(text))}, ""},
		"by its lines":                            {lineFile(9), false, Whole{Lines: 10}, "busy truncated"},
		"of so many lines":                        {text, false, Whole{Lines: 10}, ""},
		"of so many lines, the last unended":      {strings.TrimSuffix(text, "\n"), false, Whole{Lines: 10}, ""},
		"by the size somebody knows":              {text[:200], false, Whole{Ask: ask(int64(len(text)), nil)}, "busy truncated"},
		"of a size nobody knows":                  {text, false, Whole{Ask: ask(0, nil)}, ""},
		"of a size nobody could tell":             {text, false, Whole{Ask: ask(0, errors.New("down"))}, "find out the size: down"},
		"inside a line":                           {text[:200], false, Whole{}, "busy truncated"},
		"empty":                                   {"", false, Whole{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.announce {
					w.Header().Set("Content-Length", strconv.Itoa(len(c.sent)))
				}
				w.(http.Flusher).Flush()
				io.WriteString(w, c.sent)
			})
			var into sink
			diff(t, c.code, code(client.Download(background, Call{Path: "/f"}, c.want, &into)))
			diff(t, c.sent, into.String())
		})
	}
}

func TestAnErrorUnderAGoodStatusIsNoPart(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"{\n \"error\": {\"message\": \"try later\", \"code\": \"server_overloaded\"}\n}":                      "busy server_overloaded",
		`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`:                                "busy rate_limit_error",
		`{"object":"error","type":"internal_server_error","message":"oops"}`:                                   "busy internal_server_error",
		`{"key":"aaaaaaaaaaa-aaaaaaaaaaaaaaaaaaaaaaaaaa","error":{"code":400,"message":"bad"}}`:                "",
		`{"custom_id":"x","response":null,"error":{"code":"batch_expired"}}`:                                   "",
		`{"custom_id":"x","error":{"code":"a"}}` + "\n" + `{"custom_id":"y","error":{"code":"batch_expired"}}`: "",
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
		var into sink
		diff(t, want, code(c.Download(background, Call{Path: "/f"}, Whole{}, &into)))
		if want != "" {
			diff(t, 0, into.Len())
		}
	}
}

func TestAnEncodedDownloadIsRefused(t *testing.T) {
	t.Parallel()
	var asked string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Encoding", "br")
		io.WriteString(w, "x")
	})
	var into sink
	diff(t, "unknown bad_answer", code(c.Download(background, Call{Path: "/f"}, Whole{}, &into)))
	diff(t, "identity", asked)
}

func TestAFullDiskIsNotTheProvidersFault(t *testing.T) {
	t.Parallel()
	f := &file{text: lineFile(100), etag: `"v1"`}
	c := serve(t, f.ServeHTTP)
	into := sink{failAt: 10}
	err := c.Download(background, Call{Path: "/f"}, Whole{}, &into)
	if err == nil || FaultOf(err) != nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error %v", err)
	}
}

func TestACancelledDownloadSaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(background)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, lineFile(5))
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	var into sink
	err := c.Download(ctx, Call{Path: "/f"}, Whole{}, &into)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
