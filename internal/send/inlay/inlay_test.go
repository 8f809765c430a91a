package inlay

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"assay/internal/assay"
	"assay/internal/study/media"
)

// line writes a prompt as a line, as dialects do.
func line(t testing.TB, p *assay.Prompt) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"text":"` + p.Messages[0].Text + `"`)
	for _, part := range p.Messages[0].Parts {
		if part.Media == nil {
			continue
		}
		f, err := part.Media.Open()
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(f)
		if err != nil || int64(len(all)) != part.Media.Size {
			t.Fatalf("%d bytes of %d (%v)", len(all), part.Media.Size, err)
		}
		b.WriteString(`,"data:image/png;base64,` + base64.StdEncoding.EncodeToString(all) + `"`)
	}
	return b.String() + "}\n"
}

func TestLinesHaveTheirFilesAgain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	files := map[assay.Sum][]byte{}
	open := func(s assay.Sum) (io.ReadCloser, error) {
		f, ok := files[s]
		if !ok {
			return nil, errors.New("no such file")
		}
		return io.NopCloser(iotest.HalfReader(bytes.NewReader(f))), nil
	}
	const nonce = assay.Nonce("abcdefghij")
	var marked, whole strings.Builder
	kept := int64(0)
	for n := range 60 {
		text := strings.Repeat("x", r.IntN(3000)) + string(rune('a'+n%26))
		p := &assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: text}}}
		for range r.IntN(4) {
			body := make([]byte, r.IntN(200_000))
			for i := range body {
				body[i] = byte(r.Uint32())
			}
			sum := assay.Sum(sha256.Sum256(body))
			files[sum] = body
			f := assay.File{Name: "a.png", Kind: assay.MediaImage, Type: "image/png", Size: int64(len(body)), Sum: sum}
			p.Messages[0].Parts = append(p.Messages[0].Parts, assay.Part{Media: f.Media("", open)})
		}
		with, grown := Marked(p, nonce, media.Uploads{})
		short, long := line(t, with), line(t, p)
		if int64(len(short))+grown != int64(len(long)) {
			t.Fatalf("a line of %d bytes grows by %d, and has %d", len(short), grown, len(long))
		}
		marked.WriteString(short)
		whole.WriteString(long)
		kept += int64(len(short))
	}
	if kept > 200_000 {
		t.Errorf("the marked lines have %d bytes", kept)
	}
	for name, in := range map[string]io.Reader{"at once": strings.NewReader(marked.String()),
		"by bytes": iotest.OneByteReader(strings.NewReader(marked.String()))} {
		got, err := io.ReadAll(NewReader(in, nonce, open, nil))
		if err != nil || string(got) != whole.String() {
			t.Errorf("%s: the lines differ (%v): %d bytes, want %d", name, err, len(got), whole.Len())
		}
	}
	other, err := io.ReadAll(NewReader(strings.NewReader(marked.String()), "another234", open, nil))
	if err != nil || string(other) != marked.String() {
		t.Errorf("marks of another segment are read (%v)", err)
	}
	clear(files)
	if _, err := io.ReadAll(NewReader(strings.NewReader(marked.String()), nonce, open, nil)); err == nil {
		t.Error("a file that is gone is no error")
	}
}

func TestAFileThatIsUploadedIsNamedByItsID(t *testing.T) {
	t.Parallel()
	up := media.Uploads{Kinds: []assay.MediaKind{assay.MediaDocument}}
	small := &assay.Media{Kind: assay.MediaDocument, Type: "application/pdf", Size: 1000, Sum: [32]byte{1}}
	large := &assay.Media{Kind: assay.MediaDocument, Type: "application/pdf", Size: 1_000_000, Sum: [32]byte{2}}
	picture := &assay.Media{Kind: assay.MediaImage, Type: "image/png", Size: 1_000_000, Sum: [32]byte{3}}
	p := &assay.Prompt{Messages: []assay.Message{{Parts: []assay.Part{{Media: small}, {Media: large}, {Media: picture}, {Media: large}}}}}
	const nonce = assay.Nonce("abcdefghij")
	with, _ := Marked(p, nonce, up)
	var lines strings.Builder
	for _, part := range with.Messages[0].Parts {
		if part.Media.File != "" {
			lines.WriteString(`{"file_id":"` + part.Media.File + `"}` + "\n")
		}
	}
	all, err := Uploaded(strings.NewReader(lines.String()), nonce)
	if want := []Named{{Sum: large.Sum, Kind: assay.MediaDocument, Size: 1_000_000}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("named %v (%v)", all, err)
	}
	got, err := io.ReadAll(NewReader(strings.NewReader(lines.String()), nonce, nil, func(f Named) (string, error) {
		return fmt.Sprint("file_", f.Sum[0]), nil
	}))
	if err != nil || string(got) != strings.Repeat(`{"file_id":"file_2"}`+"\n", 2) {
		t.Errorf("%s (%v)", got, err)
	}
	gone := errors.New("gone")
	if _, err := io.ReadAll(NewReader(strings.NewReader(lines.String()), nonce, nil, func(Named) (string, error) {
		return "", gone
	})); !errors.Is(err, gone) {
		t.Errorf("a file without an id: %v", err)
	}
}

func TestAPromptWithoutFilesStaysAsItIs(t *testing.T) {
	t.Parallel()
	url := &assay.Media{Kind: assay.MediaImage, URL: "https://a/b.png"}
	p := &assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: "x", Parts: []assay.Part{{Media: url}, {Text: "x"}}}}}
	if got, grown := Marked(p, "n", media.Uploads{}); got != p || grown != 0 {
		t.Errorf("a prompt with a URL alone was changed, by %d bytes", grown)
	}
}
