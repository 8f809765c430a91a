package artifactstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/artifacts"
)

func pack(t *testing.T, open func() artifacts.Place) {
	p := open()
	random := rand.New(rand.NewPCG(1, 2))
	var long []byte
	for range 400_000 {
		long = append(long, byte('a'+random.IntN(20)), ' ', 'w', 'o', 'r', 'd', 's', '\n')
	}
	texts := map[string]string{"empty": "", "small": "a line\n", "large": string(long)}
	for name, text := range texts {
		write(t, p, name, text)
	}
	before, err := artifacts.Bytes(t.Context(), p, "r1")
	ok(t, err)
	reading, err := p.Open(t.Context(), "r1", "large")
	ok(t, err)
	defer reading.Close()
	for range 2 { // packing again changes nothing
		ok(t, open().Pack(t.Context(), "r1"))
	}
	for name, text := range texts {
		if read(t, open(), name) != text {
			t.Errorf("%s reads differently", name)
		}
	}
	if after, err := artifacts.Bytes(t.Context(), p, "r1"); err != nil || after > before/2 {
		t.Errorf("%d bytes of %d, %v", after, before, err)
	}
	for range 50 {
		off := random.Int64N(int64(len(long) - 100))
		got, err := artifacts.Line(t.Context(), p, "r1", "large", off, 100)
		if err != nil || !bytes.Equal(got, long[off:off+100]) {
			t.Fatalf("at %d: %q, %v", off, got, err)
		}
	}
	got := make([]byte, 100)
	if _, err := reading.ReadAt(got, 1000); err != nil || !bytes.Equal(got, long[1000:1100]) {
		t.Errorf("what was open before reads %q, %v", got, err)
	}
	all, err := artifacts.Names(t.Context(), p, "r1")
	ok(t, err)
	if d := cmp.Diff([]string{"empty", "large", "small"}, all); d != "" {
		t.Error(d)
	}
}

// large is about an artifact of several chunks, cut between them.
func large(t *testing.T, open func() artifacts.Place) {
	random := rand.NewChaCha8([32]byte{1})
	text := make([]byte, 35<<20)
	random.Read(text)
	s := begun(t, open(), 0, "etag", string(text[:20<<20]))
	ok(t, s.Close())
	p := open()
	s, err := p.Sink(t.Context(), "r1", "out")
	ok(t, err)
	n, _ := s.Held()
	if n != 20<<20 {
		t.Fatalf("held %d", n)
	}
	ok(t, s.Begin(n, "etag"))
	_, err = s.Write(text[n:])
	ok(t, err)
	info, err := s.Commit()
	ok(t, err)
	sum := sha256.Sum256(text)
	if info.SHA256 != hex.EncodeToString(sum[:]) || info.Size != int64(len(text)) {
		t.Errorf("info %+v", info)
	}
	for _, p := range []artifacts.Place{p, open()} {
		f, err := p.Open(t.Context(), "r1", "out")
		ok(t, err)
		got := make([]byte, 1<<20)
		for _, off := range []int64{0, 16<<20 - 100, 20<<20 - 100, 34 << 20, 5, 32<<20 - 7, 16<<20 - 1} {
			for _, n := range []int{10, 200, len(got)} {
				if _, err := f.ReadAt(got[:n], off); err != nil || !bytes.Equal(got[:n], text[off:off+int64(n)]) {
					t.Errorf("%d bytes at %d read differently: %v", n, off, err)
				}
			}
		}
		if n, err := f.ReadAt(got, f.Size()-10); n != 10 || !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %d, %v", n, err)
		}
		ok(t, f.Close())
	}
	if read(t, open(), "out") != string(text) {
		t.Error("it reads differently")
	}
}

func hashed(t *testing.T, open func() artifacts.Place) {
	writer := open()
	info := write(t, writer, "out", "what was written")
	other := sha256.Sum256([]byte("what was not"))
	for round := range 2 { // then packed
		for who, p := range map[string]artifacts.Place{"the writer": writer, "another process": open()} {
			for _, tt := range []struct {
				name, sha string
				want      bool
			}{{"out", info.SHA256, true}, {"out", hex.EncodeToString(other[:]), false}, {"none", info.SHA256, false}} {
				if got, err := artifacts.Whole(t.Context(), p, "r1", tt.name, tt.sha); got != tt.want || err != nil {
					t.Errorf("round %d, %s: %s with %s is whole: %v, %v", round, who, tt.name, tt.sha, got, err)
				}
			}
		}
		ok(t, writer.Pack(t.Context(), "r1"))
	}
}
