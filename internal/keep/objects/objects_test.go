package objects_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/artifacts/artifactstest"
	"assay/internal/keep/objects"
)

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, address string, cache int64) artifacts.Place {
	t.Helper()
	b, err := openBucket(address, artifactstest.Env, artifacts.Cache{Dir: t.TempDir(), Bytes: cache})
	ok(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

func openBucket(address string, env func(string) string, cache artifacts.Cache) (*artifacts.Bucket, error) {
	store, prefix, err := objects.Open(address, env)
	if err != nil {
		return nil, err
	}
	return artifacts.NewBucket(store, prefix, cache)
}

func write(t *testing.T, p artifacts.Place, name string, text []byte) {
	t.Helper()
	s, err := artifacts.Create(t.Context(), p, "r1", name)
	ok(t, err)
	_, err = s.Write(text)
	ok(t, err)
	_, err = s.Commit()
	ok(t, err)
}

func read(t *testing.T, p artifacts.Place, name string) ([]byte, error) {
	t.Helper()
	f, err := p.Open(t.Context(), "r1", name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func TestABucketKeepsTheContract(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address func(s *artifactstest.Server, prefix string) string
		cache   int64
	}{
		"s3": {(*artifactstest.Server).S3, 1 << 30}, "s3 without a cache": {(*artifactstest.Server).S3, 0},
		"gs": {(*artifactstest.Server).Google, 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			artifactstest.Suite(t, func(t *testing.T) func() artifacts.Place {
				server := artifactstest.NewServer(t)
				return func() artifacts.Place { return open(t, c.address(server, "a/prefix"), c.cache) }
			})
		})
	}
}

// TestARealServerKeepsTheContract runs where a server is named, with its keys in the environment: in the long proof.
func TestARealServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	address := os.Getenv("ASSAY_TEST_BUCKET")
	if address == "" {
		t.Skip("no server is named; the same suite has run on one in this process")
	}
	artifactstest.Suite(t, func(t *testing.T) func() artifacts.Place {
		dir, id := t.TempDir(), fmt.Sprintf("%016x", rand.Uint64())
		at, query, _ := strings.Cut(address, "?")
		return func() artifacts.Place {
			b, err := openBucket(at+"/"+id+"?"+query, os.Getenv, artifacts.Cache{Dir: dir, Bytes: 1 << 30})
			ok(t, err)
			return b
		}
	})
}

func TestAnAddressHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, address := range []string{
		"s3://key:" + secret + "@bucket/prefix", "s3://bucket/prefix?secret_key=" + secret,
		"s3://bucket?endpoint=http://key:" + secret + "@host", "s3://bucket?endpoint=http://host/?token=" + secret, "s3://bucket#" + secret,
		"s3://", "s3://bucket/a%20b", "s3://bucket/a//b", "s3://bucket?endpoint=ftp://host", "az://account/" + secret,
		"http://host/" + secret, "s3://" + secret + "\x7f", "s3://bucket?endpoint=%zz" + secret,
	} {
		_, _, err := objects.Open(address, artifactstest.Env)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if !objects.Is("s3://bucket") || objects.Is("/a/folder") || objects.Is(`C:\folder`) {
		t.Error("a bucket is not told from a folder")
	}
}

// synced returns the error of a log that was just begun: if its place is away, Sync returns the error.
func synced(l *artifacts.Log, err error) error {
	if err == nil {
		_, err = l.Add([]byte(`{}`), nil)
	}
	if err != nil {
		return err
	}
	return l.Sync()
}

func TestAServerThatIsAwayIsNotOneWithoutTheArtifact(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	p := open(t, server.S3("p"), 0)
	text := []byte("hello, world\n")
	write(t, p, "out", text)
	down := open(t, server.S3("p"), 0)
	server.Fault(func(*http.Request) artifactstest.Answer { return artifactstest.Refused })
	for name, err := range map[string]error{
		"open": second(down.Open(t.Context(), "r1", "out")), "sink": second(down.Sink(t.Context(), "r1", "out")),
		"probe": second(down.Probe(t.Context(), "")), "log": synced(down.Log("r1", "live")),
		"remove": down.Remove(t.Context(), "r1", "out"), "pack": down.Pack(t.Context(), "r1"),
	} {
		if err == nil || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), artifactstest.Secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	server.Fault(nil)
	if got, err := read(t, down, "out"); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%q, %v", got, err)
	}
	foreign := open(t, strings.Replace(server.S3("p"), "//bucket", "//other", 1), 0)
	if _, err := foreign.Open(t.Context(), "r1", "out"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a bucket that is not there: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestCallsThatGoWrongNowAndThenHarmNothing(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	var n atomic.Int64
	server.Fault(func(*http.Request) artifactstest.Answer {
		return []artifactstest.Answer{artifactstest.Served, artifactstest.Unheard, artifactstest.Served, artifactstest.CutShort,
			artifactstest.Served}[n.Add(1)%5]
	})
	p := open(t, server.S3("p"), 1<<30)
	text := bytes.Repeat([]byte("a line of some words\n"), 1<<20)
	write(t, p, "out", text)
	ok(t, p.Pack(t.Context(), "r1"))
	if got, err := read(t, open(t, server.S3("p"), 1<<30), "out"); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
}

func TestDamagedBytesAreAnError(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	p := open(t, server.S3("p"), 1<<30)
	write(t, p, "out", bytes.Repeat([]byte("x"), 300<<10))
	if n := server.Spoil("/out/"); n == 0 {
		t.Fatal("there is nothing to spoil")
	}
	if _, err := read(t, open(t, server.S3("p"), 1<<30), "out"); err == nil {
		t.Error("damaged bytes were read")
	}
	if got, err := read(t, p, "out"); err != nil || len(got) != 300<<10 { // what it wrote is in its cache
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestLinesAreReadFromTheCache(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	writer := open(t, server.S3("p"), 1<<30)
	text := make([]byte, 20<<20)
	rand.NewChaCha8([32]byte{3}).Read(text)
	write(t, writer, "out", text)
	server.Calls(http.MethodGet)
	reader := open(t, server.S3("p"), 1<<30)
	for _, p := range []artifacts.Place{writer, reader} {
		for i := range int64(2000) {
			off := i * 7919 % int64(len(text)-100)
			got, err := artifacts.Line(t.Context(), p, "r1", "out", off, 100)
			if err != nil || !bytes.Equal(got, text[off:off+100]) {
				t.Fatalf("at %d: %v", off, err)
			}
		}
		gets, lists := server.Calls(http.MethodGet), server.Calls("LIST")
		if most := map[bool]int{true: 0, false: 5}[p == writer]; gets > most || p == reader && lists > 2 {
			t.Errorf("%d gets, at most %d; %d lists", gets, most, lists)
		}
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	dir := t.TempDir()
	const most = 3 << 20
	b, err := openBucket(server.S3("p"), artifactstest.Env, artifacts.Cache{Dir: dir, Bytes: most})
	ok(t, err)
	for i := range 10 {
		write(t, b, "out"+string(rune('0'+i)), bytes.Repeat([]byte{byte(i)}, 1<<20))
	}
	sum := int64(0)
	entries, err := os.ReadDir(dir)
	ok(t, err)
	for _, e := range entries {
		info, err := e.Info()
		ok(t, err)
		sum += info.Size()
	}
	if sum > most || sum == 0 {
		t.Errorf("%d bytes are in the cache", sum)
	}
	for i := range 10 {
		if got, err := read(t, b, "out"+string(rune('0'+i))); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, 1<<20)) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestALogHasOneWriterForEver(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	l, err := open(t, server.S3("p"), 0).Log("r1", "live-7")
	ok(t, err)
	for range 2 {
		if _, err := open(t, server.S3("p"), 0).Log("r1", "live-7"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("opened again: %v", err)
		}
	}
	ok(t, l.Close())
	p := open(t, server.S3("p"), 0)
	if got, err := read(t, p, "live-7"); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
	ok(t, p.Pack(t.Context(), "r1"))
	if got, err := read(t, open(t, server.S3("p"), 0), "live-7"); err != nil || len(got) != 0 {
		t.Errorf("packed: %q, %v", got, err)
	}
	if keys := server.Keys(); len(keys) != 1 {
		t.Errorf("left: %v", keys)
	}
}

// TestALogGoesOnWhenItsStoreIsBack has the store away while a log is written: nothing of it is lost.
func TestALogGoesOnWhenItsStoreIsBack(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	p := open(t, server.S3("p"), 0)
	l, err := p.Log("r1", "live-7")
	ok(t, err)
	server.Fault(func(*http.Request) artifactstest.Answer { return artifactstest.Refused })
	body := bytes.Repeat([]byte("x"), 3<<20)
	for i := range 2 { // more than is put by itself
		if _, err := l.Add(fmt.Appendf(nil, `{"n":%d}`, i), body); err != nil {
			t.Errorf("record %d is refused: %v", i, err)
		}
	}
	if err := l.Flush(); err == nil || l.Broken() {
		t.Errorf("flushed: %v, broken: %v", err, l.Broken())
	}
	server.Fault(nil)
	ok(t, l.Flush())
	ok(t, l.Close())
	f, err := p.Open(t.Context(), "r1", "live-7")
	ok(t, err)
	defer f.Close()
	n := 0
	for r, err := range artifacts.Records(f) {
		ok(t, err)
		if n++; !bytes.Equal(r.Body, body) {
			t.Errorf("record %s has %d bytes", r.Head, len(r.Body))
		}
	}
	if n != 2 {
		t.Errorf("%d records", n)
	}
}

func TestWhatWritersLeftIsSweptWhenItIsOld(t *testing.T) {
	t.Parallel()
	server := artifactstest.NewServer(t)
	p := open(t, server.S3("p"), 0)
	write(t, p, "whole", []byte("text"))
	s, err := p.Sink(t.Context(), "r1", "cut")
	ok(t, err)
	ok(t, s.Begin(0, "etag"))
	_, err = io.WriteString(s, "hello")
	ok(t, err)
	ok(t, s.Close())
	write(t, p, "twice", []byte("the same"))
	second, err := artifacts.Create(t.Context(), p, "r1", "twice")
	ok(t, err)
	_, err = io.WriteString(second, "the same")
	ok(t, err)
	_, err = second.Commit()
	ok(t, err)
	ok(t, p.Pack(t.Context(), "r1"))
	if n := len(server.Keys()); n != 8 {
		t.Errorf("%d objects, of which some may have writers: %v", n, server.Keys())
	}
	server.Ahead(25 * time.Hour)
	ok(t, p.Pack(t.Context(), "r1"))
	if keys := server.Keys(); len(keys) != 4 || strings.Contains(strings.Join(keys, "\n"), "cut") {
		t.Errorf("left: %v", keys)
	}
	for name, want := range map[string]string{"whole": "text", "twice": "the same"} {
		if got, err := read(t, open(t, server.S3("p"), 0), name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestARefusalIsSaidInTheStoresWords has a store refuse calls, once in a way that another try cannot help.
func TestARefusalIsSaidInTheStoresWords(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusMovedPermanently)
		io.WriteString(w,
			"<Error><Code>PermanentRedirect</Code><Message>elsewhere&#x9b;2J</Message><Region>eu-west-3</Region><StringToSign>"+
				artifactstest.Secret+"</StringToSign></Error>")
	}))
	defer server.Close()
	p := open(t, "s3://bucket/p?endpoint="+server.URL, 0)
	_, err := p.Open(t.Context(), "r1", "out")
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("opened: %v", err)
	}
	for _, part := range []string{"301", "PermanentRedirect", `region "eu-west-3"`, "AWS_REGION"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: %s is missing", err, part)
		}
	}
	if strings.Contains(err.Error(), artifactstest.Secret) || strings.Contains(err.Error(), "\u009b") || calls.Load() != 1 {
		t.Errorf("%d calls: %v", calls.Load(), err)
	}
}

// answers is a transport that gives one answer to every call.
type answers func() *http.Response

func (a answers) RoundTrip(*http.Request) (*http.Response, error) { return a(), nil }

func TestTheBytesOfAnUploadThatArrivedAreCounted(t *testing.T) {
	t.Parallel()
	for span, want := range map[string]int64{"bytes=0-9": 10, "": 0, "bytes=0-": 0, "nonsense": 0, "bytes=0--5": 0} {
		store := &objects.Google{Base: "https://store.example", Bucket: "b", Transport: answers(func() *http.Response {
			return &http.Response{StatusCode: http.StatusPermanentRedirect, Header: http.Header{"Range": {span}}, Body: http.NoBody}
		})}
		if n, whole, err := store.Arrived(t.Context(), "https://store.example/session", 20); n != want || whole || err != nil {
			t.Errorf("%q: %d, %v, %v", span, n, whole, err)
		}
	}
}
